//! The workloads of a store on flash, and of a table on flash whose records are overwritten in
//! place.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use malkoha_store::storage::{Storage, StorageFile};
use malkoha_store::{Durability, Options, Store};

use super::chip::Counts;
use super::files::Files;
use crate::keys::{Keys, scale};

/// Bytes of a key.
pub(super) const KEY: usize = 16;

/// The workloads, in the order in which they run on one device.
pub(super) const WORKLOADS: [&str; 3] =
    ["load in order", "overwrite at random", "delete one, put another"];

/// What keeps the records.
pub(super) trait Subject {
    fn put(&mut self, key: &[u8; KEY], slot: u64, value: &[u8]) -> Result<()>;
    fn delete(&mut self, key: &[u8; KEY], slot: u64) -> Result<()>;
    fn sync(&mut self) -> Result<()>;
    /// Ends the subject, and looks for the expected values after a power cycle.
    fn check(self: Box<Self>, files: &Files, expected: &[([u8; KEY], Vec<u8>)]) -> Result<()>;
}

/// The store, with its compaction in the background.
pub(super) struct Log(Store);

impl Log {
    pub(super) fn new(files: &Files) -> Result<Self> {
        Ok(Self(Store::open_in(Arc::new(files.clone()), None, &options())?))
    }
}

/// Only the workload syncs, and compaction is as fast as the device.
fn options() -> Options {
    Options::new().durability(Durability::System).compact_rate(u64::MAX).seed(1)
}

impl Subject for Log {
    fn put(&mut self, key: &[u8; KEY], _: u64, value: &[u8]) -> Result<()> {
        Ok(self.0.put(key, value)?)
    }

    fn delete(&mut self, key: &[u8; KEY], _: u64) -> Result<()> {
        ensure!(self.0.delete(key)?, "a key is missing");
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(self.0.sync()?)
    }

    fn check(self: Box<Self>, files: &Files, expected: &[([u8; KEY], Vec<u8>)]) -> Result<()> {
        self.0.close()?;
        files.power_cycle()?;
        let store = Store::open_in(Arc::new(files.clone()), None, &options())?;
        ensure!(store.len() == expected.len() as u64, "{} keys are left", store.len());
        for (key, value) in expected {
            ensure!(store.get(key)?.as_ref() == Some(value), "a value is lost");
        }
        Ok(store.close()?)
    }
}

/// A table of slots, each of which has one record.
pub(super) struct InPlace {
    file: Box<dyn StorageFile>,
    record: usize,
}

impl InPlace {
    const NAME: &str = "table";

    pub(super) fn new(files: &Files, slots: u64, value: usize) -> Result<Self> {
        let record = KEY + value;
        let file = files.create(Self::NAME, slots * record as u64)?;
        files.sync_directory()?;
        Ok(Self { file, record })
    }

    fn write(&self, slot: u64, bytes: &[u8]) -> Result<()> {
        Ok(self.file.write_at(slot * self.record as u64, bytes)?)
    }
}

impl Subject for InPlace {
    fn put(&mut self, key: &[u8; KEY], slot: u64, value: &[u8]) -> Result<()> {
        self.write(slot, &[&key[..], value].concat())
    }

    fn delete(&mut self, _: &[u8; KEY], slot: u64) -> Result<()> {
        self.write(slot, &[0; KEY])
    }

    fn sync(&mut self) -> Result<()> {
        Ok(self.file.sync()?)
    }

    fn check(self: Box<Self>, files: &Files, expected: &[([u8; KEY], Vec<u8>)]) -> Result<()> {
        self.file.sync()?;
        let record = self.record;
        drop(self);
        files.power_cycle()?;
        let bytes = files.open(Self::NAME, false)?.view()?;
        for (slot, (key, value)) in expected.iter().enumerate() {
            let found = bytes.get((slot * record) as u64, record).context("a short table")?;
            ensure!(*found == [&key[..], value].concat(), "a record is lost");
        }
        Ok(())
    }
}

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    /// Records.
    pub(super) keys: u64,
    /// Bytes of a value.
    pub(super) value: usize,
    /// Operations of the second and the third workload for each record.
    pub(super) turns: u64,
    /// Operations between two syncs.
    pub(super) sync: u64,
    pub(super) seed: u64,
}

/// What a workload cost.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    /// Bytes of the keys and values that were given.
    pub(super) given: u64,
    pub(super) counts: Counts,
    /// Erases of each block.
    pub(super) wear: Vec<u32>,
}

/// Runs all workloads on a subject, and checks at the end that all records are there.
pub(super) fn run(
    mut subject: Box<dyn Subject>,
    files: &Files,
    amount: Amount,
) -> Result<Vec<Cost>> {
    let Amount { keys, value, turns, sync, seed } = amount;
    let random = Keys::new(seed);
    // The key in each slot, and how often its value was changed.
    let mut slots: Vec<(u64, u64)> = (0..keys).map(|number| (number, 0)).collect();
    let mut costs = Vec::new();
    for workload in 0..WORKLOADS.len() {
        let before = files.chip(|chip| (chip.counts(), chip.wear()));
        let operations = if workload == 0 { keys } else { keys * turns };
        let mut given = 0;
        for operation in 0..operations {
            let slot = match workload {
                0 => operation,
                _ => scale(random.key((workload as u64) << 40 | operation), keys),
            };
            let held = &mut slots[usize::try_from(slot)?];
            match workload {
                0 => {}
                1 => held.1 += 1,
                _ => {
                    subject.delete(&key(random, *held), slot)?;
                    given += KEY as u64;
                    *held = (keys + operation, 0);
                }
            }
            subject.put(&key(random, *held), slot, &value_of(random, *held, value))?;
            given += (KEY + value) as u64;
            if (operation + 1) % sync == 0 {
                subject.sync()?;
            }
        }
        subject.sync()?;
        costs.push(files.chip(|chip| {
            let (now, counts) = (chip.counts(), before.0);
            let wear = chip.wear().iter().zip(&before.1).map(|(now, then)| now - then).collect();
            let counts = Counts {
                written: now.written - counts.written,
                copied: now.copied - counts.copied,
                erases: now.erases - counts.erases,
            };
            Cost { given, counts, wear }
        }));
    }
    let expected: Vec<_> =
        slots.into_iter().map(|held| (key(random, held), value_of(random, held, value))).collect();
    subject.check(files, &expected)?;
    Ok(costs)
}

fn key(random: Keys, (number, _): (u64, u64)) -> [u8; KEY] {
    let mut key = [0; KEY];
    key[..8].copy_from_slice(&random.key(number).to_le_bytes());
    key[8..].copy_from_slice(&number.to_le_bytes());
    key
}

fn value_of(random: Keys, (number, change): (u64, u64), bytes: usize) -> Vec<u8> {
    random.key(number ^ change << 32).to_le_bytes().into_iter().cycle().take(bytes).collect()
}
