//! `malkoha remote info`: what all shards together hold.

use anyhow::Result;
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;

use super::Place;
use crate::failure::Outcome;
use crate::output::{print_record, rows};
use crate::remote::Sums;

/// Print the totals of all shards
#[derive(Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: Place,

    /// Number of shards that the filter must have [default: any]
    #[arg(long, value_name = "N")]
    shards: Option<u32>,

    /// Print a JSON record
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(super) fn run(&self) -> Result<Outcome> {
        let sums = self.place.open(self.shards, 0)?.sums()?;
        if self.json {
            print_record(&json!(sums))?;
            return Ok(Outcome::Found);
        }
        let Sums { shards, keys, capacity, bytes, segments, fpr } = sums;
        print_record(&rows([
            ("lines", format!("{}, begun for {}", HumanCount(keys), HumanCount(capacity))),
            ("fpr", format!("{fpr:.3e}")),
            ("size", HumanBytes(bytes).to_string()),
            ("shards", HumanCount(shards as u64).to_string()),
            ("segments", HumanCount(segments).to_string()),
        ]))?;
        Ok(Outcome::Found)
    }
}
