//! A growing set that threads share: a tree of segments in branches, each a table of one owner
//! behind a lock of its own that lets readers in together, and lets single lookups pass without it
//! while nobody changes the branch.
//!
//! A branch has the keys whose paths have a common prefix. When its first segment splits, each half
//! becomes a branch, until there are 64. So a small set is one table, and a large set has enough
//! branches that two threads rarely need the same one. All branches together are the segments of
//! one [`Growing`]: they have the same files and the same guarantees.
//!
//! Batches are sorted by branch and take each lock once. No function of the caller runs under a
//! lock or inside a gate.

mod announced;
mod batch;
mod fill;
mod lookup;
#[cfg(all(test, not(target_family = "wasm")))]
mod tests;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use announced::Announced;

use crate::concurrent::sync::Mutex;
use crate::error::{BuildError, InsertError};
use crate::growable::{Gathered, Growing, Home, MAX_BRANCHES, Shape, branch_number};
use crate::locks::gates::{Gated, Open, Reading, Writing};
use crate::table::memory;
use crate::table::traits::{Change, Lookup, Sealed};

type Branch = Gated<Growing>;

/// A growing table that any number of threads read and change at the same time.
#[derive(Debug)]
pub struct Branched {
    /// Indexed by the number of the first deepest branch in each. The first branch always exists. A
    /// branch never goes away. It can only give its upper half to another one.
    branches: Box<[OnceLock<Box<Branch>>]>,
    /// Segments of all branches. The greatest depth of a segment depends on their number.
    segments: AtomicUsize,
    /// The number of keys that it was built for.
    capacity: u64,
    /// Keys that were removed from branches whose counts were too low. When a table splits, only
    /// the total number of doubles is known, not the number in each branch.
    overdrawn: AtomicU64,
    /// Keys that batches have made room for and not inserted yet.
    coming: AtomicU64,
    /// Which they are.
    announced: Mutex<Announced>,
    /// Batches that were sorted.
    batches: AtomicUsize,
}

impl Sealed for Branched {}

impl Branched {
    /// Returns an empty table, or an error if the system does not provide the memory.
    pub(crate) fn new(shape: Shape, buckets: u32, capacity: u64) -> Result<Self, BuildError> {
        let bytes = Growing::first_bytes(&shape, buckets);
        // Ask for the whole memory first, as for a table with one owner.
        if !memory::can_be_had(bytes) {
            return Err(BuildError::Memory { bytes });
        }
        let table = Self::without_branches(capacity);
        for home in Home::branches(shape.root_depth()) {
            let share = home.share_of(capacity);
            let branch = Growing::new_within(home, shape, buckets, share);
            table.add(branch.ok_or(BuildError::Memory { bytes })?);
        }
        Ok(table)
    }

    /// Takes over the contents of a table with one owner.
    pub(crate) fn of(table: Growing) -> Self {
        let branched = Self::without_branches(table.capacity());
        if table.can_part() {
            table.parted(table.capacity()).into_iter().for_each(|branch| branched.add(branch));
        } else {
            branched.add(table);
        }
        branched
    }

    fn without_branches(capacity: u64) -> Self {
        let branches = (0..MAX_BRANCHES).map(|_| OnceLock::new()).collect();
        let [overdrawn, coming] = [0; 2].map(AtomicU64::new);
        let [segments, batches] = [0; 2].map(AtomicUsize::new);
        let announced = Mutex::default();
        Self { branches, segments, capacity, overdrawn, coming, announced, batches }
    }

    /// Adds a branch. No other branch has keys of it.
    fn add(&self, branch: Growing) {
        self.segments.fetch_add(branch.segments(), Relaxed);
        self.put(branch);
    }

    fn put(&self, branch: Growing) {
        let (number, _) = branch.branch_numbers();
        let added = self.branches[number].set(Box::new(Branch::new(branch)));
        debug_assert!(added.is_ok(), "each branch comes once");
    }

    /// Returns the branch of the keys with this number, unless it has just given them to another.
    #[inline(always)]
    fn branch(&self, number: usize) -> &Branch {
        let mut first = number;
        loop {
            if let Some(branch) = self.branches[first].get() {
                return branch;
            }
            // A branch of 2^n deepest ones begins at a multiple of that. The first of all is there.
            first &= first.wrapping_sub(1);
        }
    }

