//! Making room: the shortest chain of moves that frees a candidate place of a key.
//!
//! A breadth-first search reads before anything is written. So an insert that fails has changed
//! nothing; a processor fetches the places of one level together, where a random walk waits for
//! each in turn; and the path depends on the table's bytes alone, so equal histories give equal tables.

use crate::addressing::Probe;
use crate::arch::prefetch;
use crate::layout::TableLayout;

/// Places whose targets' lines are asked for together: as many misses overlap.
const GROUP: usize = 4;
/// A table of more bytes is mostly not in cache.
const FAR_BYTES: usize = 4 << 20;
/// Moves out of a place, at most: one for each slot of a bucket.
const MAX_MOVES: usize = 8;

/// The memory of a search, kept from one to the next.
///
/// The places in the order in which they are met: the key's candidates, the *roots*, then the
/// targets of all moves out of each place in turn. Every place has equally many moves, so a place's
/// number says which move leads there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    places: Vec<u32>,
    /// Whether it pays to ask for lines before they are looked at.
    far: bool,
}

/// A place with room, and how many moves lead to it.
#[derive(Clone, Copy, Debug)]
struct Found {
    number: usize,
    roots: usize,
    moves: usize,
}

/// Inserts a key, moving others if need be. Looks at `limit` places beyond the key's own, and as
/// many more as the last one has moves. On `false` nothing has changed.
#[inline]
pub(crate) fn insert<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    search: &mut Search,
    probe: &Probe,
    value: u64,
    limit: u32,
) -> bool {
    layout.try_insert(bytes, probe, value)
        || insert_with_moves(layout, bytes, search, probe, value, limit)
}

/// [`insert`] where no candidate place has room.
#[cold]
#[inline(never)]
pub(super) fn insert_with_moves<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    search: &mut Search,
    probe: &Probe,
    value: u64,
    limit: u32,
) -> bool {
    let base = layout.base(probe);
    let Some(free) = search.find_room(layout, bytes, probe, limit) else {
        return false;
    };
    let candidate = search.move_along(layout, bytes, base, free);
    layout.put(bytes, probe, candidate, value);
    true
}

/// Asks for the lines of the places next to a key's candidates: the first that its search will
/// look at.
pub(crate) fn prefetch_neighbours<L: TableLayout>(layout: &L, bytes: &[u8], probe: &Probe) {
    let base = layout.base(probe);
    for &place in layout.candidates(probe).as_ref() {
        prefetch_targets(layout, bytes, base, place);
    }
}

#[inline(always)]
fn prefetch_targets<L: TableLayout>(layout: &L, bytes: &[u8], base: usize, place: u64) {
    layout.for_each_target(bytes, base, place, |target| {
        prefetch(bytes, layout.byte(base, target) as u64);
    });
}

impl Search {
    /// For a table of so many bytes; the default is for one that is in cache.
    pub(crate) fn of_table(bytes: usize) -> Self {
        Self { places: Vec::new(), far: bytes > FAR_BYTES }
    }

    /// Whether the table is mostly not in cache.
    pub(crate) fn is_far(&self) -> bool {
        self.far
    }

    /// The first place with room.
    fn find_room<L: TableLayout>(
        &mut self,
        layout: &L,
        bytes: &[u8],
        probe: &Probe,
        limit: u32,
    ) -> Option<Found> {
        let candidates = layout.candidates(probe);
        let roots = candidates.as_ref().len();
        let limit = bound(layout, roots, limit);
        let needed = limit + MAX_MOVES;
        if self.places.len() < needed {
            self.places.resize(needed, 0);
        }
        let places = &mut self.places[..needed];
        for (place, &candidate) in places.iter_mut().zip(candidates.as_ref()) {
            *place = narrow(candidate);
        }
        let base = layout.base(probe);
        let length = usize::try_from(layout.segment_bytes()).expect("in memory");
        let segment = &bytes[base..][..length];
        // SAFETY: the segment is whole, and candidates are places of it.
        unsafe { first_with_room(layout, segment, places, roots, limit, self.far) }
    }

    /// The places, nearest first, that a search looked at which ended at its limit.
    pub(super) fn looked_at<L: TableLayout>(
        &self,
        layout: &L,
        probe: &Probe,
        limit: u32,
    ) -> impl Iterator<Item = u64> {
        let roots = layout.candidates(probe).as_ref().len();
        self.places[..bound(layout, roots, limit)].iter().map(|&place| place.into())
    }

    /// Moves each occupant on the path to the place `found` one step on, the last one first, so
    /// that none is ever without a place. Answers which of the key's candidates then has room.
    ///
    /// A shortest path visits no place twice, so no move disturbs another.
    fn move_along<L: TableLayout>(
        &self,
        layout: &L,
        bytes: &mut [u8],
        base: usize,
        found: Found,
    ) -> usize {
        let Found { mut number, roots, moves } = found;
        while let Some(child) = number.checked_sub(roots) {
            let (parent, choice) = (child / moves, child % moves);
            let (from, to) = (self.places[parent].into(), self.places[number].into());
            layout.relocate(bytes, base, from, choice, to);
            number = parent;
        }
        number
    }
}

/// The number of the last place that a search looks at, and one.
fn bound<L: TableLayout>(layout: &L, roots: usize, limit: u32) -> usize {
    // A search of a small table meets the same places again and again; it ends all the same.
    let everywhere = u32::try_from(layout.places() * 8).unwrap_or(u32::MAX);
    roots + everywhere.min(limit) as usize
}

/// Looks for room breadth first, from the `roots` first of `places`, which are known to be full, to
/// number `limit`.
///
/// # Safety
///
/// `segment` is one of the layout's geometry; the roots are places of it.
#[inline(always)]
unsafe fn first_with_room<L: TableLayout>(
    layout: &L,
    segment: &[u8],
    places: &mut [u32],
    roots: usize,
    limit: usize,
    far: bool,
) -> Option<Found> {
    let (mut expanded, mut met) = (0, roots);
    let mut found = None;
    while expanded < met && met < limit {
        if far && expanded % GROUP == 0 {
            for &place in &places[expanded..met.min(expanded + GROUP)] {
                prefetch_targets(layout, segment, 0, place.into());
            }
        }
        let before = met;
        layout.for_each_target(segment, 0, places[expanded].into(), |target| {
            // SAFETY: roots and targets are places of the segment.
            if found.is_none() && unsafe { layout.has_room(segment, 0, target) } {
                found = Some(met);
            }
            places[met] = narrow(target);
            met += 1;
        });
        expanded += 1;
        if let Some(number) = found {
            return Some(Found { number, roots, moves: met - before });
        }
    }
    None
}

fn narrow(place: u64) -> u32 {
    // Segments have at most 2^18 slots.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let place = place as u32;
    place
}
