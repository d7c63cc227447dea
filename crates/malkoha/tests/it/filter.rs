//! What filters of fixed size promise, in every layout. `src/table/tests.rs` has the model of their
//! operations.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sample sizes, all small and positive"
)]

use malkoha::{BuildError, CuckooFilter, InsertError, Layout};

use crate::support::{assert_rate_is_as_stated, every_layout};

/// Every test of this module for one geometry.
macro_rules! geometry_tests {
    ($($name:ident: $layout:expr, $bits:expr;)*) => {$(
        mod $name {
            use super::*;

            fn builder(capacity: u64) -> malkoha::Builder {
                CuckooFilter::builder().capacity(capacity).layout($layout).fingerprint_bits($bits)
            }

            /// Fill until an insert fails: nothing lost, nothing changed, nothing left after
            /// everything was removed.
            #[test]
            fn a_refused_insert_changes_nothing() {
                let empty = builder(2_000).max_kicks(50).build().unwrap();
                let (mut filter, mut inserted) = (empty.clone(), 0_u32);
                let bytes = loop {
                    let bytes = filter.to_bytes();
                    match filter.insert(&inserted) {
                        Ok(()) => inserted += 1,
                        Err(error) => {
                            let len = u64::from(inserted);
                            assert_eq!(error, InsertError::Full { len, capacity: filter.capacity() });
                            break bytes;
                        }
                    }
                };
                assert!(bytes == filter.to_bytes(), "the refused insert changed the table");
                assert!((0..inserted).all(|key| filter.contains(&key)));
                assert!((0..inserted).all(|key| filter.remove(&key)));
                assert!(filter == empty, "a filter emptied key by key is an empty filter");
            }

            /// Sample: as many lookups of absent keys as give about 900 false positives by the
            /// formula, at least 20,000.
            #[test]
            fn false_positives_are_as_the_formula_says() {
                let mut filter = builder(30_000).build().unwrap();
                filter.insert_many(&(0..30_000_u64).collect::<Vec<_>>()).unwrap();
                let sample = ((900.0 / filter.expected_fpr()) as u32).clamp(20_000, 3_000_000);
                assert_rate_is_as_stated(&filter, sample);
            }
        }
    )*};
}

geometry_tests! {
    b1_f12: Layout::Bucketed { bucket_size: 1 }, 12;
    b2_f7: Layout::Bucketed { bucket_size: 2 }, 7;
    b4_f4: Layout::Bucketed { bucket_size: 4 }, 4;
    b4_f12: Layout::Bucketed { bucket_size: 4 }, 12;
    b4_f15: Layout::Bucketed { bucket_size: 4 }, 15;
    b4_f17: Layout::Bucketed { bucket_size: 4 }, 17;
    b4_f32: Layout::Bucketed { bucket_size: 4 }, 32;
    b8_f5: Layout::Bucketed { bucket_size: 8 }, 5;
    b8_f16: Layout::Bucketed { bucket_size: 8 }, 16;
    b8_f27: Layout::Bucketed { bucket_size: 8 }, 27;
    semi_sorted_f5: Layout::SemiSorted, 5;
    semi_sorted_f13: Layout::SemiSorted, 13;
    semi_sorted_f18: Layout::SemiSorted, 18;
    semi_sorted_f32: Layout::SemiSorted, 32;
    words_f5: Layout::Words, 5;
    words_f12: Layout::Words, 12;
    words_f32: Layout::Words, 32;
    gap_windows_f6: Layout::GapWindows, 6;
    gap_windows_f11: Layout::GapWindows, 11;
    gap_windows_f16: Layout::GapWindows, 16;
    gap_windows_f32: Layout::GapWindows, 32;
}

/// Large batches are sorted by segment and filled by threads; small ones are not. All keep every
/// key, and the number of threads changes nothing.
#[test]
fn building_from_a_slice_keeps_every_key() {
    let keys: Vec<u64> = (0..1_500_000).collect();
    for layout in
        [Layout::Bucketed { bucket_size: 4 }, Layout::SemiSorted, Layout::GapWindows, Layout::Words]
    {
        let builder = CuckooFilter::builder().layout(layout).fingerprint_bits(14);
        let mut bytes = Vec::new();
        for threads in [1, 2, 3, 64] {
            let filter = builder.clone().threads(threads).build_from(&keys).unwrap();
            assert_eq!(filter.len(), 1_500_000);
            assert!(filter.contains_many(&keys).into_iter().all(|found| found));
            let written = filter.to_bytes();
            assert!(bytes.is_empty() || bytes == written, "{threads} threads");
            bytes = written;
        }
    }
}

