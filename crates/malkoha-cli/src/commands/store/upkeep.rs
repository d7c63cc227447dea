//! Looking after a store.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use malkoha_store::{Cut, Error, Recovery, Store, Verification};
use serde_json::json;

use super::Place;
use super::damage::{Gone, all_damage, damage, lost, tell_lost};
use crate::failure::{Outcome, tell, tell_summary};
use crate::output::{print_record, rows};

/// Print sizes
#[derive(Args, Debug)]
pub(super) struct Stats {
    #[command(flatten)]
    place: Place,

    /// Print a JSON record
    #[arg(long)]
    json: bool,

    /// Print the text format of Prometheus, for its collector of text files
    #[arg(long, conflicts_with = "json")]
    prometheus: bool,
}

/// Return the space of overwritten and removed values
#[derive(Args, Debug)]
pub(super) struct Compact {
    #[command(flatten)]
    place: Place,

    /// Print the bytes of the log before and after as a JSON record
    #[arg(long)]
    json: bool,
}

/// Read everything and compare it with its checksums
#[derive(Args, Debug)]
#[command(after_help = AFTER_VERIFY)]
pub(super) struct Verify {
    #[command(flatten)]
    place: Place,

    /// Print what was found as a JSON record
    #[arg(long)]
    json: bool,
}

/// Recover every whole record of a damaged store; damaged files are kept under other names
#[derive(Args, Debug)]
pub(super) struct Repair {
    #[command(flatten)]
    place: Place,

    /// Print what was found and done as a JSON record
    #[arg(long)]
    json: bool,
}

/// Copy a store, by hard links where possible
#[derive(Args, Debug)]
#[command(after_help = AFTER_BACKUP)]
pub(super) struct Backup {
    #[command(flatten)]
    place: Place,

    /// Empty or new directory
    target: PathBuf,

    /// Print what it holds as a JSON record
    #[arg(long)]
    json: bool,
}

const AFTER_VERIFY: &str = "\
Exit code 2 if something is damaged; the JSON record lists all damage. Lost
keys are named as far as they can be read, those of a table with its name.
In a store that does not open, 'lost' is null where their number is not known.
Remains of unacknowledged writes after a crash are reported too, as
'unfinished' and 'unfinished_files' in the record. They are not damage.";

const AFTER_BACKUP: &str = "\
On the same file system the copy shares its files with the store, by hard
links. It keeps the state of this moment, but whatever damages a file damages
both. To survive the loss of a disk, copy to another device.

No other process may have the store open for writing. A process that has it
open can make the backup itself, without a pause: see 'Store::backup' in the
library.";

impl Stats {
    pub(super) fn run(&self) -> Result<Outcome> {
        let stats = self.place.reading()?.stats();
        if self.prometheus {
            let text = stats.prometheus(&self.place.store.to_string_lossy());
            print_record(&text.trim_end())?;
            return Ok(Outcome::Found);
        }
        if self.json {
            print_record(&json!({
                "keys": stats.keys,
                "files": stats.files,
                "log_bytes": stats.log_bytes,
                "dead_bytes": stats.dead_bytes,
                "tombstone_bytes": stats.tombstone_bytes,
                "index_bytes": stats.index_bytes,
            }))?;
            return Ok(Outcome::Found);
        }
        print_record(&rows([
            ("keys", HumanCount(stats.keys).to_string()),
            ("log", format!("{} in {} files", HumanBytes(stats.log_bytes), stats.files)),
            ("dead", HumanBytes(stats.dead_bytes).to_string()),
            ("tombstones", HumanBytes(stats.tombstone_bytes).to_string()),
            ("index", HumanBytes(stats.index_bytes).to_string()),
        ]))?;
        Ok(Outcome::Found)
    }
}

