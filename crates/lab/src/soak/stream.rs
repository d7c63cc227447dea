//! The operations on a kind that grows, and the model of their results.
//!
//! The model of honest keys is arithmetic, so it takes no memory: number `t` is inserted at
//! step `t`, one in 1024 twice, and every eighth step removes the next of the keys 1, 5, 9, ...
//! Between them come skewed, repeated and crafted keys, each of which the model counts.

use malkoha::tables::Lookup;
use malkoha::{Content, Filter, Key, KeyHasher};

use super::Kind;
use super::work::{Did, Keys as Whose, Meter};
use crate::keys::{Keys, scale};

/// Keys looked up at a time.
const BATCH: usize = 32_768;
/// One in this many keys comes twice.
const TWICE: u64 = 1024;
/// Keys of a filter that is united with the grown one.
const UNITED: u64 = 100_000;
/// Keys from here on are those of unions, skewed keys and repeated keys.
const OTHERS: u64 = 1 << 40;
const SKEWED: u64 = 1 << 41;
const HOT: u64 = 1 << 42;
const DRAWS: u64 = 1 << 43;
/// Distinct skewed keys, of which the first has a sixth of the operations: 2^20, to the power of an
/// eighth.
const RANKS: u64 = 1 << 20;
/// Steps between crafted keys.
pub(super) const CRAFTED: u64 = 128;

/// A filter, and the keys that must be in it.
pub(super) struct Stream<'a, F> {
    pub(super) filter: &'a mut F,
    pub(super) kind: Kind<F>,
    pub(super) meter: Meter,
    /// Keys that were lost, counted too low or refused.
    pub(super) wrong: u64,
    keys: Keys,
    steps: u64,
    united: u64,
    draws: u64,
    skewed: Vec<u64>,
    hot: [u64; 15],
    crafted: Vec<u64>,
    crafted_in: usize,
    crafted_out: usize,
}

impl<'a, T: Lookup, C: Content> Stream<'a, Filter<T, C>> {
    pub(super) fn new(
        filter: &'a mut Filter<T, C>,
        kind: Kind<Filter<T, C>>,
        crafted: Vec<u64>,
        seed: u64,
    ) -> Self {
        Self {
            filter,
            kind,
            meter: Meter::new(),
            wrong: 0,
            keys: Keys::new(seed),
            steps: 0,
            united: 0,
            draws: 0,
            skewed: vec![0; RANKS as usize],
            hot: [0; 15],
            crafted,
            crafted_in: 0,
            crafted_out: 0,
        }
    }

    fn hash(&self, number: u64) -> u64 {
        self.keys.key(number).hash_with(KeyHasher::new(0))
    }

    fn insert(&mut self, whose: Whose, hash: u64) {
        let (kind, filter) = (&self.kind, &mut *self.filter);
        let insert = || if (kind.insert)(filter, hash) { Did::Insert } else { Did::Refuse };
        self.wrong += u64::from(self.meter.run(whose, insert) == Did::Refuse);
    }

    fn remove(&mut self, whose: Whose, hash: u64) {
        let (kind, filter, mut removed) = (&self.kind, &mut *self.filter, false);
        let remove = || {
            removed = (kind.remove)(filter, hash);
            Did::Remove
        };
        self.meter.run(whose, remove);
        self.wrong += u64::from(!removed);
    }

    /// The next operations.
    pub(super) fn step(&mut self) {
        let step = self.steps;
        self.steps += 1;
        self.insert(Whose::Honest, self.hash(step));
        if step % TWICE == 2 {
            self.insert(Whose::Honest, self.hash(step));
        }
        if step % 8 == 7 {
            self.remove(Whose::Honest, self.hash(step / 8 * 4 + 1));
        }
        if step % 8 == 3 {
            self.skewed(step % 32 == 11);
        }
        if step % 32 == 5 {
            self.repeated(step / 32, step % 128 == 37);
        }
        if step % CRAFTED == 9 {
            self.crafted();
        }
    }

    fn skewed(&mut self, is_removal: bool) {
        self.draws += 1;
        let random = self.keys.key(DRAWS + self.draws);
        let rank = scale((0..3).fold(random, |power, _| scale(power, power)), RANKS);
        let (hash, which) = (self.hash(SKEWED + rank), rank as usize);
        if !is_removal {
            self.insert(Whose::Skewed, hash);
            self.skewed[which] += 1;
        } else if self.skewed[which] > 0 {
            self.remove(Whose::Skewed, hash);
            self.skewed[which] -= 1;
        }
    }

    fn repeated(&mut self, turn: u64, is_removal: bool) {
        let (hash, which) = (self.hash(HOT + turn % 15), (turn % 15) as usize);
        if !is_removal {
            self.insert(Whose::Repeated, hash);
            self.hot[which] += 1;
        } else if self.hot[which] > 0 {
            self.remove(Whose::Repeated, hash);
            self.hot[which] -= 1;
        }
    }

    fn crafted(&mut self) {
        let Some(&hash) = self.crafted.get(self.crafted_in) else { return };
        self.insert(Whose::Crafted, hash);
        self.crafted_in += 1;
        if self.crafted_in.is_multiple_of(8) {
            self.remove(Whose::Crafted, self.crafted[self.crafted_out]);
            self.crafted_out += 1;
        }
    }

    /// Unites the filter with a small one, if the kind can.
    pub(super) fn unite(&mut self) -> anyhow::Result<bool> {
        let numbers = OTHERS + self.united..OTHERS + self.united + UNITED;
        let others: Vec<u64> = numbers.map(|number| self.hash(number)).collect();
        let Some(unite) = self.kind.unite else { return Ok(false) };
        unite(self.filter, &others)?;
        self.united += UNITED;
        self.meter.resume();
        Ok(true)
    }

    /// Shrinks the filter, if the kind can.
    pub(super) fn shrink(&mut self) {
        (self.kind.shrink)(self.filter);
        self.meter.resume();
    }

    /// Counts keys that are not found, or counted too low.
    pub(super) fn check(&mut self) {
        let steps = self.steps;
        let is_in = |number: &u64| number % 4 != 1 || number / 4 >= steps / 8;
        let honest = (0..steps).filter(is_in).chain(OTHERS..OTHERS + self.united);
        let hashes = honest.map(|number| self.hash(number));
        let (mut wrong, mut batch, mut found) = (0, Vec::with_capacity(BATCH), vec![false; BATCH]);
        let mut look = |batch: &mut Vec<u64>| {
            let found = &mut found[..batch.len()];
            self.filter.contains_hashes(batch, found);
            wrong += found.iter().filter(|&&found| !found).count() as u64;
            batch.clear();
        };
        for hash in hashes.chain(self.crafted[self.crafted_out..self.crafted_in].iter().copied()) {
            batch.push(hash);
            if batch.len() == BATCH {
                look(&mut batch);
            }
        }
        look(&mut batch);
        // None of them is among 1, 5, 9, ...
        let twice = (0..).map(|n| (n * TWICE + 2, 2)).take_while(|&(number, _)| number < steps);
        let skewed = (SKEWED..).zip(self.skewed.iter().copied());
        let hot = (HOT..).zip(self.hot);
        let is_low = |&(number, copies): &(u64, u64)| {
            copies > 0 && self.filter.count_hash(self.hash(number)) < copies
        };
        let low = twice.chain(skewed).chain(hot).filter(is_low).count() as u64;
        self.wrong += wrong + low;
        self.meter.resume();
    }
}
