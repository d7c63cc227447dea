//! Random operations at random times, beside an exact list of what was seen when.

use malkoha::ExpiringCuckooFilter;
use malkoha::tables::{Ages, Expiring};
use malkoha::{BatchError, Filter, InsertError};

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

impl<T: Ages> Remembers for Filter<Expiring<T>> {
    fn advance(&mut self, now: u64) {
        self.advance(now);
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(key)
    }
    fn contains_many(&self, keys: &[u64]) -> Vec<bool> {
        self.contains_many(keys)
    }
    fn insert(&mut self, key: u64) -> Result<(), InsertError> {
        self.insert(key)
    }
    fn insert_unique(&mut self, key: u64) -> Result<bool, InsertError> {
        self.insert_unique(key)
    }
    fn insert_unique_many(&mut self, keys: &[u64]) -> Result<Vec<bool>, BatchError> {
        self.insert_unique_many(keys)
    }
    fn refresh(&mut self, key: u64) -> Result<bool, InsertError> {
        self.refresh(key)
    }
    fn age(&self, key: u64) -> Option<u64> {
        self.age(key)
    }
    fn len(&self) -> u64 {
        self.len()
    }
    fn expected_fpr(&self) -> f64 {
        self.expected_fpr()
    }
    fn copied(&self) -> Self {
        let copy = Self::from_bytes(&self.to_bytes()).expect("a whole file");
        assert!(copy == *self);
        copy
    }
}

/// Random numbers that are the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut n = self.0;
        n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        n ^ (n >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

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

/// When each key was seen last: what the filter must know, may know and cannot know.
struct Model {
    seen: Vec<Option<u64>>,
    now: u64,
    terms: Terms,
    /// What was never inserted, each key once.
    absent: Wrong,
    /// What has expired: the same keys again and again, of which a few share fingerprints.
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
        let step = match random.below(100_000) {
            0 => 1 << random.below(40),
            1..=20 => random.below(terms.ttl * 3) + 1,
            21..=4_000 => random.below(terms.ttl / 10 + 2),
            _ => 0,
        };
        model.now += step;
        // A time of before changes nothing.
        filter.advance(if step == 0 { random.below(model.now + 1) } else { model.now });
        if operation % 1024 == 0 {
            rate = filter.expected_fpr();
        }
        let key = random.below(keys);
        match random.below(100) {
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
                let batch: Vec<u64> = (0..20).map(|_| random.below(keys)).collect();
                for (&key, new) in batch.iter().zip(filter.insert_unique_many(&batch).unwrap()) {
                    model.check(key, !new, rate);
                    if new {
                        model.see(key);
                    }
                }
            }
            56 => {
                let batch: Vec<u64> = (0..20).map(|_| random.below(keys)).collect();
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
                model.absent.note(filter.contains(absent), filter.expected_fpr());
            }
            _ if operation % 1000 == 0 => filter = filter.copied(),
            _ => {}
        }
        if operation % 20_000 == 0 {
            let (len, kept) = (filter.len(), model.kept());
            // Fewer by those that share a fingerprint.
            assert!(len <= kept && kept <= len + 2 + kept / 50, "{len} of {kept}");
        }
    }
    let Wrong { asked, found, expected } = model.absent;
    let found_at_most = expected + 6.0 * expected.sqrt() + 3.0;
    assert!((found as f64) < found_at_most, "{found} of {asked}, {expected:.1} expected");
    let Wrong { asked, found, expected } = model.expired;
    assert!((found as f64) < 10.0 * expected + 100.0, "{found} of {asked} expired ones");
    model.absent
}

/// Operations of each run: 10^8 together in `checks/run expiry`.
pub(crate) fn operations() -> u64 {
    let all = std::env::var("MALKOHA_OPERATIONS").map_or(800_000, |n| n.parse().unwrap());
    all / 8
}

#[test]
fn keys_live_as_long_as_they_should() {
    for (keys, fpr, ttl, resolution) in
        [(300, 0.01, 1_000, None), (3_000, 0.001, 60, Some(8)), (20_000, 0.002, 86_400, Some(400))]
    {
        let builder = ExpiringCuckooFilter::builder().capacity(keys).fpr(fpr).expire_after(ttl);
        let builder = match resolution {
            Some(step) => builder.resolution(step),
            None => builder,
        };
        let steps = resolution.map_or(15, |step| ttl.div_ceil(step));
        let wrong = run(builder.build().unwrap(), keys, Terms { ttl, steps }, operations());
        assert!((wrong.found as f64) < wrong.asked as f64 * fpr, "{wrong:?}");
    }
}
