//! Lookups and inserts of many keys in a table of fixed size, whose cache misses overlap.

use alloc::vec::Vec;

use crate::addressing::{Aim, Probe};
use crate::arch::vectorized;
use crate::layout::copies::{self, Overflow};
use crate::layout::{FAR_BYTES, Placement, TableLayout};
use crate::ring::{self, GROUP};

/// A table of this many bytes is mostly in cache, where it takes longer to request lines than to
/// wait for them. Without loads of several addresses at once, for which only x86-64 is compiled,
/// smaller ones alone are.
pub(crate) const IN_CACHE_BYTES: usize =
    if cfg!(target_arch = "x86_64") { FAR_BYTES } else { FAR_BYTES / 16 };

/// Whether each hash's fingerprint is in the table.
///
/// # Safety
///
/// `bytes` is a table of the layout's geometry; `found` is as long as `hashes`.
pub(crate) unsafe fn contains<L: TableLayout>(
    layout: &L,
    bytes: &[u8],
    hashes: &[u64],
    found: &mut [bool],
) {
    // SAFETY: the caller's promise.
    unsafe {
        if bytes.len() <= IN_CACHE_BYTES {
            contains_in_cache(layout, bytes, hashes, found);
        } else {
            contains_prefetched(layout, bytes, hashes, found);
        }
    }
}

vectorized! {
    /// [`contains`] by a plain loop.
    ///
    /// # Safety
    ///
    /// As for [`contains`].
    pub(super) unsafe fn contains_in_cache[L: TableLayout](
        layout: &L,
        bytes: &[u8],
        hashes: &[u64],
        found: &mut [bool],
    ) {
        for (found, &hash) in found.iter_mut().zip(hashes) {
            // SAFETY: the aim is this layout's, and the caller vouches for the table.
            *found = unsafe { layout.contains::<false>(bytes, &layout.aim(&layout.probe(hash))) };
        }
    }
}

vectorized! {
    /// [`contains`] with lines requested in advance.
    ///
    /// # Safety
    ///
    /// As for [`contains`].
    pub(super) unsafe fn contains_prefetched[L: TableLayout](
        layout: &L,
        bytes: &[u8],
        hashes: &[u64],
        found: &mut [bool],
    ) {
        let (mut ring, mut room) = ([[Aim::default(); GROUP]; ring::SLOTS], [0; GROUP]);
        for (ask, look) in ring::schedule(hashes.len()) {
            if let Some(group) = ask {
                let aims = &mut ring[group.slot()];
                let hashes = ring::whole(&hashes[group.first()..], &mut room);
                for (aim, &hash) in aims.iter_mut().zip(hashes) {
                    *aim = layout.aim(&layout.probe(hash));
                }
                for aim in aims {
                    layout.prefetch(bytes, aim);
                }
            }
            if let Some(group) = look {
                let mut results = [false; GROUP];
                for (found, aim) in results.iter_mut().zip(&ring[group.slot()]) {
                    // SAFETY: the aim is this layout's, and the caller vouches for the table.
                    *found = unsafe { layout.contains::<false>(bytes, aim) };
                }
                ring::store(&results, &mut found[group.first()..]);
            }
        }
    }
}

/// Calls `step` with each hash's probe and position, after the lines that it needs were requested.
/// `bytes` begin with segment number `first_segment`, and the probes count from there.
#[inline(always)]
pub(crate) fn pipelined<L: TableLayout, M: AsRef<[u8]> + ?Sized>(
    layout: &L,
    bytes: &mut M,
    hashes: &[u64],
    first_segment: u64,
    mut step: impl FnMut(&mut M, usize, &Probe),
) {
    let ask = |bytes: &M, hash: u64| {
        let mut probe = layout.probe(hash);
        probe.segment -= first_segment;
        layout.prefetch(bytes.as_ref(), &layout.aim(&probe));
        probe
    };
    ring::one_by_one(bytes, hashes, ask, |bytes, i, _, probe| step(bytes, i, probe));
}

/// Inserts all hashes, each with its value; a set has no values. Adds the positions of those that
/// found no place to `refused`. While the first `sparse` of them come, the table is so empty that
/// they go into the first place with room.
///
/// # Safety
///
/// `bytes` is a table of the layout's geometry.
pub(crate) unsafe fn insert<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    overflow: &mut Overflow<'_>,
    (hashes, values): (&[u64], &[u64]),
    sparse: usize,
    refused: &mut Vec<usize>,
) {
    pipelined(layout, bytes, hashes, 0, |bytes, i, probe| {
        let value = value_at(values, i);
        // SAFETY: the caller vouches for the table.
        if unsafe { !copies::insert_as(layout, bytes, overflow, probe, value, i < sparse) } {
            refused.push(i);
        }
    });
}

vectorized! {
    /// Inserts into the segments from number `first_segment` on, which `bytes` begin with and which
    /// are in cache. The bytes of `hashes` are in little-endian order. Those that got no slot at
    /// once are added to `left`, to be searched for when all were offered to their slots.
    pub(crate) fn try_place[L: TableLayout](
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

/// The value at a position; 0 in a set, which has none.
#[inline(always)]
pub(crate) fn value_at(values: &[u64], position: usize) -> u64 {
    debug_assert!(values.is_empty() || position < values.len(), "a value for each hash");
    values.get(position).copied().unwrap_or(0)
}
