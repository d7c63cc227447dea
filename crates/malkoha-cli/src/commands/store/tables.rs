//! The tables of a store.

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::Place;
use super::bytes::escaped;
use crate::failure::Outcome;
use crate::output::print_record;

/// List the tables of a store, or remove one; exit code 1 if there is none
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Tables {
    #[command(flatten)]
    place: Place,

    /// Remove this table and all its keys
    #[arg(long, value_name = "NAME")]
    remove: Option<String>,

    /// Print a JSON record
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
A table has its own keys. 'put --table' and 'load --table' create it. Removing
a table reads the whole store and writes a mark for each of its keys. 'compact'
then returns the space.

In lines, control characters of names are written as 'ls' writes them. With
--json, names are exact.";

impl Tables {
    pub(super) fn run(&self) -> Result<Outcome> {
        if let Some(name) = &self.remove {
            let store = self.place.writing()?;
            let removed = self.place.named(store.remove_table(name))?;
            self.place.named(store.close())?;
            if self.json {
                print_record(&json!({ "table": name, "removed": removed }))?;
            }
            return Ok(Outcome::found_if(removed));
        }
        let tables = self.place.reading()?.tables();
        if self.json {
            print_record(&json!({ "tables": tables }))?;
        } else {
            tables.iter().try_for_each(|name| print_record(&escaped(name.as_bytes())))?;
        }
        Ok(Outcome::found_if(!tables.is_empty()))
    }
}
