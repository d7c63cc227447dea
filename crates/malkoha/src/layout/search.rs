//! Making room: the shortest chain of moves that frees a candidate place of a key.
//!
//! A breadth-first search reads before anything is written. So an insert that fails has changed
//! nothing; a processor fetches the places of one level together, where a random walk waits for
//! each in turn; and the path depends on the table's bytes alone, so equal histories give equal
//! tables.

use alloc::vec::Vec;

use crate::addressing::{Probe, index};
use crate::arch::prefetch;
use crate::layout::search_budget::{self, Refusals};
use crate::layout::traits::Relocate;

/// Places whose targets' lines are requested together. This many misses overlap.
const GROUP: usize = 4;
/// A larger table is mostly not in cache.
pub(crate) const FAR_BYTES: usize = 4 << 20;
/// Moves out of a place, at most: one for each slot of a bucket.
const MAX_MOVES: usize = 16;
/// Places that there is memory for at first, and targets of one: most searches meet fewer, and
/// small tables free the memory after each search.
const AT_FIRST: usize = 64;

/// The graph of a search: the places of one segment, and the moves between them.
pub(crate) trait Neighbours {
    /// Whether it is cheap to see if a target has room, if the segment is in cache.
    const ARE_CHEAP: bool = false;
    /// Places have numbers below this.
    fn places(&self) -> u64;
    /// Calls `each` with the place that each move out of `place` leads to, in order: move 0 first.
    /// Every place has the same number of moves, at most [`MAX_MOVES`].
    fn for_each_target(&self, place: u64, each: impl FnMut(u64));
    /// Whether a slot of `place` is free.
    ///
    /// # Safety
    ///
    /// `place` is below `places()`.
    unsafe fn has_room(&self, place: u64) -> bool;
    /// Prefetches the line in which a place begins.
    fn prefetch(&self, place: u64);
    /// The targets of all moves out of `place`, and how many there are; the bits of the last number
    /// say which of them have room, or just the first one, unless `ALL` are wanted.
    ///
    /// # Safety
    ///
    /// `place` is below `places()`.
    #[inline(always)]
    unsafe fn expand<const ALL: bool>(
        &self,
        place: u64,
        targets: &mut [u32; MAX_MOVES],
    ) -> (usize, u32) {
        let (mut moves, mut free) = (0, 0_u32);
        self.for_each_target(place, |target| {
            if ALL || free == 0 {
                // SAFETY: targets of places are places.
                free |= u32::from(unsafe { self.has_room(target) }) << moves;
            }
            targets[moves] = narrow(target);
            moves += 1;
        });
        (moves, free)
    }
}

/// The memory of searches, kept from one search to the next.
///
/// The places in the order in which they are met: the key's candidates, the *roots*, then the
/// targets of all moves out of each place in turn. Every place has equally many moves, so a place's
/// number says which move leads there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    places: Vec<u32>,
    /// Whether it pays to prefetch lines.
    far: bool,
    /// Places that all its searches looked at.
    pub(crate) work: u64,
    /// The segments with short budgets of the table that the memory belongs to.
    pub(crate) refusals: Refusals,
}

/// A place with room, and how many moves lead to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    number: usize,
    roots: usize,
    moves: usize,
}

/// One move of a path: number `choice` out of `from`, which leads to `to`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) from: u64,
    pub(crate) choice: usize,
    pub(crate) to: u64,
}

/// Inserts a key whose candidate places have no room, moving others. Looks at `limit` places beyond
/// the key's own, and at the targets of the last one's moves. If this returns `false`, nothing has
/// changed.
#[cold]
#[inline(never)]
pub(crate) fn insert_with_moves<L: Relocate>(
    layout: &L,
    bytes: &mut [u8],
    search: &mut Search,
    probe: &Probe,
    value: u64,
    limit: u32,
) -> bool {
    let base = layout.base(probe.segment);
    let segment = InBytes { layout, bytes: &bytes[base..][..index(layout.segment_bytes())] };
    let candidates = layout.candidates(probe);
    let Some(found) = search.find_room(&segment, candidates.as_ref(), limit) else {
        return false;
    };
    // The last move first, so that no occupant is ever without a place. A shortest path visits no
    // place twice, so no move disturbs another.
    for step in search.steps(found) {
        layout.relocate(bytes, base, step.from, step.choice, step.to);
    }
    layout.put(bytes, probe, found.root(), value);
    true
}

/// A segment of a table, as its bytes.
struct InBytes<'a, L> {
    layout: &'a L,
    bytes: &'a [u8],
}

impl<L: Relocate> Neighbours for InBytes<'_, L> {
    const ARE_CHEAP: bool = L::IS_CHEAP;

    #[inline(always)]
    fn places(&self) -> u64 {
        self.layout.places()
    }

    #[inline(always)]
    fn for_each_target(&self, place: u64, each: impl FnMut(u64)) {
        self.layout.for_each_target(self.bytes, place, each);
    }

    #[inline(always)]
    unsafe fn has_room(&self, place: u64) -> bool {
        // SAFETY: the segment is whole, and the caller vouches for the place.
        unsafe { self.layout.has_room(self.bytes, place) }
    }

    #[inline(always)]
    fn prefetch(&self, place: u64) {
        prefetch(self.bytes, self.layout.byte(0, place) as u64);
    }
}

