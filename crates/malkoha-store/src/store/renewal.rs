//! Keeps the segments of the index able to split, with the keys in the log.

use super::{Inner, Maintained};
use crate::error::Result;

/// Records that are requested at a time, if they are not in memory.
const STRETCH: usize = 256;

impl Inner {
    /// Renews the fingerprints of the oldest keys in the index, where that is needed, until `stop`
    /// returns true. Writers wait for one segment at a time. `_maintained` shows that nobody
    /// removes files meanwhile.
    pub(super) fn renew_index(
        &self,
        _maintained: &Maintained,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        for part in self.index.exhausted() {
            let mut segment = 0;
            while let Some(locations) = self.index.exhausted_locations(part, segment) {
                if stop() {
                    return Ok(());
                }
                let renewed = self.index.renew(part, self.hashes_at(&locations));
                // The log has keys that the index lacks, and no checkpoint must leave them out.
                renewed.inspect_err(|error| self.commit.fail(error))?;
                segment += 1;
            }
            self.index.settle(part);
        }
        Ok(())
    }

    /// The hashes of the keys whose records lie there, with the locations. Skips unreadable
    /// records, which a lookup or a repair reports.
    fn hashes_at(&self, locations: &[u64]) -> Vec<(u64, u64)> {
        let files = self.files.load_full();
        let hash = |&location: &u64| {
            let file = files.at(location)?;
            let hash = file.record(location).ok()?.key().hash(&self.hasher);
            file.check_read(location).ok()?;
            Some((hash, location))
        };
        let mut hashes = Vec::with_capacity(locations.len());
        for some in locations.chunks(STRETCH) {
            let ask = || some.iter().for_each(|&location| files.will_need(location));
            self.readahead.read(some.len(), ask, || hashes.extend(some.iter().filter_map(hash)));
        }
        hashes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::index::{Index, part_of};
    use crate::log::Key;
    use crate::options::Options;
    use crate::store::{Batch, Store};

    /// A store whose index splits its segments twice, unless it is renewed.
    fn store(directory: &std::path::Path) -> Store {
        let mut store = Store::open(directory, &Options::new().background(false)).unwrap();
        Arc::get_mut(&mut store.inner).unwrap().index = Index::exhausted_soon();
        store
    }

    /// Keys of one part.
    fn keys(store: &Store, count: usize) -> Vec<[u8; 4]> {
        let hasher = store.inner.hasher;
        let keys = (0..u32::MAX).map(u32::to_le_bytes);
        keys.filter(|key| part_of(Key::main(key).hash(&hasher)) == 0).take(count).collect()
    }

    fn put(store: &Store, keys: &[[u8; 4]], value: &[u8]) {
        let mut batch = Batch::new();
        keys.iter().for_each(|key| batch.put(key, value).map(drop).unwrap());
        store.apply(&batch).unwrap();
    }

    #[test]
    fn an_index_splits_on_at_any_size() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let renew = || store.inner.renew_index(&store.inner.maintenance(), &|| false).unwrap();
        let keys = keys(&store, 200_000);
        for (number, some) in keys.chunks(2_000).enumerate() {
            put(&store, some, b"old");
            renew();
            if number % 10 == 9 {
                // Keys with another record or none are not renewed as they were.
                put(&store, &some[..100], b"new");
                some[100..200].iter().for_each(|key| store.delete(key).map(drop).unwrap());
            }
        }
        assert_eq!(store.inner.index.exhausted().count(), 0);
        let value = |i: usize| match (i / 2_000 % 10, i % 2_000) {
            (9, 0..100) => Some(b"new".to_vec()),
            (9, 100..200) => None,
            _ => Some(b"old".to_vec()),
        };
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(store.get(key).unwrap(), value(i), "{i}");
        }
        assert_eq!(store.len(), 199_000);
        // Without renewal it takes more than half as much again.
        let bytes = store.inner.index.size_in_bytes();
        assert!(bytes < 199_000 * 8, "{bytes}");
    }
}
