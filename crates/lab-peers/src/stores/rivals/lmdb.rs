//! LMDB, by heed: a mapped B-tree, copied on write.

use std::hint::black_box;
use std::path::Path;

use anyhow::Result;
use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions};

use crate::items::{Key, key, value};
use crate::peer::{Level, Peer};

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
        let mut found = 0;
        for key in keys {
            let value = self.database.get(&transaction, key)?;
            found += u64::from(value.map(|value| black_box(value[0])).is_some());
        }
        Ok(found)
    }

    fn scan(&self, prefix: &[u8]) -> Result<Option<u64>> {
        let transaction = self.environment.read_txn()?;
        let mut found = 0;
        for entry in self.database.prefix_iter(&transaction, prefix)? {
            black_box(entry?.1[0]);
            found += 1;
        }
        Ok(Some(found))
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
