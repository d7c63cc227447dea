//! fjall: a log-structured merge tree.

use std::hint::black_box;
use std::path::Path;

use anyhow::Result;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::items::{Key, key, value};
use crate::peer::{Level, Peer};

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
        let mut found = 0;
        for key in keys {
            let value = self.records.get(key)?;
            found += u64::from(value.map(|value| black_box(value[0])).is_some());
        }
        Ok(found)
    }

    fn scan(&self, prefix: &[u8]) -> Result<Option<u64>> {
        let mut found = 0;
        for entry in self.records.prefix(prefix) {
            let (_, value) = entry.into_inner()?;
            black_box(value[0]);
            found += 1;
        }
        Ok(Some(found))
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
