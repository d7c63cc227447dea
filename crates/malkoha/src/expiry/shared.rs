//! Tables whose keys expire in shards, each behind a lock of its own.

use super::{Ages, Expiring};
use crate::error::InsertError;
use crate::sharded::Sharded;

impl<T: Ages> Sharded<Expiring<T>> {
    /// Advances one shard after another to this time.
    pub(crate) fn advance(&self, now: u64) {
        if now > self.time() {
            self.at_one_time(|| self.each_mut(|shard| shard.advance(now)));
        }
    }

    /// The time of the shard that is advanced last.
    pub(crate) fn time(&self) -> u64 {
        self.last().times.now()
    }

    pub(crate) fn see(&self, hash: u64, refresh: bool) -> Result<bool, InsertError> {
        self.of_hash_mut(hash).see(hash, refresh)
    }

    pub(crate) fn see_batch(
        &self,
        hashes: &[u64],
        refresh: bool,
        mut done: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        self.batch_mut(hashes, |shard, positions, hashes| {
            shard.see_batch(hashes, refresh, |i, seen| done(positions[i], seen));
        });
    }
}
