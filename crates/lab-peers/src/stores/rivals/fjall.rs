//! fjall: a log-structured merge tree.

use std::path::Path;

use anyhow::Result;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::items::{Key, key, value};
use crate::peer::{Level, Peer, found, read};

struct Fjall {
    database: Database,
    records: Keyspace,
}

pub(super) fn open(path: &Path, _level: Level, cache: usize) -> Result<Box<dyn Peer>> {
    let database = Database::builder(path).cache_size(cache as u64).open()?;
    let records = database.keyspace("records", KeyspaceCreateOptions::default)?;
    Ok(Box::new(Fjall { database, records }))
}

impl Peer for Fjall {
    fn put(&self, numbers: &[u64], durable: bool) -> Result<()> {
        let level = if durable { PersistMode::SyncData } else { PersistMode::Buffer };
        let mut batch = self.database.batch().durability(Some(level));
        for &n in numbers {
            batch.insert(&self.records, key(n), value(n));
        }
        Ok(batch.commit()?)
    }

    fn get(&self, keys: &[Key]) -> Result<u64> {
        found(keys, |key| Ok(self.records.get(key)?.map(|value| value[0])))
    }

    fn scan(&self, prefix: &[u8]) -> Result<Option<u64>> {
        read(self.records.prefix(prefix).map(|entry| Ok(entry.into_inner()?.1[0]))).map(Some)
    }

    fn delete(&self, keys: &[Key]) -> Result<()> {
        let mut batch = self.database.batch().durability(Some(PersistMode::Buffer));
        for key in keys {
            batch.remove(&self.records, *key);
        }
        Ok(batch.commit()?)
    }

    fn compact(&mut self) -> Result<bool> {
        self.records.rotate_memtable_and_wait()?;
        self.records.major_compact()?;
        Ok(true)
    }
}
