//! From a key's hash to the locations at which its record may lie.
//!
//! The index is a [`GrowableCuckooMap`] in 64 shards, each behind a lock of its own. A shard grows
//! a segment at a time, so no write waits for long. A snapshot shares the shards with the store
//! until the store changes them: taking one costs nothing, and changing a shared shard copies it
//! once.

mod candidates;
mod checkpoint;
mod renewal;
mod widening;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use malkoha::locks::biased::{Biased, Open, Writing};
use malkoha::{GrowableCuckooMap, Sole};

use crate::error::{Error, Result};

use candidates::Candidates;
pub(crate) use checkpoint::{
    Checkpoint, FileEntry, NAME as CHECKPOINT, TEMPORARY, read, remove, size, write,
};

/// Shards: a power of two.
pub(crate) const SHARDS: usize = 64;
const SHARD_BITS: u32 = SHARDS.trailing_zeros();
/// Bits of a location: 2^40 units of 8 bytes are 8 TiB.
const LOCATION_BITS: u32 = 40;
/// The share of absent keys that cost a look into the log, at most, until the shards have grown by
/// `GROWTH`. At this rate fingerprints have 14 bits once a shard has split: short enough to compare
/// four in one word of 64 bits.
const FPR: f64 = 0.003;
/// The share of occupied slots below which shrinking a shard is worthwhile. Growth alone leaves
/// more.
const SPARSE: f64 = 0.7;
/// Keys that a shard begins with, and the growth until which it keeps the rate. At eight times as
/// many keys, 250 million in all shards, segments could not split any more, were it not for
/// `renewal`.
const SHARD_CAPACITY: u64 = 256;
const GROWTH: f64 = 2048.0;

pub(crate) type Shard = Arc<GrowableCuckooMap>;

/// Keys, by their hashes.
pub(crate) struct Index {
    shards: Box<[Biased<Shard>; SHARDS]>,
    keys: AtomicU64,
    /// How far the shards have been widened, see `widening`.
    widened: AtomicUsize,
    /// For each shard, the splits that were left after its last renewal.
    settled: [AtomicU32; SHARDS],
}

/// An [`Index`] that does not change.
#[derive(Clone)]
pub(crate) struct IndexSnapshot {
    shards: Box<[Shard]>,
}

/// The highest bits choose the shard; the map of a shard gets the others as its highest.
#[inline(always)]
fn place(hash: u64) -> (usize, u64) {
    (crate::log::to_usize(hash >> (u64::BITS - SHARD_BITS)), hash.rotate_left(SHARD_BITS))
}

/// The shard of a hash.
#[inline(always)]
pub(crate) fn shard_of(hash: u64) -> usize {
    place(hash).0
}

fn empty_shard(fpr: f64, growth: f64) -> Result<Shard> {
    let builder = GrowableCuckooMap::builder().capacity(SHARD_CAPACITY).fpr(fpr).growth(growth);
    let map = builder
        .value_bits(LOCATION_BITS)
        .build()
        .map_err(|_| Error::Option("the index has no such shape"))?;
    Ok(Arc::new(map))
}

impl Index {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self::from_shards((0..SHARDS).map(|_| empty_shard(FPR, GROWTH)).collect::<Result<_>>()?))
    }

    /// One in which too little is known of keys after two splits.
    #[cfg(test)]
    pub(crate) fn worn_soon() -> Self {
        Self::from_shards((0..SHARDS).map(|_| empty_shard(0.1, 1.0).unwrap()).collect())
    }

    /// Exactly [`SHARDS`] shards.
    fn from_shards(shards: Vec<Shard>) -> Self {
        let keys = shards.iter().map(|shard| shard.len()).sum();
        let shards: Box<[Biased<Shard>]> = shards.into_iter().map(Biased::new).collect();
        Self {
            shards: shards.try_into().unwrap_or_else(|_| panic!("shards of an index")),
            keys: AtomicU64::new(keys),
            widened: AtomicUsize::new(0),
            settled: [const { AtomicU32::new(u32::MAX) }; SHARDS],
        }
    }

    /// Keys.
    pub(crate) fn len(&self) -> u64 {
        self.keys.load(Ordering::Relaxed)
    }

    /// Bytes of all shards.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.read().size_in_bytes()).sum()
    }

    /// What [`find`](Self::find) looks at, without a lock, if there is nothing to wait for; and the
    /// hash there.
    #[inline(always)]
    pub(crate) fn open(&self, hash: u64) -> Option<(Open<'_, Shard>, u64)> {
        let (shard, hash) = place(hash);
        Some((self.shards[shard].open()?, hash))
    }

    /// The locations of a hash, if it has any, and the result of `with`. No location of the hash
    /// changes before `with` returns.
    pub(crate) fn find<T>(&self, hash: u64, with: impl FnOnce() -> T) -> Option<(Candidates, T)> {
        let (shard, hash) = place(hash);
        let shard = self.shards[shard].read();
        Some((Candidates::of(&shard, hash)?, with()))
    }

    /// Whether the record at this location is the present one of its key.
    pub(crate) fn has(&self, hash: u64, location: u64) -> bool {
        let (shard, hash) = place(hash);
        self.shards[shard].read().get_hash(hash).any(|found| found == location)
    }

    /// The candidates of many hashes: calls `each(position, location)`.
    pub(crate) fn find_many(&self, hashes: &[u64], mut each: impl FnMut(usize, u64)) {
        let (order, begins) = by_shard(hashes);
        let sorted: Vec<u64> = order.iter().map(|&i| place(hashes[i as usize]).1).collect();
        let mut found = vec![Sole::Absent; hashes.len()];
        for (number, run) in begins.windows(2).map(|ends| ends[0]..ends[1]).enumerate() {
            if run.is_empty() {
                continue;
            }
            let shard = self.shards[number].read();
            let (hashes, found) = (&sorted[run.clone()], &mut found[run.clone()]);
            shard.sole_candidates(hashes, found);
            for ((&i, sole), &hash) in order[run].iter().zip(found).zip(hashes) {
                match *sole {
                    Sole::Absent => {}
                    Sole::Value(location) => each(i as usize, location),
                    Sole::Several => shard.get_hash(hash).for_each(|it| each(i as usize, it)),
                }
            }
        }
    }

    /// Prefetches the memory of a hash.
    pub(crate) fn prefetch(&self, hash: u64) {
        let (shard, hash) = place(hash);
        self.shards[shard].read().prefetch_hash(hash);
    }

    /// One shard, for changes.
    #[inline]
    pub(crate) fn shard_mut(&self, number: usize) -> ShardMut<'_> {
        let shard = self.shards[number].write();
        ShardMut { before: shard.len(), shard, keys: &self.keys }
    }

    /// The shard of a hash, for changes.
    #[inline]
    pub(crate) fn shard_mut_of(&self, hash: u64) -> ShardMut<'_> {
        self.shard_mut(shard_of(hash))
    }

    /// Returns memory, shard by shard, if much of it is unused.
    pub(crate) fn shrink(&self) {
        for number in 0..SHARDS {
            let mut shard = self.shard_mut(number);
            if shard.shard.load_factor() < SPARSE {
                shard.shrink();
                self.settled[number].store(u32::MAX, Ordering::Relaxed);
            }
        }
        // Shards that were widened need it again.
        self.widened.store(0, Ordering::Relaxed);
    }

    /// All shards as they are. Nobody may write meanwhile, or the shards would be of different
    /// times.
    pub(crate) fn snapshot(&self) -> IndexSnapshot {
        IndexSnapshot {
            shards: self.shards.iter().map(|shard| Arc::clone(&shard.read())).collect(),
        }
    }
}

