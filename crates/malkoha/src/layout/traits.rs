//! What tables and searches ask of a layout.

use crate::addressing::{Addressing, Aim, Probe};
use crate::arch::prefetch;
use crate::layout::bits;

/// What an insert needs of a layout: candidate places, and the moves between places.
///
/// A *place* is what a key can be put into: a bucket, or a single slot of a window. Whatever the
/// bytes are (a hostile file, say), no operation panics or reads outside the table.
pub(crate) trait Room: Copy {
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

    /// The byte at which the probe's segment begins.
    #[inline(always)]
    fn base(&self, probe: &Probe) -> usize {
        bits::index(probe.segment * self.segment_bytes())
    }

    /// The byte in which a place begins, to prefetch.
    #[inline(always)]
    fn byte(&self, base: usize, place: u64) -> usize {
        base + bits::index(self.offset(place) >> Self::UNITS)
    }

    fn candidates(&self, probe: &Probe) -> Self::Candidates;
    /// Takes a free candidate slot if there is one.
    fn try_insert(&self, bytes: &mut [u8], probe: &Probe, value: u64) -> bool;
    /// Whether a slot of `place` is free.
    ///
    /// # Safety
    ///
    /// `bytes` is a table of the geometry that the layout was made for, a segment of which begins
    /// at `base`; `place` is below `places()`.
    unsafe fn has_room(&self, bytes: &[u8], base: usize, place: u64) -> bool;
    /// Calls `each` with the place that each move out of `place` leads to, in order: move 0 first.
    fn for_each_target(&self, bytes: &[u8], base: usize, place: u64, each: impl FnMut(u64));
    /// Makes move number `choice` of `place`, whose target is `to`, which has room.
    fn relocate(&self, bytes: &mut [u8], base: usize, place: u64, choice: usize, to: u64);
    /// Puts a key into its candidate of this number, which has room.
    fn put(&self, bytes: &mut [u8], probe: &Probe, candidate: usize, value: u64);
}

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
pub(crate) trait TableLayout: Room {
    /// With how many fifths of the slots as keys, spilled ones included, it begins to pay to put
    /// another key of a set into the emptier place: one that comes alone, and one of a batch, whose
    /// lines are there when it goes in.
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

    /// Bytes from where a lookup loads to the last that it looks at, if these often lie on two
    /// lines.
    #[inline(always)]
    fn reach(&self) -> u64 {
        0
    }

    /// Prefetches what a lookup loads.
    #[inline(always)]
    fn prefetch(&self, bytes: &[u8], aim: &Aim) {
        for byte in [aim.first >> Self::UNITS, aim.second >> Self::UNITS] {
            prefetch(bytes, byte);
            if self.reach() != 0 {
                prefetch(bytes, byte + self.reach());
            }
        }
    }

    /// Where a lookup loads.
    #[inline(always)]
    fn aim(&self, probe: &Probe) -> Aim {
        let segment = (probe.segment * self.segment_bytes()) << Self::UNITS;
        let [first, second] = [probe.first, probe.second].map(|place| segment + self.offset(place));
        Aim { first, second, fingerprint: probe.fingerprint }
    }

    /// Whether the fingerprint is in one of its candidate slots. Its loads are not checked, because
    /// they are all that a lookup does. `ALONE` is as for [`bucket_pair::have_lane`], where it is
    /// used.
    ///
    /// # Safety
    ///
    /// `bytes` is a table of the geometry that the layout was made for, and `aim` is the layout's.
    unsafe fn contains<const ALONE: bool>(&self, bytes: &[u8], aim: &Aim) -> bool;
    /// Copies of the fingerprint in its candidate slots.
    fn count(&self, bytes: &[u8], probe: &Probe) -> u32;
    /// Copies in the candidate slots that are equal in the value too.
    fn copies(&self, bytes: &[u8], probe: &Probe, _value: u64) -> u32 {
        self.count(bytes, probe)
    }
    /// Empties a candidate slot that holds such a copy.
    fn remove(&self, bytes: &mut [u8], probe: &Probe, value: u64) -> bool;
    /// Empties a slot of `place` that holds such a copy.
    fn vacate(&self, bytes: &mut [u8], place: u64, probe: &Probe, value: u64);
    /// Takes the first candidate place with room, unless an equal fingerprint is seen in it or in
    /// the one before. Copies in the other place are not searched for: rarely, and never beyond a
    /// key's own slots, a table then has more copies than
    /// [`MAX_COPIES`](crate::spill::MAX_COPIES).
    fn try_place(&self, bytes: &mut [u8], probe: &Probe, value: u64) -> Placement;
    /// Takes a free candidate slot of a set, unless an equal fingerprint is seen in one of them. If
    /// the layout can, it does so in the emptier place, so that fewer keys find both full, and
    /// without a branch that is hard to predict. `probe` is that of the aim, for layouts to which
    /// the aim says too little.
    ///
    /// # Safety
    ///
    /// `bytes` has 16 bytes from each byte on in which the aim has a place begin.
    #[inline(always)]
    unsafe fn try_place_emptier(
        &self,
        bytes: &mut [u8],
        _aim: &Aim,
        probe: impl FnOnce() -> Probe,
    ) -> Placement {
        self.try_place(bytes, &probe(), 0)
    }
    /// Takes a free slot of the first candidate place of a key of a set, unless an equal
    /// fingerprint is seen there: for tables that are so empty that it usually has room. `false`:
    /// nothing was done, and the key has to be [offered](TableLayout::try_place) to both places.
    ///
    /// # Safety
    ///
    /// As for [`try_place_emptier`](Self::try_place_emptier).
    #[inline(always)]
    unsafe fn try_place_first(&self, _bytes: &mut [u8], _aim: &Aim) -> bool {
        false
    }
    /// Whether the slots of the segment that begins at byte `base` lie in the order that changes
    /// rely on, if they rely on any: those of a file might not.
    fn is_ordered(&self, _bytes: &[u8], _base: usize) -> bool {
        true
    }
    /// Occupied slots of the segment that begins at byte `base`.
    fn occupied(&self, bytes: &[u8], base: usize) -> u64;
    /// Calls `each` with what lies in the slots of a place: the probe of a key, and the value.
    fn for_each_occupant(
        &self,
        bytes: &[u8],
        segment: u64,
        place: u64,
        each: impl FnMut(Probe, u64),
    );
}