    /// Returns the branch of the keys with this number, if it can be read without a lock. Whoever
    /// has it looks at nothing else that threads share.
    #[inline(always)]
    fn open(&self, number: usize) -> Option<Open<'_, Growing>> {
        self.branch(number).open().filter(|branch| number < branch.branch_numbers().1)
    }

    /// Returns what `look` makes of the branch of the keys with this number.
    #[inline(always)]
    fn look<R>(&self, number: usize, look: impl FnOnce(&Growing) -> R) -> R {
        match self.open(number) {
            Some(branch) => look(&branch),
            None => look(&self.read(number)),
        }
    }

    /// Locks the branch of the keys with this number for reading.
    #[inline(always)]
    fn read(&self, number: usize) -> Reading<'_, Growing> {
        loop {
            let branch = self.branch(number).read();
            if number < branch.branch_numbers().1 {
                return branch;
            }
        }
    }

    /// Locks the branch of the keys with this number for writing.
    #[inline(always)]
    fn write(&self, number: usize) -> Writing<'_, Growing> {
        loop {
            let branch = self.branch(number).write();
            if number < branch.branch_numbers().1 {
                return branch;
            }
        }
    }

    /// Changes the branch of the keys with this number, and splits it if necessary.
    #[inline(always)]
    fn change<R>(&self, number: usize, change: impl FnOnce(&mut Growing) -> R) -> R {
        let mut branch = self.write(number);
        let before = branch.segments();
        branch.set_beside(self.segments().saturating_sub(before));
        let result = change(&mut branch);
        let after = branch.segments();
        if after > before {
            self.segments.fetch_add(after - before, Relaxed);
        }
        if branch.can_part() {
            self.part(&mut branch);
        }
        result
    }

    /// Splits a branch and adds the parts as branches. The caller holds the lock of the branch, so
    /// no thread looks for a key in the new branch before the key is there.
    #[cold]
    fn part(&self, branch: &mut Growing) {
        let mut parted = branch.parted(self.capacity).into_iter();
        let first = parted.next().expect("a table has a segment");
        // Their segments are counted already.
        parted.for_each(|other| self.put(other));
        *branch = first;
    }

    /// Calls `each` with all branches in order. A key that is in all the while is in one of them.
    fn for_each(&self, mut each: impl FnMut(&Growing)) {
        let mut number = 0;
        while number < MAX_BRANCHES {
            let branch = self.read(number);
            each(&branch);
            number = branch.branch_numbers().1;
        }
    }

    /// The same for writing.
    fn for_each_mut(&self, mut each: impl FnMut(&mut Growing)) {
        let mut number = 0;
        while number < MAX_BRANCHES {
            let mut branch = self.write(number);
            each(&mut branch);
            number = branch.branch_numbers().1;
        }
    }

    fn sum(&self, of: impl Fn(&Growing) -> u64) -> u64 {
        let mut sum = 0_u64;
        self.for_each(|branch| sum = sum.saturating_add(of(branch)));
        sum
    }

    /// Returns all branches as one table with one owner.
    pub(crate) fn to_one(&self) -> Growing {
        let mut gathered = Gathered::new(&self.read(0));
        self.for_each(|branch| gathered.add(branch));
        gathered.table(Home::ROOT, self.capacity, self.overdrawn())
    }

    #[inline]
    pub(crate) fn insert(&self, hash: u64) -> Result<(), InsertError> {
        self.change(branch_number(hash), |branch| Change::insert(branch, hash, 0))
    }

    /// Inserts a hash unless it has a copy, and returns whether it did. If there is a copy, the
    /// branch is only read.
    pub(crate) fn insert_unique(&self, hash: u64) -> Result<bool, InsertError> {
        let number = branch_number(hash);
        if self.look(number, |branch| branch.has_copy(hash)) {
            return Ok(false);
        }
        self.change(number, |branch| Change::insert_unique(branch, hash))
    }

    #[inline]
    pub(crate) fn remove(&self, hash: u64) -> bool {
        let mut branch = self.write(branch_number(hash));
        let before = branch.len();
        let removed = Change::remove(&mut *branch, hash, 0);
        self.note_removed(u64::from(removed), before - branch.len());
        removed
    }

    /// Notes how many keys were removed from a branch, and how many of them it had counted.
    #[inline]
    fn note_removed(&self, removed: u64, counted: u64) {
        if removed > counted {
            self.overdrawn.fetch_add(removed - counted, Relaxed);
        }
    }

    fn overdrawn(&self) -> u64 {
        self.overdrawn.load(Relaxed)
    }

    /// Returns why a key was refused.
    #[cold]
    pub(crate) fn refusal(&self) -> InsertError {
        InsertError::Full { len: self.len(), capacity: self.capacity }
    }

    /// Empties one branch after another.
    pub(crate) fn clear(&self) {
        self.for_each_mut(Change::clear);
        self.overdrawn.store(0, Relaxed);
    }

    pub(crate) fn shrink(&self) {
        self.for_each_mut(|branch| {
            let before = branch.segments();
            branch.shrink();
            self.segments.fetch_sub(before - branch.segments(), Relaxed);
        });
    }

    pub(crate) fn set_huge_pages(&self, huge: bool) {
        self.for_each_mut(|branch| branch.set_huge_pages(huge));
    }

    pub(crate) fn segments(&self) -> usize {
        self.segments.load(Relaxed)
    }

    pub(crate) fn buckets(&self) -> u64 {
        self.sum(Growing::buckets)
    }
}

impl Clone for Branched {
    /// # Panics
    ///
    /// If the system has no memory for it.
    fn clone(&self) -> Self {
        let copy = Self::without_branches(self.capacity);
        self.for_each(|branch| copy.add(branch.clone()));
        copy.overdrawn.store(self.overdrawn(), Relaxed);
        copy
    }
}

impl PartialEq for Branched {
    /// Whether the files of both would be the same, while no thread changes them.
    fn eq(&self, other: &Self) -> bool {
        let is_like = (self.capacity, self.len()) == (other.capacity, other.len());
        let (mut is_same, mut number) = (is_like, 0);
        while is_same && number < MAX_BRANCHES {
            // Never hold two locks: a thread that compares the two in the other order would
            // deadlock with this one.
            let ours = self.read(number).clone();
            is_same = ours.is_same(&other.read(number));
            number = ours.branch_numbers().1;
        }
        is_same
    }
}
