//! The growable filter: its rate, its size, and what large batches do. The fuzz target `growth`
//! compares it with a model.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sample sizes, all small and positive"
)]

use std::collections::HashMap;

use malkoha::{BuildError, GrowableCuckooFilter, GrowableCuckooMap, Key};

use crate::support::assert_rate_is_as_stated;

type Model = HashMap<u32, u64>;

fn agree(filter: &GrowableCuckooFilter, model: &Model) {
    assert_eq!(filter.len(), model.values().sum::<u64>());
    let keys: Vec<u32> = model.keys().copied().collect();
    for (key, found) in keys.iter().zip(filter.contains_many(&keys)) {
        assert_eq!(filter.contains(key), found, "single and batched lookups differ");
        assert!(found || model[key] == 0, "lost {key}");
        assert!(filter.count(key) >= model[key], "too few copies of {key}");
    }
}

/// From one key to half a million: at every doubling nothing is lost, and the rate is as promised
/// and as reported.
///
/// Sample: as many absent keys as give 400 false positives by the report, at most 2 million.
#[test]
fn keeps_its_rate_at_every_doubling() {
    for fpr in [0.01, 1e-3] {
        let mut filter = GrowableCuckooFilter::with_capacity(1_000, fpr).unwrap();
        let mut keys: Vec<u64> = Vec::new();
        let mut next = 1_000_u64;
        while next <= 600_000 {
            let new: Vec<u64> = (keys.len() as u64..next).collect();
            filter.insert_many(&new).unwrap();
            keys.extend(new);
            assert!(filter.contains_many(&keys).into_iter().all(|found| found), "{next}");
            assert!(keys.iter().step_by(97).all(|key| filter.count(key) >= 1));
            let expected = filter.expected_fpr();
            assert!(expected <= fpr, "{next} keys: {expected}");
            assert_rate_is_as_stated(&filter, ((400.0 / expected) as u32).min(2_000_000));
            next *= 2;
        }
        assert!(filter.remove_many(&keys).into_iter().all(|removed| removed));
        assert!(filter.is_empty() && filter.load_factor() == 0.0);
    }
}

/// A large capacity is a promise: the rate up to it in at most 16 bits per key at 0.1 %. Beyond it,
/// each doubling adds less than the rate. A growth without end costs some bits more.
#[test]
fn a_named_capacity_keeps_the_rate_and_saves_bits() {
    let built = |capacity, growth: Option<f64>| {
        let builder = GrowableCuckooFilter::builder().capacity(capacity).fpr(0.001);
        growth.into_iter().fold(builder, malkoha::Builder::growth).build().unwrap()
    };
    for capacity in [65_536, 100_000, 140_000, 190_000, 270_000, 380_000, 1_000_000] {
        let mut filter = built(capacity, None);
        let keys: Vec<u64> = (0..capacity).collect();
        filter.insert_many(&keys).unwrap();
        assert!(filter.expected_fpr() <= 0.001, "{capacity}: {}", filter.expected_fpr());
        assert!(filter.bits_per_key() <= 16.0, "{capacity}: {}", filter.bits_per_key());
        if capacity < 100_000 {
            for doubling in 1..7_u32 {
                let keys: Vec<u64> = (capacity << (doubling - 1)..capacity << doubling).collect();
                filter.insert_many(&keys).unwrap();
                let (rate, most) = (filter.expected_fpr(), 0.001 * f64::from(1 + doubling));
                assert!(rate < most && filter.bits_per_key() < 17.5, "{doubling}: {rate}");
            }
        }
    }
    let bits = |capacity, growth| built(capacity, growth).fingerprint_bits();
    assert_eq!(bits(65_535, None), bits(65_535, Some(f64::INFINITY)));
    assert_eq!(bits(65_536, None) + 4, bits(65_536, Some(f64::INFINITY)));
}

