//! `malkoha remote check`: lines that are in.

use anyhow::Result;
use clap::Args;

use super::{Place, for_each_batch};
use crate::arguments::{InputArgs, SelectArgs};
use crate::failure::Outcome;
use crate::output::{Page, Printer};
use crate::pipeline::Sink as _;
use crate::progress::Progress;

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
        let progress = Progress::unless_terminal("Checking", total);
        let (select, separator) = (&self.select, self.input.separator());
        let mut printer = Printer::new(separator, &select.print)?;
        let mut page = Page::default();
        for_each_batch(&self.input, select.print.line_buffered, &progress, |lines| {
            let mut found = vec![false; lines.len()];
            filter.contains(lines, &mut found)?;
            page.lines = lines.len() as u64;
            for (line, _) in lines.iter().zip(found).filter(|&(_, found)| found != select.invert) {
                page.selected += 1;
                if !select.count {
                    page.text.extend_from_slice(line);
                    page.text.push(separator);
                }
            }
            printer.take(&mut page)
        })?;
        select.finish(&printer.finish()?)
    }
}
