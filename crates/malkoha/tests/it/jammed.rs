//! Growing filters and maps against somebody who chooses keys and knows their hashes: nothing is
//! refused or lost, and the cost is in proportion to the keys. Random operations on such keys are
//! those of `lab soak`.

use malkoha::tables::{most_places_growing, places_looked_at};
use malkoha::{Copies, GrowableConcurrentCuckooFilter, GrowableCuckooFilter, GrowableCuckooMap};

use crate::support::crafted::{hash, honest, in_one_place, in_one_segment};

/// Some for two buckets, that differ at this bit and others that agree up to the last ones: the
/// latter are copies to a filter that keeps fewer bits.
fn jam(each: usize) -> Vec<u64> {
    let mut all: Vec<u64> =
        [8, 12, 16, 20, 26].into_iter().flat_map(|zeros| in_one_place(zeros).take(each)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

macro_rules! jammed_sets {
    ($($kind:ident: $set:ty;)*) => {$(
        #[allow(unused_mut, reason = "shared ones change through shared references")]
        mod $kind {
            use super::*;

            /// A hundred keys for two buckets, before and after honest ones.
            #[test]
            fn a_jammed_place_harms_nobody() {
                let honest = honest(300_000);
                for (capacity, fpr) in [(1, 0.03), (1_000, 0.001), (100_000, 1e-6)] {
                    let jam = jam(20);
                    let new = || <$set>::with_capacity(capacity, fpr).unwrap();
                    let (mut filter, mut alone) = (new(), new());
                    filter.insert_hashes(&jam[..30]).unwrap();
                    filter.insert_hashes(&honest).unwrap();
                    filter.insert_hashes(&jam[30..]).unwrap();
                    alone.insert_hashes(&honest).unwrap();
                    let all: Vec<u64> = honest.iter().chain(&jam).copied().collect();
                    let mut found = vec![false; all.len()];
                    filter.contains_hashes(&all, &mut found);
                    assert!(found.into_iter().all(|found| found));
                    assert!(all.iter().all(|&hash| filter.contains_hash(hash)));
                    assert!(jam.iter().all(|&hash| filter.count_hash(hash) >= 1));
                    assert_eq!(filter.len(), all.len() as u64);
                    assert!(filter.size_in_bytes() < alone.size_in_bytes() + 200_000);
                    assert!(filter.expected_fpr() < fpr);

                    let mut read = <$set>::from_bytes(&filter.to_bytes()).unwrap();
                    assert!(read == filter);
                    assert!(all.iter().all(|&hash| read.remove_hash(hash)));
                    assert!(read.is_empty() && read.spilled() == 0, "{}", read.spilled());
                    read.shrink_to_fit();
                    assert!(!read.contains_hash(jam[0]));
                }
            }

            /// Keys of one segment, split after split, make a directory as deep as there can be;
            /// then they are stashed.
            #[test]
            fn a_lopsided_filter_goes_on() {
                for (capacity, fpr) in [(1, 2e-8), (100_000, 0.03)] {
                    let mut filter = <$set>::with_capacity(capacity, fpr).unwrap();
                    let hashes: Vec<u64> = in_one_segment(26).take(100_000).collect();
                    filter.insert_hashes(&hashes).unwrap();
                    for _ in 0..2 {
                        let read = <$set>::from_bytes(&filter.to_bytes()).unwrap();
                        assert!(read.len() == 100_000 && read == filter);
                        assert!(hashes.iter().all(|&hash| read.contains_hash(hash)));
                        filter.shrink_to_fit();
                    }
                    let bytes = filter.size_in_bytes();
                    assert!(bytes < 100_000 * 80 + (4 << 20), "{bytes}");
                    assert!(hashes.iter().all(|&hash| filter.remove_hash(hash)));
                    assert!(filter.is_empty());
                }
            }

            /// Crowds of many shapes, after each other and among honest keys and copies: an insert
            /// looks at a stated number of places at most, and at few usually; a removal searches
            /// nothing.
            #[test]
            fn the_work_of_an_insert_is_bounded() {
                for (capacity, fpr) in [(1, 0.03), (1, 1e-6), (20_000, 0.001)] {
                    let mut filter = <$set>::with_capacity(capacity, fpr).unwrap();
                    let (mut hashes, mut longest, mut all) = (Vec::new(), 0, 0);
                    let crowds = (4..28).step_by(6).flat_map(|zeros| {
                        let place: Vec<u64> = in_one_place(zeros).take(300).collect();
                        let segment: Vec<u64> = in_one_segment(zeros).take(8_000).collect();
                        [place, segment, honest(20_000), vec![hash(zeros.into()); 100]]
                    });
                    for crowd in crowds {
                        for &hash in &crowd {
                            let before = places_looked_at();
                            filter.insert_hash(hash).unwrap();
                            let places = places_looked_at() - before;
                            longest = longest.max(places);
                            all += places;
                        }
                        hashes.extend(crowd);
                    }
                    assert!(longest <= most_places_growing(), "{longest}");
                    assert!(all < 100 * hashes.len() as u64, "{all} for {}", hashes.len());
                    let before = places_looked_at();
                    assert!(hashes.iter().all(|&hash| filter.remove_hash(hash)));
                    assert!(filter.is_empty() && places_looked_at() == before);
                }
            }
        }
    )*};
}

jammed_sets! {
    of_one_owner: GrowableCuckooFilter;
    shared: GrowableConcurrentCuckooFilter;
}

/// More of them than a segment has slots: each costs an entry of the spill list.
#[test]
fn a_place_takes_any_number_of_keys() {
    let jam: Vec<u64> = in_one_place(20).take(40_000).collect();
    let mut filter = GrowableCuckooFilter::with_capacity(100, 1e-6).unwrap();
    filter.insert_hashes(&jam).unwrap();
    assert!(filter.spilled() > 39_000, "{}", filter.spilled());
    assert!(jam.iter().all(|&hash| filter.contains_hash(hash)));
    assert!(filter.size_in_bytes() < 40_000 * 80 + (4 << 20), "{}", filter.size_in_bytes());
    let honest = honest(200_000);
    filter.insert_hashes(&honest).unwrap();
    assert!(honest.iter().chain(&jam).all(|&hash| filter.contains_hash(hash)));
    assert!(jam.iter().all(|&hash| filter.remove_hash(hash)));
    assert!(honest.iter().all(|&hash| filter.contains_hash(hash)));
    filter.shrink_to_fit();
    assert!(filter.spilled() < 100, "{}", filter.spilled());
}

/// Each step of growth goes through all keys that have no slot, so it is large where there are any.
#[test]
fn a_crowd_is_gone_through_a_few_times() {
    let crowd: Vec<u64> = in_one_place(12).take(30_000).collect();
    let mut filter = GrowableCuckooFilter::with_capacity(20_000, 2e-8).unwrap();
    let (mut load, mut gone_through) = (0.0, 0);
    for &hash in &crowd {
        filter.insert_hash(hash).unwrap();
        let before = std::mem::replace(&mut load, filter.load_factor());
        gone_through += if load < before { filter.spilled() } else { 0 };
    }
    let keys = crowd.len() as u64;
    assert!((keys..15 * keys).contains(&gone_through), "{gone_through}");
}

/// Keys without a slot are united and intersected like others, from either side.
#[test]
fn jammed_filters_unite_and_intersect() {
    // Bits enough that all differ.
    let (jam, honest) = (in_one_place(10).take(60).collect::<Vec<_>>(), honest(60_000));
    let filter = |jam: &[u64], honest: &[u64], capacity| {
        let mut filter = GrowableCuckooFilter::with_capacity(capacity, 1e-5).unwrap();
        filter.insert_hashes(jam).unwrap();
        filter.insert_hashes(honest).unwrap();
        filter
    };
    for capacities in [(1, 1), (1, 100_000), (100_000, 1)] {
        let ours = filter(&jam[..40], &honest[..40_000], capacities.0);
        let theirs = filter(&jam[20..], &honest[20_000..], capacities.1);
        let mut union = ours.clone();
        union.union_with(&theirs).unwrap();
        assert!(jam.iter().chain(&honest).all(|&hash| union.contains_hash(hash)));
        assert_eq!(union.len(), 60_060);
        let mut sum = ours.clone();
        sum.unite(&theirs, Copies::Sum).unwrap();
        assert_eq!(sum.len(), 80_080);
        assert!(jam[20..40].iter().all(|&hash| sum.count_hash(hash) == 2));
        let mut both = ours.clone();
        both.intersect_with(&theirs).unwrap();
        assert!(jam[20..40].iter().all(|&hash| both.contains_hash(hash)));
        assert!(!jam[..20].iter().any(|&hash| both.contains_hash(hash)));
        assert!((20_020..20_040).contains(&both.len()), "{}", both.len());
        assert!(both == GrowableCuckooFilter::from_bytes(&both.to_bytes()).unwrap());
    }
}

/// Values of keys in one place: each is a candidate of its key, can be replaced, and goes.
#[test]
fn a_jammed_map_keeps_all_values() {
    let jam = jam(30);
    let mut map = GrowableCuckooMap::with_capacity(10, 0.001, 40).unwrap();
    let pairs: Vec<(u64, u64)> = jam.iter().copied().zip(1..).collect();
    map.insert_hashes(&pairs).unwrap();
    let honest: Vec<(u64, u64)> = honest(100_000).into_iter().zip(1 << 30..).collect();
    map.insert_hashes(&honest).unwrap();
    for map in [&map, &GrowableCuckooMap::from_bytes(&map.to_bytes()).unwrap()] {
        for &(hash, value) in pairs.iter().chain(&honest) {
            assert!(map.get_hash(hash).any(|found| found == value));
        }
    }
    for &(hash, value) in &pairs {
        assert!(map.update_hash(hash, value, value + 1000).unwrap());
        assert!(map.get_hash(hash).any(|found| found == value + 1000));
    }
    for &(hash, value) in &pairs {
        assert!(map.remove_hash(hash, value + 1000));
    }
    assert_eq!(map.len(), 100_000);
    for &(hash, value) in &honest {
        assert!(map.get_hash(hash).any(|found| found == value));
    }
}

/// Keys whose fingerprints have no bit left fill both halves of a split: that many share the first
/// bits does not multiply the memory, nor that honest keys go on past the growth that was named.
#[test]
fn spent_fingerprints_cost_in_proportion() {
    let new = |fpr| GrowableCuckooFilter::builder().capacity(1).fpr(fpr);
    for (builder, zeros) in [(new(0.01).growth(1.0), 6), (new(0.03), 11), (new(0.03), 8)] {
        let mut filter = builder.build().unwrap();
        let crowd = honest(60_000).into_iter().map(|x| hash((x >> (8 + zeros)) | x << 56));
        let crowd: Vec<u64> = crowd.collect();
        filter.insert_hashes(&crowd).unwrap();
        assert!(crowd.iter().all(|&hash| filter.contains_hash(hash)));
        assert!(filter.size_in_bytes() < 60_000 * 80, "{}", filter.size_in_bytes());
    }
    let mut filter = new(0.01).growth(1.0).build().unwrap();
    filter.insert_hashes(&honest(1 << 20)).unwrap();
    // Just behind the seventh split of all segments, when 83 slots in 100 of each are doubles or
    // keys of before: one in four of all slots counts as a key. Before it, one in two.
    assert!(filter.load_factor() > 0.25, "{}", filter.load_factor());
}

/// Keys that no split separates are searched for in vain a few hundred times, and then hardly any
/// more: in one large batch, which makes room for all of them first, as in small ones.
#[test]
fn a_crowd_of_one_segment_is_not_searched_for_again_and_again() {
    let honest = honest(100_000);
    for zeros in [7, 8, 12, 16] {
        let crowd: Vec<u64> = in_one_segment(zeros).take(200_000).collect();
        let places = |at_once: usize| {
            let mut filter = GrowableCuckooFilter::with_capacity(100_000, 0.01).unwrap();
            let shared = GrowableConcurrentCuckooFilter::with_capacity(100_000, 0.01).unwrap();
            filter.insert_hashes(&honest).unwrap();
            shared.insert_hashes(&honest).unwrap();
            let start = places_looked_at();
            crowd.chunks(at_once).for_each(|crowd| filter.insert_hashes(crowd).unwrap());
            let of_one = places_looked_at() - start;
            crowd.chunks(at_once).for_each(|crowd| shared.insert_hashes(crowd).unwrap());
            let both = [of_one, places_looked_at() - start - of_one];
            assert!(honest.iter().chain(&crowd).all(|&hash| filter.contains_hash(hash)));
            assert!(honest.iter().chain(&crowd).all(|&hash| shared.contains_hash(hash)));
            both.map(|places| places / crowd.len() as u64)
        };
        let (small, large) = (places(4_096), places(crowd.len()));
        // One search in vain looks at 500.
        let most = small.into_iter().chain(large).max().unwrap();
        assert!(most < 100, "{zeros}: {small:?} and {large:?}");
    }
}