/// A filter that grows is nearly full at every size, not only just before its segments split.
#[test]
fn grows_in_small_steps() {
    // Short slots are kept fuller.
    for (fpr, least, most) in [(0.03, 0.86, 16.5), (0.002, 0.77, 22.2)] {
        let mut filter = GrowableCuckooFilter::with_capacity(10_000, fpr).unwrap();
        let mut next = 50_000;
        for key in 0..400_000_u64 {
            filter.insert(key).unwrap();
            if key + 1 == next {
                let (load, bits) = (filter.load_factor(), filter.bits_per_key());
                assert!(load > least && bits < most, "{load} at {next} keys, {bits} bits a key");
                next += next / 16;
            }
        }
    }
}

#[test]
fn a_million_copies_are_counted_and_take_no_room() {
    let mut filter = GrowableCuckooFilter::with_capacity(1_000, 0.001).unwrap();
    let bytes = filter.size_in_bytes();
    (0..1_000_000).for_each(|_| filter.insert("cuckoo").unwrap());
    assert_eq!(filter.count("cuckoo"), 1_000_000);
    assert!(filter.size_in_bytes() < bytes + 100);
    // Growth takes them along, and copies that come later join them.
    filter.insert_many(&(0..100_000_u32).collect::<Vec<_>>()).unwrap();
    filter.insert("cuckoo").unwrap();
    assert_eq!(filter.count("cuckoo"), 1_000_001);
    (0..1_000_001).for_each(|_| assert!(filter.remove("cuckoo")));
    assert_eq!((filter.count("cuckoo"), filter.len()), (0, 100_000));
}

/// A key that comes again at each size keeps one fingerprint, or it would need a slot for each.
#[test]
fn a_copy_at_every_size() {
    let mut filter = GrowableCuckooFilter::with_capacity(1, 0.001).unwrap();
    for doubling in 0..18_u32 {
        filter.insert("cuckoo").unwrap();
        let keys: Vec<u64> = (1 << doubling..2 << doubling).collect();
        filter.insert_many(&keys).unwrap();
        assert_eq!(filter.count("cuckoo"), u64::from(doubling) + 1);
    }
}

/// Beyond the promise it goes on, at a rate that it reports, also when its oldest fingerprints have
/// no bit of their path left and lie in both halves of a split.
#[test]
fn grows_beyond_the_promise_for_ever() {
    let builder = GrowableCuckooFilter::builder().capacity(16_000).fpr(0.6).growth(1.0);
    let mut filter = builder.build().unwrap();
    assert_eq!(filter.fingerprint_bits(), 10);
    let keys: Vec<u32> = (0..1_000_000).collect();
    // One by one, or it would make room for all of them first.
    keys.iter().for_each(|key| filter.insert(key).unwrap());
    assert!(filter.contains_many(&keys).into_iter().all(|found| found));
    let in_slots = filter.entries().map(|entry| entry.copies).sum::<u64>();
    assert!(filter.len() == 1_000_000 && in_slots > 1_000_000, "{in_slots}");
    let mut read = GrowableCuckooFilter::from_bytes(&filter.to_bytes()).unwrap();
    assert_eq!(read.len(), filter.len());
    read.shrink_to_fit();
    assert!(read.contains_many(&keys).into_iter().all(|found| found));
    assert!(read.remove_many(&keys).into_iter().all(|removed| removed));
    assert!(read.is_empty() && read.load_factor() == 0.0);
}

