//! `malkoha remote check`: lines that are in.

use anyhow::Result;
use clap::Args;

use super::{Place, for_each_batch};
use crate::arguments::{InputArgs, SelectArgs};
use crate::failure::Outcome;
use crate::progress::Progress;
use crate::screen::Selection;

/// Print the lines that are in the filter
#[derive(Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: Place,

    /// Number of shards that the filter must have [default: any]
    #[arg(long, value_name = "N")]
    shards: Option<u32>,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    select: SelectArgs,
}

impl Arguments {
    pub(super) fn run(&self) -> Result<Outcome> {
        let mut filter = self.place.open(self.shards, 0)?;
        let total = self.input.inputs().total_bytes();
        let progress = Progress::beside_lines("Checking", total);
        let mut selection = Selection::new(self.input.separator(), &self.select)?;
        let mut found = Vec::new();
        let prompt = self.select.print.line_buffered;
        for_each_batch(&self.input, prompt, &progress, |lines| {
            found.clear();
            found.resize(lines.len(), false);
            filter.contains(lines, &mut found)?;
            selection.take(lines, &found)
        })?;
        selection.finish()
    }
}
