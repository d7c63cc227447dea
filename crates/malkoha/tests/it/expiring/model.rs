//! Random operations at random times, against an exact list of what was seen when.

use malkoha::tables::Stored;
use malkoha::{
    Builder, ExpiringCuckooFilter, Filter, GrowableConcurrentExpiringCuckooFilter,
    GrowableExpiringCuckooFilter,
};

use crate::support::random::Random;

/// A set of any kind.
enum Seen {
    Fixed(ExpiringCuckooFilter),
    Growing(GrowableExpiringCuckooFilter),
    Shared(GrowableConcurrentExpiringCuckooFilter),
}

/// The same method, of one owner or shared.
macro_rules! on {
    ($seen:expr, $it:ident => $do:expr) => {
        match $seen {
            Seen::Fixed($it) => $do,
            Seen::Growing($it) => $do,
            Seen::Shared($it) => $do,
        }
    };
}

/// Written and read again.
fn copied<T: Stored + PartialEq>(filter: &Filter<T>) -> Filter<T> {
    let copy = Filter::from_bytes(&filter.to_bytes()).expect("a whole file");
    assert!(copy == *filter);
    copy
}

/// The time that keys live, and the steps that it has.
#[derive(Clone, Copy)]
struct Terms {
    ttl: u64,
    steps: u64,
}

/// Questions and wrong answers, where a filter can be wrong.
#[derive(Debug, Default)]
struct Wrong {
    asked: u64,
    found: u64,
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
fn run(mut filter: Seen, keys: u64, terms: Terms, operations: u64) -> Wrong {
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
        let now = if step == 0 { below(&mut random, model.now + 1) } else { model.now };
        on!(&mut filter, it => it.advance(now));
        if operation % 256 == 0 {
            rate = on!(&filter, it => it.expected_fpr());
        }
        let key = below(&mut random, keys);
        match below(&mut random, 100) {
            0..30 => {
                on!(&mut filter, it => it.insert(key)).unwrap();
                model.see(key);
            }
            30..45 => {
                let new = on!(&mut filter, it => it.insert_unique(key)).unwrap();
                model.check(key, !new, rate);
                if new {
                    model.see(key);
                }
            }
            45..55 => {
                let new = on!(&mut filter, it => it.refresh(key)).unwrap();
                model.check(key, !new, rate);
                model.see(key);
            }
            55 => {
                let batch: Vec<u64> = (0..20).map(|_| below(&mut random, keys)).collect();
                for (&key, new) in
                    batch.iter().zip(on!(&mut filter, it => it.insert_unique_many(&batch)).unwrap())
                {
                    model.check(key, !new, rate);
                    if new {
                        model.see(key);
                    }
                }
            }
            56 => {
                let batch: Vec<u64> = (0..20).map(|_| below(&mut random, keys)).collect();
                for (&key, found) in batch.iter().zip(on!(&filter, it => it.contains_many(&batch)))
                {
                    model.check(key, found, rate);
                }
            }
            57..70 => {
                let (ttl, steps) = (terms.ttl, terms.steps);
                if let (Some(age), Some(passed)) =
                    (on!(&filter, it => it.age(key)), model.passed(key))
                    && model.must_find(key)
                {
                    // The fingerprint of another key may have been seen later.
                    assert!(age <= passed + ttl.div_ceil(steps), "{age} {passed}");
                }
                model.check(key, on!(&filter, it => it.contains(key)), rate);
            }
            70..99 => {
                let absent = keys + random.next() % (1 << 60);
                model.absent.note(on!(&filter, it => it.contains(absent)), rate);
            }
            _ if operation % 1000 == 0 => {
                filter = match &filter {
                    Seen::Fixed(it) => Seen::Fixed(copied(it)),
                    Seen::Growing(it) => Seen::Growing(copied(it)),
                    Seen::Shared(it) => Seen::Shared(copied(it)),
                };
            }
            _ => {}
        }
        if operation % 20_000 == 0 {
            let (len, kept) = (on!(&filter, it => it.len()), model.kept());
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
fn operations() -> u64 {
    let all = std::env::var("MALKOHA_OPERATIONS").map_or(450_000, |n| n.parse().unwrap());
    all / 15
}

/// Runs on filters of a kind that are built for `keys / growth` keys.
fn kind(build: impl Fn(u64, f64, Terms) -> Seen, growth: u64) {
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
    let build = |n, fpr, terms| {
        Seen::Fixed(built(ExpiringCuckooFilter::builder(), n, fpr, terms).build().unwrap())
    };
    kind(build, 1);
}

#[test]
fn growable() {
    let build = |n, fpr, terms| {
        Seen::Growing(
            built(GrowableExpiringCuckooFilter::builder(), n, fpr, terms).build().unwrap(),
        )
    };
    kind(build, 1);
    kind(build, 100);
}

#[test]
fn growable_and_shared() {
    let build = |n, fpr, terms| {
        let builder = built(GrowableConcurrentExpiringCuckooFilter::builder(), n, fpr, terms);
        Seen::Shared(builder.build().unwrap())
    };
    kind(build, 1);
    kind(build, 10);
}
