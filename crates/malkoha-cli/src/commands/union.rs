//! `malkoha union`: filter files to one that has the lines of all.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use malkoha::{
    Copies, CuckooFilter, CuckooMap, FileKind, Filter, GrowableCuckooFilter, GrowableCuckooMap,
    UnionError,
};
use same_file::is_same_file;
use serde_json::json;

use crate::failure::Outcome;
use crate::filter::{FilterFile, Lines, Table, lock};
use crate::input::name;
use crate::output::{Overwrite, refuse_both, replace, tell};
use crate::screen::print_record;

const AFTER_HELP: &str = "\
The lines themselves are not needed. Filters of fixed size can be united if
they were built with the same capacity, rate and hash, and if one of them has
room for the lines of all; growable ones if they were built with the same hash,
whatever else they were built with and whatever they have grown to. See
'malkoha build --like' for files with a random key.

A line that is in two of them counts as often as in the one in which it counts
more: what was added once to each is removed once. With --copies it counts as
often as in both together.

Maps are united likewise; those of fixed size if their values have equally many
bits, see 'malkoha build --value-bits'.

FILE is replaced as a whole, at the end, and may be one of the filters; a file
that is not a filter is only with --force.

Examples:
  malkoha union -o week.mlk mon.mlk tue.mlk wed.mlk
  malkoha union -o seen.mlk seen.mlk today.mlk";

/// Unite filter files in one
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Filter files to unite, two or more
    #[arg(value_name = "FILTER", required = true, num_args = 2..)]
    filters: Vec<PathBuf>,

    /// Filter file to write; '-' is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Let what is in several filters count as often as in all of them together
    #[arg(long)]
    copies: bool,

    /// Show no summary
    #[arg(short, long)]
    quiet: bool,

    /// Overwrite FILE also if it is not a filter
    #[arg(short, long)]
    force: bool,

    /// Print the summary as a JSON record on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let Arguments { filters, output, json, .. } = arguments;
    refuse_both(output, *json)?;
    // Between the reading of FILE and its writing nobody else changes it.
    let is_read = filters.iter().any(|path| is_same_file(path, output).unwrap_or(false));
    let locked = is_read.then(|| lock(output)).transpose();
    let _lock = locked.with_context(|| format!("cannot open filter {}", name(output)))?;

    let first = filters.first().context("there is no filter to unite")?;
    let file = FilterFile::open(first)?;
    let copies = if arguments.copies { Copies::Sum } else { Copies::Most };
    match file.kind() {
        FileKind::GrowableSet => arguments
            .unite(&file, |ours: &mut GrowableCuckooFilter, theirs| ours.unite(theirs, copies)),
        FileKind::GrowableMap => arguments
            .unite(&file, |ours: &mut GrowableCuckooMap, theirs| ours.unite(theirs, copies)),
        FileKind::Map => {
            arguments.unite(&file, |ours: &mut CuckooMap, theirs| ours.unite(theirs, copies))
        }
        _ => arguments.unite(&file, |ours: &mut CuckooFilter, theirs| ours.unite(theirs, copies)),
    }
}

/// Why two files of different kinds cannot be united.
fn difference(kinds: [FileKind; 2]) -> &'static str {
    let [a, b] = kinds.map(|kind| matches!(kind, FileKind::Map | FileKind::GrowableMap));
    if a == b {
        "one grows and the other does not: build both with --growable, or neither"
    } else {
        "one holds a map and the other does not"
    }
}

impl Arguments {
    fn unite<T: Table, C: Lines>(
        &self,
        first: &FilterFile,
        union: impl Fn(&mut Filter<T, C>, &Filter<T, C>) -> Result<(), UnionError>,
    ) -> Result<Outcome> {
        let mut united = first.read()?;
        for other in &self.filters[1..] {
            let failed = || format!("cannot unite {} and {}", name(&self.filters[0]), name(other));
            let file = FilterFile::open(other)?;
            if file.kind() != first.kind() {
                bail!("{}: {}", failed(), difference([first.kind(), file.kind()]));
            }
            union(&mut united, &file.read()?).with_context(failed)?;
        }
        let overwrite = if self.force { Overwrite::Anything } else { Overwrite::Filters };
        replace(&self.output, overwrite, &united)?;
        self.summarise(&united)?;
        Ok(Outcome::Found)
    }

    fn summarise<T: Table, C: Lines>(&self, united: &Filter<T, C>) -> Result<()> {
        if self.json {
            return print_record(&json!({
                "filters": self.filters.len(),
                "keys": united.len(),
                "capacity": united.capacity(),
                "fpr": united.expected_fpr(),
                "table_bytes": united.size_in_bytes(),
            }));
        }
        if !self.quiet {
            tell(&format!(
                "{}: {} {} of {} filters in {}, fpr {:.2e}",
                self.output.display(),
                HumanCount(united.len()),
                C::ITEMS,
                HumanCount(self.filters.len() as u64),
                HumanBytes(united.size_in_bytes()),
                united.expected_fpr(),
            ));
        }
        Ok(())
    }
}
