//! `malkoha add` and `malkoha remove`: changing a filter file, as a whole or not at all.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::HumanCount;
use malkoha::Filter;
use serde_json::json;

use super::items::{Items, Reducing};
use crate::arguments::{InputArgs, NowArgs, ThreadArgs};
use crate::failure::{Outcome, tell};
use crate::filter::{FilterFile, Lines, Table, Task, insert};
use crate::input::name;
use crate::keys::KeyArgs;
use crate::output::{Overwrite, replace};
use crate::progress::Progress;
use crate::screen::print_record;

const AFTER_ADD: &str = "\
If a line is already in the filter, as far as the filter can tell, it is not
added again. With --copies every line is added, and counts as often as it was
added. 'malkoha count' prints this count, and each 'malkoha remove' reduces it
by one. Use --copies if you want to remove lines from the filter.

If lines expire, a line that is already in the filter keeps its age, or with
--copies becomes as young as a new one.

If the filter has no room for all lines, it is left unchanged. 'malkoha build
--capacity' makes a larger filter, and 'malkoha build --growable' one that
grows.

If the filter is a map, made by 'malkoha build --values', add lines of a key, a
tab and a decimal number. A key keeps its old values: remove those that the new
ones replace.

Examples:
  malkoha add seen.mlk today.txt
  malkoha add --copies visits.mlk today.log
  malkoha add ages.mlk hatched.tsv";

const AFTER_REMOVE: &str = "\
Remove only lines that were certainly added! A filter stores fingerprints.
Removing a line that was never added can remove another line, which is then no
longer found. Therefore add lines with 'add --copies'. Without it, 'add' skips
a line that seems to be in the filter, and that line shares the fingerprint of
another.

From a map, remove lines of a key, a tab and the value to remove. The key's
other values stay.

Exit code 1 if no line was found.

Examples:
  malkoha remove seen.mlk revoked.txt
  malkoha remove ages.mlk flown.tsv";

/// The arguments of both commands.
#[derive(Args, Debug)]
struct EditArgs {
    /// Filter file to change
    filter: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    now: NowArgs,

    /// Print the summary as a JSON record
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    keys: KeyArgs,
}

/// Add lines to a filter file
#[derive(Args, Debug)]
#[command(after_help = AFTER_ADD)]
pub(crate) struct Add {
    /// Add every line as often as it occurs in the input, even if it is already in the filter
    #[arg(long)]
    copies: bool,

    #[command(flatten)]
    edit: EditArgs,
}

/// Remove lines from a filter file
#[derive(Args, Debug)]
#[command(after_help = AFTER_REMOVE)]
pub(crate) struct Remove {
    /// Remove a line as often as it occurs in the input, not once
    #[arg(long)]
    copies: bool,

    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) fn add(arguments: &Add) -> Result<Outcome> {
    let edit = &arguments.edit;
    FilterFile::open_locked(&edit.filter)?.run(edit.now.now, arguments)
}

pub(crate) fn remove(arguments: &Remove) -> Result<Outcome> {
    let edit = &arguments.edit;
    FilterFile::open_locked(&edit.filter)?.run(edit.now.now, arguments)
}

impl Task for &Add {
    fn run<T: Table, C: Lines>(self, mut filter: Filter<T, C>) -> Result<Outcome> {
        let &Add { ref edit, copies } = self;
        let failed = || format!("cannot add to {}, which is unchanged", name(&edit.filter));
        let asked = edit.read_items(&filter, filter.value_bits(), copies).with_context(failed)?;
        let mut added = 0;
        asked.for_each(|items| {
            let mut items = items.to_vec();
            if !copies {
                C::retain_new(&filter, &mut items);
            }
            added += items.len() as u64;
            insert(&mut filter, &items).with_context(failed)
        })?;
        if added > 0 {
            replace(&edit.filter, Overwrite::Filters, &filter)?;
        }
        edit.summarise("added", added, asked.lines, &filter)?;
        Ok(Outcome::Found)
    }
}

impl Task for &Remove {
    fn run<T: Table, C: Lines>(self, mut filter: Filter<T, C>) -> Result<Outcome> {
        let &Remove { ref edit, copies } = self;
        let failed = || format!("cannot remove from {}, which is unchanged", name(&edit.filter));
        // A value that is too large is not in, which is not an error.
        let asked = edit.read_items(&filter, u64::BITS, copies).with_context(failed)?;
        let before = filter.len();
        asked.for_each(|items| {
            C::remove(&mut filter, items);
            Ok(())
        })?;
        let removed = before - filter.len();
        if removed > 0 {
            replace(&edit.filter, Overwrite::Filters, &filter)?;
        }
        edit.summarise("removed", removed, asked.lines, &filter)?;
        Ok(Outcome::found_if(removed > 0))
    }
}

impl EditArgs {
    fn read_items<T: Table, C: Lines>(
        &self,
        filter: &Filter<T, C>,
        value_bits: u32,
        copies: bool,
    ) -> Result<Items<C::Item>> {
        let inputs = self.keys.of(self.input.inputs()).all_needed();
        if inputs.include(&self.filter) {
            bail!("it is named as input too, and has no lines: leave it out there");
        }
        let progress = Progress::new("Reading", inputs.total_bytes(), self.input.quiet);
        let how = Reducing { keys: self.keys.keys()?, hasher: filter.hasher(), value_bits, copies };
        Items::read(&inputs, how, self.threads.threads(), &progress)
    }

    fn summarise<T: Table, C: Lines>(
        &self,
        done: &str,
        count: u64,
        lines: u64,
        filter: &Filter<T, C>,
    ) -> Result<()> {
        let keys = filter.len();
        if self.json {
            return print_record(&json!({ "lines": lines, done: count, "keys": keys }));
        }
        if !self.input.quiet {
            tell(&format!(
                "{}: {done} {} of {} {}, holds {}",
                self.filter.display(),
                HumanCount(count),
                HumanCount(lines),
                C::ITEMS,
                HumanCount(keys),
            ));
        }
        Ok(())
    }
}
