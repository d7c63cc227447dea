//! Unions of growable filters of all ages against a naive model.

use std::collections::{HashMap, HashSet};

use malkoha::{Builder, Copies, GrowableCuckooFilter, GrowableCuckooMap, UnionError};
use proptest::prelude::*;

use crate::support::{assert_rate_is_as_stated, seal_header};

/// A range of keys, and copies of each.
type Keys = (u32, u32, u32);

#[derive(Clone, Debug)]
struct History {
    added: Vec<Keys>,
    /// From, step: every so manieth key is removed again.
    removed: (usize, usize),
    shrinks: bool,
}

fn history() -> impl Strategy<Value = History> {
    let keys = prop_oneof![
        3 => (0..20_000_u32, 0..20_000_u32, Just(1)),
        1 => (0..20_000_u32, 0..100_u32, 1..9_u32),
    ];
    let (added, removed) = (proptest::collection::vec(keys, 0..6), (0..5_usize, 1..9_usize));
    (added, removed, any::<bool>()).prop_map(|(added, removed, shrinks)| History {
        added,
        removed,
        shrinks,
    })
}

type Model = HashMap<u32, u64>;

fn capacity() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1), 1..60_000_u64, 60_000..3_000_000_u64]
}

fn fpr() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.3), Just(0.01), Just(1e-6)]
}

