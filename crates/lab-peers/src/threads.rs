//! The filter that threads share and other people's, in one process.

use anyhow::Result;
use foldhash::fast::FixedState;
use lab::subject::Subject;
use lab::threads::{self, Sharded, SharedContender, ThreadsArgs};

use crate::counted::Rival;
use crate::rivals::{self, Atomic, Cuckoo};

/// The false-positive rate of our filter, for those that can be asked for one.
const FPR: f64 = 0.0023;

type Bloom = fastbloom::AtomicBloomFilter<FixedState>;

/// A filter that threads share: how they insert and look up.
struct Shared<T>(T, fn(&T, u64) -> bool, fn(&T, u64) -> bool);

impl<T> Subject for &Shared<T> {
    fn insert(&mut self, key: u64) -> bool {
        (self.1)(&self.0, key)
    }

    fn contains(&self, key: u64) -> bool {
        (self.2)(&self.0, key)
    }

    fn remove(&mut self, _: u64) -> bool {
        false
    }

    fn bytes(&self) -> u64 {
        0
    }
}

pub(crate) fn report(args: &ThreadsArgs) -> Result<()> {
    let mut contenders: Vec<SharedContender> = threads::locks().into_iter().take(1).collect();
    contenders.extend([
        SharedContender::new("atomic-cuckoo-filter", |keys| {
            let filter: Atomic = rivals::atomic(usize::try_from(keys)?, FPR)?;
            Ok(Shared(filter, |it, key| it.insert(&key).is_ok(), |it, key| it.contains(&key)))
        }),
        SharedContender::new("64 x Mutex<cuckoofilter>", |keys| {
            let part = |keys| {
                let (insert, contains) = (
                    |it: &mut Cuckoo, key| it.add(&key).is_ok(),
                    |it: &Cuckoo, key| it.contains(&key),
                );
                let make = || Ok(Cuckoo::with_capacity(usize::try_from(keys)?));
                Rival::new(make, insert, contains, None)
            };
            Sharded::new(keys, part)
        }),
        SharedContender::new("fastbloom atomic", |keys| {
            let builder = fastbloom::AtomicBloomFilter::with_false_pos(FPR);
            let builder = builder.hasher(FixedState::default());
            let filter: Bloom = builder.expected_items(usize::try_from(keys)?);
            let insert = |it: &Bloom, key: u64| {
                it.insert(&key);
                true
            };
            Ok(Shared(filter, insert, |it, key| it.contains(&key)))
        }),
    ]);
    threads::report(args, contenders)
}
