//! A table that threads share as shards. Each shard is a table with one owner behind its own lock,
//! which single lookups pass without taking it while nobody changes the shard. Used for maps, whose
//! slots do not fit one word that could be changed at once.
//!
//! A key always belongs to the same shard, so everything that is true for a key of one table is
//! true here. Batches are split by shard, and take each lock once. The caller's functions are never
//! called under a lock or inside a gate, so they may use the map.

mod found;
mod lookup;
#[cfg(all(test, not(target_family = "wasm")))]
mod tests;

use std::ops::Range;

use crate::concurrent::sync::{Mutex, lock};
use crate::error::{BuildError, InsertError, UnionError};
use crate::geometry::MAX_CAPACITY;
use crate::growable::Growing;
use crate::layout::Copies;
use crate::locks::gates::{Gated, Reading, Writing};
use crate::table::traits::{Change, Lookup, Sealed};

/// The most shards: two threads rarely meet in one.
pub(crate) const MAX_SHARDS: usize = 64;
/// Spreads hashes over shards by other bits than those that tables look at.
const SPREAD: u64 = 0x9fb2_1c65_1e98_df25;
/// Hashes that are split at a time.
const ROUND: usize = 1 << 14;

/// Tables of one kind and shape, 1 to 64 and a power of two.
#[derive(Debug)]
pub struct Sharded<T> {
    shards: Box<[Gated<T>]>,
    /// Held while time advances in all shards, or while all are copied at one time. Otherwise a key
    /// that is refreshed meanwhile could be old in one copy, and expired by the time of the next.
    clock: Mutex<()>,
    /// The number of keys that it was built for.
    capacity: u64,
    value_bits: u32,
}

impl<T> Sealed for Sharded<T> {}

impl<T: Lookup> Sharded<T> {
    /// A table of these shards, which are a power of two.
    pub(crate) fn of(shards: Vec<T>, capacity: u64) -> Self {
        debug_assert!(shards.len().is_power_of_two() && shards.len() <= MAX_SHARDS);
        let value_bits = shards[0].value_bits();
        let shards = shards.into_iter().map(Gated::new).collect();
        Self { shards, clock: Mutex::default(), capacity, value_bits }
    }

    /// The number of the shard of a hash.
    #[inline]
    fn number(&self, hash: u64) -> usize {
        let mixed = (hash ^ hash >> 32).wrapping_mul(SPREAD);
        // At most 64; in two steps, because it may be one.
        (mixed >> 1 >> (63 - self.shards.len().trailing_zeros())) as usize
    }

    #[inline]
    fn shard(&self, number: usize) -> Reading<'_, T> {
        self.shards[number].read()
    }

    #[inline]
    fn shard_mut(&self, number: usize) -> Writing<'_, T> {
        self.shards[number].write()
    }

    fn numbers(&self) -> Range<usize> {
        0..self.shards.len()
    }

    /// Copies of the shards in order, each made when it is requested.
    pub(crate) fn copies(&self) -> impl ExactSizeIterator<Item = T>
    where
        T: Clone,
    {
        self.numbers().map(|number| self.shard(number).clone())
    }

    /// Copies of all shards at one time.
    fn snapshot(&self) -> Vec<T>
    where
        T: Clone,
    {
        self.at_one_time(|| self.copies().collect())
    }

    /// Runs an operation on all shards, while time stands still.
    pub(crate) fn at_one_time<R>(&self, operation: impl FnOnce() -> R) -> R {
        let _clock = lock(&self.clock);
        operation()
    }

    fn sum(&self, of: impl Fn(&T) -> u64) -> u64 {
        self.numbers().fold(0, |sum, number| sum.saturating_add(of(&*self.shard(number))))
    }

    /// Calls `each` for every shard that some of the hashes belong to: its number, their positions
    /// in order, and themselves.
    fn by_shard(&self, hashes: &[u64], mut each: impl FnMut(usize, &[usize], &[u64])) {
        for (round, hashes) in hashes.chunks(ROUND).enumerate() {
            let mut ends = [0; MAX_SHARDS];
            for &hash in hashes {
                ends[self.number(hash)] += 1;
            }
            let mut start = 0;
            for end in &mut ends {
                start += std::mem::replace(end, start);
            }
            let (mut positions, mut parted) = (vec![0; hashes.len()], vec![0; hashes.len()]);
            for (i, &hash) in hashes.iter().enumerate() {
                let at = &mut ends[self.number(hash)];
                (positions[*at], parted[*at]) = (round * ROUND + i, hash);
                *at += 1;
            }
            let mut start = 0;
            for number in self.numbers() {
                let part = start..ends[number];
                if !part.is_empty() {
                    each(number, &positions[part.clone()], &parted[part]);
                }
                start = ends[number];
            }
        }
    }
}

impl<T: Lookup> Sharded<T> {
    /// Calls `change` with one shard after another.
    pub(crate) fn each_mut(&self, mut change: impl FnMut(&mut T)) {
        self.numbers().for_each(|number| change(&mut self.shard_mut(number)));
    }