impl Search {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), far: false, work: 0, refusals: Refusals::new() }
    }

    /// Frees the memory of the search; the next one allocates it again.
    pub(crate) fn forget_places(&mut self) {
        self.places = Vec::new();
    }

    /// For a table of this many bytes; the default is for one that is in cache.
    pub(crate) fn of_table(bytes: usize) -> Self {
        Self { far: bytes > FAR_BYTES, ..Self::new() }
    }

    /// The same memory, for another table of this many bytes.
    pub(crate) fn for_table(self, bytes: usize) -> Self {
        Self { places: self.places, ..Self::of_table(bytes) }
    }

    /// The first place with room, breadth first from the `candidates`. These are places of the
    /// segment, and are assumed to be full.
    pub(crate) fn find_room<N: Neighbours>(
        &mut self,
        segment: &N,
        candidates: &[u64],
        limit: u32,
    ) -> Option<Found> {
        let limit = bound(segment.places(), candidates.len(), limit);
        let roots = candidates.len();
        let first = AT_FIRST.max(roots + MAX_MOVES);
        if self.places.len() < first {
            self.places.resize(first, 0);
        }
        for (place, &candidate) in self.places.iter_mut().zip(candidates) {
            assert!(candidate < segment.places(), "candidates are places");
            *place = narrow(candidate);
        }
        let mut progress = Progress { expanded: 0, met: roots };
        let found = loop {
            let end = limit.min(self.places.len() - MAX_MOVES);
            let places = &mut self.places[..end + MAX_MOVES];
            // SAFETY: candidates are places of the segment, as was just asserted; all others that
            // were met are targets of places.
            let found = unsafe {
                if self.far {
                    first_with_room::<true, N>(segment, places, &mut progress, roots, end)
                } else {
                    first_with_room::<false, N>(segment, places, &mut progress, roots, end)
                }
            };
            if found.is_some() || end == limit {
                break found;
            }
            self.places.resize((2 * end).min(limit) + MAX_MOVES, 0);
        };
        let looked_at = found.map_or(limit, |found| found.number);
        self.work += looked_at as u64;
        search_budget::looked_at(looked_at);
        found
    }

    /// The places that a search looked at before it ended at its limit, nearest first.
    pub(crate) fn looked_at(
        &self,
        places: u64,
        candidates: usize,
        limit: u32,
    ) -> impl Iterator<Item = u64> {
        self.places[..bound(places, candidates, limit)].iter().map(|&place| place.into())
    }

    /// The moves to the place `found`, the last one first.
    pub(crate) fn steps(&self, found: Found) -> impl Iterator<Item = Step> {
        found.numbers().map(move |(number, parent, choice)| Step {
            from: self.places[parent].into(),
            choice,
            to: self.places[number].into(),
        })
    }
}

impl Found {
    /// Each place on the path, the place before it, and the move between them.
    fn numbers(self) -> impl Iterator<Item = (usize, usize, usize)> {
        let mut number = self.number;
        core::iter::from_fn(move || {
            let child = number.checked_sub(self.roots)?;
            // Usual numbers of moves, by which the compiler divides without a division.
            let parent = match self.moves {
                3 => child / 3,
                4 => child / 4,
                moves => child / moves,
            };
            let choice = child - parent * self.moves;
            Some((core::mem::replace(&mut number, parent), parent, choice))
        })
    }

    /// The number of the candidate at which the path begins.
    pub(crate) fn root(self) -> usize {
        self.numbers().last().map_or(self.number, |(_, parent, _)| parent)
    }
}

/// One more than the number of the last place that a search looks at.
fn bound(places: u64, roots: usize, limit: u32) -> usize {
    // A search of a small table meets the same places repeatedly, but it ends.
    let everywhere = u32::try_from(places * 8).unwrap_or(u32::MAX);
    roots + everywhere.min(limit) as usize
}

/// How far a search has come.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// Places whose targets have been met.
    expanded: usize,
    met: usize,
}

/// Looks for room breadth first, from where it came before up to number `limit`. The first `roots`
/// of `places` are known to be full.
///
/// # Safety
///
/// All places that were met are places of the segment.
#[inline(always)]
unsafe fn first_with_room<const FAR: bool, N: Neighbours>(
    segment: &N,
    places: &mut [u32],
    progress: &mut Progress,
    roots: usize,
    limit: usize,
) -> Option<Found> {
    let Progress { mut expanded, mut met } = *progress;
    while expanded < met && met < limit {
        if FAR && expanded % GROUP == 0 {
            for &place in &places[expanded..met.min(expanded + GROUP)] {
                segment.for_each_target(place.into(), |target| segment.prefetch(target));
            }
        }
        let place = places[expanded];
        let targets: &mut [u32; MAX_MOVES] = places[met..].first_chunk_mut().expect("beyond limit");
        // One branch for all targets of a place, if they are cheap: which of them has room, nobody
        // can predict. Beyond the caches, each after the first with room would be one more miss.
        // SAFETY: roots and targets are places of the segment.
        let (moves, free) = unsafe {
            if N::ARE_CHEAP && !FAR {
                segment.expand::<true>(place.into(), targets)
            } else {
                segment.expand::<false>(place.into(), targets)
            }
        };
        if free != 0 {
            return Some(Found { number: met + free.trailing_zeros() as usize, roots, moves });
        }
        met += moves;
        expanded += 1;
    }
    *progress = Progress { expanded, met };
    None
}

fn narrow(place: u64) -> u32 {
    // Segments have at most 2^18 slots.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let place = place as u32;
    place
}
