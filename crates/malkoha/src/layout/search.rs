//! Making room: the shortest chain of moves that frees a candidate place of a key.
//!
//! A breadth-first search reads before anything is written. So an insert that fails has changed
//! nothing; the places of one level are fetched together, where a random walk waits for each in
//! turn; and the path depends on the table's bytes alone, so equal histories give equal tables.

use crate::addressing::Probe;
use crate::arch::prefetch;
use crate::layout::TableLayout;

/// Places to expand before their neighbours are looked at: enough misses in flight to overlap.
const EXPANDED_AT_ONCE: usize = 4;

/// The memory of a search, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    nodes: Vec<Node>,
}

/// A place that the occupant of another place can move to.
#[derive(Clone, Copy, Debug)]
struct Node {
    place: u32,
    /// The node whose occupant moves here; a root is its own parent.
    parent: u32,
    /// Which of the parent's moves leads here, or which of the key's candidates a root is.
    choice: u8,
}

/// Inserts a key, moving others if need be. Looks at no more than `limit` places beyond the key's
/// own. On `false` nothing has changed.
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

#[cold]
#[inline(never)]
fn insert_with_moves<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    search: &mut Search,
    probe: &Probe,
    value: u64,
    limit: u32,
) -> bool {
    let base = layout.base(probe);
    let Some(free) = search.find_room(layout, bytes, base, probe, limit) else {
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
        layout.for_each_target(bytes, base, place, |target| {
            prefetch(bytes, layout.byte(base, target) as u64);
        });
    }
}

impl Search {
    /// The number of the first node with room.
    fn find_room<L: TableLayout>(
        &mut self,
        layout: &L,
        bytes: &[u8],
        base: usize,
        probe: &Probe,
        limit: u32,
    ) -> Option<usize> {
        self.nodes.clear();
        for (choice, &place) in layout.candidates(probe).as_ref().iter().enumerate() {
            self.push(place, self.nodes.len(), choice);
        }
        // The roots are known to be full.
        let mut looked_at = self.nodes.len();
        // A search of a small table meets the same places again and again; it ends all the same.
        let everywhere = u32::try_from(layout.places() * 8).unwrap_or(u32::MAX);
        let limit = looked_at + everywhere.min(limit) as usize;
        let mut expanded = 0;
        while expanded < self.nodes.len() && looked_at < limit {
            let parents = expanded..self.nodes.len().min(expanded + EXPANDED_AT_ONCE);
            expanded = parents.end;
            for parent in parents {
                let place = self.nodes[parent].place.into();
                let mut choice = 0;
                layout.for_each_target(bytes, base, place, |target| {
                    prefetch(bytes, layout.byte(base, target) as u64);
                    self.push(target, parent, choice);
                    choice += 1;
                });
            }
            let last = self.nodes.len().min(limit);
            for (number, node) in self.nodes[..last].iter().enumerate().skip(looked_at) {
                if layout.has_room(bytes, base, node.place.into()) {
                    return Some(number);
                }
            }
            looked_at = last;
        }
        None
    }

    fn push(&mut self, place: u64, parent: usize, choice: usize) {
        // Places are below 2^32, nodes fewer than the limit plus one level, moves at most 8.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        self.nodes.push(Node { place: place as u32, parent: parent as u32, choice: choice as u8 });
    }

    /// Moves each occupant on the path to node `free` one step on, the last one first, so that none
    /// is ever without a place. Answers which of the key's candidates then has room.
    ///
    /// A shortest path visits no place twice, so no move disturbs another.
    fn move_along<L: TableLayout>(
        &self,
        layout: &L,
        bytes: &mut [u8],
        base: usize,
        free: usize,
    ) -> usize {
        let mut number = free;
        loop {
            let Node { place, parent, choice } = self.nodes[number];
            if parent as usize == number {
                return choice.into();
            }
            let from = self.nodes[parent as usize].place;
            layout.relocate(bytes, base, from.into(), choice.into(), place.into());
            number = parent as usize;
        }
    }
}
