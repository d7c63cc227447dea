//! What holds of the kind of fixed size: room, refusals, unions.

use malkoha::tables::{most_places, places_looked_at};
use malkoha::{
    BuildError, CuckooFilter, ExpiringCuckooFilter, GrowableExpiringCuckooFilter, InsertError,
    UnionError,
};

const HOUR: u64 = 3_600;

fn of(capacity: u64) -> ExpiringCuckooFilter {
    ExpiringCuckooFilter::with_capacity(capacity, 0.001, HOUR).unwrap()
}

/// A stream that has its capacity in each hour is never refused, at no time of an epoch, and its
/// memory does not change.
#[test]
fn a_steady_stream_always_has_room() {
    let (capacity, mut key) = (50_000_u64, 0_u64);
    let mut filter = of(capacity);
    let bytes = filter.size_in_bytes();
    for minute in 0..60 * 10 {
        filter.advance(minute * 60);
        for _ in 0..capacity / 60 {
            filter.insert(key).unwrap();
            key += 1;
        }
        assert!(filter.len() <= capacity + capacity / 15 + capacity / 60);
    }
    assert_eq!(filter.size_in_bytes(), bytes);
    assert!(filter.expected_fpr() <= 0.001, "{}", filter.expected_fpr());
    assert!(filter.bits_per_key() < 23.0, "{}", filter.bits_per_key());
}

#[test]
fn slots_of_the_expired_are_free_at_once() {
    let mut filter = of(20_000);
    let mut filled = |first: u64| {
        let refused = (first..).find(|&key| filter.insert(key).is_err()).unwrap();
        let again = filter.insert(refused);
        assert_eq!(again, Err(InsertError::Full { len: filter.len(), capacity: 20_000 }));
        assert!(filter.contains(first), "what is in stays in");
        filter.advance(filter.now() + HOUR + HOUR / 15);
        assert!(filter.is_empty() && !filter.contains(first));
        refused
    };
    let first = filled(0);
    assert!(first > 21_000);
    // As many again, though nothing has looked at most of the table since.
    let second = filled(first) - first;
    assert!(second > 21_000, "{second} after {first}");
    filled(first + second);
}

/// Half of a full table expires: as many keys find room, each within the bound of its work.
#[test]
fn each_insert_is_bounded() {
    let builder = ExpiringCuckooFilter::builder().capacity(20_000).fpr(0.001).max_kicks(2_000);
    let mut filter = builder.expire_after(HOUR).build().unwrap();
    let bound = most_places(2_000);
    let mut key = 0_u64;
    for round in 0..40 {
        filter.advance(round * HOUR / 2);
        let mut refused = 0;
        while refused < 100 {
            let before = places_looked_at();
            refused += u32::from(filter.insert(key).is_err());
            assert!(places_looked_at() - before <= bound);
            key += 1;
        }
        assert!(filter.len() > 20_000, "round {round}: {}", filter.len());
    }
}

#[test]
fn refreshing_is_asked_for() {
    let mut filter = of(100);
    assert!(filter.insert_unique("first").unwrap() && filter.refresh("last").unwrap());
    filter.advance(HOUR / 2);
    assert!(!filter.insert_unique("first").unwrap() && !filter.refresh("last").unwrap());
    assert_eq!(filter.len(), 2);
    filter.advance(HOUR + HOUR / 15);
    assert!(!filter.contains("first") && filter.contains("last") && filter.len() == 1);
    assert!(filter.age("first").is_none());
    let age = filter.age("last").unwrap();
    assert!((HOUR / 2 + HOUR / 15..HOUR / 2 + HOUR * 2 / 15).contains(&age), "{age}");
    assert_eq!(filter.refresh_many(&["last", "first", "first"]).unwrap(), [false, true, false]);
    assert!(filter.remove("last") && !filter.remove("last") && !filter.contains("last"));
    assert_eq!(filter.remove_many(&["first", "never"]), [true, false]);
    assert!(filter.is_empty());
}

#[test]
fn unions_keep_the_younger() {
    let (mut ours, mut theirs) = (of(1_000), of(1_000));
    ours.insert_many(&(0..600_u64).collect::<Vec<_>>()).unwrap();
    theirs.advance(HOUR / 2);
    theirs.insert_many(&(400..1_000_u64).collect::<Vec<_>>()).unwrap();
    ours.union_with(&theirs).unwrap();
    // Hardly any two keys share a fingerprint.
    assert!(ours.now() == HOUR / 2 && (997..=1_000).contains(&ours.len()), "{}", ours.len());
    assert!((0..1_000_u64).all(|key| ours.contains(key)));
    ours.advance(HOUR + HOUR / 15);
    assert!((400..1_000_u64).all(|key| ours.contains(key)));
    assert!((597..=600).contains(&ours.len()), "{}", ours.len());
    let other = ExpiringCuckooFilter::with_capacity(1_000, 0.001, HOUR / 2).unwrap();
    assert!(matches!(ours.union_with(&other), Err(UnionError::Different(_))));
    assert!(matches!(ours.union_with(&of(900)), Err(UnionError::Different("geometry"))));
    ours.insert_many(&(10_000..10_300_u64).collect::<Vec<_>>()).unwrap();
    let before = ours.clone();
    theirs.advance(ours.now());
    let full = (2_000..9_000_u64).find(|&key| theirs.insert(key).is_err());
    let keys = ours.len() + theirs.len();
    let refusal = ours.union_with(&theirs).unwrap_err();
    assert!(full.is_some() && refusal == UnionError::Full { keys, capacity: 1_000 });
    let said =
        format!("together they hold {keys} keys, and one was built for 1000: build larger ones");
    assert!(refusal.to_string().ends_with(&said), "{refusal}");
    assert!(ours == before);
}

#[test]
fn options_are_checked() {
    let builder = || ExpiringCuckooFilter::builder().capacity(1_000).fpr(0.001);
    assert!(matches!(builder().build(), Err(BuildError::Window { ttl: 0, .. })));
    for (ttl, resolution) in [(100, 101), (10, 0), (1_000, 3)] {
        let error = builder().expire_after(ttl).resolution(resolution).build().unwrap_err();
        assert_eq!(error, BuildError::Window { ttl, resolution });
    }
    for (capacity, said) in [
        (1 << 36, "more than 2^36 keys, those of one more step"),
        (1 << 37, "capacity 137438953472"),
    ] {
        let error = builder().capacity(capacity).expire_after(100).build().unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        let error = GrowableExpiringCuckooFilter::with_capacity(capacity, 0.01, 60).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    let tiny = builder().fpr(1e-9).expire_after(100).build();
    let Err(BuildError::FprTooSmall { reachable, .. }) = tiny else { panic!("{tiny:?}") };
    assert!(builder().fpr(reachable).expire_after(100).build().is_ok());
    let plain = CuckooFilter::builder().capacity(1_000).fpr(0.001).expire_after(10).build();
    assert!(matches!(plain, Err(BuildError::Option { .. })));
    let plan = builder().expire_after(HOUR).plan().unwrap();
    assert!(plan.capacity == 1_000 && plan.fpr <= 0.001 && plan.bits_per_key < 23.0);
}
