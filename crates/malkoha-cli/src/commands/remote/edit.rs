//! `malkoha remote load`, `add` and `remove`.

use anyhow::{Result, bail};
use clap::{Args, value_parser};
use indicatif::HumanCount;
use serde_json::json;

use super::{Place, for_each_batch};
use crate::arguments::{InputArgs, count};
use crate::failure::{Outcome, tell_summary};
use crate::output::print_record;
use crate::progress::Progress;
use crate::remote::{Changes, Shape, Shards};

const AFTER_ADD: &str = "\
A line is added as often as it occurs. If the reply to a batch is lost, the
batch is sent again. Its lines may then be stored twice, and the summary
reports how many. --unique avoids this. Acknowledged lines are never sent
again. With --replicas, the command ends with an error if too few replicas have
a batch within --timeout, or if their number cannot be determined.";

const AFTER_REMOVE: &str = "\
Remove only lines that were certainly added! See 'malkoha remove --help'. If
the reply to a batch is lost, nobody knows what was removed. The command then
continues with the next batch and ends with an error.";

/// The arguments of all three commands.
#[derive(Args, Debug)]
struct Edit {
    #[command(flatten)]
    place: Place,

    /// Replicas that must have a batch before it counts as written; with 1, a failover loses
    /// nothing
    #[arg(long, value_name = "N", default_value = "0")]
    replicas: u32,

    #[command(flatten)]
    input: InputArgs,

    /// Print the summary as a JSON record
    #[arg(long)]
    json: bool,
}

/// Make a filter from lines
#[derive(Args, Debug)]
#[command(after_help = AFTER_ADD)]
pub(super) struct Load {
    #[command(flatten)]
    edit: Edit,

    /// Number of keys to spread the filter over: several for each server that there will ever be
    #[arg(long, value_name = "N", default_value = "16")]
    #[arg(value_parser = value_parser!(u32).range(1..=16_384))]
    shards: u32,

    /// Lines to make room for; the filter grows beyond this
    #[arg(long, value_name = "LINES", default_value = "1M", value_parser = count)]
    capacity: u64,

    /// False-positive rate [default: the servers' malkoha.error-rate]
    #[arg(long, value_name = "RATE")]
    fpr: Option<f64>,

    /// Skip lines that seem to be in the filter; not for filters that lines are removed from
    #[arg(long)]
    unique: bool,
}

/// Add lines
#[derive(Args, Debug)]
#[command(after_help = AFTER_ADD)]
pub(super) struct Add {
    #[command(flatten)]
    edit: Edit,

    /// Number of shards that the filter must have [default: any]
    #[arg(long, value_name = "N")]
    shards: Option<u32>,

    /// Skip lines that seem to be in the filter; not for filters that lines are removed from
    #[arg(long)]
    unique: bool,
}

/// Remove lines
#[derive(Args, Debug)]
#[command(after_help = AFTER_REMOVE)]
pub(super) struct Remove {
    #[command(flatten)]
    edit: Edit,

    /// Number of shards that the filter must have [default: any]
    #[arg(long, value_name = "N")]
    shards: Option<u32>,
}

impl Load {
    pub(super) fn run(&self) -> Result<Outcome> {
        let Self { edit, shards, capacity, fpr, unique } = self;
        let shape = Shape { shards: *shards, capacity: *capacity, fpr: *fpr };
        let (place, policy) = (&edit.place, edit.place.policy(edit.replicas));
        let mut filter = Shards::create(place.cluster()?, &place.key, shape, policy)?;
        edit.add(&mut filter, *unique)
    }
}

impl Add {
    pub(super) fn run(&self) -> Result<Outcome> {
        let mut filter = self.edit.place.open(self.shards, self.edit.replicas)?;
        self.edit.add(&mut filter, self.unique)
    }
}

impl Remove {
    pub(super) fn run(&self) -> Result<Outcome> {
        let mut filter = self.edit.place.open(self.shards, self.edit.replicas)?;
        let remove = |lines: &[&[u8]], changes| filter.remove(lines, changes);
        let changes = self.edit.change("removed", remove)?;
        Ok(Outcome::found_if(changes.done > 0))
    }
}

impl Edit {
    fn add(&self, filter: &mut Shards, unique: bool) -> Result<Outcome> {
        self.change("added", |lines, changes| filter.add(lines, unique, changes))?;
        Ok(Outcome::Found)
    }

    fn change(
        &self,
        done: &str,
        mut work: impl FnMut(&[&[u8]], Changes) -> Result<Changes>,
    ) -> Result<Changes> {
        let progress = Progress::new("Sending", self.input.inputs().total_bytes());
        let (mut all, mut lines) = (Changes::default(), 0);
        let outcome = for_each_batch(&self.input, false, &progress, |batch| {
            all = work(batch, all.clone())?;
            lines += batch.len() as u64;
            // There is no need to wait again for servers that were given up on.
            if all.problem.is_some() { bail!("stopped") } else { Ok(()) }
        });
        drop(progress);
        if lines > 0 || outcome.is_ok() {
            self.summarise(done, lines, &all)?;
        }
        if all.problem.is_none() {
            outcome?;
        }
        let wrong = [
            (all.missing, format!("were not {done}")),
            (all.unknown, format!("may have been {done} or not, as connections were lost")),
            (
                all.unconfirmed,
                format!(
                    "were {done}, but fewer replicas than --replicas are known to have that: a \
                     failover may undo it, and sending them again may do it twice"
                ),
            ),
        ];
        let wrong = wrong.into_iter().filter(|&(count, _)| count > 0);
        let wrong: Vec<String> =
            wrong.map(|(count, what)| format!("{} lines {what}", HumanCount(count))).collect();
        if wrong.is_empty() {
            return Ok(all);
        }
        let problem = all.problem.map_or_else(String::new, |problem| format!("{problem}; "));
        bail!("{problem}{}", wrong.join("; "));
    }

    fn summarise(&self, done: &str, lines: u64, changes: &Changes) -> Result<()> {
        let &Changes { done: count, resent, unknown, unconfirmed, missing, .. } = changes;
        if self.json {
            return print_record(&json!({
                "lines": lines, done: count, "resent": resent, "unknown": unknown,
                "unconfirmed": unconfirmed, "missing": missing,
            }));
        }
        let resent = match resent {
            0 => String::new(),
            resent => format!(", {} of them sent twice", HumanCount(resent)),
        };
        let (name, count, lines) = (&self.place.key, HumanCount(count), HumanCount(lines));
        tell_summary(&format!("{name}: {done} {count} of {lines} lines{resent}"));
        Ok(())
    }
}
