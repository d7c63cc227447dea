//! Deciding which lines of a stream are in a set, batch by batch.

mod approximate;
mod domains;
mod entries;
mod exact;
mod networks;
mod store_keys;

use anyhow::{Context, Result};

pub(crate) use approximate::{Approximate, filter_of};
pub(crate) use domains::{Domains, list_of_names};
use entries::{Unread, read_entries};
pub(crate) use exact::Exact;
pub(crate) use networks::Networks;
pub(crate) use store_keys::StoreKeys;

use crate::cli::SelectArgs;
use crate::failure::{CANNOT_WRITE, Outcome};
use crate::input::{BATCH, Block, Inputs, split};
use crate::keys::Keys;
use crate::output::{Page, Printed, Printer, stdout};
use crate::pipeline::in_order;
use crate::progress::Progress;

/// A set of lines that answers for many at once, to any number of threads.
pub(crate) trait Matcher: Send + Sync + 'static {
    /// Sets `found[i]`, which is `false`, where `lines[i]` is in.
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()>;
}

/// Lines that are printed or counted because they are in, or because they are not.
pub(crate) struct Selection {
    select: SelectArgs,
    separator: u8,
    printer: Printer,
}

impl Selection {
    pub(crate) fn new(separator: u8, select: &SelectArgs) -> Result<Self> {
        let printer = Printer::new(separator, &select.print)?;
        Ok(Self { select: select.clone(), separator, printer })
    }

    /// Takes lines, and which of them are in.
    #[cfg(feature = "remote")]
    pub(crate) fn take(&mut self, lines: &[&[u8]], found: &[bool]) -> Result<()> {
        use crate::pipeline::Sink as _;

        let mut page = Page::default();
        self.select.add(&mut page, (lines, found), self.separator);
        self.printer.take(&mut page)
    }

    pub(crate) fn finish(self) -> Result<Outcome> {
        let Self { select, printer, .. } = self;
        let Printed { lines, selected } = printer.finish()?;
        if select.json {
            print_record(&serde_json::json!({ "lines": lines, "selected": selected }))?;
        } else if select.count {
            print_record(&selected)?;
        }
        Ok(Outcome::found_if(selected > 0))
    }
}

impl SelectArgs {
    /// Adds the lines that are to be selected.
    fn add(&self, page: &mut Page, (lines, found): (&[&[u8]], &[bool]), separator: u8) {
        page.lines += lines.len() as u64;
        for (line, _) in lines.iter().zip(found).filter(|&(_, &found)| found != self.invert) {
            page.selected += 1;
            if !self.count {
                page.text.extend_from_slice(line);
                page.text.push(separator);
            }
        }
    }
}

/// Prints or counts the lines of `inputs` whose keys are in `matcher`, or that are not, with the
/// work of up to `threads` threads.
pub(crate) fn print_selected(
    inputs: &Inputs,
    matcher: impl Matcher,
    select: &SelectArgs,
    keys: Keys,
    threads: usize,
    progress: &Progress,
) -> Result<Outcome> {
    let Selection { select, separator, printer } = Selection::new(inputs.separator(), select)?;
    let chosen = select.clone();
    let work = move |block: &Block, page: &mut Page| {
        split(block.lines(), separator, |batch| {
            let mut found = [false; BATCH];
            let found = &mut found[..batch.len()];
            keys.with(batch, |keys| matcher.find(keys, found))?;
            chosen.add(page, (batch, found), separator);
            Ok(())
        })
    };
    let printer = in_order(inputs, progress, threads, work, printer)?;
    Selection { select, separator, printer }.finish()
}

/// Prints one result as a line.
pub(crate) fn print_record(record: &impl std::fmt::Display) -> Result<()> {
    use std::io::Write;
    stdout::is_open().context(CANNOT_WRITE)?;
    writeln!(std::io::stdout(), "{record}").context(CANNOT_WRITE)
}
