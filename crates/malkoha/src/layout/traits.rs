//! The operations of a layout that tables and searches use.

use crate::addressing::{Addressing, Aim, Probe, index};
use crate::arch::prefetch;

/// Candidate places of a key, and moves between places.
///
/// A *place* is what a key can be put into: a bucket, or a single slot of a window. Whatever the
/// bytes are (a hostile file, say), no operation panics or reads outside the table.
pub(crate) trait Relocate: Copy {
    /// A key's candidate places.
    type Candidates: AsRef<[u64]>;

    fn segment_bytes(&self) -> u64;
    /// Places per segment.
    fn places(&self) -> u64;
    /// Starts of places are counted in bits, or in bytes if all places begin at whole bytes. A byte
    /// has 2^`UNITS` of these units.
    const UNITS: u32 = 3;
    /// Whether [`has_room`](Self::has_room) is cheap, in cache.
    const IS_CHEAP: bool = true;
    /// The unit of its segment at which a place begins.
    fn offset(&self, place: u64) -> u64;

    /// The byte at which a segment begins.
    #[inline(always)]
    fn base(&self, segment: u64) -> usize {
        index(segment * self.segment_bytes())
    }

    /// The byte in which a place begins, to prefetch.
    #[inline(always)]
    fn byte(&self, base: usize, place: u64) -> usize {
        base + index(self.offset(place) >> Self::UNITS)
    }

    fn candidates(&self, probe: &Probe) -> Self::Candidates;
    /// Whether a slot of `place` is free.
    ///
    /// # Safety
    ///
    /// `segment` is one of a table of the geometry that the layout was made for; `place` is below
    /// `places()`.
    unsafe fn has_room(&self, segment: &[u8], place: u64) -> bool;
    /// Calls `each` with the place that each move out of `place` leads to, in order: move 0 first.
    fn for_each_target(&self, segment: &[u8], place: u64, each: impl FnMut(u64));
    /// Makes move number `choice` of `place`, whose target is `to`, which has room.
    fn relocate(&self, bytes: &mut [u8], base: usize, place: u64, choice: usize, to: u64);
    /// Puts a key into its candidate of this number, which has room.
    fn put(&self, bytes: &mut [u8], probe: &Probe, candidate: usize, value: u64);
}

/// Methods of [`Relocate`] that all bucketed layouts share.
macro_rules! relocate_between_buckets {
    () => {
        type Candidates = [u64; 2];

        #[inline(always)]
        fn segment_bytes(&self) -> u64 {
            self.segment_bytes
        }

        #[inline(always)]
        fn places(&self) -> u64 {
            self.addressing.places()
        }

        fn candidates(&self, probe: &Probe) -> [u64; 2] {
            [probe.first, probe.second]
        }
    };
}
pub(super) use relocate_between_buckets;

/// The result of trying to place a key in its candidate slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    Taken,
    Full,
    /// An equal copy was seen; nothing was done.
    Copy,
}

impl Placement {
    /// From the two conditions, each found without a branch.
    #[inline(always)]
    pub(crate) fn of(is_copy: bool, is_full: bool) -> Self {
        // The usual case first, and both as one condition: loops that count refusals need no more.
        if !(is_copy | is_full) {
            Self::Taken
        } else if is_copy {
            Self::Copy
        } else {
            Self::Full
        }
    }
}

/// For [`TableLayout::CROWDED`].
pub(crate) const NEVER: u64 = u64::MAX;

/// One way to lay out a table of fixed size.
pub(crate) trait TableLayout: Relocate {
    /// The load, in fifths of the slots and with spilled keys, from which an insert into a set
    /// takes the emptier place: of a single key, and of a batch, whose lines were requested before.
    const CROWDED: [u64; 2] = [NEVER; 2];

    fn addressing(&self) -> &Addressing;

    #[inline(always)]
    fn probe(&self, hash: u64) -> Probe {
        self.addressing().probe(hash)
    }

    /// Whether slots have values.
    #[inline(always)]
    fn has_values(&self) -> bool {
        false
    }

    /// Prefetches what a lookup loads.
    #[inline(always)]
    fn prefetch(&self, bytes: &[u8], aim: &Aim) {
        prefetch(bytes, aim.first >> Self::UNITS);
        prefetch(bytes, aim.second >> Self::UNITS);
    }

    /// Where a lookup loads.
    #[inline(always)]
    fn aim(&self, probe: &Probe) -> Aim {
        let segment = (probe.segment * self.segment_bytes()) << Self::UNITS;
        let [first, second] = [probe.first, probe.second].map(|place| segment + self.offset(place));
        Aim { first, second, fingerprint: probe.fingerprint }
    }

    /// The byte behind the 16 from the places of an aim on, for which the table has tail bytes.
    #[inline(always)]
    fn end(&self, aim: &Aim) -> usize {
        index(aim.first.max(aim.second) >> Self::UNITS).saturating_add(size_of::<u128>())
    }

