//! Printing or counting lines because they are in a set, or because they are not.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;

use super::Matcher;
use super::origin::Origin;
use crate::arguments::{PlaceArgs, SelectArgs};
use crate::failure::Outcome;
use crate::input::{Block, Side};
use crate::output::{Page, Printed, Printer, Show, prefix_of, print_record};
use crate::pipeline::in_order;
use crate::progress::Progress;
use crate::records::{BATCH, Keys, tell_difference};

/// Which lines are selected, and what is printed of them.
pub(crate) struct Selecting<'a> {
    pub(crate) select: &'a SelectArgs,
    pub(crate) places: &'a PlaceArgs,
    /// The lists, whose names are printed before their lines.
    pub(crate) lists: Option<&'a [PathBuf]>,
    /// The source to look records up in, if not lists.
    pub(crate) known: Option<String>,
}

/// Prints or counts the records of `input` whose keys are in `matcher`, or that are not, with the
/// work of up to `threads` threads.
pub(crate) fn print_selected(
    input: &Side,
    matcher: impl Matcher,
    how: Selecting<'_>,
    threads: usize,
    progress: &Progress,
) -> Result<Outcome> {
    let Selecting { select, places, lists, known } = how;
    let (inputs, keys, separator) = (&input.inputs, input.keys.clone(), input.separator());
    let names = || inputs.paths().iter().map(|path| prefix_of(path)).collect::<Vec<_>>();
    let has_text = !select.count && !places.files_with_matches;
    let show = Show {
        // The header gets no file or line prefix.
        header: has_text && !places.file && !places.line_number && lists.is_none(),
        most: if places.files_with_matches { Some(1) } else { places.max_count },
        names: places.files_with_matches,
        counts: select.count && !select.json && places.file,
        files: if places.file || places.files_with_matches { names() } else { Vec::new() },
        added: None,
    };
    let format = Format {
        has_text,
        has_ends: places.max_count.is_some(),
        files: places.file.then(names),
        numbers: places.line_number,
        lists: lists.map(|lists| lists.iter().map(|path| prefix_of(path)).collect()),
        separator,
    };
    let (invert, form, has_forms) = (select.invert, keys.form, matcher.has_forms());
    let fpr = matcher.fpr();
    let tell_empty_from = |keys: &Keys, least| {
        keys.tally().into_iter().for_each(|tally| tally.tell_empty_from(least));
    };
    // Each is printed or not as it is found, and none because it is equal to another.
    tell_empty_from(&keys, u64::MAX);
    let work = move |block: &Block, page: &mut Page| {
        page.file = block.file;
        let mut number = block.source().lines_before + 1;
        keys.read(block.source(), |batch| {
            let mut found = [false; BATCH];
            let found = &mut found[..batch.len()];
            matcher.find(batch.keys, found)?;
            for &i in batch.unfit {
                found[i] = false;
            }
            if let Some(tally) = keys.tally().filter(|_| !has_forms) {
                if tally.keeps(batch.file()) {
                    batch.keep_some(tally, found.iter().copied().enumerate());
                }
                batch.prove_by(found, &matcher.forms(), |keys, found| matcher.find(keys, found))?;
            }
            if batch.empty.iter().any(|&i| found[i]) {
                tell_empty_from(&keys, 1);
            }
            for (i, record) in batch.records.iter().enumerate() {
                if found[i] != invert {
                    format.prefix(page, number, || matcher.origin(batch.keys[i]));
                    format.record(page, record);
                }
                number += form.lines_of(record);
            }
            if has_forms {
                for (i, _) in found.iter().enumerate().filter(|&(_, &found)| !found) {
                    let why = matcher.refuses(batch.keys[i]);
                    why.map_or(Ok(()), |why| batch.note(i, why))?;
                }
            }
            page.lines += batch.len() as u64;
            Ok(())
        })
    };
    let counts_files = show.counts;
    let printer = Printer::new(separator, &select.print)?.showing(show, inputs);
    let printed = in_order(inputs, progress, threads, work, printer)?.finish()?;
    if !has_forms {
        tell_difference(false, known.as_deref(), fpr);
    }
    if counts_files {
        return Ok(Outcome::found_if(printed.selected > 0));
    }
    select.finish(&printed)
}

/// The output for a line, and before it.
struct Format {
    /// Lines are printed, and not only counted.
    has_text: bool,
    /// Where each of them ends is needed.
    has_ends: bool,
    files: Option<Vec<Vec<u8>>>,
    numbers: bool,
    lists: Option<Vec<Vec<u8>>>,
    separator: u8,
}

impl Format {
    fn prefix(&self, page: &mut Page, number: u64, origin: impl FnOnce() -> Option<Origin>) {
        if !self.has_text {
            return;
        }
        if let Some(files) = &self.files {
            page.text.extend_from_slice(&files[page.file]);
            page.text.push(b':');
        }
        if self.numbers {
            // Writing to memory does not fail.
            let _ = write!(page.text, "{number}:");
        }
        if let Some(lists) = &self.lists
            && let Some(origin) = origin()
        {
            page.text.extend_from_slice(&lists[origin.list]);
            let _ = write!(page.text, ":{}:", origin.line);
        }
    }

    fn record(&self, page: &mut Page, line: &[u8]) {
        page.selected += 1;
        if self.has_text {
            page.text.extend_from_slice(line);
            page.text.push(self.separator);
        }
        if self.has_ends {
            page.ends.push(page.text.len());
        }
    }
}

impl SelectArgs {
    /// Prints how many lines were selected, if that is wanted.
    pub(crate) fn finish(&self, &Printed { lines, selected }: &Printed) -> Result<Outcome> {
        if self.json {
            print_record(&serde_json::json!({ "lines": lines, "selected": selected }))?;
        } else if self.count {
            print_record(&selected)?;
        }
        Ok(Outcome::found_if(selected > 0))
    }
}
