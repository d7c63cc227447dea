//! Random operations at random times, beside an exact list of what was seen when.

use malkoha::tables::{Ages, Expiring};
use malkoha::{
    BatchError, Builder, ExpiringCuckooFilter, Filter, GrowableConcurrentExpiringCuckooFilter,
    GrowableExpiringCuckooFilter, InsertError,
};

use crate::support::random::Random;

/// What the model asks of each kind.
pub(crate) trait Remembers {
    fn advance(&mut self, now: u64);
    fn contains(&self, key: u64) -> bool;
    fn contains_many(&self, keys: &[u64]) -> Vec<bool>;
    fn insert(&mut self, key: u64) -> Result<(), InsertError>;
    fn insert_unique(&mut self, key: u64) -> Result<bool, InsertError>;
    fn insert_unique_many(&mut self, keys: &[u64]) -> Result<Vec<bool>, BatchError>;
    fn refresh(&mut self, key: u64) -> Result<bool, InsertError>;
    fn age(&self, key: u64) -> Option<u64>;
    fn len(&self) -> u64;
    fn expected_fpr(&self) -> f64;
    /// Written and read again.
    fn copied(&self) -> Self;
}

/// The same methods, of one owner or shared.
macro_rules! remembers {
    ($($of:ident)?; $filter:ty) => {
        impl<$($of: Ages)?> Remembers for $filter {
            fn advance(&mut self, now: u64) {
                <$filter>::advance(self, now);
            }
            fn contains(&self, key: u64) -> bool {
                <$filter>::contains(self, key)
            }
            fn contains_many(&self, keys: &[u64]) -> Vec<bool> {
                <$filter>::contains_many(self, keys)
            }
            fn insert(&mut self, key: u64) -> Result<(), InsertError> {
                <$filter>::insert(self, key)
            }
            fn insert_unique(&mut self, key: u64) -> Result<bool, InsertError> {
                <$filter>::insert_unique(self, key)
            }
            fn insert_unique_many(&mut self, keys: &[u64]) -> Result<Vec<bool>, BatchError> {
                <$filter>::insert_unique_many(self, keys)
            }
            fn refresh(&mut self, key: u64) -> Result<bool, InsertError> {
                <$filter>::refresh(self, key)
            }
            fn age(&self, key: u64) -> Option<u64> {
                <$filter>::age(self, key)
            }
            fn len(&self) -> u64 {
                <$filter>::len(self)
            }
            fn expected_fpr(&self) -> f64 {
                <$filter>::expected_fpr(self)
            }
            fn copied(&self) -> Self {
                let copy = Self::from_bytes(&self.to_bytes()).expect("a whole file");
                assert!(copy == *self);
                copy
            }
        }
    };
}
remembers!(T; Filter<Expiring<T>>);
remembers!(; GrowableConcurrentExpiringCuckooFilter);

/// The time that keys live, and the steps that it has.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) ttl: u64,
    pub(crate) steps: u64,
}

/// What was asked and answered wrongly, where a filter may be wrong.
#[derive(Debug, Default)]
pub(crate) struct Wrong {
    pub(crate) asked: u64,
    pub(crate) found: u64,
    expected: f64,
}

impl Wrong {
    fn note(&mut self, found: bool, rate: f64) {
        self.asked += 1;
        self.found += u64::from(found);
        self.expected += rate;
    }
}

/// When each key was last seen, which tells what the filter must find, may find and must not find.
struct Model {
    seen: Vec<Option<u64>>,
    now: u64,
    terms: Terms,
    /// What was never inserted, each key once.
    absent: Wrong,
    /// Expired keys: the same keys repeatedly. A few share fingerprints.
    expired: Wrong,
}

impl Model {
    fn passed(&self, key: u64) -> Option<u64> {
        self.seen[usize::try_from(key).unwrap()].map(|seen| self.now - seen)
    }

    fn must_find(&self, key: u64) -> bool {
        self.passed(key).is_some_and(|passed| passed <= self.terms.ttl)
    }

    /// Whether only chance can make the filter find it: a step after the ttl.
    fn must_not_find(&self, key: u64) -> bool {
        let Terms { ttl, steps } = self.terms;
        let gone = |passed| {
            u128::from(passed) * u128::from(steps) >= u128::from(ttl) * u128::from(steps + 1)
        };
        self.passed(key).is_none_or(gone)
    }

    fn check(&mut self, key: u64, found: bool, rate: f64) {
        assert!(
            found || !self.must_find(key),
            "key {key} was forgotten after {:?}",
            self.passed(key)
        );
        if self.must_not_find(key) {
            self.expired.note(found, rate);
        }
    }

    fn see(&mut self, key: u64) {
        self.seen[usize::try_from(key).unwrap()] = Some(self.now);
    }

    fn epoch(&self, time: u64) -> u128 {
        u128::from(time) * u128::from(self.terms.steps) / u128::from(self.terms.ttl)
    }

    /// Keys of the epochs that the filter keeps.
    fn kept(&self) -> u64 {
        let kept = |seen: u64| self.epoch(self.now) - self.epoch(seen) <= self.terms.steps.into();
        self.seen.iter().flatten().filter(|&&seen| kept(seen)).count() as u64
    }
}