    /// Whether the fingerprint is in one of its candidate slots. Its loads are not checked, because
    /// they are all that a lookup does. `ALONE` is as for [`bucket_pair::have_lane`], where it is
    /// used.
    ///
    /// # Safety
    ///
    /// `bytes` is a table of the geometry that the layout was made for, and `aim` is the layout's.
    unsafe fn contains<const ALONE: bool>(&self, bytes: &[u8], aim: &Aim) -> bool;
    /// Copies of a fingerprint in the bucket, or the window, that begins at `place`.
    fn count_at(&self, bytes: &[u8], base: usize, place: u64, fingerprint: u64) -> u32;
    /// Copies of the fingerprint in its candidate slots.
    #[inline]
    fn count(&self, bytes: &[u8], probe: &Probe) -> u32 {
        let count =
            |place| self.count_at(bytes, self.base(probe.segment), place, probe.fingerprint);
        if probe.first == probe.second {
            return count(probe.first);
        }
        count(probe.first) + count(probe.second)
    }
    /// Copies in the candidate slots that are equal in the value too.
    fn copies(&self, bytes: &[u8], probe: &Probe, _value: u64) -> u32 {
        self.count(bytes, probe)
    }
    /// Empties a candidate slot that holds such a copy, if there is one.
    #[inline]
    fn remove(&self, bytes: &mut [u8], probe: &Probe, value: u64) -> bool {
        self.vacate(bytes, probe.first, probe, value)
            || self.vacate(bytes, probe.second, probe, value)
    }
    /// Empties a slot of `place` that holds such a copy; returns whether there was one. Where a
    /// place is one slot, there must be one.
    fn vacate(&self, bytes: &mut [u8], place: u64, probe: &Probe, value: u64) -> bool;
    /// Takes a free candidate slot, if there is one.
    fn take_free(&self, bytes: &mut [u8], probe: &Probe, value: u64) -> bool {
        let base = self.base(probe.segment);
        let segment = &bytes[base..][..index(self.segment_bytes())];
        let candidates = self.candidates(probe);
        // SAFETY: the segment is whole, and candidates are places.
        let is_free = |&place: &u64| unsafe { self.has_room(segment, place) };
        let free = candidates.as_ref().iter().position(is_free);
        if let Some(candidate) = free {
            self.put(bytes, probe, candidate, value);
        }
        free.is_some()
    }
    /// Takes the first candidate place with room, unless an equal fingerprint is seen in it or in
    /// the one before. Copies in the other place are not searched for: rarely, and never beyond a
    /// key's own slots, a table then has more copies than
    /// [`MAX_COPIES`](crate::spill::MAX_COPIES).
    ///
    /// # Safety
    ///
    /// `bytes` has 16 bytes from each byte on in which the aim, which is the probe's, has a place
    /// begin.
    unsafe fn try_place(&self, bytes: &mut [u8], aim: &Aim, probe: &Probe, value: u64)
    -> Placement;
    /// Takes a free candidate slot of a set, unless an equal fingerprint is seen in one of them. If
    /// the layout can, it does so in the emptier place, so that fewer keys find both full, and
    /// without a branch that is hard to predict. `probe` is that of the aim, for layouts to which
    /// the aim says too little.
    ///
    /// # Safety
    ///
    /// As for [`try_place`](Self::try_place).
    #[inline(always)]
    unsafe fn try_place_emptier(
        &self,
        bytes: &mut [u8],
        aim: &Aim,
        probe: impl FnOnce() -> Probe,
    ) -> Placement {
        // SAFETY: the caller's promise.
        unsafe { self.try_place(bytes, aim, &probe(), 0) }
    }
    /// Takes a free slot of the first candidate place of a key of a set, unless an equal
    /// fingerprint is seen there: for tables that are so empty that it usually has room. `false`:
    /// nothing was done.
    ///
    /// # Safety
    ///
    /// As for [`try_place`](Self::try_place).
    #[inline(always)]
    unsafe fn try_place_first(&self, _bytes: &mut [u8], _aim: &Aim) -> bool {
        false
    }
    /// Whether the slots of a segment lie in the order that changes rely on, if they rely on any:
    /// those of a file might not.
    fn is_ordered(&self, _bytes: &[u8], _segment: u64) -> bool {
        true
    }
    /// Occupied slots of a segment.
    fn occupied(&self, bytes: &[u8], segment: u64) -> u64 {
        (0..self.places()).map(|place| self.occupants(bytes, segment, place).count() as u64).sum()
    }
    /// The occupants of a place: the probe of a key, and the value, of each.
    fn occupants(
        &self,
        bytes: &[u8],
        segment: u64,
        place: u64,
    ) -> impl Iterator<Item = (Probe, u64)>;
}
