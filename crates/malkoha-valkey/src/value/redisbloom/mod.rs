//! A cuckoo filter as RedisBloom lays it out: a chain of tables of one-byte fingerprints.
//! docs/REDISBLOOM.md has the format.
//!
//! Items are looked for in it and deleted from it. New ones go into our filter in the same value.

mod murmur;
mod transfer;

use murmur::murmur64a;
pub(crate) use transfer::{ENCODING_VERSION, HEADER_BYTES};

use super::stats::{self, measure};

/// The alternate place differs by the fingerprint times this.
const STEP: u64 = 0x5bd1_e995;
/// A slot without a fingerprint.
const VACANT: u8 = 0;
/// Fingerprints are 1 to this.
const FINGERPRINTS: u64 = 255;

/// The tables, oldest first: at least one.
#[derive(Debug)]
pub(crate) struct Chain {
    tables: Vec<Table>,
    shape: Shape,
    /// Copies that were deleted since the last compaction.
    deleted: u64,
    /// The bytes that it takes, as the server counts them.
    bytes: u64,
}

/// The common properties of all tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Buckets of the first table: a power of two.
    pub(crate) buckets: u64,
    /// Slots per bucket.
    pub(crate) bucket_size: u16,
    pub(crate) max_iterations: u16,
    /// How many times the buckets of one table the next one has; 0 if there is to be no other.
    pub(crate) expansion: u16,
}

#[derive(Clone, Debug)]
struct Table {
    slots: Vec<u8>,
    /// Buckets less one: their number is a power of two.
    mask: u64,
    occupied: u64,
}

/// Where an item can be: the bucket is the remainder of either hash.
#[derive(Clone, Copy)]
struct Probe {
    fingerprint: u8,
    hashes: [u64; 2],
}

impl Probe {
    fn of(item: &[u8]) -> Self {
        let hash = murmur64a(item);
        // Below 256.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let fingerprint = (hash % FINGERPRINTS + 1) as u8;
        Self::at(fingerprint, hash)
    }

    /// From a place in any table: tables with fewer buckets see its low bits.
    fn at(fingerprint: u8, hash: u64) -> Self {
        Self { fingerprint, hashes: [hash, hash ^ (u64::from(fingerprint) * STEP)] }
    }
}

impl Table {
    fn new(slots: Vec<u8>, bucket_size: usize) -> Self {
        let occupied = occupied(&slots);
        Self { mask: (slots.len() / bucket_size) as u64 - 1, slots, occupied }
    }

    /// The first slots of both buckets; the same twice where they coincide.
    fn starts(&self, probe: Probe, bucket_size: usize) -> [usize; 2] {
        // Below the number of slots, which are in memory.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        probe.hashes.map(|hash| (hash & self.mask) as usize * bucket_size)
    }

    fn copies(&self, probe: Probe, bucket_size: usize) -> u64 {
        let [first, second] = self.starts(probe, bucket_size);
        let of = |start: usize| {
            let bucket = &self.slots[start..start + bucket_size];
            bucket.iter().filter(|&&slot| slot == probe.fingerprint).count() as u64
        };
        of(first) + if first == second { 0 } else { of(second) }
    }

    /// The first slot of both buckets that holds this.
    fn find(&self, probe: Probe, bucket_size: usize, wanted: u8) -> Option<usize> {
        self.starts(probe, bucket_size).into_iter().find_map(|start| {
            let bucket = &self.slots[start..start + bucket_size];
            bucket.iter().position(|&slot| slot == wanted).map(|at| start + at)
        })
    }
}

fn occupied(slots: &[u8]) -> u64 {
    slots.iter().filter(|&&slot| slot != VACANT).count() as u64
}

impl Chain {
    /// Of tables that are there, at least one; `held` is what they take.
    fn of(tables: Vec<Table>, shape: Shape, deleted: u64, held: i64) -> Self {
        let mut chain = Self { tables, shape, deleted, bytes: 0 };
        stats::REDISBLOOM.add(1);
        chain.grown_by(held);
        chain
    }

