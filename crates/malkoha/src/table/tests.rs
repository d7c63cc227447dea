//! Every layout and width against an exact oracle, through many random operations.
//!
//! A lookup finds a fingerprint exactly if an equal one with the same two places is in. So a
//! multiset of (segment, smaller place, fingerprint) knows each answer, including false positives.

use std::collections::HashMap;

use crate::geometry::{Geometry, Layout};
use crate::layout::Lanes;
use crate::layout::TableLayout;
use crate::table::fixed::{AnyLayout, with_layout};
use crate::table::traits::{Change, Fill, Lookup};
use crate::table::{Fixed, batch};

#[path = "../../tests/it/support/random.rs"]
mod random;
use random::Random;

/// Operations of one run over all tables, unless `MALKOHA_OPERATIONS` says otherwise.
const OPERATIONS: usize = 2_000_000;
/// Hashes of a batch.
const BATCH: usize = 100;

type Entry = (u64, u64, u64);

struct Pair {
    table: Fixed,
    oracle: HashMap<Entry, u64>,
    /// Hashes that were inserted and not removed.
    members: Vec<u64>,
    random: Random,
}

impl Pair {
    fn new(geometry: Geometry, lanes: bool) -> Self {
        let mut table = Fixed::new(geometry, if cfg!(miri) { 20 } else { 500 }, 1).unwrap();
        if lanes {
            table.layout = AnyLayout::BucketedLanes(Lanes::new(&geometry));
        }
        let seed = u64::from(geometry.fingerprint_bits);
        Self { table, oracle: HashMap::new(), members: Vec::new(), random: Random(seed) }
    }

    fn entry(&self, hash: u64) -> Entry {
        let probe = with_layout!(&self.table.layout, layout => layout.probe(hash));
        (probe.segment, probe.first.min(probe.second), probe.fingerprint)
    }

    fn count(&self, hash: u64) -> u64 {
        self.oracle.get(&self.entry(hash)).copied().unwrap_or(0)
    }

    /// One that is in, a random one, or one that differs from a member only in bits that decide the
    /// fingerprint.
    fn hash(&mut self) -> u64 {
        let fresh = self.random.next();
        match self.random.below(4) {
            0 if !self.members.is_empty() => self.members[self.random.below(self.members.len())],
            1 if !self.members.is_empty() => {
                self.members[self.random.below(self.members.len())] ^ (fresh & 0xff)
            }
            _ => fresh,
        }
    }

    fn hashes(&mut self) -> Vec<u64> {
        (0..1 + self.random.below(BATCH)).map(|_| self.hash()).collect()
    }

    fn added(&mut self, hash: u64) {
        *self.oracle.entry(self.entry(hash)).or_default() += 1;
        self.members.push(hash);
    }

    /// Takes a member out of the oracle.
    fn member(&mut self) -> u64 {
        let hash = self.members.swap_remove(self.random.below(self.members.len()));
        *self.oracle.get_mut(&self.entry(hash)).unwrap() -= 1;
        hash
    }