impl Compact {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.writing()?;
        let before = store.stats().log_bytes;
        self.place.named(store.compact())?;
        let after = store.stats().log_bytes;
        self.place.named(store.close())?;
        if self.json {
            print_record(&json!({ "log_bytes_before": before, "log_bytes": after }))?;
        } else {
            tell_summary(&format!("{} before, {} now", HumanBytes(before), HumanBytes(after)));
        }
        Ok(Outcome::Found)
    }
}

impl Verify {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.reading_past_damage()?;
        let verification = self.place.named(store.verify())?;
        let found = all_damage(&store, &verification);
        let gone = Gone::new(&store, &verification);
        let Verification { records, live, .. } = verification;
        let Recovery { cut: unfinished, cut_files: files, .. } = store.recovery();
        if self.json {
            let damage: Vec<_> = found.iter().map(|&error| damage(error)).collect();
            let unfinished = unfinished.as_ref().map(|Cut { file, offset, bytes, .. }| {
                json!({ "file": file, "offset": offset, "bytes": bytes })
            });
            let files = files.iter().map(|cut| json!({ "file": cut.file, "bytes": cut.bytes }));
            let files: Vec<_> = files.collect();
            let keys: Vec<_> = gone.named.iter().map(|&key| lost(key)).collect();
            print_record(&json!({
                "records": records, "live": live, "unfinished": unfinished,
                "unfinished_files": files, "damage": damage, "lost": gone.count, "lost_keys": keys,
            }))?;
        } else {
            gone.tell();
        }
        if let Some(first) = found.first() {
            let more = match found.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            bail!("{}: {first}{more}", self.place.context());
        }
        if !self.json {
            tell_summary(&format!("{records} records, {live} of them live: all whole"));
            if let Some(Cut { file, offset, bytes, .. }) = unfinished {
                tell(&format!(
                    "the last {bytes} bytes of '{file}', from byte {offset} on, are of a write that \
                     is under way, or that a crash left unfinished"
                ));
            }
            for Cut { file, bytes, .. } in files {
                tell(&format!(
                    "'{file}', {bytes} bytes, lies behind the end of the log, of writes that are \
                     under way, or that a crash left unfinished"
                ));
            }
        }
        Ok(Outcome::Found)
    }
}

impl Repair {
    pub(super) fn run(&self) -> Result<Outcome> {
        let repair = self.place.named(Store::repair(&self.place.store))?;
        if self.json {
            let skipped: Vec<_> = repair.skipped.iter().map(damage).collect();
            let keys: Vec<_> = repair.lost_keys.iter().map(lost).collect();
            print_record(&json!({
                "keys": repair.keys, "skipped": skipped, "lost_keys": keys,
                "set_aside": repair.set_aside,
            }))?;
            return Ok(Outcome::Found);
        }
        for error in &repair.skipped {
            tell(&format!("skipped: {error}"));
        }
        tell_lost(&repair.lost_keys);
        for name in &repair.set_aside {
            tell(&format!("set aside: {name}"));
        }
        tell_summary(&format!("{} keys", HumanCount(repair.keys)));
        if !repair.skipped.is_empty() {
            tell(
                "a key whose latest record was lost has its earlier value again, if there was one, even \
                 if it had been removed",
            );
        }
        Ok(Outcome::Found)
    }
}

impl Backup {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.writing().map_err(|error| match error.downcast_ref() {
            Some(Error::Locked) => anyhow!(
                "{} is in use by another process: make the backup when that has ended, or in that \
                 process, which can go on meanwhile (Store::backup)",
                self.place.context()
            ),
            _ => error,
        })?;
        store.backup(&self.target).with_context(|| {
            format!("cannot copy {} into '{}'", self.place.context(), self.target.display())
        })?;
        let stats = store.stats();
        self.place.named(store.close())?;
        if self.json {
            print_record(&json!({
                "keys": stats.keys, "files": stats.files, "log_bytes": stats.log_bytes,
            }))?;
        }
        Ok(Outcome::Found)
    }
}
