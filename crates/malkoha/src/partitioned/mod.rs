//! A growing table that threads share: a tree of segments in partitions, each a table of one owner
//! behind a lock of its own. The lock lets readers in together, and lets single lookups pass
//! without it while no thread changes the partition.
//!
//! A partition has the keys whose paths have a common prefix. When its first segment splits, each
//! half becomes a partition, until there are 64. So a small table is one partition, and a large one
//! has enough of them that two threads rarely need the same one. All partitions together are the
//! segments of one [`Growing`]: they have the same files and the same guarantees.
//!
//! Batches are sorted by partition and take each lock once. No function of the caller runs under a
//! lock.

mod batch;
mod fill;
mod lookup;
mod partition;
#[cfg(all(test, not(target_family = "wasm")))]
mod tests;

pub use partition::Partition;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use fill::Announced;

use crate::error::{BuildError, InsertError};
use crate::growable::{Gathered, Growing, Home, MAX_PARTITIONS, Shape, partition_number};
use crate::locks::biased::{Biased, Open, Reading, Writing};
use crate::sync::{Mutex, lock};
use crate::table::memory;
use crate::table::traits::Sealed;

/// A growing table that any number of threads read and change at the same time.
#[derive(Debug)]
pub struct Partitioned<T = Growing> {
    /// Indexed by the number of the first deepest partition in each. The first one always exists. A
    /// partition never goes away. It can only give its upper half to another one.
    partitions: Box<[OnceLock<Box<Biased<T>>>]>,
    /// Segments of all partitions. The greatest depth of a segment depends on their number.
    segments: AtomicUsize,
    /// The number of keys that it was built for.
    capacity: u64,
    /// Bits of a value, at most.
    value_bits: u32,
    /// Held while time advances in all partitions, or while all are copied at one time. Otherwise a
    /// key that is refreshed in between could be old in one copy, and expired by the time of the
    /// next.
    clock: Mutex<()>,
    /// Keys that were removed from partitions whose counts were too low. When a table splits, only
    /// the total number of doubles is known, not the number in each partition.
    overdrawn: AtomicU64,
    /// Keys that batches have made room for and not inserted yet.
    coming: AtomicU64,
    /// The batches with these keys.
    announced: Mutex<Announced>,
    /// Batches that were sorted.
    batches: AtomicUsize,
}

impl<T> Sealed for Partitioned<T> {}

impl<T: Partition> Partitioned<T> {
    /// Returns an empty table of this shape, or an error if the system does not provide the memory.
    /// It is built for `capacity` keys, and has room for `kept`, those that have expired included.
    pub(crate) fn new(
        shape: Shape,
        buckets: u32,
        [capacity, kept]: [u64; 2],
        of: impl Fn(Growing) -> T,
    ) -> Result<Self, BuildError> {
        let bytes = Growing::first_bytes(&shape, buckets);
        // Ask for the whole memory first, as for a table with one owner.
        if !memory::can_allocate(bytes) {
            return Err(BuildError::Memory { bytes });
        }
        let partitions = Home::partitions(shape.root_depth()).map(|home| {
            let partition = Growing::new_within(home, shape, buckets, home.share_of(kept));
            partition.map(&of).ok_or(BuildError::Memory { bytes })
        });
        Ok(Self::of_parts(partitions.collect::<Result<_, _>>()?, capacity))
    }

    /// Takes over the contents of a table with one owner.
    pub(crate) fn of(mut table: T) -> Self {
        let capacity = table.capacity();
        let parts = table.divided(capacity);
        Self::of_parts(if parts.is_empty() { vec![table] } else { parts }, capacity)
    }

    /// The table of these partitions.
    fn of_parts(parts: Vec<T>, capacity: u64) -> Self {
        let table = Self::without_partitions(capacity, parts[0].value_bits());
        parts.into_iter().for_each(|partition| table.add(partition));
        table
    }

    fn without_partitions(capacity: u64, value_bits: u32) -> Self {
        let partitions = (0..MAX_PARTITIONS).map(|_| OnceLock::new()).collect();
        let [overdrawn, coming] = [0; 2].map(AtomicU64::new);
        let [segments, batches] = [0; 2].map(AtomicUsize::new);
        let (clock, announced) = (Mutex::default(), Mutex::default());
        Self {
            partitions,
            segments,
            capacity,
            value_bits,
            clock,
            overdrawn,
            coming,
            announced,
            batches,
        }
    }

