//! What memory allows: records in an array, and the place of each in an open table.
//!
//! Nothing is on a device, nothing is checked but the key, and the lock is taken once for all keys
//! of a call. Like any store with its index in memory it waits for two places a lookup, one after
//! the other.

use std::hash::BuildHasher;
use std::hint::black_box;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use anyhow::{Result, bail};
use foldhash::fast::FixedState;

use crate::items::{KEY, Key, VALUE, key, value};
use crate::peer::{Level, Peer};

const RECORD: usize = KEY + VALUE;
/// Keys of a batch whose waits overlap.
const AT_ONCE: usize = 64;

#[derive(Default)]
struct Table {
    records: Vec<[u8; RECORD]>,
    /// Numbers of records, from 1, where the hash of the key points, or behind; 0 is free. A power
    /// of two, at least two for each record.
    slots: Vec<u32>,
}

struct Array(RwLock<Table>);

pub(crate) fn open(_path: &Path, _level: Level, _cache: usize) -> Result<Box<dyn Peer>> {
    Ok(Box::new(Array(RwLock::default())))
}

impl Table {
    /// Where the hash of a key points.
    #[inline]
    fn slot(&self, key: &Key) -> usize {
        let hash = FixedState::default().hash_one(u128::from_le_bytes(*key));
        #[expect(clippy::cast_possible_truncation, reason = "the bits of a mask")]
        let at = hash as usize & (self.slots.len() - 1);
        at
    }

    /// The number of a key's record, or where it would be.
    #[inline]
    fn find(&self, key: &Key) -> Result<usize, usize> {
        let mut at = self.slot(key);
        loop {
            match self.slots[at] {
                0 => return Err(at),
                n if self.records[n as usize - 1][..KEY] == *key => return Ok(n as usize - 1),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    fn grow(&mut self) -> Result<()> {
        self.slots = vec![0; (2 * self.slots.len()).max(1 << 10)];
        for n in 0..self.records.len() {
            let key = self.records[n][..KEY].try_into()?;
            let Err(at) = self.find(&key) else { bail!("a key is there twice") };
            self.slots[at] = u32::try_from(n + 1)?;
        }
        Ok(())
    }

    fn put(&mut self, n: u64) -> Result<()> {
        if self.slots.len() <= 2 * self.records.len() {
            self.grow()?;
        }
        let mut record = [0; RECORD];
        record[..KEY].copy_from_slice(&key(n));
        record[KEY..].copy_from_slice(&value(n));
        match self.find(&key(n)) {
            Ok(there) => self.records[there] = record,
            Err(at) => {
                self.records.push(record);
                self.slots[at] = u32::try_from(self.records.len())?;
            }
        }
        Ok(())
    }
}

/// How many of the keys are there.
fn look(table: &Table, keys: &[Key]) -> u64 {
    let there = |key| table.find(key).map(|n| black_box(table.records[n][KEY])).is_ok();
    keys.iter().map(|key| u64::from(there(key))).sum()
}

impl Array {
    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Peer for Array {
    fn put(&self, numbers: &[u64], _durable: bool) -> Result<()> {
        let mut table = self.write();
        numbers.iter().try_for_each(|&n| table.put(n))
    }

    fn get(&self, keys: &[Key]) -> Result<u64> {
        Ok(look(&self.read(), keys))
    }

    /// Touches what a lookup will wait for, key after key: the waits overlap.
    fn get_many(&self, keys: &[Key]) -> Result<Option<u64>> {
        let table = self.read();
        let mut found = 0;
        let mut numbers = [0; AT_ONCE];
        for keys in keys.chunks(AT_ONCE) {
            for (number, key) in numbers.iter_mut().zip(keys) {
                *number = table.slots[table.slot(key)];
            }
            for &number in numbers[..keys.len()].iter().filter(|&&number| number > 0) {
                black_box(table.records[number as usize - 1][0]);
            }
            found += look(&table, keys);
        }
        Ok(Some(found))
    }

    fn delete(&self, _keys: &[Key]) -> Result<()> {
        bail!("records of an array stay")
    }

    fn compact(&mut self) -> Result<bool> {
        Ok(false)
    }
}
