//! Our own store.

use std::hint::black_box;
use std::path::Path;

use anyhow::Result;
use malkoha_store::{Batch, Durability, Options, Store};

use crate::items::{Key, key, value};
use crate::peer::{Level, Peer, found, read};

pub(crate) struct Ours(Store);

pub(crate) fn open(path: &Path, level: Level, _cache: usize) -> Result<Box<dyn Peer>> {
    open_with(path, level, false)
}

pub(crate) fn open_ordered(path: &Path, level: Level, _cache: usize) -> Result<Box<dyn Peer>> {
    open_with(path, level, true)
}

fn open_with(path: &Path, level: Level, ordered: bool) -> Result<Box<dyn Peer>> {
    let durability = match level {
        Level::Durable => Durability::Always,
        Level::Relaxed | Level::Busy => Durability::System,
    };
    // Half of the keys are deleted, and the space is measured before compaction and after.
    let options = Options::new().durability(durability).background(level == Level::Busy);
    let options = options.ordered(ordered);
    Ok(Box::new(Ours(Store::open(path, &options)?)))
}

impl Peer for Ours {
    fn put(&self, numbers: &[u64], _durable: bool) -> Result<()> {
        if let &[n] = numbers {
            return Ok(self.0.put(&key(n), &value(n))?);
        }
        let mut batch = Batch::new();
        for &n in numbers {
            batch.put(&key(n), &value(n))?;
        }
        Ok(self.0.apply(&batch).map(drop)?)
    }

    fn get(&self, keys: &[Key]) -> Result<u64> {
        found(keys, |key| Ok(self.0.get_with(key, |value| value[0])?))
    }

    fn get_many(&self, keys: &[Key]) -> Result<Option<u64>> {
        let mut found = 0;
        self.0.get_many(keys, |_, value| {
            found += u64::from(value.map(|value| black_box(value[0])).is_some());
        })?;
        Ok(Some(found))
    }

    fn scan(&self, prefix: &[u8]) -> Result<Option<u64>> {
        if !self.0.main().is_ordered() {
            return Ok(None);
        }
        let snapshot = self.0.snapshot();
        read(snapshot.prefix(prefix)?.map(|entry| Ok(entry?.value[0]))).map(Some)
    }

    fn delete(&self, keys: &[Key]) -> Result<()> {
        let mut batch = Batch::new();
        for key in keys {
            batch.delete(key)?;
        }
        Ok(self.0.apply(&batch).map(drop)?)
    }

    fn compact(&mut self) -> Result<bool> {
        self.0.compact()?;
        Ok(true)
    }

    fn index_bytes(&self) -> Option<u64> {
        let stats = self.0.stats();
        Some(stats.index_bytes + stats.order_bytes)
    }
}
