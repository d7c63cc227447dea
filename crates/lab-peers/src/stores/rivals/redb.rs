//! redb: a B-tree, copied on write.

use std::hint::black_box;
use std::path::Path;

use anyhow::Result;
use redb::{Database, Durability, ReadableDatabase, TableDefinition};

use crate::items::{Key, key, value};
use crate::peer::{Level, Peer, found};

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("records");

struct Redb(Database);

pub(super) fn open(path: &Path, _level: Level, cache: usize) -> Result<Box<dyn Peer>> {
    let file = path.join("redb");
    Ok(Box::new(Redb(Database::builder().set_cache_size(cache).create(file)?)))
}

impl Peer for Redb {
    fn put(&self, numbers: &[u64], durable: bool) -> Result<()> {
        let mut transaction = self.0.begin_write()?;
        let level = if durable { Durability::Immediate } else { Durability::None };
        transaction.set_durability(level)?;
        let mut table = transaction.open_table(TABLE)?;
        for &n in numbers {
            table.insert(&key(n)[..], &value(n)[..])?;
        }
        drop(table);
        Ok(transaction.commit()?)
    }

    fn get(&self, keys: &[Key]) -> Result<u64> {
        let transaction = self.0.begin_read()?;
        let table = transaction.open_table(TABLE)?;
        found(keys, |key| Ok(table.get(&key[..])?.map(|value| value.value()[0])))
    }

    fn scan(&self, prefix: &[u8]) -> Result<Option<u64>> {
        let transaction = self.0.begin_read()?;
        let table = transaction.open_table(TABLE)?;
        let mut found = 0;
        for entry in table.range(prefix..)? {
            let (key, value) = entry?;
            if !key.value().starts_with(prefix) {
                break;
            }
            black_box(value.value()[0]);
            found += 1;
        }
        Ok(Some(found))
    }

    fn delete(&self, keys: &[Key]) -> Result<()> {
        let mut transaction = self.0.begin_write()?;
        transaction.set_durability(Durability::None)?;
        let mut table = transaction.open_table(TABLE)?;
        for key in keys {
            table.remove(&key[..])?;
        }
        drop(table);
        Ok(transaction.commit()?)
    }

    fn compact(&mut self) -> Result<bool> {
        // It wants all that was written to be durable.
        self.0.begin_write()?.commit()?;
        self.0.compact()?;
        Ok(true)
    }
}
