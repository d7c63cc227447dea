//! Filters of other crates that threads can share, or can be made to, each with a fast hasher.

use std::sync::{Mutex, PoisonError};

use anyhow::{Result, anyhow};
use foldhash::fast::FixedState;
use lab::threads::{Shared, SharedContender};
use rustc_hash::FxHasher;

struct AtomicCuckoo(atomic_cuckoo_filter::CuckooFilter<FxHasher>);
struct AtomicBloom(fastbloom::AtomicBloomFilter<FixedState>);
type Cuckoo = cuckoofilter::CuckooFilter<FxHasher>;

/// The false-positive rate of our filter, for those that can be asked for one.
const FPR: f64 = 0.0023;
const PARTS: usize = 64;

pub(crate) fn all() -> Vec<SharedContender> {
    vec![
        contender("atomic-cuckoo-filter", |keys| {
            // It has fingerprints of 8, 16 and 32 bits.
            let builder = atomic_cuckoo_filter::CuckooFilterBuilder::<FxHasher>::default();
            let built = builder.capacity(keys).fingerprint_size(16).build();
            built.map(AtomicCuckoo).map_err(|error| anyhow!("{error}"))
        }),
        contender("64 x Mutex<cuckoofilter>", |keys| Ok(Sharded::new(keys))),
        contender("fastbloom atomic", |keys| {
            let builder = fastbloom::AtomicBloomFilter::with_false_pos(FPR);
            Ok(AtomicBloom(builder.hasher(FixedState::default()).expected_items(keys)))
        }),
    ]
}

fn contender<T: Shared + 'static>(
    name: &str,
    make: impl Fn(usize) -> Result<T> + 'static,
) -> SharedContender {
    let build = move |keys: u64| Ok(Box::new(make(usize::try_from(keys)?)?) as Box<dyn Shared>);
    SharedContender { name: name.to_owned(), build: Box::new(build) }
}

impl Shared for AtomicCuckoo {
    fn insert(&self, key: u64) -> bool {
        self.0.insert(&key).is_ok()
    }
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
}

impl Shared for AtomicBloom {
    fn insert(&self, key: u64) -> bool {
        self.0.insert(&key);
        true
    }
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
}

/// A filter that does not share itself, in parts: a thread locks one of them at a time.
struct Sharded(Vec<Mutex<Cuckoo>>);

impl Sharded {
    fn new(keys: usize) -> Self {
        // The fullest of the parts has some more than its share.
        let share = keys / PARTS + 6 * keys.isqrt() / 8;
        Self((0..PARTS).map(|_| Mutex::new(Cuckoo::with_capacity(share))).collect())
    }

    fn with<R>(&self, key: u64, operation: impl FnOnce(&mut Cuckoo) -> R) -> R {
        // Another function of the key than the filter's hash.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
        let part = &self.0[usize::try_from(hash % PARTS as u64).unwrap_or(0)];
        operation(&mut part.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shared for Sharded {
    fn insert(&self, key: u64) -> bool {
        self.with(key, |part| part.add(&key).is_ok())
    }
    fn contains(&self, key: u64) -> bool {
        self.with(key, |part| part.contains(&key))
    }
}
