//! The table of words. Threads share it by the protocol in docs/CONCURRENCY.md, "The lock-free
//! set", which argues why a lookup never misses a key that stays in.
//!
//! Only the holder of a stripe's lock empties lanes with its fingerprints. So what it has seen
//! there stays, while other lanes of the bucket may change.

use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use super::buckets::Buckets;
use crate::addressing::{Addressing, Probe, index};
use crate::geometry::Geometry;
use crate::layout::bits::LaneFormat;
use crate::layout::search_budget;
use crate::layout::{Placement, Step};
use crate::locks::{Exclude, Locking};
use crate::spill::{MAX_COPIES, Spill, SpillKey};
use crate::sync::{AtomicU64, Ordering, Padded, RwLock, RwLockWriteGuard};

#[derive(Debug)]
pub(super) struct Table<P: Locking> {
    pub(super) buckets: Buckets,
    pub(super) lanes: LaneFormat<u64>,
    pub(super) addressing: Addressing,
    pub(super) geometry: Geometry,
    pub(super) stripes: Box<[Padded<Stripe<P::Stripe>>]>,
    whole: P::Whole,
    spill: RwLock<Spill>,
    /// The number of spilled copies: if there are none, nobody needs to lock the list.
    spilled: AtomicU64,
}

#[derive(Debug, Default)]
pub(super) struct Stripe<L> {
    pub(super) version: AtomicU64,
    pub(super) lock: L,
}

/// Locks and versions: enough that threads rarely meet at one, and few enough to stay in a core's
/// own cache.
const STRIPES: u64 = if cfg!(any(loom, shuttle)) { 2 } else { 512 };

impl<P: Locking> Table<P> {
    /// `geometry` has one word per bucket, and is that of the empty `buckets`.
    pub(super) fn new(geometry: Geometry, buckets: Buckets) -> Self {
        let Geometry { segments, places, fingerprint_bits, .. } = geometry;
        Self {
            buckets,
            lanes: LaneFormat::of_word(fingerprint_bits),
            addressing: Addressing::new(segments, places, fingerprint_bits),
            geometry,
            stripes: (0..STRIPES).map(|_| Padded::default()).collect(),
            whole: P::Whole::default(),
            spill: RwLock::new(Spill::default()),
            spilled: AtomicU64::new(0),
        }
    }

    /// Runs a whole operation, under the lock that a filter with one lock has.
    #[inline(always)]
    pub(super) fn whole<R>(&self, operation: impl FnOnce(&Self) -> R) -> R {
        self.whole.with(|| operation(self))
    }

    /// The same for an operation that reads too much for a transaction.
    pub(super) fn hold<R>(&self, operation: impl FnOnce(&Self) -> R) -> R {
        self.whole.hold(|| operation(self))
    }

    /// Runs an operation on the buckets of a segment, while nothing in it is moved, removed or
    /// spilled. Threads may put fingerprints into empty lanes.
    ///
    /// Only this function holds the locks of several stripes. It takes them in order, and no holder
    /// of a single lock waits for another.
    pub(super) fn frozen(&self, segment: u64, operation: &mut dyn FnMut(&[AtomicU64])) {
        let buckets = self.buckets.segment(segment);
        self.hold(|table| with_all(&table.stripes, &mut || operation(buckets)));
    }

    #[inline(always)]
    pub(super) fn probe(&self, hash: u64) -> Probe {
        self.addressing.probe(hash)
    }

    #[inline(always)]
    pub(super) fn stripe(&self, segment: u64, fingerprint: u64) -> &Stripe<P::Stripe> {
        &self.stripes[self.stripe_number(segment, fingerprint)].0
    }

    #[inline(always)]
    pub(super) fn stripe_number(&self, segment: u64, fingerprint: u64) -> usize {
        // Neighbouring fingerprints are as good as any others: they are hashes.
        index((segment + fingerprint) % STRIPES)
    }

    #[inline(always)]
    pub(super) fn contains(&self, probe: &Probe) -> bool {
        let stripe = self.stripe(probe.segment, probe.fingerprint);
        self.is_in(stripe, self.buckets.of(probe), probe.fingerprint)
    }

    #[inline(always)]
    pub(super) fn is_in(
        &self,
        stripe: &Stripe<P::Stripe>,
        [first, second]: [&AtomicU64; 2],
        fingerprint: u64,
    ) -> bool {
        let mut version = stripe.version.load(Ordering::Acquire);
        loop {
            let words = [first.load(Ordering::Acquire), second.load(Ordering::Acquire)];
            if self.lanes.have_either(words, fingerprint) {
                return true;
            }
            let before = std::mem::replace(&mut version, stripe.version.load(Ordering::Acquire));
            if before == version {
                return false;
            }
        }
    }