    /// Itself, with nothing left here.
    pub(crate) fn take(&mut self) -> Self {
        let empty = Self::of(Vec::new(), self.shape, 0, 0);
        std::mem::replace(self, empty)
    }

    pub(crate) const fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(crate) const fn deleted(&self) -> u64 {
        self.deleted
    }

    /// The bytes that it takes, as the server counts them.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Copies of items that are in.
    pub(crate) fn len(&self) -> u64 {
        self.tables.iter().map(|table| table.occupied).sum()
    }

    pub(crate) fn slots(&self) -> u64 {
        self.tables.iter().map(|table| table.slots.len() as u64).sum()
    }

    /// The expected share of absent items that it says are in: each of a table's slots that a
    /// lookup meets matches one in 255.
    pub(crate) fn expected_fpr(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let missed = |table: &Table| {
            let load = table.occupied as f64 / table.slots.len() as f64;
            (1.0 - load / FINGERPRINTS as f64).powi(2 * i32::from(self.shape.bucket_size))
        };
        1.0 - self.tables.iter().map(missed).product::<f64>()
    }

    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        let probe = Probe::of(item);
        let found = |table: &Table| table.find(probe, self.bucket_size(), probe.fingerprint);
        self.tables.iter().any(|table| found(table).is_some())
    }

    pub(crate) fn count(&self, item: &[u8]) -> u64 {
        let probe = Probe::of(item);
        self.tables.iter().map(|table| table.copies(probe, self.bucket_size())).sum()
    }

    /// Deletes a copy of an item, of the newest table first; returns whether it was there.
    pub(crate) fn remove(&mut self, item: &[u8]) -> bool {
        let (probe, bucket_size) = (Probe::of(item), self.bucket_size());
        let found = self.tables.iter_mut().rev().find_map(|table| {
            let at = table.find(probe, bucket_size, probe.fingerprint)?;
            Some((table, at))
        });
        let Some((table, at)) = found else { return false };
        table.slots[at] = VACANT;
        table.occupied -= 1;
        // A dump may claim any number of earlier deletions.
        self.deleted = self.deleted.saturating_add(1);
        stats::DELETED.add(1);
        self.drop_empty();
        true
    }

    /// Moves what newer tables hold into older ones that have room, and drops those that are empty
    /// then.
    pub(crate) fn compact(&mut self) {
        let bucket_size = self.bucket_size();
        for number in (1..self.tables.len()).rev() {
            let (older, newer) = self.tables.split_at_mut(number);
            let newer = &mut newer[0];
            for at in 0..newer.slots.len() {
                let fingerprint = newer.slots[at];
                if fingerprint == VACANT {
                    continue;
                }
                // No older table has more buckets.
                let probe = Probe::at(fingerprint, (at / bucket_size) as u64);
                let room = older.iter_mut().find_map(|table| {
                    let at = table.find(probe, bucket_size, VACANT)?;
                    Some((table, at))
                });
                if let Some((table, vacant)) = room {
                    table.slots[vacant] = fingerprint;
                    table.occupied += 1;
                    newer.slots[at] = VACANT;
                    newer.occupied -= 1;
                }
            }
        }
        self.deleted = 0;
        self.drop_empty();
    }

    /// Gives back the memory of the newest tables as far as they are empty.
    fn drop_empty(&mut self) {
        let is_empty = |tables: &[Table]| matches!(tables, [_, .., last] if last.occupied == 0);
        if is_empty(&self.tables) {
            let ((), bytes) = measure(|| {
                while is_empty(&self.tables) {
                    self.tables.pop();
                }
            });
            self.grown_by(bytes);
        }
    }

    fn bucket_size(&self) -> usize {
        self.shape.bucket_size.into()
    }

    fn grown_by(&mut self, bytes: i64) {
        self.bytes = self.bytes.saturating_add_signed(bytes);
        stats::BYTES.add(bytes.cast_unsigned());
    }
}

impl Clone for Chain {
    fn clone(&self) -> Self {
        let (tables, held) = measure(|| self.tables.clone());
        Self::of(tables, self.shape, self.deleted, held)
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        stats::REDISBLOOM.subtract(1);
        stats::BYTES.subtract(self.bytes);
    }
}
