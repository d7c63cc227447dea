//! The table of words, and the protocol by which threads share it.
//!
//! A fingerprint and its segment name a *stripe*: a version, and a lock. Then
//!
//! * an **insert** into an empty lane is one compare-and-swap of the bucket, without a lock;
//! * a **move** of a fingerprint to its other bucket locks its stripe, adds it at the destination,
//!   raises the version, and empties the source, in this order;
//! * a **removal** locks the stripe, raises the version, and empties a lane;
//! * a **lookup** reads the version, both buckets, and the version again. A hit is final. A miss is
//!   final if the version is the same; otherwise it looks again.
//!
//! Why a lookup never misses a key that is in all the while: its fingerprint then lies in one of
//! the two buckets at every moment, so to see it in neither, a lookup must read one bucket before
//! the fingerprint comes and the other one after it has left. Whatever empties a lane raises the
//! version first, so the second reading of the version shows that; and if the first reading did
//! already, then what was done before the raise, the adding at the destination, is seen in the
//! bucket. (It is not enough for removals to be seen: two keys can have equal fingerprints, and
//! one's removal take the lane of the other, whose new lane the lookup has read when it was still
//! empty.)
//!
//! Only holders of a stripe's lock empty lanes with its fingerprints. So what they have seen there
//! stays, while other lanes of the bucket may change.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::beyond::Below;
use super::bucket::Lanes;
use super::space::{Buckets, Extent};
use super::sync::{AtomicU64, Ordering, Padded, RwLock, RwLockWriteGuard};
use super::target::Target;
use crate::addressing::{Addressing, Probe};
use crate::geometry::Geometry;
use crate::layout::work;
use crate::layout::{Offer, Step};
use crate::locks::{Exclude, Locking};
use crate::spill::{MAX_COPIES, Spill, SpillKey};

#[derive(Debug)]
pub(super) struct Table<P: Locking, S> {
    pub(super) space: S,
    pub(super) lanes: Lanes,
    pub(super) addressing: Addressing,
    pub(super) geometry: Geometry,
    pub(super) stripes: Box<[Padded<Stripe<P::Stripe>>]>,
    whole: P::Whole,
    spill: RwLock<Spill>,
    /// Spilled copies: where there are none, nobody need lock the list.
    spilled: AtomicU64,
    /// Tables below parts of this one.
    pub(super) below: Below<P>,
}

#[derive(Debug, Default)]
pub(super) struct Stripe<L> {
    pub(super) version: AtomicU64,
    pub(super) lock: L,
}

impl<P: Locking, S: Buckets> Table<P, S> {
    /// `geometry` has one word a bucket, and is that of the empty `space`.
    pub(super) fn new(geometry: Geometry, space: S) -> Self {
        let Geometry { segments, places, fingerprint_bits, .. } = geometry;
        Self {
            space,
            lanes: Lanes::new(fingerprint_bits),
            addressing: Addressing::new(segments, places, fingerprint_bits),
            geometry,
            stripes: (0..S::STRIPES).map(|_| Padded::default()).collect(),
            whole: P::Whole::default(),
            spill: RwLock::new(Spill::default()),
            spilled: AtomicU64::new(0),
            below: Below::default(),
        }
    }

    /// Runs a whole operation, under the lock that a filter with one lock has.
    #[inline(always)]
    pub(super) fn whole<R>(&self, operation: impl FnOnce(&Self) -> R) -> R {
        self.whole.with(|| operation(self))
    }

    /// Runs an operation on the part that begins with this name, while nothing in it is moved,
    /// removed or spilled. Where parts have no locks, threads may put fingerprints into empty
    /// lanes.
    ///
    /// The only one that holds several stripes' locks, and it takes them in order; no holder of a
    /// single one waits for another.
    pub(super) fn frozen(&self, name: usize, operation: &mut dyn FnMut(Extent, &[AtomicU64])) {
        self.whole.hold(|| {
            self.space.alone(name, |extent, part| {
                let stripes = if S::HAS_LOCKS { &[] } else { &*self.stripes };
                with_all(stripes, &mut || operation(extent, part));
            });
        });
    }

    #[inline(always)]
    pub(super) fn target(&self, hash: u64) -> Target {
        Target::new(&self.addressing, hash)
    }

    /// The other place of a fingerprint that lies at `place`.
    #[inline(always)]
    pub(super) fn alternate(&self, place: u64, fingerprint: u64) -> u64 {
        self.addressing.alternate(place, self.space.known(fingerprint))
    }