fn live(
    builder: &Builder<GrowableCuckooFilter>,
    history: &History,
) -> (GrowableCuckooFilter, Model) {
    let (mut filter, mut model) = (builder.build().unwrap(), Model::new());
    let mut keys = Vec::new();
    for &(from, len, copies) in &history.added {
        keys.extend((from..from + len).flat_map(|key| vec![key; copies as usize]));
    }
    filter.insert_many(&keys).unwrap();
    keys.iter().for_each(|&key| *model.entry(key).or_default() += 1);
    let (from, step) = history.removed;
    for key in keys.iter().skip(from).step_by(step) {
        assert!(filter.remove(key));
        *model.get_mut(key).unwrap() -= 1;
    }
    if history.shrinks {
        filter.shrink_to_fit();
    }
    (filter, model)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Of tables of any two capacities, rates and growths: no key lost, none counted lower than in
    /// both, or in either where the greater count is asked for; all can be removed.
    #[test]
    fn a_union_has_the_keys_of_both(
        capacities in (capacity(), capacity()),
        fprs in (fpr(), fpr()),
        growth in proptest::option::of(1..2_000_u32),
        histories in (history(), history()),
        copies in prop_oneof![Just(Copies::Sum), Just(Copies::Most)],
    ) {
        let builder = |capacity, fpr| {
            let builder = GrowableCuckooFilter::builder().capacity(capacity).fpr(fpr);
            growth.map_or(builder.clone(), |growth| builder.growth(growth.into()))
        };
        let (mut ours, model) = live(&builder(capacities.0, fprs.0), &histories.0);
        let (theirs, other) = live(&builder(capacities.1, fprs.1), &histories.1);
        let counts = (model.values().sum::<u64>(), other.values().sum::<u64>());
        ours.unite(&theirs, copies).unwrap();
        let both = model.keys().chain(other.keys()).copied().collect::<HashSet<u32>>();
        let keys: Vec<u32> = both.into_iter().collect();
        let of = |model: &Model, key| model.get(&key).copied().unwrap_or(0);
        for (&key, found) in keys.iter().zip(ours.contains_many(&keys)) {
            let (a, b) = (of(&model, key), of(&other, key));
            let least = if copies == Copies::Sum { a + b } else { a.max(b) };
            prop_assert!(found || least == 0, "lost {}", key);
            prop_assert!(ours.count(key) >= least, "{} copies of {}", ours.count(key), key);
        }
        let mut same = GrowableCuckooFilter::from_bytes(&ours.to_bytes()).unwrap();
        prop_assert_eq!(same.expected_fpr(), ours.expected_fpr());
        if copies == Copies::Sum {
            prop_assert_eq!(ours.len(), counts.0 + counts.1);
            for (model, key) in [&model, &other].iter().flat_map(|m| m.keys().map(move |k| (m, k))) {
                (0..model[key]).for_each(|_| assert!(same.remove(key), "{key}"));
            }
            // Doubles of spent fingerprints stay, and match as by chance.
            let had_doubles = ours.entries().map(|entry| entry.copies).sum::<u64>() > ours.len();
            let is_bare = same.spilled() == 0 && same.expected_fpr() == 0.0;
            prop_assert!(same.is_empty() && (is_bare || had_doubles));
        } else {
            prop_assert!(ours.len() >= counts.0.max(counts.1) && ours.len() <= counts.0 + counts.1);
            // What was in either can be taken out again, whatever matched by chance.
            for model in [&model, &other] {
                let mut union = same.clone();
                for (key, &copies) in model {
                    (0..copies).for_each(|_| assert!(union.remove(key), "{key}"));
                }
            }
        }
    }

    /// An intersection loses no key that is in both.
    #[test]
    fn an_intersection_has_what_is_in_both(
        capacities in (capacity(), capacity()),
        fprs in (fpr(), fpr()),
        histories in (history(), history()),
    ) {
        let builder = |capacity, fpr| GrowableCuckooFilter::builder().capacity(capacity).fpr(fpr);
        let (mut ours, model) = live(&builder(capacities.0, fprs.0), &histories.0);
        let (theirs, other) = live(&builder(capacities.1, fprs.1), &histories.1);
        ours.intersect_with(&theirs).unwrap();
        let in_both = |key: &&u32| model[key] > 0 && other.get(key).is_some_and(|&n| n > 0);
        for key in model.keys().filter(in_both) {
            prop_assert!(ours.count(key) >= model[key], "lost {}", key);
        }
        let same = GrowableCuckooFilter::from_bytes(&ours.to_bytes()).unwrap();
        prop_assert_eq!(same.len(), ours.len());
    }

    /// Maps too: each pair counts as often as in the one with more, or in both.
    #[test]
    fn a_union_of_maps_has_the_pairs_of_both(
        // A map's keys go into one segment each, which those of a tiny map may know too little for.
        capacities in (1..40_000_u64, 1..40_000_u64),
        ranges in ((0..5_000_u32, 0..30_000_u32), (0..5_000_u32, 0..30_000_u32)),
        widths in (0..40_u32, 0..40_u32),
        copies in prop_oneof![Just(Copies::Sum), Just(Copies::Most)],
    ) {
        let of = |capacity, (from, len): (u32, u32), width: u32| {
            let builder = GrowableCuckooMap::builder().capacity(capacity).fpr(1e-4).growth(1e4);
            let (mut map, mut model) = (builder.value_bits(width).build().unwrap(), HashMap::new());
            for key in from..from + len {
                // Some values are the other map's too.
                let value = u64::from(key % 2 * width) & ((1 << width) - 1);
                for _ in 0..1 + key % 97 / 95 * 4 {
                    map.insert(key, value).unwrap();
                    *model.entry((key, value)).or_default() += 1_u64;
                }
            }
            (map, model)
        };
        let (mut ours, model) = of(capacities.0, ranges.0, widths.0);
        let (theirs, other) = of(capacities.1, ranges.1, widths.1);
        ours.unite(&theirs, copies).unwrap();
        let count = |model: &HashMap<_, u64>, pair| model.get(pair).copied().unwrap_or(0);
        for pair in model.keys().chain(other.keys()) {
            let (a, b) = (count(&model, pair), count(&other, pair));
            let least = if copies == Copies::Sum { a + b } else { a.max(b) };
            prop_assert!(ours.count_value(pair.0, pair.1) >= least, "{:?}", pair);
            prop_assert!(ours.get(&pair.0).any(|value| value == pair.1));
        }
        let mut same = GrowableCuckooMap::from_bytes(&ours.to_bytes()).unwrap();
        let mut remove = |model: &HashMap<(u32, u64), u64>| {
            for ((key, value), &copies) in model {
                (0..copies).for_each(|_| assert!(same.remove(key, *value), "{key}"));
            }
        };
        remove(&model);
        if copies == Copies::Sum {
            remove(&other);
            prop_assert!(same.is_empty() && same.spilled() == 0);
        }
    }
}