fn below(random: &mut Random, end: u64) -> u64 {
    random.next() % end
}

/// Operations on a filter that has room for `keys` keys at a time, whatever the times.
pub(crate) fn run<F: Remembers>(mut filter: F, keys: u64, terms: Terms, operations: u64) -> Wrong {
    let mut random = Random(keys ^ terms.ttl);
    let mut model = Model {
        seen: vec![None; usize::try_from(keys).unwrap()],
        now: 0,
        terms,
        absent: Wrong::default(),
        expired: Wrong::default(),
    };
    let mut rate = 0.0;
    for operation in 0..operations {
        let step = match below(&mut random, 100_000) {
            0 => 1 << below(&mut random, 40),
            1..=20 => below(&mut random, terms.ttl * 3) + 1,
            21..=4_000 => below(&mut random, terms.ttl / 10 + 2),
            _ => 0,
        };
        model.now += step;
        // A time of before changes nothing.
        filter.advance(if step == 0 { below(&mut random, model.now + 1) } else { model.now });
        if operation % 256 == 0 {
            rate = filter.expected_fpr();
        }
        let key = below(&mut random, keys);
        match below(&mut random, 100) {
            0..30 => {
                filter.insert(key).unwrap();
                model.see(key);
            }
            30..45 => {
                let new = filter.insert_unique(key).unwrap();
                model.check(key, !new, rate);
                if new {
                    model.see(key);
                }
            }
            45..55 => {
                let new = filter.refresh(key).unwrap();
                model.check(key, !new, rate);
                model.see(key);
            }
            55 => {
                let batch: Vec<u64> = (0..20).map(|_| below(&mut random, keys)).collect();
                for (&key, new) in batch.iter().zip(filter.insert_unique_many(&batch).unwrap()) {
                    model.check(key, !new, rate);
                    if new {
                        model.see(key);
                    }
                }
            }
            56 => {
                let batch: Vec<u64> = (0..20).map(|_| below(&mut random, keys)).collect();
                for (&key, found) in batch.iter().zip(filter.contains_many(&batch)) {
                    model.check(key, found, rate);
                }
            }
            57..70 => {
                let (ttl, steps) = (terms.ttl, terms.steps);
                if let (Some(age), Some(passed)) = (filter.age(key), model.passed(key))
                    && model.must_find(key)
                {
                    // The fingerprint of another key may have been seen later.
                    assert!(age <= passed + ttl.div_ceil(steps), "{age} {passed}");
                }
                model.check(key, filter.contains(key), rate);
            }
            70..99 => {
                let absent = keys + random.next() % (1 << 60);
                model.absent.note(filter.contains(absent), rate);
            }
            _ if operation % 1000 == 0 => filter = filter.copied(),
            _ => {}
        }
        if operation % 20_000 == 0 {
            let (len, kept) = (filter.len(), model.kept());
            // Fewer by those that share a fingerprint, more by those that splits have doubled.
            assert!(len <= kept + kept / 16 && kept <= len + 2 + kept / 50, "{len} of {kept}");
        }
    }
    let Wrong { asked, found, expected } = model.absent;
    let found_at_most = expected + 6.0 * expected.sqrt() + 3.0;
    assert!((found as f64) < found_at_most, "{found} of {asked}, {expected:.1} expected");
    let Wrong { asked, found, expected } = model.expired;
    assert!((found as f64) < 10.0 * expected + 100.0, "{found} of {asked} expired ones");
    model.absent
}

/// Operations of each run, of 15: 10^8 together in `checks/run expiry`.
pub(crate) fn operations() -> u64 {
    let all = std::env::var("MALKOHA_OPERATIONS").map_or(450_000, |n| n.parse().unwrap());
    all / 15
}

/// Runs on filters of a kind that are built for `keys / growth` keys.
fn kind<F: Remembers>(build: impl Fn(u64, f64, Terms) -> F, growth: u64) {
    for (keys, fpr, ttl, steps) in
        [(300, 0.01, 1_000, 15), (3_000, 0.001, 60, 7), (40_000, 0.002, 86_400, 216)]
    {
        let terms = Terms { ttl, steps };
        let wrong = run(build(keys / growth, fpr, terms), keys, terms, operations());
        assert!((wrong.found as f64) < 3.0 + wrong.asked as f64 * fpr * 1.2, "{wrong:?}");
    }
}

fn built<F>(builder: Builder<F>, keys: u64, fpr: f64, Terms { ttl, steps }: Terms) -> Builder<F> {
    builder.capacity(keys).fpr(fpr).expire_after(ttl).resolution(ttl.div_ceil(steps))
}

#[test]
fn fixed() {
    kind(|n, fpr, terms| built(ExpiringCuckooFilter::builder(), n, fpr, terms).build().unwrap(), 1);
}

#[test]
fn growable() {
    let build = |n, fpr, terms| {
        built(GrowableExpiringCuckooFilter::builder(), n, fpr, terms).build().unwrap()
    };
    kind(build, 1);
    kind(build, 100);
}

#[test]
fn growable_and_shared() {
    let build = |n, fpr, terms| {
        built(GrowableConcurrentExpiringCuckooFilter::builder(), n, fpr, terms).build().unwrap()
    };
    kind(build, 1);
    kind(build, 10);
}
