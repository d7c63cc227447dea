//! Filling segments that are in cache: all keys are offered to their slots first, and those that
//! got none searched for afterwards.

use alloc::vec::Vec;

use crate::addressing::{Aim, Probe};
use crate::arch::vectorized;
use crate::layout::{Placement, TableLayout};
use crate::ring::{self, GROUP};

vectorized! {
    /// Inserts into the segments from number `first_segment` on, which `bytes` begin with and which
    /// are in cache. The bytes of `hashes` are in little-endian order. Those that got no slot at
    /// once are added to `left`.
    pub(crate) fn try_place<L: TableLayout>(
        layout: &L,
        bytes: &mut [u8],
        first_segment: u64,
        hashes: &[[u8; 8]],
        left: &mut Vec<u64>,
    ) {
        let mut number = left.len();
        left.resize(number + hashes.len(), 0);
        let (mut ring, mut room) = ([[Aim::default(); GROUP]; ring::SLOTS], [[0; 8]; GROUP]);
        for (ask, look) in ring::schedule(hashes.len()) {
            if let Some(group) = ask {
                let aims = &mut ring[group.slot()];
                let hashes = ring::whole(&hashes[group.first()..], &mut room);
                let mut end = 0;
                for (aim, hash) in aims.iter_mut().zip(hashes) {
                    *aim = layout.aim(&probe_from(layout, *hash, first_segment));
                    end = layout.end(aim).max(end);
                }
                assert!(end <= bytes.len(), "hashes of other segments");
                // For the first keys of a round, the segment's lines are not in cache yet.
                for aim in aims {
                    layout.prefetch(bytes, aim);
                }
            }
            if let Some(group) = look {
                let aims = &ring[group.slot()];
                for (aim, hash) in aims.iter().zip(&hashes[group.first()..]) {
                    // Always written, and kept only if the count is raised: no branch.
                    left[number] = u64::from_le_bytes(*hash);
                    let probe = || probe_from(layout, *hash, first_segment);
                    // SAFETY: as was asserted for its group.
                    let placement = unsafe { layout.try_place_emptier(bytes, aim, probe) };
                    number += usize::from(placement != Placement::Taken);
                }
            }
        }
        left.truncate(number);
    }
}

/// The probe of a hash in little-endian order, whose segments count from `first_segment`.
#[inline(always)]
pub(super) fn probe_from<L: TableLayout>(layout: &L, hash: [u8; 8], first_segment: u64) -> Probe {
    let mut probe = layout.probe(u64::from_le_bytes(hash));
    probe.segment -= first_segment;
    probe
}
