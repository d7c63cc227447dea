//! Sets of the keys of a window, and ours.

use std::hint::black_box;

use anyhow::Result;
use malkoha::{ExpiringCuckooFilter, GrowableConcurrentExpiringCuckooFilter};

/// The window, in the unit of `advance`.
pub(crate) const TTL: u64 = 86_400;
/// False positives that each is built for.
const FPR: f64 = 0.001;

/// One that keeps keys for a window, used in the way that suits it. Each method takes many keys, so
/// that the loop over them is compiled with the type.
pub(crate) trait Window {
    /// Brings the time up to `now`, which never goes back.
    fn advance(&mut self, now: u64);
    fn insert(&mut self, keys: &[u64]);
    /// How many of them are in.
    fn count(&self, keys: &[u64]) -> usize;
    /// Inserts those that are not in.
    fn insert_new(&mut self, keys: &[u64]);
    fn bytes(&self) -> u64;
}

/// One that threads share.
pub(crate) trait Shared: Sync {
    fn insert_new(&self, keys: &[u64]);
}

/// Ours, one key after the other or in batches.
pub(crate) struct Ours<F> {
    filter: F,
    batch: usize,
}

impl Ours<ExpiringCuckooFilter> {
    pub(crate) fn new(keys: usize, batch: usize) -> Result<Self> {
        Ok(Self { filter: ExpiringCuckooFilter::with_capacity(keys as u64, FPR, TTL)?, batch })
    }
}

impl Ours<GrowableConcurrentExpiringCuckooFilter> {
    pub(crate) fn shared(keys: usize, batch: usize) -> Result<Self> {
        let filter = GrowableConcurrentExpiringCuckooFilter::with_capacity(keys as u64, FPR, TTL)?;
        Ok(Self { filter, batch })
    }
}

const BUILT_FOR_AS_MANY: &str = "a filter takes the keys that it was built for";

/// Inserts those that are not in, where the filter is owned and where it is shared.
macro_rules! insert_new {
    ($self:ident, $keys:ident) => {
        for keys in $keys.chunks($self.batch) {
            match keys {
                &[key] => _ = black_box($self.filter.insert_unique(key).expect(BUILT_FOR_AS_MANY)),
                keys => {
                    black_box($self.filter.insert_unique_many(keys).expect(BUILT_FOR_AS_MANY));
                }
            }
        }
    };
}

impl Window for Ours<ExpiringCuckooFilter> {
    fn advance(&mut self, now: u64) {
        self.filter.advance(now);
    }

    fn insert(&mut self, keys: &[u64]) {
        for keys in keys.chunks(self.batch) {
            let inserted = match keys {
                &[key] => self.filter.insert(key).is_ok(),
                keys => self.filter.insert_many(keys).is_ok(),
            };
            assert!(inserted, "{BUILT_FOR_AS_MANY}");
        }
    }

    fn count(&self, keys: &[u64]) -> usize {
        let count = |keys: &[u64]| match keys {
            &[key] => usize::from(self.filter.contains(key)),
            keys => self.filter.contains_many(keys).into_iter().filter(|is| *is).count(),
        };
        keys.chunks(self.batch).map(count).sum()
    }

    fn insert_new(&mut self, keys: &[u64]) {
        insert_new!(self, keys);
    }

    fn bytes(&self) -> u64 {
        self.filter.size_in_bytes()
    }
}

impl Shared for Ours<GrowableConcurrentExpiringCuckooFilter> {
    fn insert_new(&self, keys: &[u64]) {
        insert_new!(self, keys);
    }
}
