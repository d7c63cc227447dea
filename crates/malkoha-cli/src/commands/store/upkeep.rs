//! Looking after a store.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use malkoha_store::Store;
use serde_json::json;

use super::{Place, print_line};
use crate::failure::Outcome;
use crate::output::tell;
use crate::screen::print_record;

/// Print sizes
#[derive(Args, Debug)]
pub(super) struct Stats {
    #[command(flatten)]
    place: Place,

    /// Print a JSON record
    #[arg(long)]
    json: bool,
}

/// Give back the space of what was overwritten or removed
#[derive(Args, Debug)]
pub(super) struct Compact {
    #[command(flatten)]
    place: Place,
}

/// Read everything and compare it with its checksums
#[derive(Args, Debug)]
pub(super) struct Verify {
    #[command(flatten)]
    place: Place,
}

/// Save every whole record of a damaged store; damaged files stay under other names
#[derive(Args, Debug)]
pub(super) struct Repair {
    #[command(flatten)]
    place: Place,
}

/// Copy a store, by hard links where that can be
#[derive(Args, Debug)]
pub(super) struct Backup {
    #[command(flatten)]
    place: Place,

    /// Empty or new directory
    target: PathBuf,
}

impl Stats {
    pub(super) fn run(&self) -> Result<Outcome> {
        let stats = self.place.reading()?.stats();
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
        let lines = [
            ("keys", HumanCount(stats.keys).to_string()),
            ("log", format!("{} in {} files", HumanBytes(stats.log_bytes), stats.files)),
            ("dead", HumanBytes(stats.dead_bytes).to_string()),
            ("tombstones", HumanBytes(stats.tombstone_bytes).to_string()),
            ("index", HumanBytes(stats.index_bytes).to_string()),
        ]
        .map(|(label, value)| format!("{label:<13} {value}"));
        print_line(&lines.join("\n"))?;
        Ok(Outcome::Found)
    }
}

impl Compact {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.writing(false)?;
        let before = store.stats().log_bytes;
        self.place.named(store.compact())?;
        let after = store.stats().log_bytes;
        self.place.named(store.close())?;
        tell(&format!("{} before, {} now", HumanBytes(before), HumanBytes(after)));
        Ok(Outcome::Found)
    }
}

impl Verify {
    pub(super) fn run(&self) -> Result<Outcome> {
        let found = self.place.named(self.place.reading()?.verify())?;
        if let Some(first) = found.damage.first() {
            let more = found.damage.len() - 1;
            bail!("{}: {first} (and {more} more)", self.place.context());
        }
        tell(&format!("{} records, {} of them live: all whole", found.records, found.live));
        Ok(Outcome::Found)
    }
}

impl Repair {
    pub(super) fn run(&self) -> Result<Outcome> {
        let repair = self.place.named(Store::repair(&self.place.store))?;
        for error in &repair.skipped {
            tell(&format!("skipped: {error}"));
        }
        for name in &repair.set_aside {
            tell(&format!("set aside: {name}"));
        }
        tell(&format!("{} keys", HumanCount(repair.keys)));
        Ok(Outcome::Found)
    }
}

impl Backup {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.writing(false)?;
        self.place.named(store.backup(&self.target))?;
        self.place.named(store.close())?;
        Ok(Outcome::Found)
    }
}
