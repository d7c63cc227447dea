//! Filter files with expiring lines, for lookups.

use std::path::Path;

use malkoha::tables;
use malkoha::{
    ExpiringCuckooFilter, FileKind, Filter, GrowableExpiringCuckooFilter, KeyHasher, ReadError,
};

use super::Facts;
use super::facts::{Shape, Window};
use super::lookup::Lookup;
use crate::time::Now;

/// A set for lookups only.
pub(super) struct Set<F> {
    pub(super) filter: F,
    pub(super) shape: fn(&F) -> Shape,
}

/// Opens the file at `path`, if lines of this kind expire, and sets its time to `now`.
pub(super) fn open(
    path: &Path,
    kind: FileKind,
    now: Now,
) -> Option<Result<Box<dyn Lookup>, ReadError>> {
    macro_rules! opened {
        ($filter:ty, $grows:expr) => {{
            let opened = <$filter>::open(path).map(|mut filter| {
                filter.advance(now.of(filter.now()));
                let shape = |filter: &$filter| {
                    let (ttl, resolution, now) = (filter.ttl(), filter.resolution(), filter.now());
                    Shape::aged($grows, Window { ttl, resolution, now })
                };
                Box::new(Set { filter, shape }) as Box<dyn Lookup>
            });
            Some(opened)
        }};
    }
    match kind {
        FileKind::ExpiringSet => opened!(ExpiringCuckooFilter, false),
        FileKind::GrowableExpiringSet => opened!(GrowableExpiringCuckooFilter, true),
        _ => None,
    }
}

impl<T: tables::Lookup + Send + Sync> Lookup for Set<Filter<T>> {
    fn hasher(&self) -> KeyHasher {
        self.filter.hasher()
    }

    fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        self.filter.contains_hashes(hashes, found);
    }

    fn count_hash(&self, hash: u64) -> u64 {
        self.filter.count_hash(hash)
    }

    fn has_values(&self) -> bool {
        false
    }

    fn candidates(&self, _: u64) -> Vec<(u64, u64)> {
        Vec::new()
    }

    fn facts(&self) -> Facts {
        Facts::of(&self.filter, (self.shape)(&self.filter))
    }

    fn verify(&self) -> Result<(), ReadError> {
        Ok(())
    }
}