/// Keys of all ages stay, in segments that are put together again; the rate is as reported.
#[test]
fn shrinks_when_most_keys_are_gone_and_grows_again() {
    let builder = GrowableCuckooFilter::builder().capacity(1_000).fpr(0.01).growth(400.0);
    let mut filter = builder.build().unwrap();
    let (keys, kept): (Vec<u64>, _) = ((0..400_000).collect(), |key: &u64| key.is_multiple_of(20));
    filter.insert_many(&keys).unwrap();
    (0..100_u64).for_each(|key| (0..key).for_each(|_| filter.insert(key * 20).unwrap()));
    let grown = (filter.segments(), filter.size_in_bytes());
    keys.iter().filter(|key| !kept(key)).for_each(|key| assert!(filter.remove(key)));
    let before = filter.len();
    let counts = |filter: &GrowableCuckooFilter| -> Vec<u64> {
        (0..100_u64).map(|key| filter.count(key * 20)).collect()
    };
    let counted = counts(&filter);
    assert!((0..100).zip(&counted).all(|(key, &count)| count > key), "{counted:?}");
    filter.shrink_to_fit();
    assert_eq!(filter.len(), before);
    let after = counts(&filter);
    assert!(
        after.iter().zip(&counted).all(|(after, before)| after >= before),
        "{after:?}, {counted:?}"
    );
    assert!(filter.segments() * 8 <= grown.0, "{} of {}", filter.segments(), grown.0);
    assert!(filter.size_in_bytes() * 8 <= grown.1, "{} of {}", filter.size_in_bytes(), grown.1);
    assert!(keys.iter().filter(|key| kept(key)).all(|key| filter.contains(key)));
    assert_rate_is_as_stated(&filter, 2_000_000);
    let gone: Vec<u64> = keys.iter().copied().filter(|key| !kept(key)).collect();
    filter.insert_many(&gone).unwrap();
    assert!(keys.iter().all(|key| filter.contains(key)));
    assert!(keys.iter().all(|key| filter.remove(key)));
    (0..100_u64).for_each(|key| (0..key).for_each(|_| assert!(filter.remove(key * 20))));
    filter.shrink_to_fit();
    assert!(filter.is_empty() && filter.spilled() == 0 && filter.segments() == 1);
    assert!(filter.size_in_bytes() < 1_000, "{}", filter.size_in_bytes());
}

/// The memory of spilled copies is given back as well.
#[test]
fn a_shrunk_filter_takes_no_more_than_its_file_read_again() {
    let mut filter = GrowableCuckooFilter::builder().build().unwrap();
    (0..4_000_u64).for_each(|key| (0..4).for_each(|_| filter.insert(key).unwrap()));
    assert!(filter.spilled() > 0);
    (1..4_000_u64).for_each(|key| (0..4).for_each(|_| assert!(filter.remove(key))));
    filter.shrink_to_fit();
    let read = GrowableCuckooFilter::from_bytes(&filter.to_bytes()).unwrap();
    assert_eq!(filter.size_in_bytes(), read.size_in_bytes());
}

#[test]
fn wrong_wishes_are_refused_with_a_remedy() {
    let new = GrowableCuckooFilter::builder;
    assert_eq!(new().capacity(0).build().unwrap_err(), BuildError::Capacity(0));
    assert_eq!(new().fpr(1.0).build().unwrap_err(), BuildError::Fpr(1.0));
    assert_eq!(
        new().growth(0.5).build().unwrap_err(),
        BuildError::Growth { asked: 0.5, most: 1e9 }
    );
    assert_eq!(
        new().growth(1e30).build().unwrap_err(),
        BuildError::Growth { asked: 1e30, most: 1e9 }
    );
    assert_eq!(new().capacity(1 << 50).build().unwrap_err(), BuildError::Capacity(1 << 50));
    let error = new().fpr(1e-12).build().unwrap_err();
    assert!(error.to_string().contains("at least"), "{error}");
    let error = GrowableCuckooMap::builder().capacity(1 << 30).growth(1e9).build().unwrap_err();
    assert!(error.to_string().contains("growth by a factor of 1000000000"), "{error}");
}

/// A key that a small filter takes for one that is in is found for ever, too.
#[test]
fn keys_left_out_as_known_stay_known() {
    let mut filter =
        GrowableCuckooFilter::builder().capacity(10).fpr(0.2).growth(1.0).build().unwrap();
    for key in 0..50_000_u32 {
        filter.insert_unique(key).unwrap();
    }
    assert!(filter.len() < 49_900, "false positives left keys out: {}", filter.len());
    assert!((0..50_000_u32).all(|key| filter.contains(key)));
    filter.shrink_to_fit();
    assert!((0..50_000_u32).all(|key| filter.contains(key)));
}

