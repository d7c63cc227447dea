//! Many keys at once: their cache lines are asked for long before they are looked at.
//!
//! One lookup waits for two cache misses, and a processor overlaps few lookups of a plain loop.
//! Here keys flow through a ring of groups: while one group is looked at, the lines of the groups
//! after it are on their way.

use crate::addressing::{Aim, Probe};
use crate::arch::{prefetch, vectorized};
use crate::layout::{self, Offer, Search, TableLayout, copies};
use crate::spill::Spill;

/// Keys whose places are computed together: a vector unit's worth or two.
const GROUP: usize = 16;
/// Groups on their way: 64 keys, 128 lines.
const AHEAD: usize = 4;

vectorized! {
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
        let mut ring = [[Aim::default(); GROUP]; AHEAD + 1];
        let groups = hashes.len().div_ceil(GROUP);
        for group in 0..groups + AHEAD {
            if group < groups {
                let aims = &mut ring[group % (AHEAD + 1)];
                let rest = &hashes[group * GROUP..];
                if let Some(hashes) = rest.first_chunk::<GROUP>() {
                    for (aim, &hash) in aims.iter_mut().zip(hashes) {
                        *aim = layout.aim(&layout.probe(hash));
                    }
                } else {
                    for (aim, &hash) in aims.iter_mut().zip(rest) {
                        *aim = layout.aim(&layout.probe(hash));
                    }
                }
                for aim in aims {
                    prefetch(bytes, aim.first >> 3);
                    prefetch(bytes, aim.second >> 3);
                }
            }
            if let Some(group) = group.checked_sub(AHEAD) {
                let aims = &ring[group % (AHEAD + 1)];
                let rest = &mut found[group * GROUP..];
                if let Some(found) = rest.first_chunk_mut::<GROUP>() {
                    for (found, aim) in found.iter_mut().zip(aims) {
                        // SAFETY: the aim is this layout's, and the caller vouches for the table.
                        *found = unsafe { layout.contains(bytes, aim) };
                    }
                } else {
                    for (found, aim) in rest.iter_mut().zip(aims) {
                        // SAFETY: as above.
                        *found = unsafe { layout.contains(bytes, aim) };
                    }
                }
            }
        }
    }
}

/// Hands each hash's probe to `step` with its position, when the lines that it needs have been
/// asked for. `bytes` begin with segment number `first_segment`, and the probes count from there.
#[inline(always)]
pub(crate) fn pipelined<L: TableLayout, M: AsRef<[u8]> + ?Sized>(
    layout: &L,
    bytes: &mut M,
    hashes: &[u64],
    first_segment: u64,
    mut step: impl FnMut(&mut M, usize, &Probe),
) {
    const RING: usize = GROUP * AHEAD;
    let mut ring = [Probe::default(); RING];
    let ask = |ring: &mut [Probe; RING], bytes: &M, i: usize| {
        let mut probe = layout.probe(hashes[i]);
        probe.segment -= first_segment;
        let aim = layout.aim(&probe);
        prefetch(bytes.as_ref(), aim.first >> 3);
        prefetch(bytes.as_ref(), aim.second >> 3);
        ring[i % RING] = probe;
    };
    for i in 0..hashes.len().min(RING) {
        ask(&mut ring, bytes, i);
    }
    for i in 0..hashes.len() {
        let probe = ring[i % RING];
        if i + RING < hashes.len() {
            ask(&mut ring, bytes, i + RING);
        }
        step(bytes, i, &probe);
    }
}

/// Keys that found no free slot and wait for the lines of their neighbours: their searches then
/// overlap their misses too.
const WAITING: usize = 16;

/// Inserts into the segments from number `first_segment` on, which `bytes` begin with. Calls
/// `refused(i)` for each hash that found no place; number `i` has the value `value(i)`.
pub(crate) fn insert<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    (search, spill): (&mut Search, &mut Spill),
    hashes: &[u64],
    value: impl Fn(usize) -> u64,
    (first_segment, max_kicks): (u64, u32),
    mut refused: impl FnMut(usize),
) {
    let far = search.is_far();
    let mut waiting = [(0, Probe::default()); WAITING];
    let mut waited = 0;
    // Inserts a key that was refused just now, or when it began to wait.
    let mut insert = |bytes: &mut [u8], (i, probe): (usize, Probe), offer: Option<Offer>| {
        let pair = (&probe, value(i));
        let offer = offer.unwrap_or_else(|| layout.offer(bytes, &probe, pair.1));
        let room = (&mut *search, &mut *spill);
        if offer != Offer::Taken
            && !copies::insert_refused(layout, bytes, room, pair, offer, max_kicks)
        {
            refused(i);
        }
    };
    pipelined(layout, bytes, hashes, first_segment, |bytes, i, probe| {
        let offer = layout.offer(bytes, probe, value(i));
        if offer == Offer::Taken {
            return;
        }
        if !far {
            return insert(bytes, (i, *probe), Some(offer));
        }
        layout::prefetch_neighbours(layout, bytes, probe);
        let oldest = core::mem::replace(&mut waiting[waited % WAITING], (i, *probe));
        if waited >= WAITING {
            insert(bytes, oldest, None);
        }
        waited += 1;
    });
    for number in waited.saturating_sub(WAITING)..waited {
        insert(bytes, waiting[number % WAITING], None);
    }
}
