//! The kinds that are counted: how each is built, and their common operations.

use malkoha::{
    Builder, ConcurrentCuckooFilter, CuckooFilter, CuckooMap, GrowableConcurrentCuckooFilter,
    GrowableCuckooFilter, GrowableCuckooMap, KeyHasher, Layout,
};

/// False-positive rate of the kinds that are built from one.
const FPR: f64 = 0.002;
/// Bits of the values in maps.
const VALUE_BITS: u32 = 16;
/// Whatever a kind cannot be built with would be an error in this file.
const BUILT: &str = "a kind that can be built";

pub(crate) const BUCKETED: Layout = Layout::Bucketed { bucket_size: 4 };

pub(crate) fn fixed(layout: Layout, bits: u32) -> impl FnOnce(u64) -> CuckooFilter {
    move |keys| {
        let builder = CuckooFilter::builder().capacity(keys);
        builder.layout(layout).fingerprint_bits(bits).build().expect(BUILT)
    }
}

pub(crate) fn growable(growth: f64) -> impl FnOnce(u64) -> GrowableCuckooFilter {
    move |keys| {
        let builder = GrowableCuckooFilter::builder().capacity(keys).fpr(FPR);
        builder.growth(growth).build().expect(BUILT)
    }
}

pub(crate) fn concurrent() -> impl FnOnce(u64) -> ConcurrentCuckooFilter {
    |keys| ConcurrentCuckooFilter::with_capacity(keys, FPR).expect(BUILT)
}

pub(crate) fn growable_concurrent() -> impl FnOnce(u64) -> GrowableConcurrentCuckooFilter {
    |keys| Builder::new().capacity(keys).fpr(FPR).growth(1024.0).build().expect(BUILT)
}

pub(crate) fn map() -> impl FnOnce(u64) -> CuckooMap {
    |keys| CuckooMap::with_capacity(keys, FPR, VALUE_BITS).expect(BUILT)
}

pub(crate) fn growable_map() -> impl FnOnce(u64) -> GrowableCuckooMap {
    |keys| GrowableCuckooMap::with_capacity(keys, FPR, VALUE_BITS).expect(BUILT)
}

/// The common operations of sets and maps: lookups, and a batch that fills the table.
pub(crate) trait Table: 'static {
    /// The argument of an insert: a hash, or a hash and a value.
    type Entry: Copy;
    fn entry(hash: u64) -> Self::Entry;
    fn hasher(&self) -> KeyHasher;
    fn contains(&self, hash: u64) -> bool;
    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]);
    fn insert(&mut self, entry: Self::Entry) -> bool;
    fn insert_batch(&mut self, entries: &[Self::Entry]) -> bool;
    fn remove(&mut self, entry: Self::Entry) -> bool;
}

/// The operations of sets alone.
pub(crate) trait Set: Table {
    fn contains_key(&self, key: u64) -> bool;
    fn remove_batch(&mut self, hashes: &[u64], removed: &mut [bool]);
}

/// The operations of maps alone.
pub(crate) trait Map: Table {
    /// The sum of one more than each candidate: no candidate goes without a trace.
    fn get(&self, hash: u64) -> u64;
    fn get_batch(&self, hashes: &[u64]) -> u64;
}

macro_rules! table {
    ($kind:ty, $entry:ty, $of:expr, $insert:expr, $remove:expr) => {
        impl Table for $kind {
            type Entry = $entry;

            fn entry(hash: u64) -> $entry {
                let of: fn(u64) -> $entry = $of;
                of(hash)
            }

            fn hasher(&self) -> KeyHasher {
                self.hasher()
            }

            #[inline]
            fn contains(&self, hash: u64) -> bool {
                self.contains_hash(hash)
            }

            #[inline]
            fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
                self.contains_hashes(hashes, found);
            }

            #[inline]
            fn insert(&mut self, entry: $entry) -> bool {
                $insert(self, entry)
            }

            #[inline]
            fn insert_batch(&mut self, entries: &[$entry]) -> bool {
                self.insert_hashes(entries).is_ok()
            }

            #[inline]
            fn remove(&mut self, entry: $entry) -> bool {
                $remove(self, entry)
            }
        }
    };
}

macro_rules! set {
    ($kind:ty) => {
        table!(
            $kind,
            u64,
            |hash| hash,
            |set: &mut Self, hash| set.insert_hash(hash).is_ok(),
            |set: &mut Self, hash| set.remove_hash(hash)
        );

        impl Set for $kind {
            #[inline]
            fn contains_key(&self, key: u64) -> bool {
                self.contains(key)
            }

            #[inline]
            fn remove_batch(&mut self, hashes: &[u64], removed: &mut [bool]) {
                self.remove_hashes(hashes, removed);
            }
        }
    };
}

macro_rules! map {
    ($kind:ty) => {
        table!(
            $kind,
            (u64, u64),
            |hash| (hash, hash >> (64 - VALUE_BITS)),
            |map: &mut Self, (hash, value)| map.insert_hash(hash, value).is_ok(),
            |map: &mut Self, (hash, value)| map.remove_hash(hash, value)
        );

        impl Map for $kind {
            #[inline]
            fn get(&self, hash: u64) -> u64 {
                self.get_hash(hash).map(|value| value + 1).sum()
            }

            #[inline]
            fn get_batch(&self, hashes: &[u64]) -> u64 {
                let mut sum = 0;
                self.get_hashes(hashes, |_, value| sum += value + 1);
                sum
            }
        }
    };
}

set!(CuckooFilter);
set!(GrowableCuckooFilter);
set!(ConcurrentCuckooFilter);
set!(GrowableConcurrentCuckooFilter);
map!(CuckooMap);
map!(GrowableCuckooMap);
