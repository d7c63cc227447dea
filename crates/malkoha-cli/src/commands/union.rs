//! `malkoha union`: files of lines, or filter files, to what has the lines of all.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use malkoha::{
    Copies, CuckooFilter, CuckooMap, ExpiringCuckooFilter, FileKind, Filter, GrowableCuckooFilter,
    GrowableCuckooMap, GrowableExpiringCuckooFilter, UnionError,
};

use super::sets::LinesArgs;
use crate::failure::{Outcome, tell_summary};
use crate::filter::{FilterFile, Lines, Table, figures};
use crate::input::name;
use crate::output::{Held, Overwrite, print_record, refuse_both, replace_held};
use crate::screen::Operation;

/// Print the lines of several files, each once, or unite filter files in one
#[derive(Args, Debug)]
#[command(after_help = include_str!("union.txt"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    lines: LinesArgs,

    /// Filter file to write; '-' is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Count a line as often as in all filters together
    #[arg(long, requires = "output")]
    copies: bool,

    /// Overwrite FILE even if it is not a filter
    #[arg(short, long, requires = "output")]
    force: bool,

    /// If another process changes FILE, wait until it has ended
    #[arg(long, requires = "output")]
    wait: bool,

    /// Print the summary of a filter as a JSON record on standard output
    #[arg(long, requires = "output")]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let Arguments { lines, output, json, .. } = arguments;
    let filters = &lines.files;
    let Some(output) = output else { return lines.print(Operation::Union, None) };
    refuse_both(output, *json)?;
    let to = (output.as_path(), Held::of(output, arguments.wait)?);
    let first = filters.first().context("there is no filter to unite")?;
    let file = FilterFile::open(first)?;
    let copies = if arguments.copies { Copies::Sum } else { Copies::Most };
    match file.kind {
        FileKind::GrowableSet => {
            arguments.unite(&file, to, |ours: &mut GrowableCuckooFilter, theirs| {
                ours.unite(theirs, copies)
            })
        }
        FileKind::GrowableMap => {
            arguments
                .unite(&file, to, |ours: &mut GrowableCuckooMap, theirs| ours.unite(theirs, copies))
        }
        FileKind::ExpiringSet | FileKind::GrowableExpiringSet if arguments.copies => {
            bail!(
                "{} has lines that expire, of which none is in twice: leave --copies away",
                name(first)
            )
        }
        FileKind::ExpiringSet => {
            arguments
                .unite(&file, to, |ours: &mut ExpiringCuckooFilter, theirs| ours.union_with(theirs))
        }
        FileKind::GrowableExpiringSet => {
            arguments.unite(&file, to, |ours: &mut GrowableExpiringCuckooFilter, theirs| {
                ours.union_with(theirs)
            })
        }
        FileKind::Map => {
            arguments.unite(&file, to, |ours: &mut CuckooMap, theirs| ours.unite(theirs, copies))
        }
        _ => {
            arguments.unite(&file, to, |ours: &mut CuckooFilter, theirs| ours.unite(theirs, copies))
        }
    }
}

/// Why two files of different kinds cannot be united.
fn difference(kinds: [FileKind; 2]) -> &'static str {
    let expires =
        kinds.map(|kind| matches!(kind, FileKind::ExpiringSet | FileKind::GrowableExpiringSet));
    let [a, b] = kinds.map(|kind| matches!(kind, FileKind::Map | FileKind::GrowableMap));
    if expires[0] != expires[1] {
        "lines of one expire and of the other do not"
    } else if a == b {
        "one grows and the other does not: build both without --fixed"
    } else {
        "one holds a map and the other does not"
    }
}

impl Arguments {
    fn unite<T: Table, C: Lines>(
        &self,
        first: &FilterFile,
        (output, mut held): (&Path, Held),
        union: impl Fn(&mut Filter<T, C>, &Filter<T, C>) -> Result<(), UnionError>,
    ) -> Result<Outcome> {
        let mut united = first.read()?;
        for other in &self.lines.files[1..] {
            let failed =
                || format!("cannot unite {} and {}", name(&self.lines.files[0]), name(other));
            let file = FilterFile::open(other)?;
            if file.kind != first.kind {
                bail!("{}: {}", failed(), difference([first.kind, file.kind]));
            }
            union(&mut united, &file.read()?).with_context(failed)?;
        }
        let overwrite = if self.force { Overwrite::Anything } else { Overwrite::Filters };
        replace_held(output, overwrite, &mut held, &united)?;
        self.summarise(output, &united)?;
        Ok(Outcome::Found)
    }

    fn summarise<T: Table, C: Lines>(&self, output: &Path, united: &Filter<T, C>) -> Result<()> {
        if self.json {
            let mut record = figures(united);
            record["filters"] = self.lines.files.len().into();
            return print_record(&record);
        }
        tell_summary(&format!(
            "{}: {} {} of {} filters in {}, fpr {:.2e}",
            output.display(),
            HumanCount(united.len()),
            C::ITEMS,
            HumanCount(self.lines.files.len() as u64),
            HumanBytes(united.size_in_bytes()),
            united.expected_fpr(),
        ));
        Ok(())
    }
}
