//! Many keys at once: their lines are asked for long before they are looked at.

use super::insert::Unique;
use super::space::Buckets;
use super::table::Table;
use super::target::Target;
use crate::arch::prefetch_from;
use crate::locks::Locking;

/// Keys on their way: 128 lines. Not the ring of `ring::one_by_one`: through that, a batch of
/// lookups takes 7 % more instructions here.
const RING: usize = 64;

impl<P: Locking, S: Buckets> Table<P, S> {
    /// [`insert_unique`](Self::insert_unique) for each hash in turn, as a whole operation; hands
    /// what came of it to `each`, with the hash's position.
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

    /// Hands each hash's probe to `step` with its position, when the lines that it needs have been
    /// asked for.
    #[inline(always)]
    pub(super) fn pipelined(&self, hashes: &[u64], mut step: impl FnMut(usize, &Target)) {
        let mut ring = [Target::default(); RING];
        let ask = |target: &mut Target, hash: u64| {
            *target = self.target(hash);
            for bucket in self.buckets(target) {
                prefetch_from(std::ptr::from_ref(bucket).cast(), 0);
            }
        };
        for (target, &hash) in ring.iter_mut().zip(hashes) {
            ask(target, hash);
        }
        for i in 0..hashes.len() {
            let target = &mut ring[i % RING];
            step(i, target);
            if let Some(&later) = hashes.get(i + RING) {
                ask(target, later);
            }
        }
    }
}