/// A large filter into a small one and the other way round: the rate is as reported.
#[test]
fn the_rate_is_as_reported() {
    let builder = GrowableCuckooFilter::builder().capacity(1_000).fpr(0.01).growth(400.0);
    let of = |keys: std::ops::Range<u64>| {
        let mut filter = builder.build().unwrap();
        filter.insert_many(&keys.collect::<Vec<_>>()).unwrap();
        filter
    };
    for (first, second) in [(0..300_000, 300_000..310_000), (300_000..310_000, 0..300_000)] {
        let mut union = of(first);
        union.unite(&of(second), Copies::Sum).unwrap();
        assert_eq!(union.len(), 310_000);
        assert!((0..310_000_u64).all(|key| union.contains(key)));
        assert!(union.expected_fpr() < 0.01, "{}", union.expected_fpr());
        assert_rate_is_as_stated(&union, 2_000_000);
    }
}

/// Each union with itself doubles the copies of a key, until they cannot be counted any more.
#[test]
fn copies_are_never_beyond_counting() {
    let mut filter = GrowableCuckooFilter::with_capacity(10, 0.01).unwrap();
    filter.insert("koel").unwrap();
    for _ in 0..63 {
        let same = filter.clone();
        filter.unite(&same, Copies::Sum).unwrap();
    }
    assert_eq!((filter.len(), filter.count("koel")), (1 << 63, 1 << 63));
    let before = filter.to_bytes();
    let error = filter.unite(&filter.clone(), Copies::Sum).unwrap_err();
    assert_eq!(error, UnionError::Copies);
    assert!(filter.to_bytes() == before);
    filter.insert("koel").unwrap();
    assert!(filter.remove("koel") && GrowableCuckooFilter::from_bytes(&filter.to_bytes()).is_ok());
}

/// Of a key that is in both, one removal removes what was inserted once in each.
#[test]
fn a_key_in_both_counts_once() {
    let of = |capacity: u64, keys: std::ops::Range<u32>| {
        let builder = GrowableCuckooFilter::builder().capacity(capacity).fpr(1e-7).growth(100.0);
        let mut filter = builder.build().unwrap();
        filter.insert_many(&keys.collect::<Vec<_>>()).unwrap();
        filter
    };
    for capacities in [(1_000, 1_000), (1, 2_000_000), (2_000_000, 1)] {
        let mut union = of(capacities.0, 0..60_000);
        union.unite(&of(capacities.1, 40_000..100_000), Copies::Most).unwrap();
        assert_eq!(union.len(), 100_000);
        assert!((0..50_000_u32).all(|key| union.remove(key)));
        assert!((0..50_000_u32).filter(|key| union.contains(key)).count() <= 1);
        assert!((50_000..100_000_u32).all(|key| union.contains(key)));
        union.intersect_with(&of(capacities.1, 70_000..80_000)).unwrap();
        assert!((10_000..=10_001).contains(&union.len()), "{}", union.len());
        assert!((70_000..80_000_u32).all(|key| union.contains(key)));
    }
}

/// Spent fingerprints of a map without values lie in several segments, those of one with values do
/// not.
#[test]
fn a_map_without_values_that_gets_some_can_be_saved() {
    let map = |capacity, value_bits| {
        GrowableCuckooMap::builder()
            .capacity(capacity)
            .fpr(0.25)
            .growth(1.0)
            .value_bits(value_bits)
            .build()
            .unwrap()
    };
    let mut without: GrowableCuckooMap = map(100, 0);
    without.insert_many(&(0..200_000_u64).map(|key| (key, 0)).collect::<Vec<_>>()).unwrap();
    assert!(without.entries().count() > 200_000, "some lie in several");
    assert!(without.insert(1_u64, 1).is_err() && without.update(1_u64, 0, 0).unwrap());
    let mut with: GrowableCuckooMap = map(1_000_000, 7);
    with.insert(1_u64, 5).unwrap();
    for copies in [Copies::Most, Copies::Sum] {
        let mut union = without.clone();
        union.unite(&with, copies).unwrap();
        let read = GrowableCuckooMap::from_bytes(&union.to_bytes()).unwrap();
        assert!(read == union && read.get(1_u64).any(|value| value == 5));
    }
}