    /// Whether the fingerprint is in a lane of its buckets. Exact under the stripe's
    /// lock, but for inserts that have not returned; without it, only `true` is.
    pub(super) fn is_seen(&self, probe: &Probe) -> bool {
        let found = |bucket: &AtomicU64| {
            self.lanes.matches(bucket.load(Ordering::Acquire), probe.fingerprint) != 0
        };
        self.buckets.of(probe).into_iter().any(found)
    }

    /// Copies, spilled ones included.
    pub(super) fn count(&self, probe: &Probe) -> u64 {
        let stripe = self.stripe(probe.segment, probe.fingerprint);
        stripe
            .lock
            .with(|| self.count_spilled(probe).saturating_add(self.count_in_table(probe).into()))
    }

    /// Copies in the spill list.
    fn count_spilled(&self, probe: &Probe) -> u64 {
        if self.spilled() == 0 {
            return 0;
        }
        let spill = self.spill.read().unwrap_or_else(PoisonError::into_inner);
        spill.count(&SpillKey::of(probe, 0))
    }

    /// Copies in the candidate buckets. Exact under the stripe's lock, but for inserts that have
    /// not returned.
    pub(super) fn count_in_table(&self, probe: &Probe) -> u32 {
        let count = |bucket: &AtomicU64| {
            self.lanes.count(bucket.load(Ordering::Acquire), probe.fingerprint)
        };
        let [first, second] = self.buckets.of(probe);
        if probe.first == probe.second { count(first) } else { count(first) + count(second) }
    }

    /// Takes an empty lane, unless the search for one meets the fingerprint.
    #[inline(always)]
    pub(super) fn try_place(&self, probe: &Probe) -> Placement {
        let [first, second] = self.buckets.of(probe);
        match self.try_place_in(first, probe.fingerprint) {
            Placement::Full => self.try_place_in(second, probe.fingerprint),
            answer => answer,
        }
    }

    #[inline(always)]
    fn try_place_in(&self, bucket: &AtomicU64, fingerprint: u64) -> Placement {
        let word = bucket.load(Ordering::Acquire);
        if self.lanes.matches(word, fingerprint) != 0 {
            return Placement::Copy;
        }
        if self.put_from(bucket, word, fingerprint) { Placement::Taken } else { Placement::Full }
    }

    /// Takes an empty lane of a bucket, if there is one.
    pub(super) fn put(&self, bucket: &AtomicU64, fingerprint: u64) -> bool {
        self.put_from(bucket, bucket.load(Ordering::Acquire), fingerprint)
    }

    #[inline(always)]
    fn put_from(&self, bucket: &AtomicU64, mut word: u64, fingerprint: u64) -> bool {
        while let Some(shift) = self.lanes.find(word, 0) {
            match replace(bucket, word, word | fingerprint << shift) {
                Ok(()) => return true,
                Err(changed) => word = changed,
            }
        }
        false
    }

    /// Adds to a spilled key's copies if the table holds its full number; returns whether it did.
    pub(super) fn spill_beside(&self, probe: &Probe, copies: u32) -> bool {
        self.stripe(probe.segment, probe.fingerprint).lock.with(|| {
            let enough = self.count_in_table(probe) >= copies;
            if enough {
                self.spill(probe);
            }
            enough
        })
    }

    /// Moves one of several copies from a lane of `bucket` to the spill list; returns whether there
    /// were several.
    pub(super) fn spill_from(&self, bucket: &AtomicU64, probe: &Probe) -> bool {
        let stripe = self.stripe(probe.segment, probe.fingerprint);
        stripe.lock.with(|| {
            let several = self.count_in_table(probe) >= MAX_COPIES;
            let spilled = several && self.take(stripe, bucket, probe.fingerprint);
            if spilled {
                self.spill(probe);
            }
            spilled
        })
    }

    /// Adds a copy to the spill list. Under the stripe's lock, which keeps one in the table where
    /// lookups do not read the list.
    pub(super) fn spill(&self, probe: &Probe) {
        self.spill_mut().add(SpillKey::of(probe, 0), 1);
        self.spilled.fetch_add(1, Ordering::AcqRel);
    }

    fn spill_mut(&self) -> RwLockWriteGuard<'_, Spill> {
        self.spill.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a copy from the spill list, else from the table.
    pub(super) fn remove(&self, probe: &Probe) -> bool {
        let stripe = self.stripe(probe.segment, probe.fingerprint);
        let take = || {
            if self.spilled.load(Ordering::Acquire) > 0
                && self.spill_mut().take(&SpillKey::of(probe, 0))
            {
                self.spilled.fetch_sub(1, Ordering::AcqRel);
                return true;
            }
            let mut buckets = self.buckets.of(probe).into_iter();
            buckets.any(|bucket| self.take(stripe, bucket, probe.fingerprint))
        };
        let removed = stripe.lock.with(take);
        if removed && self.buckets.has_refused() {
            self.note_removal(probe.segment);
        }
        removed
    }

