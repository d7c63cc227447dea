//! Deciding which lines of a stream are in a set, batch by batch.

mod approximate;
mod exact;

use anyhow::{Context, Result};

pub(crate) use approximate::{Approximate, Hashed, filter_of};
pub(crate) use exact::Exact;

use crate::cli::SelectArgs;
use crate::failure::{CANNOT_WRITE, Outcome};
use crate::input::Inputs;
use crate::output::LineWriter;
use crate::progress::Progress;

/// A set of lines that answers for many at once.
pub(crate) trait Matcher {
    /// Sets `found[i]`, which is `false`, where `lines[i]` is in.
    fn find(&mut self, lines: &[&[u8]], found: &mut [bool]);
}

/// Prints or counts the lines of `inputs` that are in `matcher`, or that are not.
pub(crate) fn print_selected(
    inputs: &Inputs,
    matcher: &mut impl Matcher,
    select: &SelectArgs,
    progress: &Progress,
) -> Result<Outcome> {
    let mut out = LineWriter::stdout(inputs.separator(), select.print.line_buffered);
    let mut found = Vec::new();
    let (mut lines, mut selected) = (0_u64, 0_u64);
    inputs.for_each_batch(progress, |batch| {
        found.clear();
        found.resize(batch.len(), false);
        matcher.find(batch, &mut found);
        lines += batch.len() as u64;
        for (line, _) in batch.iter().zip(&found).filter(|&(_, &found)| found != select.invert) {
            selected += 1;
            if !select.count {
                out.write(line).context(CANNOT_WRITE)?;
            }
        }
        out.end_batch().context(CANNOT_WRITE)
    })?;
    out.finish().context(CANNOT_WRITE)?;
    if select.json {
        print_record(&serde_json::json!({ "lines": lines, "selected": selected }))?;
    } else if select.count {
        print_record(&selected)?;
    }
    Ok(Outcome::found_if(selected > 0))
}

/// Prints one result as a line.
pub(crate) fn print_record(record: &impl std::fmt::Display) -> Result<()> {
    use std::io::Write;
    writeln!(std::io::stdout(), "{record}").context(CANNOT_WRITE)
}
