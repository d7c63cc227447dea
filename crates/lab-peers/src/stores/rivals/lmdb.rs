//! LMDB, by heed: a mapped B-tree, copied on write.

use std::path::Path;

use anyhow::Result;
use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions};

use crate::items::{Key, key, value};
use crate::peer::{Level, Peer, found, read};

/// Bytes of address space.
const MAP: usize = 64 << 30;

struct Lmdb {
    environment: Env,
    database: Database<Bytes, Bytes>,
}

pub(super) fn open(path: &Path, level: Level, _cache: usize) -> Result<Box<dyn Peer>> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP);
    let flags = match level {
        Level::Durable => EnvFlags::empty(),
        Level::Relaxed | Level::Busy => EnvFlags::NO_SYNC | EnvFlags::WRITE_MAP,
    };
    // SAFETY: the flags only give up durability, and nobody else opens or changes the file.
    let environment = unsafe {
        options.flags(flags);
        options.open(path)?
    };
    let mut transaction = environment.write_txn()?;
    let database = environment.create_database(&mut transaction, None)?;
    transaction.commit()?;
    Ok(Box::new(Lmdb { environment, database }))
}

impl Peer for Lmdb {
    fn put(&self, numbers: &[u64], _durable: bool) -> Result<()> {
        let mut transaction = self.environment.write_txn()?;
        for &n in numbers {
            self.database.put(&mut transaction, &key(n), &value(n))?;
        }
        Ok(transaction.commit()?)
    }

    fn get(&self, keys: &[Key]) -> Result<u64> {
        let transaction = self.environment.read_txn()?;
        found(keys, |key| Ok(self.database.get(&transaction, key)?.map(|value| value[0])))
    }

    fn scan(&self, prefix: &[u8]) -> Result<Option<u64>> {
        let transaction = self.environment.read_txn()?;
        let entries = self.database.prefix_iter(&transaction, prefix)?;
        read(entries.map(|entry| Ok(entry?.1[0]))).map(Some)
    }

    fn delete(&self, keys: &[Key]) -> Result<()> {
        let mut transaction = self.environment.write_txn()?;
        for key in keys {
            self.database.delete(&mut transaction, key)?;
        }
        Ok(transaction.commit()?)
    }

    /// It reuses pages, but only a copy of the file is smaller.
    fn compact(&mut self) -> Result<bool> {
        Ok(false)
    }
}