/// What is read once makes the same filter as a slice, whether its length is known or a capacity
/// is.
#[test]
fn building_from_an_iterator_is_building_from_a_slice() {
    let keys: Vec<u64> = (0..1_000_000).collect();
    let builder = CuckooFilter::builder().fpr(0.002);
    let built = builder.build_from(&keys).unwrap();
    assert!(builder.build_from_iter(&keys).unwrap() == built);
    let unknown = || keys.iter().filter(|_| true);
    assert!(builder.build_from_iter(unknown()).unwrap() == built);
    let sized = builder.clone().capacity(1_000_000);
    assert!(sized.build_from_iter(unknown()).unwrap() == built);
    assert!(builder.build_from_iter(std::iter::empty::<u64>()).unwrap().is_empty());
    assert_eq!(CuckooFilter::try_from_iter(["same"; 100], 0.01).unwrap().count("same"), 100);
    let refused = builder.clone().capacity(940_000).build_from_iter(unknown()).unwrap_err();
    assert!(matches!(refused, malkoha::BuildError::Insert(InsertError::Full { .. })), "{refused}");
}

/// Iterators may have no end, or start over after it.
#[test]
fn building_from_an_iterator_ends() {
    for capacity in [1_000, 1_000_000] {
        let builder = CuckooFilter::builder().capacity(capacity).fpr(0.01);
        let refused = builder.build_from_iter(0_u64..).unwrap_err();
        assert!(matches!(refused, malkoha::BuildError::Insert(_)), "{refused}");
        let mut next = 0_u64;
        let again = std::iter::from_fn(|| {
            next += 1;
            (!next.is_multiple_of(700)).then_some(next)
        });
        assert_eq!(builder.build_from_iter(again).unwrap().len(), 699);
    }
}

/// Hashes that somebody chose to lie in one segment, where there is no room for all of them.
#[test]
fn a_batch_for_one_segment_is_refused_by_name() {
    let mut filter =
        CuckooFilter::builder().capacity(700_000).fingerprint_bits(12).build().unwrap();
    let hashes: Vec<u64> = (0..260_000_u64).map(|i| i.wrapping_mul(0x9e37_79b9) >> 8).collect();
    let refused = filter.insert_hashes_with_threads(&hashes, 2).unwrap_err().refused;
    assert_eq!(filter.len(), 260_000 - refused.len() as u64);
    assert!(refused.len() > 1_000 && refused.is_sorted());
    let mut refused = refused.into_iter().peekable();
    let kept = (0..).zip(&hashes).filter(|(i, _)| refused.next_if_eq(i).is_none());
    assert!(kept.map(|(_, &hash)| hash).all(|hash| filter.contains_hash(hash)));
}

/// The positions of refused keys are right also when the batch was sorted: all others are in.
#[test]
fn a_sorted_batch_names_what_it_refused() {
    let mut filter = CuckooFilter::builder()
        .capacity(1_000_000)
        .fingerprint_bits(20)
        .max_kicks(8)
        .build()
        .unwrap();
    let keys: Vec<u32> = (0..1_100_000).chain([7; 20]).collect();
    let refused = filter.insert_many(&keys).unwrap_err().refused;
    assert!(refused.is_sorted() && refused.len() > 1_000);
    assert_eq!(filter.len(), (keys.len() - refused.len()) as u64);
    let mut refused = refused.into_iter().peekable();
    let kept: Vec<u32> = keys
        .iter()
        .enumerate()
        .filter(|(i, _)| refused.next_if_eq(i).is_none())
        .map(|(_, &key)| key)
        .collect();
    assert!(filter.contains_many(&kept).into_iter().all(|found| found));
    assert!(filter.remove_many(&kept).into_iter().all(|removed| removed));
    assert!(filter.is_empty());
}

#[test]
fn try_extend_stops_at_the_first_refusal() {
    let mut filter = CuckooFilter::with_capacity(10, 0.01).unwrap();
    let error = filter.try_extend(0..1_000_u32).unwrap_err();
    let len = filter.len();
    assert_eq!(error, InsertError::Full { len, capacity: 10 });
    assert!((0..u32::try_from(len).unwrap()).all(|key| filter.contains(key)));
}

/// From 10,000 keys on: within 2 % of capacity * f / 0.95. No power of two anywhere.
#[test]
fn sizes_follow_capacities() {
    for capacity in [10_000, 65_537, 1_000_003, 100_000_000, 10_000_000_019, 1 << 36] {
        let plan = CuckooFilter::builder()
            .capacity(capacity)
            .bucket_size(4)
            .fingerprint_bits(12)
            .plan()
            .unwrap();
        let ideal = capacity as f64 * 12.0 / 8.0 / 0.95;
        let ratio = plan.bytes as f64 / ideal;
        assert!((1.0..1.02).contains(&ratio), "{capacity}: {ratio}");
    }
}

