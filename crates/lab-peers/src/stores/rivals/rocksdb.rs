//! RocksDB: a log-structured merge tree.

use std::hint::black_box;
use std::path::Path;

use anyhow::{Context, Result};
use rocksdb::{
    ColumnFamilyDescriptor, DB, DEFAULT_COLUMN_FAMILY_NAME, Options, ReadOptions, WriteBatch,
    WriteOptions,
};

use crate::items::{Key, key, value};
use crate::peer::{Level, Peer, found};

/// Keys that are looked up at once: it sorts them, and sorting more takes longer than it saves.
const AT_ONCE: usize = 256;

struct RocksDb {
    database: DB,
    read: ReadOptions,
    relaxed: WriteOptions,
    durable: WriteOptions,
}

pub(super) fn open(path: &Path, _level: Level, cache: usize) -> Result<Box<dyn Peer>> {
    let mut options = Options::default();
    options.create_if_missing(true);
    // Its own choice for this work: Bloom filters of 10 bits a key, also in front of what is not
    // sorted yet, hash tables within blocks, and the cache.
    options.optimize_for_point_lookup(cache as u64 >> 20);
    // Named, or its handle cannot be had.
    let records = ColumnFamilyDescriptor::new(DEFAULT_COLUMN_FAMILY_NAME, options.clone());
    let database = DB::open_cf_descriptors(&options, path, [records])?;
    let mut durable = WriteOptions::default();
    durable.set_sync(true);
    let (read, relaxed) = (ReadOptions::default(), WriteOptions::default());
    Ok(Box::new(RocksDb { database, read, relaxed, durable }))
}

impl Peer for RocksDb {
    fn put(&self, numbers: &[u64], durable: bool) -> Result<()> {
        let options = if durable { &self.durable } else { &self.relaxed };
        let mut batch = WriteBatch::default();
        for &n in numbers {
            batch.put(key(n), value(n));
        }
        Ok(self.database.write_opt(batch, options)?)
    }

    fn get(&self, keys: &[Key]) -> Result<u64> {
        found(keys, |key| Ok(self.database.get_pinned_opt(key, &self.read)?.map(|value| value[0])))
    }

    fn get_many(&self, keys: &[Key]) -> Result<Option<u64>> {
        let records = self.database.cf_handle(DEFAULT_COLUMN_FAMILY_NAME).context("no records")?;
        let mut found = 0;
        for keys in keys.chunks(AT_ONCE) {
            for value in self.database.batched_multi_get_cf_opt(records, keys, false, &self.read) {
                found += u64::from(value?.map(|value| black_box(value[0])).is_some());
            }
        }
        Ok(Some(found))
    }

    fn delete(&self, keys: &[Key]) -> Result<()> {
        let mut batch = WriteBatch::default();
        for key in keys {
            batch.delete(key);
        }
        Ok(self.database.write_opt(batch, &self.relaxed)?)
    }

    fn compact(&mut self) -> Result<bool> {
        self.database.compact_range(None::<Key>, None::<Key>);
        Ok(true)
    }
}
