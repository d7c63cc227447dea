//! Deciding which lines of a stream are in a set, batch by batch.

mod approximate;
mod exact;
mod store_keys;

use anyhow::{Context, Result};

pub(crate) use approximate::{Approximate, Hashed, filter_of};
pub(crate) use exact::Exact;
pub(crate) use store_keys::StoreKeys;

use crate::cli::SelectArgs;
use crate::failure::{CANNOT_WRITE, Outcome};
use crate::input::Inputs;
use crate::output::LineWriter;
use crate::progress::Progress;

/// A set of lines that answers for many at once.
pub(crate) trait Matcher {
    /// Sets `found[i]`, which is `false`, where `lines[i]` is in.
    fn find(&mut self, lines: &[&[u8]], found: &mut [bool]) -> Result<()>;
}

/// Lines that are printed or counted because they are in, or because they are not.
pub(crate) struct Selection<'a> {
    select: &'a SelectArgs,
    out: LineWriter,
    lines: u64,
    selected: u64,
}

impl<'a> Selection<'a> {
    pub(crate) fn new(separator: u8, select: &'a SelectArgs) -> Self {
        let out = LineWriter::stdout(separator, select.print.line_buffered);
        Self { select, out, lines: 0, selected: 0 }
    }

    /// Takes lines, and which of them are in.
    pub(crate) fn take(&mut self, lines: &[&[u8]], found: &[bool]) -> Result<()> {
        self.lines += lines.len() as u64;
        let invert = self.select.invert;
        for (line, _) in lines.iter().zip(found).filter(|&(_, &found)| found != invert) {
            self.selected += 1;
            if !self.select.count {
                self.out.write(line).context(CANNOT_WRITE)?;
            }
        }
        self.out.end_batch().context(CANNOT_WRITE)
    }

    pub(crate) fn finish(self) -> Result<Outcome> {
        let Self { select, out, lines, selected } = self;
        out.finish().context(CANNOT_WRITE)?;
        if select.json {
            print_record(&serde_json::json!({ "lines": lines, "selected": selected }))?;
        } else if select.count {
            print_record(&selected)?;
        }
        Ok(Outcome::found_if(selected > 0))
    }
}

/// Prints or counts the lines of `inputs` that are in `matcher`, or that are not.
pub(crate) fn print_selected(
    inputs: &Inputs,
    matcher: &mut impl Matcher,
    select: &SelectArgs,
    progress: &Progress,
) -> Result<Outcome> {
    let mut selection = Selection::new(inputs.separator(), select);
    let mut found = Vec::new();
    inputs.for_each_batch(progress, |batch| {
        found.clear();
        found.resize(batch.len(), false);
        matcher.find(batch, &mut found)?;
        selection.take(batch, &found)
    })?;
    selection.finish()
}

/// Prints one result as a line.
pub(crate) fn print_record(record: &impl std::fmt::Display) -> Result<()> {
    use std::io::Write;
    writeln!(std::io::stdout(), "{record}").context(CANNOT_WRITE)
}