    /// The probe of a key whose fingerprint lies at `place`.
    pub(super) fn occupant(&self, segment: u64, first: u64, fingerprint: u64) -> Probe {
        Probe { segment, first, second: self.alternate(first, fingerprint), fingerprint }
    }

    #[inline(always)]
    pub(super) fn buckets(&self, probe: &Probe) -> [&AtomicU64; 2] {
        self.space.look(probe).0
    }

    #[inline(always)]
    pub(super) fn stripe(&self, segment: u64, fingerprint: u64) -> &Stripe<P::Stripe> {
        // Neighbouring fingerprints are as good as any others: they are hashes.
        #[expect(clippy::cast_possible_truncation, reason = "at most 512")]
        let number = ((segment + fingerprint) % S::STRIPES) as usize;
        &self.stripes[number].0
    }

    #[inline(always)]
    pub(super) fn contains(&self, probe: &Target) -> bool {
        let stripe = self.stripe(probe.segment, probe.fingerprint);
        let mut version = stripe.version.load(Ordering::Acquire);
        loop {
            let ([first, second], beyond) = self.space.look(probe);
            let (a, b) = (first.load(Ordering::Acquire), second.load(Ordering::Acquire));
            let fingerprint = probe.fingerprint;
            if self.lanes.matches(a, fingerprint) | self.lanes.matches(b, fingerprint) != 0 {
                return true;
            }
            if beyond != 0 && self.is_beyond(probe, beyond) {
                return true;
            }
            let before = std::mem::replace(&mut version, stripe.version.load(Ordering::Acquire));
            if before == version {
                return false;
            }
        }
    }

    /// Whether the fingerprint is in a lane of its buckets or beyond. Exact under the stripe's
    /// lock, but for inserts that have not returned; without it, only `true` is.
    pub(super) fn is_seen(&self, probe: &Target) -> bool {
        let found = |bucket: &AtomicU64| {
            self.lanes.matches(bucket.load(Ordering::Acquire), probe.fingerprint) != 0
        };
        let (buckets, beyond) = self.space.look(probe);
        buckets.into_iter().any(found) || beyond != 0 && self.is_beyond(probe, beyond)
    }

    /// Copies, spilled ones included.
    pub(super) fn count(&self, probe: &Target) -> u64 {
        let stripe = self.stripe(probe.segment, probe.fingerprint);
        self.space.in_part(probe, |_| {
            stripe.lock.with(|| {
                let here = u64::from(self.count_in_table(probe)) + self.count_below(probe);
                here.saturating_add(self.count_spilled(probe))
            })
        })
    }

    /// Copies in the spill list.
    pub(super) fn count_spilled(&self, probe: &Probe) -> u64 {
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
        let [first, second] = self.buckets(probe);
        if probe.first == probe.second { count(first) } else { count(first) + count(second) }
    }

    /// Takes an empty lane, unless the fingerprint is seen where one is looked for.
    #[inline(always)]
    pub(super) fn offer(&self, probe: &Probe) -> Offer {
        let [first, second] = self.buckets(probe);
        match self.offer_to(first, probe.fingerprint) {
            Offer::Full => self.offer_to(second, probe.fingerprint),
            answer => answer,
        }
    }

