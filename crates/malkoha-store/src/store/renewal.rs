//! Keeps the segments of the index able to split, by the keys in the log.

use super::{Inner, Maintained};
use crate::error::Result;

/// Records that are requested at a time, if they are not in memory.
const STRETCH: usize = 256;

impl Inner {
    /// Renews what the index knows of its oldest keys, where that is needed, until `stop` says so.
    /// Nobody removes files meanwhile, which `_maintained` shows. Writers wait for one segment at a
    /// time.
    pub(super) fn renew_index(
        &self,
        _maintained: &Maintained,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        for shard in self.index.worn() {
            let mut segment = 0;
            while let Some(locations) = self.index.worn_locations(shard, segment) {
                if stop() {
                    return Ok(());
                }
                let renewed = self.index.renew(shard, self.hashes_at(&locations));
                // The log has keys that the index lacks, and no checkpoint may be without them.
                renewed.inspect_err(|error| self.commit.fail(error))?;
                segment += 1;
            }
            self.index.settle(shard);
        }
        Ok(())
    }

    /// The hashes of the keys whose records lie there, with the locations. Those that cannot be
    /// read are left out: a lookup reports them, or a repair.
    fn hashes_at(&self, locations: &[u64]) -> Vec<(u64, u64)> {
        let table = self.files.load_full();
        let hash = |&location: &u64| {
            let file = table.file(location)?;
            let hash = file.record(location).ok()?.key().hash(&self.hasher);
            file.check_read(location).ok()?;
            Some((hash, location))
        };
        let mut hashes = Vec::with_capacity(locations.len());
        for some in locations.chunks(STRETCH) {
            let ask = || some.iter().for_each(|&location| table.will_need(location));
            self.cold.read(some.len(), ask, || hashes.extend(some.iter().filter_map(hash)));
        }
        hashes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::index::{Index, shard_of};
    use crate::log::Key;
    use crate::options::Options;
    use crate::store::{Batch, Store};

    /// A store in whose index segments split twice, unless it is renewed.
    fn store(directory: &std::path::Path) -> Store {
        let mut store = Store::open(directory, &Options::new().background(false)).unwrap();
        Arc::get_mut(&mut store.inner).unwrap().index = Index::worn_soon();
        store
    }

    /// Keys of one shard.
    fn keys(store: &Store, count: usize) -> Vec<[u8; 4]> {
        let hasher = store.inner.hasher;
        let keys = (0..u32::MAX).map(u32::to_le_bytes);
        keys.filter(|key| shard_of(Key::main(key).hash(&hasher)) == 0).take(count).collect()
    }

    fn put(store: &Store, keys: &[[u8; 4]], value: &[u8]) {
        let mut batch = Batch::new();
        keys.iter().for_each(|key| batch.put(key, value).map(drop).unwrap());
        store.apply(&batch).unwrap();
    }

    #[test]
    fn an_index_splits_on_at_any_size() {
        let directories = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [stuck, store] = directories.each_ref().map(|directory| store(directory.path()));
        let renew = || store.inner.renew_index(&store.inner.maintenance(), &|| false).unwrap();
        let keys = keys(&store, 200_000);
        for (number, some) in keys.chunks(2_000).enumerate() {
            put(&store, some, b"old");
            renew();
            if number % 10 == 9 {
                // What has another record or none is not taken for what it was.
                put(&store, &some[..100], b"new");
                some[100..200].iter().for_each(|key| store.delete(key).map(drop).unwrap());
            }
        }
        assert_eq!(store.inner.index.worn().count(), 0);
        let value = |i: usize| match (i / 2_000 % 10, i % 2_000) {
            (9, 0..100) => Some(b"new".to_vec()),
            (9, 100..200) => None,
            _ => Some(b"old".to_vec()),
        };
        for (i, key) in keys.iter().enumerate() {
            assert_eq!(store.get(key).unwrap(), value(i), "{i}");
        }
        assert_eq!(store.len(), 199_000);
        keys_of_another_hash(&stuck, 200_000);
        assert_eq!(stuck.inner.index.worn().count(), 1);
        let [stuck, bytes] = [&stuck, &store].map(|store| store.inner.index.size_in_bytes());
        assert!(bytes * 3 / 2 < stuck, "{bytes} of {stuck}");
    }

    /// The hashes of two stores differ.
    fn keys_of_another_hash(store: &Store, count: usize) {
        keys(store, count).chunks(2_000).for_each(|some| put(store, some, b"old"));
    }

    /// What a snapshot shares with the store would have to be copied.
    #[test]
    fn a_snapshot_is_no_reason_to_copy_the_index() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let keys = keys(&store, 50_000);
        let mut worn = 0;
        for some in keys.chunks(1_000) {
            put(&store, some, b"");
            let snapshot = store.inner.index.snapshot();
            let beside = store.inner.index.worn().count();
            drop(snapshot);
            worn = worn.max(store.inner.index.worn().count());
            assert!(beside == 0 || store.inner.index.worn().count() == 1);
        }
        assert_eq!(worn, 1);
    }
}