/// Large batches are sorted, filled by segment and on threads: as one by one, whatever is there.
#[test]
fn large_batches_agree_with_the_model() {
    let builder = GrowableCuckooFilter::builder().fpr(0.001);
    let mut filters = [1, 2, 3].map(|threads| (threads, builder.build().unwrap()));
    let mut model = Model::new();
    let mut batch: Vec<u32> = Vec::new();
    // New keys, some of them twice, keys of before, and new ones again.
    for (from, to) in [(0, 40_000), (20_000, 300_000), (0, 10), (290_000, 340_000)] {
        batch.clear();
        batch.extend((from..to).chain((from..to).step_by(7)));
        let hasher = filters[0].1.hasher();
        let hashes: Vec<u64> = batch.iter().map(|key| key.hash_with(hasher)).collect();
        for (threads, filter) in &mut filters {
            filter.insert_hashes_with_threads(&hashes, *threads).unwrap();
        }
        batch.iter().for_each(|&key| *model.entry(key).or_default() += 1);
        for key in (from..to).step_by(11) {
            filters.iter_mut().for_each(|(_, filter)| assert!(filter.remove(key)));
            *model.get_mut(&key).unwrap() -= 1;
        }
    }
    let [(_, first), others @ ..] = &filters;
    agree(first, &model);
    assert!(others.iter().all(|(_, filter)| filter == first), "threads change the table");
    assert!(first.expected_fpr() < 0.001);
    let absent: Vec<u32> = (1_000_000..1_200_000).collect();
    let found = first.contains_many(&absent).into_iter().filter(|&found| found).count();
    assert!(found < 240, "{found}");
    let read = GrowableCuckooFilter::from_bytes(&first.to_bytes()).unwrap();
    agree(&read, &model);
}

/// What matches is added after what got slots, and may split segments: in the same order on any
/// number of threads.
#[test]
fn repeated_keys_come_in_one_order_on_any_number_of_threads() {
    let mix = |n: u64| (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hashes: Vec<u64> = (0..300_000).map(|n| mix(mix(n) % 300_000 + 1)).collect();
    let tables = [1, 2, 3, 8].map(|threads| {
        let mut filter = GrowableCuckooFilter::with_capacity(100, 1e-6).unwrap();
        for key in 0..20_u64 {
            (0..key).for_each(|_| filter.insert(key).unwrap());
        }
        filter.insert_hashes_with_threads(&hashes, threads).unwrap();
        filter
    });
    assert!(tables.iter().all(|filter| *filter == tables[0]));
}

/// Room is made for the keys that are new, not for all: neither repeated ones nor those that are in
/// make a filter much larger than it would have grown.
#[test]
fn repeated_keys_take_no_room() {
    let grown = |keys: u32| {
        let mut filter = GrowableCuckooFilter::builder().fpr(0.001).build().unwrap();
        (0..keys).for_each(|key| filter.insert(key).unwrap());
        filter.size_in_bytes() as f64
    };
    let mut filter = GrowableCuckooFilter::builder().fpr(0.001).build().unwrap();
    let repeated: Vec<u32> = (0..1_000_000).map(|n| n % 60_000).collect();
    filter.insert_unique_many(&repeated).unwrap();
    assert!(filter.size_in_bytes() as f64 <= 1.15 * grown(59_940));
    filter.insert_unique_many(&repeated).unwrap();
    let keys: Vec<u32> = (0..200_000).collect();
    filter.insert_unique_many(&keys).unwrap();
    assert!(filter.size_in_bytes() as f64 <= 1.15 * grown(199_800));
    let mut at_once = GrowableCuckooFilter::builder().fpr(0.001).build().unwrap();
    at_once.insert_many(&keys).unwrap();
    assert!(at_once.size_in_bytes() as f64 <= 1.15 * grown(200_000));
}
