//! The library's filters under threads: our locks, and the thesis's.

use std::sync::{Mutex, RwLock};

use anyhow::Result;
use malkoha::locks::{ElidedMcsLock, Global, Locking, McsLock, ParkingLock, Striped};
use malkoha::{
    Builder, ConcurrentCuckooFilterWith, CuckooFilter, GrowableConcurrentCuckooFilter,
    GrowableCuckooFilter, Layout,
};

use super::{Shared, SharedContender};

/// 0.23 % false positives with five slots per word.
const FINGERPRINT_BITS: u32 = 12;

macro_rules! shared {
    (<$($locks:ident)?> $filter:ty) => {
        impl<$($locks: Locking)?> Shared for $filter {
            fn insert(&self, key: u64) -> bool {
                Self::insert(self, key).is_ok()
            }
            fn contains(&self, key: u64) -> bool {
                Self::contains(self, key)
            }
            fn insert_many(&self, keys: &[u64]) -> usize {
                Self::insert_many(self, keys).err().map_or(0, |refusal| refusal.refused.len())
            }
            fn contains_many(&self, keys: &[u64]) -> usize {
                Self::contains_many(self, keys).into_iter().filter(|&found| found).count()
            }
            fn has_batches(&self) -> bool {
                true
            }
        }
    };
}

shared!(<P> ConcurrentCuckooFilterWith<P>);
shared!(<> GrowableConcurrentCuckooFilter);

fn concurrent<P: Locking + 'static>(name: &str) -> SharedContender {
    let build = |keys| {
        let builder = Builder::<ConcurrentCuckooFilterWith<P>>::new().capacity(keys);
        let filter = builder.fingerprint_bits(FINGERPRINT_BITS).build()?;
        Ok(Box::new(filter) as Box<dyn Shared>)
    };
    SharedContender { name: name.to_owned(), build: Box::new(build) }
}

/// The concurrent filter with each kind of lock; the default first.
#[must_use]
pub fn locks() -> Vec<SharedContender> {
    vec![
        concurrent::<Striped<ParkingLock>>("striped, parking"),
        concurrent::<Striped<McsLock>>("striped, MCS"),
        concurrent::<Striped<ElidedMcsLock>>("striped, elided MCS"),
        concurrent::<Global<ParkingLock>>("one lock, parking"),
        concurrent::<Global<McsLock>>("one lock, MCS"),
        concurrent::<Global<ElidedMcsLock>>("one lock, elided MCS"),
    ]
}

/// The filter that grows, from a thousandth of the keys, without naming the growth. Then 64 growing
/// filters of one owner, each in a lock that lets readers in together.
#[must_use]
pub fn growing() -> Vec<SharedContender> {
    const FPR: f64 = 0.002;
    let start = |keys: u64| (keys / 1000).max(1);
    let shared = move |keys| -> Result<Box<dyn Shared>> {
        let filter = GrowableConcurrentCuckooFilter::with_capacity(start(keys), FPR)?;
        Ok(Box::new(filter))
    };
    let parts = move |keys| -> Result<Box<dyn Shared>> {
        let part = || GrowableCuckooFilter::with_capacity(start(keys).div_ceil(64), FPR);
        let parts = (0..64).map(|_| Ok(RwLock::new(part()?)));
        Ok(Box::new(Parts(parts.collect::<Result<_>>()?)))
    };
    let name = "64 x RwLock<GrowableCuckooFilter>".to_owned();
    vec![
        SharedContender { name: "growing, shared".to_owned(), build: Box::new(shared) },
        SharedContender { name, build: Box::new(parts) },
    ]
}

/// Parts of a growing filter, each in a lock.
struct Parts(Vec<RwLock<GrowableCuckooFilter>>);

impl Shared for Parts {
    fn insert(&self, key: u64) -> bool {
        self.0[part_of(key, self.0.len())].write().is_ok_and(|mut part| part.insert(key).is_ok())
    }
    fn contains(&self, key: u64) -> bool {
        self.0[part_of(key, self.0.len())].read().is_ok_and(|part| part.contains(key))
    }
}

/// The part of a key, by another function of it than the filters' hash.
fn part_of(key: u64, parts: usize) -> usize {
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    usize::try_from(hash % parts as u64).unwrap_or(0)
}

/// A filter of one owner, of the same layout, for one thread: it shows what sharing costs.
struct Unshared(Mutex<CuckooFilter>);

/// Parts of a filter, each in a mutex: the usual way to share one that does not share itself.
struct Sharded(Vec<Mutex<CuckooFilter>>);

impl Sharded {
    fn part(&self, key: u64) -> &Mutex<CuckooFilter> {
        &self.0[part_of(key, self.0.len())]
    }
}

impl Shared for Sharded {
    fn insert(&self, key: u64) -> bool {
        self.part(key).lock().is_ok_and(|mut part| part.insert(key).is_ok())
    }
    fn contains(&self, key: u64) -> bool {
        self.part(key).lock().is_ok_and(|part| part.contains(key))
    }
}

impl Shared for Unshared {
    fn insert(&self, key: u64) -> bool {
        self.0.lock().is_ok_and(|mut filter| filter.insert(key).is_ok())
    }
    fn contains(&self, key: u64) -> bool {
        self.0.lock().is_ok_and(|filter| filter.contains(key))
    }
    /// The lock is taken once, so that a thread that is alone works at the filter's own speed.
    fn work(&self, inserts: &[u64], lookups: &[u64], way: super::Way) -> (usize, usize) {
        let mut filter = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        super::rounds(inserts, lookups, way, |some, others| {
            if way == super::Way::Single {
                let refused = some.iter().filter(|&key| filter.insert(key).is_err()).count();
                (refused, others.iter().filter(|&key| filter.contains(key)).count())
            } else {
                let refused = filter.insert_many(some).err().map_or(0, |r| r.refused.len());
                (refused, filter.contains_many(others).into_iter().filter(|&found| found).count())
            }
        })
    }
    fn has_batches(&self) -> bool {
        true
    }
}

/// The filter of one owner: alone, and as 64 parts in mutexes.
#[must_use]
pub fn sharded() -> Vec<SharedContender> {
    let builder = |keys| {
        let builder = CuckooFilter::builder().capacity(keys).layout(Layout::Words);
        builder.fingerprint_bits(FINGERPRINT_BITS).build()
    };
    let alone = move |keys| -> Result<Box<dyn Shared>> {
        Ok(Box::new(Unshared(Mutex::new(builder(keys)?))))
    };
    let parts = move |keys: u64| -> Result<Box<dyn Shared>> {
        // The fullest of 64 parts has some more than its share.
        let share = keys / 64 + 6 * keys.isqrt() / 8;
        let parts = (0..64).map(|_| Ok(Mutex::new(builder(share.max(1))?)));
        Ok(Box::new(Sharded(parts.collect::<Result<_>>()?)))
    };
    vec![
        SharedContender { name: "64 x Mutex<CuckooFilter>".to_owned(), build: Box::new(parts) },
        SharedContender { name: "one owner, no sharing".to_owned(), build: Box::new(alone) },
    ]
}