/// Pairs outside the slots lie under a fingerprint that begins their own, not under one that goes
/// on.
#[test]
fn spilled_pairs_of_old_maps_are_found() {
    let map = |base: u64, capacity| {
        let builder = GrowableCuckooMap::builder().capacity(capacity).fpr(0.5);
        let mut map: GrowableCuckooMap = builder.growth(10.0).value_bits(40).build().unwrap();
        let pairs: Vec<_> = (0..20_000).map(|i| (i * 7 % 5_000, base + i)).collect();
        map.insert_many(&pairs).unwrap();
        (map, pairs)
    };
    // One has split more often than the other, and its keys know less.
    let ((mut union, ours), (other, theirs)) = (map(0, 100), map(1 << 30, 5_000));
    union.unite(&other, Copies::Sum).unwrap();
    let lost = |&&(key, value): &&(u64, u64)| union.count_value(key, value) == 0;
    assert_eq!(ours.iter().chain(&theirs).filter(lost).count(), 0);
}

/// Where slots are more than keys, only the header tells how many there are.
#[test]
fn filters_of_different_length_differ() {
    let filter = GrowableCuckooFilter::builder().capacity(100).fpr(0.5).growth(1.0).build();
    let mut filter: GrowableCuckooFilter = filter.unwrap();
    filter.insert_many(&(0..200_000_u64).collect::<Vec<_>>()).unwrap();
    let mut bytes = filter.to_bytes();
    bytes[40..48].copy_from_slice(&199_999_u64.to_le_bytes());
    seal_header(&mut bytes);
    let other = GrowableCuckooFilter::from_bytes(&bytes).unwrap();
    assert!(other.len() == 199_999 && other != filter);
}

/// Three keys that know 10 bits of their strings, 4 of them of their paths, in a table whose
/// segments are told apart by 6: each comes into all segments where it may belong.
#[test]
fn a_coarse_filter_goes_into_a_deep_one() {
    let mut coarse =
        GrowableCuckooFilter::builder().capacity(10).fpr(0.9).growth(1.0).build().unwrap();
    (0..3_u32).for_each(|key| coarse.insert(key).unwrap());
    let mut deep = GrowableCuckooFilter::with_capacity(2_000_000, 1e-4).unwrap();
    deep.insert_many(&(3..500_000_u32).collect::<Vec<_>>()).unwrap();
    assert!(coarse.fingerprint_bits() == 10 && deep.segments() >= 64);
    for copies in [Copies::Sum, Copies::Most] {
        for (first, second) in [(&coarse, &deep), (&deep, &coarse)] {
            let mut union = first.clone();
            union.unite(second, copies).unwrap();
            assert!((499_990..=500_000).contains(&union.len()), "{}", union.len());
            assert!((0..500_000_u32).all(|key| union.contains(key)));
            assert!(GrowableCuckooFilter::from_bytes(&union.to_bytes()).is_ok());
        }
    }
}

/// A filter that outgrew its bits has doubles, which are no keys of their own.
#[test]
fn doubles_are_not_counted() {
    let of = |capacity, keys: std::ops::Range<u32>| {
        let builder = GrowableCuckooFilter::builder().capacity(capacity).fpr(0.6).growth(1.0);
        let mut filter = builder.build().unwrap();
        // One by one: a batch would have room made for it first.
        keys.for_each(|key| filter.insert(key).unwrap());
        filter
    };
    let in_slots =
        |filter: &GrowableCuckooFilter| filter.entries().map(|entry| entry.copies).sum::<u64>();
    let (doubled, plain) = (of(1_000, 0..200_000), of(300_000, 100_000..350_000));
    assert!(in_slots(&doubled) > 220_000 && in_slots(&plain) == 250_000, "{}", in_slots(&doubled));
    for (ours, theirs) in [(&doubled, &plain), (&plain, &doubled)] {
        let mut sum = ours.clone();
        sum.unite(theirs, Copies::Sum).unwrap();
        assert_eq!(sum.len(), 450_000);
        let mut union = ours.clone();
        union.union_with(theirs).unwrap();
        // Some of the doubles that lie where no equal does seem to be new.
        assert!((340_000..400_000).contains(&union.len()), "{}", union.len());
    }
    let mut both = doubled.clone();
    both.intersect_with(&of(1, 0..100)).unwrap();
    assert!(both.len() < in_slots(&both), "{} of {}", both.len(), in_slots(&both));
}
