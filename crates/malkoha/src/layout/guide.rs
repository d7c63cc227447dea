//! Making room in a segment to which nothing but inserts happens for a while: each place remembers
//! how far away room is at least, so a search walks straight to it.
//!
//! That is local search allocation (Khosla, "Balls into Bins Made Faster", ESA 2013), except that a
//! path is found before anything is written, as by [`Search`](super::Search): what finds no room
//! has changed nothing.

use alloc::vec::Vec;

use crate::addressing::Probe;
use crate::layout::{Room, Step, work};

/// Moves of a path, at most.
const PATH: usize = 32;
/// Paths that are tried, of 128 places together: one that meets itself cannot be taken, and has made the next one longer.
const TRIES: usize = 4;
/// For each place of some successive segments, a lower bound of the moves from there to room.
#[derive(Default)]
pub(crate) struct Guide {
    labels: Vec<u8>,
    first_segment: u64,
}

impl Guide {
    /// Knows nothing of so many segments from this one on.
    pub(crate) fn begin<L: Room>(&mut self, layout: &L, first_segment: u64, segments: usize) {
        // A segment has at most 2^18 slots.
        let places = usize::try_from(layout.places()).expect("in memory");
        self.labels.clear();
        self.labels.resize(places * segments, 0);
        self.first_segment = first_segment;
    }

    /// Inserts a key whose candidates are full. On `false` nothing has changed.
    pub(crate) fn insert<L: Room>(&mut self, layout: &L, bytes: &mut [u8], probe: &Probe) -> bool {
        let base = layout.base(probe);
        let first = (probe.segment - self.first_segment) * layout.places();
        #[expect(clippy::cast_possible_truncation, reason = "labels are in memory")]
        let at = |place: u64| (first + place) as usize;
        let candidates = layout.candidates(probe);
        let mut path = [Step { from: 0, choice: 0, to: 0 }; PATH];
        let mut looked_at = 0;
        for _ in 0..TRIES {
            let roots = candidates.as_ref().iter().copied().enumerate();
            let Some((root, mut place)) = roots.min_by_key(|&(_, place)| self.labels[at(place)])
            else {
                break;
            };
            for length in 0..PATH {
                let step = self.step(layout, bytes, base, place, at);
                looked_at += 1;
                if path[..length].iter().any(|earlier| earlier.from == place) {
                    break;
                }
                path[length] = step;
                // SAFETY: the segment is one of the table, and a move leads to a place of it.
                if unsafe { layout.has_room(bytes, base, step.to) } {
                    // The last move first, so that no occupant is ever without a place.
                    for step in path[..=length].iter().rev() {
                        layout.relocate(bytes, base, step.from, step.choice, step.to);
                    }
                    layout.put(bytes, probe, root, 0);
                    work::looked_at(looked_at);
                    return true;
                }
                place = step.to;
            }
        }
        work::looked_at(looked_at);
        false
    }

    /// The move out of a full place to the one that is nearest to room, as far as is known.
    #[inline(always)]
    fn step<L: Room>(
        &mut self,
        layout: &L,
        bytes: &[u8],
        base: usize,
        place: u64,
        at: impl Fn(u64) -> usize,
    ) -> Step {
        let (mut least, mut choice, mut to, mut number) = (u8::MAX, 0, place, 0);
        layout.for_each_target(bytes, base, place, |target| {
            let label = self.labels[at(target)];
            if label < least {
                (least, choice, to) = (label, number, target);
            }
            number += 1;
        });
        self.labels[at(place)] = least.saturating_add(1);
        Step { from: place, choice, to }
    }
}