    /// Adds a partition. No other partition has keys of it.
    fn add(&self, partition: T) {
        self.segments.fetch_add(partition.growing().segments(), Relaxed);
        self.put(partition);
    }

    fn put(&self, partition: T) {
        let (number, _) = partition.growing().partition_numbers();
        let added = self.partitions[number].set(Box::new(Biased::new(partition)));
        debug_assert!(added.is_ok(), "each partition comes once");
    }

    /// Returns the partition of the keys with this number, unless it has just given them to
    /// another.
    #[inline(always)]
    fn partition(&self, number: usize) -> &Biased<T> {
        let mut first = number;
        loop {
            if let Some(partition) = self.partitions[first].get() {
                return partition;
            }
            // A partition of 2^n deepest ones begins at a multiple of that. The first one exists.
            first &= first.wrapping_sub(1);
        }
    }

    /// Returns the partition of the keys with this number, if it can be read without a lock. Until
    /// the result is dropped, the caller must read nothing else that threads share.
    #[inline(always)]
    fn open(&self, number: usize) -> Option<Open<'_, T>> {
        self.partition(number).open().filter(|partition| has(&**partition, number))
    }

    /// Calls `look` with the partition of the keys with this number. `look` must read nothing else
    /// that threads share.
    #[inline(always)]
    fn look<R>(&self, number: usize, look: impl FnOnce(&T) -> R) -> R {
        match self.open(number) {
            Some(partition) => look(&partition),
            None => look(&self.read(number)),
        }
    }

    /// Locks the partition of the keys with this number for reading.
    #[inline(always)]
    fn read(&self, number: usize) -> Reading<'_, T> {
        loop {
            let partition = self.partition(number).read();
            if has(&*partition, number) {
                return partition;
            }
        }
    }

    /// Locks the partition of the keys with this number for writing.
    #[inline(always)]
    fn write(&self, number: usize) -> Writing<'_, T> {
        loop {
            let partition = self.partition(number).write();
            if has(&*partition, number) {
                return partition;
            }
        }
    }

    /// Changes the partition of the keys with this number, and divides it if necessary.
    #[inline(always)]
    fn change<R>(&self, number: usize, change: impl FnOnce(&mut T) -> R) -> R {
        let mut partition = self.write(number);
        let before = partition.growing().segments();
        partition.growing_mut().set_others(self.segments().saturating_sub(before));
        let result = change(&mut partition);
        self.note_segments(before, partition.growing().segments());
        if partition.growing().can_part() {
            self.divide(&mut partition);
        }
        result
    }

    /// Changes all partitions in order. A change may require a partition to be divided.
    fn change_all(&self, mut change: impl FnMut(&mut T)) {
        let mut number = 0;
        while number < MAX_PARTITIONS {
            number = self.change(number, |partition| {
                // Read this before the partition gives away some of its segments.
                let (_, end) = partition.growing().partition_numbers();
                change(partition);
                end
            });
        }
    }

    /// Divides a partition and adds the parts. The caller holds the lock of the partition, so no
    /// thread looks for a key in the new partition before the key is there.
    #[cold]
    fn divide(&self, partition: &mut T) {
        let before = partition.growing().segments();
        let mut parts = partition.divided(self.capacity).into_iter();
        let mut after = partition.growing().segments();
        if let Some(first) = parts.next() {
            *partition = first;
            after = partition.growing().segments();
            for other in parts {
                after += other.growing().segments();
                self.put(other);
            }
        }
        self.note_segments(before, after);
    }

    fn note_segments(&self, before: usize, after: usize) {
        if after != before {
            // Addition wraps, so this subtracts as well.
            self.segments.fetch_add(after.wrapping_sub(before), Relaxed);
        }
    }

    /// Calls `each` with all partitions in order. A key that is in throughout is in one of them.
    fn for_each(&self, mut each: impl FnMut(&T)) {
        let mut number = 0;
        while number < MAX_PARTITIONS {
            let partition = self.read(number);
            each(&partition);
            number = partition.growing().partition_numbers().1;
        }
    }

    fn sum(&self, of: impl Fn(&T) -> u64) -> u64 {
        let mut sum = 0_u64;
        self.for_each(|partition| sum = sum.saturating_add(of(partition)));
        sum
    }

    /// Runs an operation on all partitions while time stands still.
    fn at_one_time<R>(&self, operation: impl FnOnce() -> R) -> R {
        let _clock = lock(&self.clock);
        operation()
    }

    /// Returns all partitions as one table with one owner.
    pub(crate) fn to_one(&self) -> T {
        self.at_one_time(|| {
            let mut gathered = Gathered::new(self.read(0).growing());
            self.for_each(|partition| partition.add_to(&mut gathered));
            self.read(0).gathered(gathered, self.capacity, self.overdrawn())
        })
    }

    #[inline]
    pub(crate) fn insert(&self, hash: u64, value: u64) -> Result<(), InsertError> {
        self.change(partition_number(hash), |partition| partition.insert(hash, value))
    }

    /// Inserts a hash unless it has a copy, and returns whether it did. If there is a copy, the
    /// partition is only read.
    pub(crate) fn insert_unique(&self, hash: u64) -> Result<bool, InsertError> {
        let number = partition_number(hash);
        if self.look(number, |partition| partition.has_copy(hash)) {
            return Ok(false);
        }
        self.change(number, |partition| partition.insert_unique(hash))
    }

    #[inline]
    pub(crate) fn remove(&self, hash: u64, value: u64) -> bool {
        self.change(partition_number(hash), |partition| {
            let before = partition.len();
            let removed = partition.remove(hash, value);
            self.note_removed(u64::from(removed), before, partition.len());
            removed
        })
    }

    pub(crate) fn update(&self, hash: u64, old: u64, new: u64) -> bool {
        self.change(partition_number(hash), |partition| partition.update(hash, old, new))
    }

    /// Notes how many keys were removed from a partition, and its length before and after.
    #[inline]
    fn note_removed(&self, removed: u64, before: u64, after: u64) {
        if T::SHARES_LEN && removed > before - after {
            self.overdrawn.fetch_add(removed - (before - after), Relaxed);
        }
    }

    fn overdrawn(&self) -> u64 {
        self.overdrawn.load(Relaxed)
    }

    /// Returns the reason why a key was refused.
    #[cold]
    pub(crate) fn refusal(&self) -> InsertError {
        use crate::table::traits::Lookup;
        InsertError::Full { len: self.len(), capacity: self.capacity }
    }

    /// Empties one partition after another.
    pub(crate) fn clear(&self) {
        self.change_all(T::clear);
        self.overdrawn.store(0, Relaxed);
    }

    pub(crate) fn set_huge_pages(&self, huge: bool) {
        self.change_all(|partition| partition.growing_mut().set_huge_pages(huge));
    }

    pub(crate) fn segments(&self) -> usize {
        self.segments.load(Relaxed)
    }

    pub(crate) fn buckets(&self) -> u64 {
        self.sum(|partition| partition.growing().buckets())
    }
}

