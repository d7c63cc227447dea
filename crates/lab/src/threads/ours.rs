//! The library's filters under threads: our locks, and the thesis's.

use std::sync::{Mutex, MutexGuard, PoisonError};

use malkoha::locks::{ElidedMcsLock, Global, Locking, McsLock, ParkingLock, Striped};
use malkoha::{
    Builder, ConcurrentCuckooFilterWith, CuckooFilter, GrowableConcurrentCuckooFilter, Layout,
};

use super::{Shared, SharedContender};
use crate::subject::Subject;

/// 0.23 % false positives with five slots per word.
const FINGERPRINT_BITS: u32 = 12;

fn concurrent<P: Locking + 'static>(name: &str) -> SharedContender {
    SharedContender::new(name, |keys| {
        let builder = Builder::<ConcurrentCuckooFilterWith<P>>::new().capacity(keys);
        Ok(builder.fingerprint_bits(FINGERPRINT_BITS).build()?)
    })
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

/// The filter of one owner, as 64 parts in mutexes and alone, and the filter that grows, from a
/// thousandth of the keys.
#[must_use]
pub fn others() -> Vec<SharedContender> {
    const FPR: f64 = 0.002;
    let filter = |keys| {
        let builder = CuckooFilter::builder().capacity(keys).layout(Layout::Words);
        Ok(builder.fingerprint_bits(FINGERPRINT_BITS).build()?)
    };
    vec![
        SharedContender::new("64 x Mutex<CuckooFilter>", move |keys| Sharded::new(keys, filter)),
        SharedContender::new("one owner, no sharing", move |keys| {
            Ok(Unshared(Mutex::new(filter(keys)?)))
        }),
        SharedContender::new("growing, shared", |keys| {
            Ok(GrowableConcurrentCuckooFilter::with_capacity((keys / 1000).max(1), FPR)?)
        }),
    ]
}

/// Parts of a filter, each in a mutex: the usual way to share one that does not share itself.
pub struct Sharded<T>(Vec<Mutex<T>>);

impl<T> Sharded<T> {
    const PARTS: u64 = 64;

    /// Parts for this many keys in all, each made by `make`.
    ///
    /// # Errors
    ///
    /// If `make` has one.
    pub fn new(keys: u64, make: impl Fn(u64) -> anyhow::Result<T>) -> anyhow::Result<Self> {
        // The fullest of the parts has some more than its share.
        let share = keys / Self::PARTS + 6 * keys.isqrt() / 8;
        let parts = (0..Self::PARTS).map(|_| Ok(Mutex::new(make(share.max(1))?)));
        Ok(Self(parts.collect::<anyhow::Result<_>>()?))
    }

    /// The part of a key, by another function of it than the filters' hash.
    fn part(&self, key: u64) -> MutexGuard<'_, T> {
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
        let part = usize::try_from(hash % Self::PARTS).unwrap_or(0);
        self.0[part].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Subject> Subject for &Sharded<T> {
    fn insert(&mut self, key: u64) -> bool {
        self.part(key).insert(key)
    }

    fn contains(&self, key: u64) -> bool {
        self.part(key).contains(key)
    }

    fn remove(&mut self, key: u64) -> bool {
        self.part(key).remove(key)
    }

    fn bytes(&self) -> u64 {
        self.0.iter().filter_map(|part| Some(part.lock().ok()?.bytes())).sum()
    }
}

/// A filter of one owner, of the same layout, for one thread: it shows the cost of sharing. The
/// lock is taken once, so that a thread that is alone works at the filter's own speed.
struct Unshared(Mutex<CuckooFilter>);

impl Shared for Unshared {
    fn handle(&self) -> Box<dyn Subject + '_> {
        Box::new(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
