//! `malkoha add` and `malkoha remove`: changing a filter file, as a whole or not at all.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use indicatif::HumanCount;
use serde_json::json;

use super::distinct::Hashes;
use crate::cli::{InputArgs, ThreadArgs};
use crate::failure::Outcome;
use crate::filter::Editable;
use crate::input::name;
use crate::output::{Overwrite, replace, tell};
use crate::progress::Progress;
use crate::screen::print_record;

const AFTER_ADD: &str = "\
A line that occurs several times in the input is added once, unless --copies is given. A line that
was added twice, in two runs, is in until it is removed twice; --unique avoids that.

If the filter has no room for all lines, it stays as it was. 'malkoha build --capacity' makes a
larger one, and 'malkoha build --growable' one that grows.

Examples:
  malkoha add seen.mlk today.txt
  malkoha add --unique seen.mlk today.txt";

const AFTER_REMOVE: &str = "\
Remove only lines that are certainly in! A filter keeps fingerprints: removing a line that was
never added can remove another line's, which is then no longer found. Nor remove anything from a
filter that was made with 'add --unique'.

Exit code 1 if no line was found.

Example:
  malkoha remove seen.mlk revoked.txt";

/// What both commands are given.
#[derive(Args, Debug)]
struct EditArgs {
    /// Filter file to change
    filter: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    /// Count a line as often as it occurs in the input
    #[arg(long)]
    copies: bool,

    #[command(flatten)]
    threads: ThreadArgs,

    /// Print the summary as a JSON record
    #[arg(long)]
    json: bool,
}

/// Add lines to a filter file
#[derive(Args, Debug)]
#[command(after_help = AFTER_ADD)]
pub(crate) struct Add {
    #[command(flatten)]
    edit: EditArgs,

    /// Leave out lines that the filter says are in; not for filters that lines are removed from
    #[arg(long, conflicts_with = "copies")]
    unique: bool,
}

/// Remove lines from a filter file
#[derive(Args, Debug)]
#[command(after_help = AFTER_REMOVE)]
pub(crate) struct Remove {
    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) fn add(Add { edit, unique }: &Add) -> Result<Outcome> {
    let mut file = Editable::open(&edit.filter)?;
    let filter = &mut file.filter;
    let mut asked = edit.read_hashes(filter.hasher())?;
    let lines = asked.lines;
    if *unique {
        filter.retain_new(&mut asked.hashes);
    }
    let failed = || format!("cannot add to {}, which is unchanged", name(&edit.filter));
    filter.insert_hashes(&asked.hashes).with_context(failed)?;
    if asked.len() > 0 {
        replace(&edit.filter, Overwrite::Filters, filter)?;
    }
    edit.summarise("added", asked.len(), lines, filter.len())?;
    Ok(Outcome::Found)
}

pub(crate) fn remove(Remove { edit }: &Remove) -> Result<Outcome> {
    let mut file = Editable::open(&edit.filter)?;
    let filter = &mut file.filter;
    let asked = edit.read_hashes(filter.hasher())?;
    let before = filter.len();
    filter.remove_hashes(&asked.hashes);
    let removed = before - filter.len();
    if removed > 0 {
        replace(&edit.filter, Overwrite::Filters, filter)?;
    }
    edit.summarise("removed", removed, asked.lines, filter.len())?;
    Ok(Outcome::found_if(removed > 0))
}

impl EditArgs {
    fn read_hashes(&self, hasher: malkoha::KeyHasher) -> Result<Hashes> {
        let inputs = self.input.inputs();
        let progress = Progress::new("Reading", inputs.total_bytes(), self.input.quiet);
        Hashes::read(&inputs, hasher, self.copies, self.threads.threads(), &progress)
    }

    fn summarise(&self, done: &str, count: u64, lines: u64, keys: u64) -> Result<()> {
        if self.json {
            return print_record(&json!({ "lines": lines, done: count, "keys": keys }));
        }
        if !self.input.quiet {
            tell(&format!(
                "{}: {done} {} of {} lines, holds {}",
                self.filter.display(),
                HumanCount(count),
                HumanCount(lines),
                HumanCount(keys),
            ));
        }
        Ok(())
    }
}