impl Partitioned {
    pub(crate) fn shrink(&self) {
        self.change_all(Growing::shrink);
    }

    /// Makes room for `keys` keys in total, with values of `value_bits` bits. If the system would
    /// not give the memory, the error is the number of bytes needed.
    pub(crate) fn reserve(&self, keys: u64, value_bits: u32) -> Result<(), u64> {
        // Split first, because otherwise the new room would be copied as well.
        self.change_all(|partition| partition.split_for_room(keys));
        let mut result = Ok(());
        self.change_all(|partition| {
            if result.is_ok() {
                result = partition.reserve(keys, value_bits);
            }
        });
        result
    }
}

/// Whether a partition has the keys with this number.
#[inline(always)]
fn has(partition: &impl Partition, number: usize) -> bool {
    number < partition.growing().partition_numbers().1
}

impl<T: Partition> Clone for Partitioned<T> {
    /// # Panics
    ///
    /// If the system has no memory for it.
    fn clone(&self) -> Self {
        let copy = Self::without_partitions(self.capacity, self.value_bits);
        self.at_one_time(|| self.for_each(|partition| copy.add(partition.clone())));
        copy.overdrawn.store(self.overdrawn(), Relaxed);
        copy
    }
}

impl<T: Partition> PartialEq for Partitioned<T> {
    /// Whether the files of both would be the same, while no thread changes them.
    fn eq(&self, other: &Self) -> bool {
        use crate::table::traits::Lookup;
        let has_len = !T::SHARES_LEN || self.len() == other.len();
        let (mut is_same, mut number) = (has_len && self.capacity == other.capacity, 0);
        while is_same && number < MAX_PARTITIONS {
            // Never hold two locks: a thread that compares the two in the other order would
            // deadlock with this one.
            let ours = self.read(number).clone();
            is_same = ours.is_same(&other.read(number));
            number = ours.growing().partition_numbers().1;
        }
        is_same
    }
}