    #[inline(always)]
    fn offer_to(&self, bucket: &AtomicU64, fingerprint: u64) -> Offer {
        let word = bucket.load(Ordering::Acquire);
        if self.lanes.matches(word, fingerprint) != 0 {
            return Offer::Copy;
        }
        if self.put_from(bucket, word, fingerprint) { Offer::Taken } else { Offer::Full }
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

    /// Adds to a spilled key's copies if so many are in the table; answers whether.
    pub(super) fn spill_beside(&self, probe: &Probe, copies: u32) -> bool {
        self.stripe(probe.segment, probe.fingerprint).lock.with(|| {
            let enough = self.count_in_table(probe) >= copies;
            if enough {
                self.spill(probe);
            }
            enough
        })
    }

    /// Moves one of several copies from a lane of `bucket` to the spill list; answers whether there
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

    /// Takes a copy from a table below, where most is known of it, else from the spill list, else
    /// from the table.
    pub(super) fn remove(&self, probe: &Target) -> bool {
        let stripe = self.stripe(probe.segment, probe.fingerprint);
        let take = || {
            let (buckets, beyond) = self.space.look(probe);
            if beyond != 0 {
                // An equal one may have come to a slot that a lookup has read before.
                stripe.version.fetch_add(1, Ordering::AcqRel);
                if self.remove_below(probe) {
                    return true;
                }
            }
            if self.spilled.load(Ordering::Acquire) > 0
                && self.spill_mut().take(&SpillKey::of(probe, 0))
            {
                self.spilled.fetch_sub(1, Ordering::AcqRel);
                return true;
            }
            buckets.into_iter().any(|bucket| self.take(stripe, bucket, probe.fingerprint))
        };
        let removed = self.space.in_part(probe, |_| stripe.lock.with(take));
        if removed && self.space.is_owing() {
            self.pay(probe.segment);
        }
        removed
    }

    /// A removal pays for some of the next long search in its segment.
    #[cold]
    #[inline(never)]
    fn pay(&self, segment: u64) {
        let pay = |owed: &AtomicU32| owed.store(work::paid(owed.load(Relaxed)), Relaxed);
        self.space.owed(segment).inspect(|owed| pay(owed));
    }

    /// Moves the fingerprint in lane `choice` of one bucket of a part to another, if it belongs
    /// there and there is room. Answers whether the lane is then empty.
    pub(super) fn relocate(&self, part: &[AtomicU64], segment: u64, step: Step) -> bool {
        let Step { from, choice, to } = step;
        // At most 16 lanes, and places of what is in memory.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let (source, choice, target) = (&part[from as usize], choice as u32, &part[to as usize]);
        let occupant = || self.lanes.lane(source.load(Ordering::Acquire), choice);
        let fingerprint = occupant();
        if fingerprint == 0 {
            return true;
        }
        if self.alternate(from, fingerprint) != to {
            return false;
        }
        let stripe = self.stripe(segment, fingerprint);
        stripe.lock.with(|| {
            occupant() == fingerprint
                && self.put(target, fingerprint)
                && self.take(stripe, source, fingerprint)
        })
    }

    /// So that lookups which read a part while it is split look again.
    pub(super) fn raise_versions(&self) {
        for stripe in &self.stripes {
            stripe.0.version.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Empties a lane with this fingerprint, if there is one. Under the stripe's lock.
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

    /// Spilled copies, but for those of tables below.
    pub(super) fn spilled(&self) -> u64 {
        self.spilled.load(Ordering::Acquire)
    }

    /// Slots, occupied or not, but for those of tables below.
    pub(super) fn slots(&self) -> u64 {
        self.space.buckets() * u64::from(self.lanes.number())
    }

    /// Bytes of the table, the stripes and the spill list.
    pub(super) fn size_in_bytes(&self) -> u64 {
        let stripes = size_of_val(&*self.stripes);
        let spill = self.spill.read().unwrap_or_else(PoisonError::into_inner).size_in_bytes();
        self.space.bytes() + stripes as u64 + spill
    }

    /// Spilled copies of a part that is frozen.
    pub(super) fn spilled_in(&self, extent: Extent) -> Vec<(SpillKey, u64)> {
        if self.spilled() == 0 {
            return Vec::new();
        }
        let is_in = |key: &SpillKey| {
            extent.has(self.space.name(key.segment.into(), key.fingerprint.into()))
        };
        let segment = u32::try_from(self.space.segment(extent.name)).expect("32 bits");
        let spill = self.spill.read().unwrap_or_else(PoisonError::into_inner);
        spill.segment(segment).filter(|(key, _)| is_in(key)).collect()
    }

    /// Takes the spilled copies of a part that is frozen; returns how many.
    pub(super) fn drain_spilled(&self, extent: Extent) -> u64 {
        let entries = self.spilled_in(extent);
        let copies = entries.iter().fold(0_u64, |sum, (_, copies)| sum.saturating_add(*copies));
        if copies > 0 {
            self.spill_mut().remove_all(&entries);
            self.spilled.fetch_sub(copies, Ordering::AcqRel);
        }
        copies
    }

    /// Adds to the spill list, for the filter's only owner.
    pub(super) fn add_spilled(&mut self, key: SpillKey, copies: u64) {
        self.spill_list().add(key, copies);
        self.spilled = AtomicU64::new(self.spilled().saturating_add(copies));
    }

    /// The spill list, for the filter's only owner.
    pub(super) fn spill_list(&mut self) -> &mut Spill {
        self.spill.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs an operation under the locks of all these stripes.
fn with_all<L: Exclude>(stripes: &[Padded<Stripe<L>>], operation: &mut dyn FnMut()) {
    match stripes {
        [] => operation(),
        [first, others @ ..] => first.0.lock.hold(|| with_all(others, operation)),
    }
}

/// Writes `new` if the word is still `old`; otherwise answers what it is.
#[inline(always)]
fn replace(word: &AtomicU64, old: u64, new: u64) -> Result<(), u64> {
    word.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Acquire).map(drop)
}
