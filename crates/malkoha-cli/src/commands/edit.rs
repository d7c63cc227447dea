//! `malkoha add` and `malkoha remove`: changing a filter file by lines.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::HumanCount;
use malkoha::Filter;
use serde_json::json;

use super::items::{Reduced, Reducing, reducing, sort};
use super::keeping::{KeepArgs, Kept, Save, Saving};
use crate::arguments::{InputArgs, NowArgs, ThreadArgs};
use crate::failure::{Outcome, tell_summary};
use crate::filter::{FilterFile, Item, Lines, Table, Task, insert};
use crate::input::name;
use crate::output::{Held, print_record};
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;
use crate::records::{KeyArgs, tell_difference};

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
    keep: KeepArgs,

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
#[command(after_help = include_str!("add.txt"))]
pub(crate) struct Add {
    /// Add every line as often as it occurs in the input, even if it is already in the filter
    #[arg(long)]
    copies: bool,

    #[command(flatten)]
    edit: EditArgs,
}

/// Remove lines from a filter file
#[derive(Args, Debug)]
#[command(after_help = include_str!("remove.txt"))]
pub(crate) struct Remove {
    /// Remove a line as often as it occurs in the input, not once
    #[arg(long)]
    copies: bool,

    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) fn add(&Add { ref edit, copies }: &Add) -> Result<Outcome> {
    edit.run(copies, true)
}

pub(crate) fn remove(&Remove { ref edit, copies }: &Remove) -> Result<Outcome> {
    edit.run(copies, false)
}

/// Adds lines, or removes them.
struct Edit<'a> {
    edit: &'a EditArgs,
    held: Held,
    copies: bool,
    adds: bool,
}

impl Task for Edit<'_> {
    fn run<T: Table, C: Lines>(self, filter: Filter<T, C>) -> Result<Outcome> {
        let Self { edit, held, copies, adds } = self;
        let saving = Saving::to(&edit.filter, held);
        let failed = saving.state();
        let editing = Editing {
            filter,
            items: Vec::new(),
            adds,
            copies,
            removed: HashSet::new(),
            threads: edit.threads.threads(),
            lines: 0,
            done: 0,
            saving,
        };
        let editing = edit.read(editing).with_context(|| {
            let cannot = if adds { "add to" } else { "remove from" };
            format!("cannot {cannot} {}, which is {}", name(&edit.filter), failed())
        })?;
        edit.summarise(&editing)?;
        Ok(Outcome::found_if(adds || editing.done > 0))
    }
}

/// Items that change a filter together, at least and at most. Between these, an eighth of its keys:
/// one byte for each key that it has, two in a map. With a fortieth, inserts take 1.5 times as long
/// at 10^7 keys.
const AT_ONCE: (u64, u64) = (1 << 18, 1 << 22);

/// A filter, and the items of lines that have not changed it yet.
struct Editing<T: Table, C: Lines> {
    filter: Filter<T, C>,
    items: Vec<C::Item>,
    adds: bool,
    copies: bool,
    /// Without copies.
    removed: HashSet<C::Item>,
    threads: usize,
    lines: u64,
    done: u64,
    saving: Saving,
}

impl<T: Table, C: Lines> Editing<T, C> {
    fn apply(&mut self) -> Result<()> {
        let Self { filter, items, copies, .. } = self;
        sort(items, self.threads);
        let done = if self.adds {
            if !*copies {
                items.dedup();
                C::retain_new(filter, items);
            }
            insert(filter, items)?;
            items.len() as u64
        } else {
            if !*copies {
                items.retain(|&item| self.removed.insert(item));
            }
            let before = filter.len();
            C::remove(filter, items);
            before - filter.len()
        };
        self.done += done;
        self.saving.changed |= done > 0;
        self.items.clear();
        Ok(())
    }
}

impl<T: Table, C: Lines> Sink for Editing<T, C> {
    type Made = Reduced<C::Item>;

    fn take(&mut self, made: &mut Self::Made) -> Result<()> {
        self.lines += std::mem::take(&mut made.lines);
        let (filter, file) = (&self.filter, &made.file);
        let is_in = |form: &[u8]| filter.contains_hash(filter.hasher().hash_bytes(form));
        for (item, candidate) in made.candidates.drain(..) {
            if !filter.contains_hash(item.hash()) {
                candidate.find(is_in).into_iter().for_each(|form| candidate.note(form, file, None));
            }
        }
        // Many at once are put in from one end of the table to the other.
        let at_once = (self.filter.len() / 8).clamp(AT_ONCE.0, AT_ONCE.1);
        if (self.items.len() + made.items.len()) as u64 > at_once {
            self.apply()?;
        }
        self.items.append(&mut made.items);
        Ok(())
    }
}

impl<T: Table, C: Lines> Save for Editing<T, C> {
    fn save(&mut self) -> Result<()> {
        self.apply()?;
        self.saving.save(&self.filter)
    }
}

impl EditArgs {
    fn run(&self, copies: bool, adds: bool) -> Result<Outcome> {
        let (file, held) = FilterFile::open_held(&self.filter, self.keep.wait)?;
        file.run(self.now.now, Edit { edit: self, held, copies, adds })
    }

    /// Reads all lines, and saves the filter.
    fn read<T: Table, C: Lines>(&self, editing: Editing<T, C>) -> Result<Editing<T, C>> {
        let side = self.input.side(&self.keys)?.all_needed();
        if side.inputs.include(&self.filter) {
            bail!("it is named as input too, and has no lines: leave it out there");
        }
        let progress = Progress::new("Reading", side.inputs.total_bytes());
        let Editing { filter, copies, adds, .. } = &editing;
        // A value that is too large is not in, so removing it is no error.
        let value_bits = if *adds { filter.value_bits() } else { u64::BITS };
        let how = Reducing { hasher: filter.hasher(), value_bits, copies: *copies, looks: true };
        let (inputs, work) = reducing(&side, how);
        let kept = Kept::new(editing, &self.keep)?;
        let kept = in_order(&inputs, &progress, self.threads.threads(), work, kept)?;
        kept.finish(|| side.settle())
    }

    fn summarise<T: Table, C: Lines>(&self, editing: &Editing<T, C>) -> Result<()> {
        let &Editing { ref filter, adds, copies, lines, done, .. } = editing;
        let is_any_equal = if adds { copies || done < lines } else { done > 0 };
        tell_difference(is_any_equal, Some(&name(&self.filter)), filter.expected_fpr());
        let (what, keys) = (if adds { "added" } else { "removed" }, filter.len());
        if self.json {
            return print_record(&json!({ "lines": lines, what: done, "keys": keys }));
        }
        tell_summary(&format!(
            "{}: {what} {} of {} {}, holds {}",
            self.filter.display(),
            HumanCount(done),
            HumanCount(lines),
            C::ITEMS,
            HumanCount(keys),
        ));
        Ok(())
    }
}