#[test]
fn small_capacities_hold_what_they_promise() {
    for capacity in (1..300).chain([1_000, 5_000, 20_000]) {
        for seed in 0..20 {
            let mut filter =
                CuckooFilter::builder().capacity(capacity).fpr(0.001).seed(seed).build().unwrap();
            for key in 0..capacity {
                filter.insert(key).unwrap_or_else(|error| panic!("{capacity} {seed}: {error}"));
            }
        }
    }
}

/// A higher rate never costs more, in any layout: very short fingerprints need emptier tables.
#[test]
fn a_higher_rate_never_costs_more() {
    for layout in every_layout() {
        let mut least = u64::MAX;
        for fpr in [1e-6, 1e-4, 0.001, 0.01, 0.03, 0.1, 0.3, 0.5] {
            let builder = CuckooFilter::builder().capacity(1_000_000).layout(layout);
            let plan = builder.fpr(fpr).plan().unwrap();
            assert!(plan.bytes <= least, "{plan}");
            least = plan.bytes;
        }
    }
}

#[test]
fn a_plan_says_what_is_built() {
    for fpr in [0.5, 0.03, 0.01, 0.001, 1e-4, 1e-6, 1e-8] {
        for capacity in [1, 100, 12_345, 1_000_000] {
            let builder = CuckooFilter::builder().capacity(capacity).fpr(fpr);
            let plan = builder.plan().unwrap();
            let filter = builder.build().unwrap();
            assert!(plan.fpr <= fpr, "{plan}");
            assert_eq!(plan.bytes, filter.size_in_bytes());
            assert_eq!(plan.geometry, *filter.geometry());
            assert_eq!((filter.capacity(), filter.max_kicks()), (capacity, plan.max_kicks));
            assert!(filter.bits_per_key().is_infinite() && filter.load_factor() == 0.0);
        }
    }
}

#[test]
fn wrong_wishes_are_refused_with_a_remedy() {
    let refused = |builder: malkoha::Builder| builder.plan().unwrap_err();
    let new = CuckooFilter::builder;
    assert!(refused(new().fpr(0.01)).to_string().contains("no default capacity: give one"));
    assert!(matches!(refused(new().capacity(0).fpr(0.01)), BuildError::Capacity(0)));
    assert!(matches!(refused(new().capacity((1 << 36) + 1).fpr(0.01)), BuildError::Capacity(_)));
    for fpr in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(refused(new().capacity(1).fpr(fpr)), BuildError::Fpr(_)), "{fpr}");
    }
    let error = refused(new().capacity(1_000_000).fpr(1e-12));
    assert!(error.to_string().contains("at least"), "{error}");
    for bits in [0, 3, 33, 64, 65, 128, u32::MAX] {
        for layout in every_layout() {
            let error = refused(new().capacity(1).layout(layout).fingerprint_bits(bits));
            assert_eq!(error, BuildError::FingerprintBits(bits), "{layout}");
        }
    }
    assert_eq!(
        refused(new().capacity(1).fingerprint_bits(8).bucket_size(3)),
        BuildError::BucketSize(3)
    );
    assert_eq!(refused(new().capacity(1).fpr(0.1).max_kicks(65_536)), BuildError::MaxKicks(65_536));
    assert_eq!(refused(new().capacity(1)), BuildError::Precision);
    assert_eq!(refused(new().capacity(1).fpr(0.1).fingerprint_bits(8)), BuildError::Precision);
}

#[test]
fn the_rate_that_a_refusal_advises_can_be_had() {
    let layouts = every_layout().map(Some).chain([None]);
    for (layout, capacity) in layouts.flat_map(|l| [1, 1_000, 1 << 30, 1 << 36].map(|c| (l, c))) {
        let builder = CuckooFilter::builder().capacity(capacity);
        let builder = layout.map_or(builder.clone(), |layout| builder.layout(layout));
        let error = builder.clone().fpr(1e-30).plan().unwrap_err().to_string();
        let (_, advice) = error.split_once("at least ").unwrap();
        let rate = advice.split_once(',').unwrap().0.parse().unwrap();
        assert!(builder.fpr(rate).plan().is_ok(), "{layout:?}, {capacity} keys: {error}");
    }
}

#[test]
fn random_seeds_differ_and_the_default_does_not() {
    let build = |builder: malkoha::Builder| builder.capacity(10).fpr(0.01).build().unwrap();
    let (a, b) = (build(CuckooFilter::builder()), build(CuckooFilter::builder()));
    assert_eq!(a.hasher(), b.hasher());
    let (a, b) = (
        build(CuckooFilter::builder().random_seed()),
        build(CuckooFilter::builder().random_seed()),
    );
    assert_ne!(a.hasher(), b.hasher());
}