    /// A removal makes up for some places of a refused search in its segment.
    #[cold]
    #[inline(never)]
    fn note_removal(&self, segment: u64) {
        let missing = self.buckets.missing(segment);
        missing.store(search_budget::after_removal(missing.load(Relaxed)), Relaxed);
    }

    /// Moves the fingerprint in lane `choice` of one bucket of a segment to another, if it belongs
    /// there and there is room. Returns whether the lane is then empty.
    pub(super) fn relocate(&self, segment: u64, step: Step) -> bool {
        let Step { from, choice, to } = step;
        // At most 16 lanes.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let choice = choice as u32;
        let buckets = self.buckets.segment(segment);
        let (source, target) = (&buckets[index(from)], &buckets[index(to)]);
        let occupant = || self.lanes.lane(source.load(Ordering::Acquire), choice);
        let fingerprint = occupant();
        if fingerprint == 0 {
            return true;
        }
        if self.addressing.alternate(from, fingerprint) != to {
            return false;
        }
        let stripe = self.stripe(segment, fingerprint);
        stripe.lock.with(|| {
            occupant() == fingerprint
                && self.put(target, fingerprint)
                && self.take(stripe, source, fingerprint)
        })
    }

    /// As for lanes of every stripe that are emptied.
    pub(super) fn raise_versions(&self) {
        for stripe in &self.stripes {
            stripe.0.version.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Empties a lane with this fingerprint, if there is one. The caller holds the stripe's lock.
    fn take(&self, stripe: &Stripe<P::Stripe>, bucket: &AtomicU64, fingerprint: u64) -> bool {
        let mut word = bucket.load(Ordering::Acquire);
        if self.lanes.find(word, fingerprint).is_none() {
            return false;
        }
        stripe.version.fetch_add(1, Ordering::AcqRel);
        // The lane stays, while others of the bucket may change.
        while let Some(shift) = self.lanes.find(word, fingerprint) {
            match replace(bucket, word, self.lanes.without(word, shift)) {
                Ok(()) => return true,
                Err(changed) => word = changed,
            }
        }
        false
    }

    /// Spilled copies.
    pub(super) fn spilled(&self) -> u64 {
        self.spilled.load(Ordering::Acquire)
    }

    /// Slots, occupied or not.
    pub(super) fn slots(&self) -> u64 {
        self.buckets.len() * u64::from(self.lanes.number)
    }

    /// Bytes of the table, the stripes and the spill list.
    pub(super) fn size_in_bytes(&self) -> u64 {
        let stripes = size_of_val(&*self.stripes);
        let spill = self.spill.read().unwrap_or_else(PoisonError::into_inner).size_in_bytes();
        self.buckets.len() * 8 + stripes as u64 + spill
    }

    /// Spilled copies of a segment that is frozen.
    pub(super) fn spilled_in(&self, segment: u64) -> Vec<(SpillKey, u64)> {
        if self.spilled() == 0 {
            return Vec::new();
        }
        let segment = u32::try_from(segment).expect("32 bits");
        let spill = self.spill.read().unwrap_or_else(PoisonError::into_inner);
        spill.segment(segment).collect()
    }

    /// Takes the spilled copies of a segment that is frozen; returns how many.
    pub(super) fn drain_spilled(&self, segment: u64) -> u64 {
        let entries = self.spilled_in(segment);
        let copies = entries.iter().fold(0_u64, |sum, (_, copies)| sum.saturating_add(*copies));
        if copies > 0 {
            self.spill_mut().remove_all(&entries);
            self.spilled.fetch_sub(copies, Ordering::AcqRel);
        }
        copies
    }

    /// Adds to the spill list, for the filter's only owner.
    pub(super) fn add_spilled(&mut self, key: SpillKey, copies: u64) {
        self.spill.get_mut().unwrap_or_else(PoisonError::into_inner).add(key, copies);
        self.spilled = AtomicU64::new(self.spilled().saturating_add(copies));
    }
}

/// Runs an operation under the locks of all these stripes.
fn with_all<L: Exclude>(stripes: &[Padded<Stripe<L>>], operation: &mut dyn FnMut()) {
    match stripes {
        [] => operation(),
        [first, others @ ..] => first.0.lock.hold(|| with_all(others, operation)),
    }
}

/// Writes `new` if the word is still `old`; otherwise returns what it is.
#[inline(always)]
fn replace(word: &AtomicU64, old: u64, new: u64) -> Result<(), u64> {
    word.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Acquire).map(drop)
}
