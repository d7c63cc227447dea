//! Many keys at once: all their cache lines are asked for before the first is looked at.
//!
//! One lookup waits for two cache misses, and a processor overlaps few lookups of a plain loop.
//! Asking for a whole chunk's lines first overlaps as many as the memory system can carry.

use crate::addressing::Probe;
use crate::arch::prefetch;
use crate::layout::{self, Search, TableLayout};

/// Keys whose lines are in flight together: 256 lines, which level 1 and 2 caches hold with ease.
const CHUNK: usize = 128;

/// Computes and prefetches a chunk's probes, then hands each to `step` with its position.
#[inline(always)]
pub(crate) fn in_chunks<L: TableLayout, M: AsRef<[u8]> + ?Sized>(
    layout: &L,
    bytes: &mut M,
    hashes: &[u64],
    mut step: impl FnMut(&mut M, usize, &Probe),
) {
    let mut probes = [Probe { segment: 0, first: 0, second: 0, fingerprint: 0 }; CHUNK];
    for (chunk, hashes) in hashes.chunks(CHUNK).enumerate() {
        for (probe, &hash) in probes.iter_mut().zip(hashes) {
            *probe = layout.probe(hash);
            let [first, second] = layout.touched(probe);
            prefetch(bytes.as_ref(), first);
            prefetch(bytes.as_ref(), second);
        }
        for (i, probe) in probes[..hashes.len()].iter().enumerate() {
            step(bytes, chunk * CHUNK + i, probe);
        }
    }
}

#[inline]
pub(crate) fn contains<L: TableLayout>(
    layout: &L,
    bytes: &[u8],
    hashes: &[u64],
    mut answer: impl FnMut(usize, bool),
) {
    in_chunks(layout, &mut &*bytes, hashes, |bytes, i, probe| {
        answer(i, layout.contains(bytes, probe));
    });
}

#[inline]
pub(crate) fn insert<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    search: &mut Search,
    hashes: &[u64],
    max_kicks: u32,
    mut answer: impl FnMut(usize, bool),
) {
    in_chunks(layout, bytes, hashes, |bytes, i, probe| {
        answer(i, layout::insert(layout, bytes, search, probe, 0, max_kicks));
    });
}

#[inline]
pub(crate) fn remove<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    hashes: &[u64],
    mut answer: impl FnMut(usize, bool),
) {
    in_chunks(layout, bytes, hashes, |bytes, i, probe| answer(i, layout.remove(bytes, probe)));
}
