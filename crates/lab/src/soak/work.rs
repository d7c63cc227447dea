//! The largest work of one operation, in places looked at and in time.

use std::time::{Duration, Instant};

use malkoha::tables::places_looked_at;

use crate::measure::processor_time;

/// Operations between two readings of the thread's processor time, which costs as much as one of
/// them. The time of a block bounds that of each operation in it, whatever else ran meanwhile.
const BLOCK: u32 = 16;

/// The origin of the keys of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// Each once or twice.
    Honest,
    /// Some much more often than others.
    Skewed,
    /// A few, repeatedly.
    Repeated,
    /// Chosen with the hash of each known.
    Crafted,
}

/// The outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Did {
    Insert,
    Refuse,
    Remove,
}

/// The largest of some operations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Largest {
    pub(super) operations: u64,
    pub(super) places: u64,
    pub(super) time: Duration,
}

/// Measures operations one by one.
#[derive(Debug)]
pub(super) struct Meter {
    started: Instant,
    largest: [[Largest; 3]; 4],
    /// Wall-clock times that could be the largest.
    pending: Vec<(Keys, Did, Duration)>,
    in_block: u32,
    since: Duration,
}

impl Meter {
    pub(super) fn new() -> Self {
        Self {
            started: Instant::now(),
            largest: Default::default(),
            pending: Vec::new(),
            in_block: 0,
            since: processor_time(),
        }
    }

    /// Runs an operation, which returns its outcome.
    #[inline]
    pub(super) fn run(&mut self, keys: Keys, operation: impl FnOnce() -> Did) -> Did {
        let (places, start) = (places_looked_at(), Instant::now());
        let did = operation();
        let time = start.elapsed();
        let largest = &mut self.largest[keys as usize][did as usize];
        largest.operations += 1;
        largest.places = largest.places.max(places_looked_at() - places);
        if time > largest.time {
            self.pending.push((keys, did, time));
        }
        self.in_block += 1;
        if self.in_block == BLOCK {
            self.end_block();
        }
        did
    }

    /// To be called before operations that follow other work.
    pub(super) fn resume(&mut self) {
        self.pending.clear();
        (self.in_block, self.since) = (0, processor_time());
    }

    fn end_block(&mut self) {
        let now = processor_time();
        let spent = now.saturating_sub(self.since);
        for (keys, did, time) in self.pending.drain(..) {
            let largest = &mut self.largest[keys as usize][did as usize];
            largest.time = largest.time.max(time.min(spent));
        }
        (self.in_block, self.since) = (0, now);
    }

    /// Seconds since it was made.
    pub(super) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    pub(super) fn operations(&self) -> u64 {
        self.largest.iter().flatten().map(|largest| largest.operations).sum()
    }

    /// The largest of each kind of keys and operation.
    pub(super) fn all(&self) -> impl Iterator<Item = (Keys, Did, Largest)> {
        let of = |keys: Keys| {
            let dids = [Did::Insert, Did::Refuse, Did::Remove];
            dids.map(|did| (keys, did, self.largest[keys as usize][did as usize]))
        };
        let all = [Keys::Honest, Keys::Skewed, Keys::Repeated, Keys::Crafted].map(of);
        all.into_iter().flatten().filter(|(.., largest)| largest.operations > 0)
    }
}
