//! Unions of growable filters of all ages against a naive model.
#![expect(clippy::cast_precision_loss, reason = "sample sizes")]

use std::collections::HashMap;

use malkoha::{Builder, GrowableCuckooFilter, InsertError, UnionError};
use proptest::prelude::*;

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
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// No key lost, none counted lower than in both; all can be removed, and nothing remains.
    #[test]
    fn a_union_has_the_keys_of_both(
        capacity in prop_oneof![Just(1), 1..60_000_u64],
        fpr in prop_oneof![Just(0.3), Just(0.01), Just(1e-6)],
        histories in (history(), history()),
    ) {
        // All keys of both: beyond the growth that was named, short fingerprints run out of bits.
        let growth = if fpr > 0.1 { (300_000 / capacity).max(1024) } else { 1024 };
        let builder = GrowableCuckooFilter::builder().capacity(capacity).fpr(fpr);
        let builder = builder.growth(growth as f64);
        let (mut ours, mut model) = live(&builder, &histories.0);
        let (theirs, other) = live(&builder, &histories.1);
        let least: HashMap<u32, u64> = model.keys().chain(other.keys())
            .map(|&key| (key, ours.count(&key) * u64::from(model.get(&key).is_some_and(|&n| n > 0))
                + theirs.count(&key) * u64::from(other.get(&key).is_some_and(|&n| n > 0))))
            .collect();
        ours.union_with(&theirs).unwrap();
        other.into_iter().for_each(|(key, copies)| *model.entry(key).or_default() += copies);
        prop_assert_eq!(ours.len(), model.values().sum::<u64>());
        let keys: Vec<u32> = model.keys().copied().collect();
        for (key, found) in keys.iter().zip(ours.contains_many(&keys)) {
            prop_assert!(found || model[key] == 0, "lost {}", key);
            prop_assert!(ours.count(key) >= least[key].max(model[key]), "copies of {}", key);
        }
        let mut same = GrowableCuckooFilter::from_bytes(&ours.to_bytes()).unwrap();
        prop_assert_eq!(same.expected_fpr(), ours.expected_fpr());
        for filter in [&mut ours, &mut same] {
            for (key, &copies) in &model {
                (0..copies).for_each(|_| assert!(filter.remove(key), "{key}"));
            }
            prop_assert!(filter.is_empty() && filter.spilled() == 0 && filter.load_factor() == 0.0);
            prop_assert_eq!(filter.expected_fpr(), 0.0);
        }
    }
}

/// A large filter into a small one and the other way round: the rate is as reported.
///
/// Sample: 2 million absent keys; tolerance 4.5 sigma, sigma = sqrt(p(1-p)/n), and 4 % for the
/// formula.
#[test]
fn the_rate_is_as_reported() {
    let builder = GrowableCuckooFilter::builder().capacity(1_000).fpr(0.01).growth(400.0);
    let of = |keys: std::ops::Range<u64>| {
        let mut filter = builder.build().unwrap();
        filter.insert_many(&keys.collect::<Vec<_>>()).unwrap();
        filter
    };
    let absent: Vec<u64> = (0..2_000_000).map(|n| n + (1 << 40)).collect();
    for (first, second) in [(0..300_000, 300_000..310_000), (300_000..310_000, 0..300_000)] {
        let mut union = of(first);
        union.union_with(&of(second)).unwrap();
        assert_eq!(union.len(), 310_000);
        assert!((0..310_000_u64).all(|key| union.contains(&key)));
        let (expected, sample) = (union.expected_fpr(), absent.len() as f64);
        assert!(expected < 0.01, "{expected}");
        let hits = union.contains_many(&absent).into_iter().filter(|&found| found).count();
        let sigma = (expected * (1.0 - expected) / sample).sqrt();
        let off = (hits as f64 / sample - expected).abs();
        assert!(off <= 4.5 * sigma + 0.04 * expected, "{hits} hits, {expected} expected");
    }
}

/// Each union with itself doubles the copies of a key, until they cannot be counted any more.
#[test]
fn copies_are_never_beyond_counting() {
    let mut filter = GrowableCuckooFilter::with_capacity(10, 0.01).unwrap();
    filter.insert("koel").unwrap();
    for _ in 0..63 {
        let same = filter.clone();
        filter.union_with(&same).unwrap();
    }
    assert_eq!((filter.len(), filter.count("koel")), (1 << 63, 1 << 63));
    let before = filter.to_bytes();
    let error = filter.union_with(&filter.clone()).unwrap_err();
    assert_eq!(error, UnionError::Copies);
    assert!(filter.to_bytes() == before);
    filter.insert("koel").unwrap();
    assert!(filter.remove("koel") && GrowableCuckooFilter::from_bytes(&filter.to_bytes()).is_ok());
}

/// One that began with several segments goes into one that began with fewer, if they divide.
#[test]
fn larger_beginnings_go_into_smaller_ones() {
    // Four segments, two, and three of one length of fingerprints.
    let of = |capacity: u64, keys: std::ops::Range<u32>| {
        let builder = GrowableCuckooFilter::builder().capacity(capacity).fpr(0.01).growth(16.0);
        let mut filter = builder.build().unwrap();
        filter.insert_many(&keys.collect::<Vec<_>>()).unwrap();
        filter
    };
    let [mut two, three, four] = [(35_000, 0..40_000), (50_000, 0..10), (70_000, 30_000..90_000)]
        .map(|(capacity, keys)| of(capacity, keys));
    assert_eq!([two.segments(), three.segments()], [2, 3]);
    two.union_with(&four).unwrap();
    assert!((0..90_000_u32).all(|key| two.contains(&key)));
    assert!((0..90_000_u32).all(|key| two.remove(&key)));
    let error = two.union_with(&three).unwrap_err();
    assert_eq!(error, UnionError::Roots { ours: 2, theirs: 3 });
    assert!(error.to_string().contains("same capacity"));
}

#[test]
fn what_cannot_be_united_is_told_and_changes_nothing() {
    let builder = GrowableCuckooFilter::builder().capacity(16_000).fpr(0.6).growth(1.0);
    let full = |first: u64| {
        let mut filter = builder.build().unwrap();
        let fits = |key: &u64| filter.insert(key).is_ok();
        let keys = (first..).take_while(fits).count() as u64;
        (filter, first..first + keys)
    };
    let ((mut ours, keys), (theirs, _)) = (full(0), full(1 << 40));
    let before = ours.to_bytes();
    let error = ours.union_with(&theirs).unwrap_err();
    assert!(matches!(error, UnionError::Insert(InsertError::GrownOut { .. })), "{error}");
    assert_eq!(ours.to_bytes(), before);
    assert!(keys.into_iter().all(|key| ours.contains(&key)));

    let other = builder.clone().seed(1).build().unwrap();
    assert_eq!(ours.union_with(&other), Err(UnionError::Different("seed")));
    let other = builder.clone().fpr(0.001).build().unwrap();
    let error = ours.union_with(&other).unwrap_err();
    assert!(matches!(error, UnionError::Fingerprints { .. }), "{error}");
}