    pub(crate) fn last(&self) -> Reading<'_, T> {
        self.shard(self.shards.len() - 1)
    }

    /// Returns what `look` makes of the shard of a hash, if possible without a lock. `look` looks
    /// at nothing else that threads share.
    #[inline(always)]
    pub(crate) fn look<R>(&self, hash: u64, look: impl FnOnce(&T) -> R) -> R {
        self.shards[self.number(hash)].look(look)
    }

    pub(crate) fn of_hash_mut(&self, hash: u64) -> Writing<'_, T> {
        self.shard_mut(self.number(hash))
    }

    /// Calls `change` with each shard that some of the hashes belong to, their positions in order,
    /// and themselves.
    pub(crate) fn batch_mut(
        &self,
        hashes: &[u64],
        mut change: impl FnMut(&mut T, &[usize], &[u64]),
    ) {
        self.by_shard(hashes, |number, positions, hashes| {
            change(&mut self.shard_mut(number), positions, hashes);
        });
    }
}

impl<T: Change + Clone> Sharded<T> {
    pub(crate) fn insert(&self, hash: u64, value: u64) -> Result<(), InsertError> {
        self.shard_mut(self.number(hash)).insert(hash, value)
    }

    pub(crate) fn insert_batch(
        &self,
        hashes: &[u64],
        value: impl Fn(usize) -> u64,
        mut refused: impl FnMut(usize),
    ) {
        self.by_shard(hashes, |number, positions, hashes| {
            let value = |i: usize| value(positions[i]);
            self.shard_mut(number).insert_batch(hashes, value, |i| refused(positions[i]));
        });
    }

    /// Why a key was refused just now.
    pub(crate) fn refusal(&self) -> InsertError {
        InsertError::Full { len: self.len(), capacity: self.capacity }
    }

    pub(crate) fn remove(&self, hash: u64, value: u64) -> bool {
        self.shard_mut(self.number(hash)).remove(hash, value)
    }

    pub(crate) fn remove_batch(
        &self,
        hashes: &[u64],
        value: impl Fn(usize) -> u64,
        mut done: impl FnMut(usize, bool),
    ) {
        self.by_shard(hashes, |number, positions, hashes| {
            let value = |i: usize| value(positions[i]);
            self.shard_mut(number)
                .remove_batch(hashes, value, |i, found| done(positions[i], found));
        });
    }

    pub(crate) fn update(&self, hash: u64, old: u64, new: u64) -> bool {
        self.shard_mut(self.number(hash)).update(hash, old, new)
    }

    /// Empties one shard after another.
    pub(crate) fn clear(&self) {
        self.numbers().for_each(|number| self.shard_mut(number).clear());
    }
}

impl Sharded<Growing> {
    pub(crate) fn shrink(&self) {
        self.numbers().for_each(|number| self.shard_mut(number).shrink());
    }

    pub(crate) fn reserve(&self, keys: u64, value_bits: u32) -> Result<(), u64> {
        let shards = self.shards.len() as u64;
        // A shard's share, and five times what it differs by.
        let share = keys / shards + 5 * keys.div_ceil(shards).isqrt();
        self.numbers().try_for_each(|number| self.shard_mut(number).reserve(share, value_bits))
    }

    /// All shards in one table for one owner.
    pub(crate) fn to_one(&self) -> Result<Growing, UnionError> {
        let mut tables: Vec<Growing> = self.copies().collect();
        // Halves first, so that each key is copied six times and not up to 64 times.
        while let [_, _, ..] = tables[..] {
            let mut halves = tables.into_iter();
            tables = Vec::new();
            while let (Some(low), Some(high)) = (halves.next(), halves.next()) {
                tables.push(low.united(&high, Copies::Sum)?);
            }
        }
        Ok(tables.swap_remove(0))
    }
}

impl<T: Clone + Lookup> Clone for Sharded<T> {
    fn clone(&self) -> Self {
        Self::of(self.snapshot(), self.capacity)
    }
}

impl<T: Clone + Lookup + PartialEq> PartialEq for Sharded<T> {
    /// Whether the files of both would be the same, while no thread changes them.
    fn eq(&self, other: &Self) -> bool {
        // Never two locks at a time: a thread that compares these two in the other order could wait
        // for us forever.
        self.capacity == other.capacity
            && self.shards.len() == other.shards.len()
            && self.copies().zip(other.numbers()).all(|(ours, number)| ours == *other.shard(number))
    }
}

/// The keys that each of [`MAX_SHARDS`] growing tables has room for at first, if this many arrive.
pub(crate) fn growing_share(capacity: u64) -> Result<u64, BuildError> {
    in_range(capacity)?;
    Ok((capacity / MAX_SHARDS as u64).max(1))
}

/// The error names the whole table: a shard's size would look like that of a smaller table.
fn in_range(capacity: u64) -> Result<(), BuildError> {
    let is_one = (1..=MAX_CAPACITY).contains(&capacity);
    is_one.then_some(()).ok_or(BuildError::Capacity(capacity))
}

/// The shards of a table of fixed size for this many keys, and the keys that each has room for: its
/// share, and five standard deviations more.
pub(crate) fn fixed_shards(capacity: u64) -> Result<(usize, u64), BuildError> {
    /// Keys of a shard, at least: with fewer, room for their deviation would be most of it.
    const LEAST: u64 = 1 << 14;
    in_range(capacity)?;
    let most = (capacity / LEAST).clamp(1, MAX_SHARDS as u64);
    let shards = 1_u64 << most.ilog2();
    let share = capacity.div_ceil(shards);
    let spare = if shards == 1 { 0 } else { 5 * (share.isqrt() + 1) };
    // At most 64.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let number = shards as usize;
    Ok((number, share + spare))
}