    /// One call of the table; returns how many hashes it was given.
    fn step(&mut self, limit: usize) -> usize {
        let full = self.members.len() >= limit;
        match self.random.below(10) {
            0 | 1 if !full => {
                let hash = self.hash();
                if self.table.insert(hash, 0).is_ok() {
                    self.added(hash);
                }
                1
            }
            2 | 3 if !full => {
                let hashes = self.hashes();
                let refused = self.table.insert_batch(&hashes, &[]);
                for (i, &hash) in hashes.iter().enumerate() {
                    if !refused.contains(&i) {
                        self.added(hash);
                    }
                }
                hashes.len()
            }
            4 if !self.members.is_empty() => {
                let hash = self.member();
                assert!(self.table.remove(hash, 0), "a member is removed");
                1
            }
            5 if self.members.len() > BATCH => {
                let hashes: Vec<u64> = (0..BATCH).map(|_| self.member()).collect();
                let mut removed = [false; BATCH];
                self.table.remove_batch(&hashes, &[], &mut removed);
                assert_eq!(removed, [true; BATCH], "members");
                BATCH
            }
            6 if !full => {
                let hashes = self.hashes();
                let mut new = vec![true; hashes.len()];
                let refused = self.table.insert_unique_batch(&hashes, &mut new);
                for (i, &hash) in hashes.iter().enumerate() {
                    let was_in = self.count(hash) > 0 || refused.contains(&i);
                    assert!(new[i] != was_in, "{hash} of {hashes:?}");
                    if new[i] {
                        self.added(hash);
                    }
                }
                hashes.len()
            }
            7 if !full => {
                let (hashes, mut left) = (self.hashes(), Vec::new());
                let words: Vec<[u8; 8]> = hashes.iter().map(|hash| hash.to_le_bytes()).collect();
                let bytes = &mut *self.table.bytes;
                with_layout!(&self.table.layout, layout => {
                    batch::try_place(layout, bytes, 0, &words, &mut left);
                });
                self.table.parts.len += (hashes.len() - left.len()) as u64;
                let mut left = left.into_iter().peekable();
                for &hash in &hashes {
                    if left.next_if_eq(&hash).is_none() {
                        self.added(hash);
                    }
                }
                assert_eq!(left.next(), None, "they are in the order of the batch");
                hashes.len()
            }
            8 => {
                let hash = self.hash();
                let copies = self.count(hash);
                assert_eq!(
                    self.table.contains(hash),
                    copies > 0,
                    "{:?}",
                    self.table.parts().geometry
                );
                assert_eq!(self.table.count(hash), copies, "{:?}", self.table.parts().geometry);
                1
            }
            _ => {
                let hashes = self.hashes();
                let mut found = vec![false; hashes.len()];
                let mut far = found.clone();
                with_layout!(&self.table.layout, layout => {
                    // SAFETY: the table has the layout's geometry, and the lengths are equal.
                    unsafe {
                        batch::contains_in_cache(layout, &self.table.bytes, &hashes, &mut found);
                        batch::contains_prefetched(layout, &self.table.bytes, &hashes, &mut far);
                    }
                });
                assert_eq!(found, far, "{:?}", self.table.parts().geometry);
                for (&hash, found) in hashes.iter().zip(found) {
                    assert_eq!(found, self.count(hash) > 0, "{:?}", self.table.parts().geometry);
                }
                hashes.len()
            }
        }
    }
}

#[test]
fn every_kernel_agrees_with_the_oracle() {
    let operations = std::env::var("MALKOHA_OPERATIONS")
        .map_or(OPERATIONS, |n| n.parse().expect("MALKOHA_OPERATIONS is a number"));
    let mut layouts = vec![Layout::SemiSorted, Layout::GapWindows, Layout::Words];
    layouts.extend([1, 2, 4, 8].map(|bucket_size| Layout::Bucketed { bucket_size }));
    // An interpreter is a thousand times slower.
    let (capacity, widths) = if cfg!(miri) { (50, 7) } else { (2_000, 1) };
    let geometries: Vec<Geometry> = layouts
        .into_iter()
        .flat_map(|layout| (4..=32).step_by(widths).map(move |bits| (layout, bits)))
        .filter_map(|(layout, bits)| Geometry::for_capacity(capacity, layout, bits, 0).ok())
        .collect();
    assert!(geometries.len() * widths > 150, "all widths of all layouts");
    let as_lanes =
        geometries.iter().filter(|shape| matches!(shape.layout, Layout::Bucketed { .. }));
    let pairs = geometries.iter().map(|&shape| (shape, false));
    for (geometry, lanes) in pairs.chain(as_lanes.map(|&shape| (shape, true))) {
        let mut pair = Pair::new(geometry, lanes);
        let slots = usize::try_from(geometry.slots()).unwrap();
        let mut done = 0;
        while done < operations / geometries.len() {
            // Now nearly empty, now as full as it gets.
            let limit = if (done / 5_000).is_multiple_of(2) { slots } else { slots / 3 };
            done += pair.step(limit);
        }
        let copies = pair.table.occupied() + pair.table.spill().copies();
        assert_eq!(copies, pair.members.len() as u64);
    }
}