impl IndexSnapshot {
    pub(crate) fn len(&self) -> u64 {
        self.shards.iter().map(|shard| shard.len()).sum()
    }

    pub(crate) fn find(&self, hash: u64) -> Option<Candidates> {
        let (shard, hash) = place(hash);
        Candidates::of(&self.shards[shard], hash)
    }

    /// Whether the record at this location was the present one of its key.
    pub(crate) fn has(&self, hash: u64, location: u64) -> bool {
        let (shard, hash) = place(hash);
        self.shards[shard].get_hash(hash).any(|found| found == location)
    }
}

/// One shard, locked.
pub(crate) struct ShardMut<'a> {
    shard: Writing<'a, Shard>,
    keys: &'a AtomicU64,
    before: u64,
}

impl ShardMut<'_> {
    pub(crate) fn find(&self, hash: u64) -> Option<Candidates> {
        Candidates::of(&self.shard, place(hash).1)
    }

    pub(crate) fn prefetch(&self, hash: u64) {
        self.shard.prefetch_hash(place(hash).1);
    }

    /// Makes room for `keys` keys, with locations up to this one.
    pub(crate) fn reserve(&mut self, keys: u64, location: u64) -> Result<()> {
        Ok(Arc::make_mut(&mut self.shard).reserve(keys, location.min((1 << LOCATION_BITS) - 1))?)
    }

    /// Returns room that is not needed.
    pub(crate) fn shrink(&mut self) {
        Arc::make_mut(&mut self.shard).shrink_to_fit();
    }

    /// Adds a key that is not in.
    pub(crate) fn insert(&mut self, hash: u64, location: u64) -> Result<()> {
        Ok(Arc::make_mut(&mut self.shard).insert_hash(place(hash).1, location)?)
    }

    /// Moves a key that is in.
    pub(crate) fn update(&mut self, hash: u64, old: u64, new: u64) -> Result<()> {
        Arc::make_mut(&mut self.shard).update_hash(place(hash).1, old, new)?;
        Ok(())
    }

    /// Removes a key that is in.
    pub(crate) fn remove(&mut self, hash: u64, location: u64) {
        Arc::make_mut(&mut self.shard).remove_hash(place(hash).1, location);
    }
}

impl Drop for ShardMut<'_> {
    fn drop(&mut self) {
        let change = self.shard.len().wrapping_sub(self.before);
        self.keys.fetch_add(change, Ordering::Relaxed);
    }
}

/// The positions of the hashes, those of a shard together, and where those of each shard begin.
/// Fewer than 2^32.
fn by_shard(hashes: &[u64]) -> (Vec<u32>, [usize; SHARDS + 1]) {
    // The count of a shard is two entries behind its own, so that filling moves it to the next.
    let mut begins = [0; SHARDS + 2];
    for &hash in hashes {
        begins[shard_of(hash) + 2] += 1;
    }
    for shard in 1..=SHARDS {
        begins[shard + 1] += begins[shard];
    }
    let mut order = vec![0; hashes.len()];
    for (i, &hash) in (0..).zip(hashes) {
        let at = &mut begins[shard_of(hash) + 1];
        order[*at] = i;
        *at += 1;
    }
    (order, std::array::from_fn(|shard| begins[shard]))
}

/// The error of an entry that leads nowhere.
#[cold]
pub(crate) fn lost_file() -> Error {
    Error::Damaged { file: CHECKPOINT.to_owned(), offset: 0, what: "a location lies in no file" }
}
