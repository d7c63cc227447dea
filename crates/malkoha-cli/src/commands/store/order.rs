//! Whether keys are kept in order.

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::Place;
use super::bytes::TableArg;
use crate::failure::Outcome;
use crate::output::print_record;
use crate::progress::Progress;

/// Keep the keys of a store in order from now on, and sort those that are there
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Order {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    table: TableArg,

    /// Keep them in no order from now on
    #[arg(long)]
    off: bool,

    /// Print whether they are kept in order as a JSON record
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
If this is interrupted, it continues where it was: keys that are not sorted
yet are sorted by the next 'order', or when they are read. 'put --ordered' and
'load --ordered' make a store or a table in order.";

impl Order {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.writing()?;
        let table = self.place.named(self.table.of(&store))?;
        self.place.named(table.set_ordered(!self.off))?;
        let progress = Progress::new("Sorting", Some(store.stats().log_bytes));
        let bar = progress.bar();
        let sorted = store.sort(|done, _| {
            bar.set_position(done);
            true
        });
        self.place.named(sorted)?;
        self.place.named(store.close())?;
        if self.json {
            print_record(&json!({ "table": self.table.table, "ordered": !self.off }))?;
        }
        Ok(Outcome::Found)
    }
}
