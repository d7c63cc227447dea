//! Many keys at once: their lines are requested long before they are looked at.

use super::insert::Unique;
use super::table::Table;
use crate::addressing::Probe;
use crate::arch::prefetch_from;
use crate::locks::Locking;

/// Keys on their way: 128 lines. Not the ring of `ring::one_by_one`: through that, a batch of
/// lookups takes 7 % more instructions here.
const RING: usize = 64;

impl<P: Locking> Table<P> {
    /// [`insert_unique`](Self::insert_unique) for each hash in turn, as a whole operation; calls
    /// `each` with the result and the hash's position.
    pub(super) fn insert_unique_many(
        &self,
        hashes: &[u64],
        max_kicks: u32,
        mut each: impl FnMut(usize, Option<Unique>),
    ) {
        self.pipelined(hashes, |i, probe| {
            each(i, self.whole(|table| table.insert_unique(probe, max_kicks)));
        });
    }

    /// Calls `step` with each hash's probe and position, after the lines that it needs were
    /// requested.
    #[inline(always)]
    pub(super) fn pipelined(&self, hashes: &[u64], mut step: impl FnMut(usize, &Probe)) {
        let mut ring = [Probe::default(); RING];
        let ask = |probe: &mut Probe, hash: u64| {
            *probe = self.probe(hash);
            for bucket in self.space.buckets(probe) {
                prefetch_from(std::ptr::from_ref(bucket).cast(), 0);
            }
        };
        for (probe, &hash) in ring.iter_mut().zip(hashes) {
            ask(probe, hash);
        }
        for i in 0..hashes.len() {
            let probe = &mut ring[i % RING];
            step(i, probe);
            if let Some(&later) = hashes.get(i + RING) {
                ask(probe, later);
            }
        }
    }
}
