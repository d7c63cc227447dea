//! The work of an insert, in places looked at, against keys that somebody chose: bounded always,
//! and small once per segment has refused one.

use malkoha::tables::{most_places, most_places_after_refusal, places_looked_at};
use malkoha::{ConcurrentCuckooFilter, CuckooFilter, CuckooMap, Layout};

const CAPACITY: u64 = 100_000;
const BITS: u32 = 12;

/// What an operation returned, and how many places it looked at.
fn counted<T>(operation: impl FnOnce() -> T) -> (T, u64) {
    let before = places_looked_at();
    let result = operation();
    (result, places_looked_at() - before)
}

/// Of a set of fixed size, with one owner or shared.
macro_rules! refusals_cost_little {
    ($($name:ident: $builder:expr;)*) => {$(
        #[test]
        #[cfg_attr(miri, ignore = "too many keys")]
        fn $name() {
            #[allow(unused_mut, reason = "a shared one changes through a shared reference")]
            let mut filter = $builder.capacity(CAPACITY).fingerprint_bits(BITS).build().unwrap();
            let (most, after) = (most_places(8_000), most_places_after_refusal());
            let mut crowd = crate::support::xxh3::crowd(filter.geometry());
            // Into an eighth of the table, until one is refused.
            let (mut kept, mut longest) = (Vec::new(), 0);
            loop {
                let key = crowd.next().unwrap();
                let (inserted, places) = counted(|| filter.insert(key).is_ok());
                longest = longest.max(places);
                if !inserted {
                    break;
                }
                kept.push(key);
            }
            assert!(longest > 8_000 && longest <= most, "{longest}, at most {most}");
            // All further ones.
            let mut refused = 0;
            for key in crowd.by_ref().take(10_000) {
                let (inserted, places) = counted(|| filter.insert(key).is_ok());
                assert!(places <= after, "{places}, at most {after}");
                if inserted {
                    kept.push(key);
                } else {
                    refused += 1;
                }
            }
            assert!(refused > 9_000, "{refused}");
            // Keys of others find room as before, but for those that belong in the crowd.
            let mut honest = Vec::new();
            for key in 1 << 40..(1 << 40) + CAPACITY / 2 {
                let (inserted, places) = counted(|| filter.insert(key).is_ok());
                assert!(places <= after);
                if inserted {
                    honest.push(key);
                }
            }
            assert!(honest.len() as u64 > CAPACITY / 2 * 98 / 100, "{}", honest.len());
            assert!(kept.iter().chain(&honest).all(|&key| filter.contains(key)));
            // Alternating removals and inserts cause one long search per 8000 / 256 removals.
            let mut all = 0;
            for &key in &kept[..1_000] {
                assert!(filter.remove(key));
                // Not the one that was taken out: its slot is free.
                let mut two = crowd.by_ref().take(2);
                let (_, places) = counted(|| two.all(|key| filter.insert(key).is_ok()));
                assert!(places <= 2 * most);
                all += places;
            }
            assert!(all <= 1_000 * (2 * after + most / 31), "{all}");
            filter.clear();
            let (inserted, _) = counted(|| kept.iter().all(|&key| filter.insert(key).is_ok()));
            assert!(inserted);
        }
    )*};
}

refusals_cost_little! {
    refusals_of_a_filter_cost_little: CuckooFilter::builder().bucket_size(4);
    refusals_of_a_shared_filter_cost_little: ConcurrentCuckooFilter::builder();
}

/// A map refuses like a set; batches too; and each layout, filled far beyond its size by honest
/// keys, stays within the bound.
#[test]
#[cfg_attr(miri, ignore = "too many keys")]
fn inserts_beyond_the_capacity_are_bounded() {
    let after = most_places_after_refusal();
    let mut map = CuckooMap::builder().capacity(20_000).fpr(0.01).value_bits(16).build().unwrap();
    let mut refused = 0;
    for key in 0..40_000_u64 {
        let (inserted, places) = counted(|| map.insert(key, key % 100).is_ok());
        assert!(places <= if refused == 0 { most_places(map.max_kicks()) } else { after });
        refused += u64::from(!inserted);
    }
    assert!(refused > 15_000 && map.len() == 40_000 - refused);

    let bucketed = |bucket_size| Layout::Bucketed { bucket_size };
    let layouts = [bucketed(1), bucketed(4), Layout::SemiSorted, Layout::GapWindows, Layout::Words];
    for layout in layouts {
        let builder = CuckooFilter::builder().capacity(20_000).fpr(0.01).layout(layout);
        let mut filter = builder.build().unwrap();
        let keys: Vec<u64> = (0..30_000).collect();
        let (result, places) =
            counted(|| keys.chunks(20).filter(|keys| filter.insert_many(keys).is_err()).count());
        assert!(result > 0, "{layout}: it is full");
        assert!(places < 30_000 * after, "{layout}: {places}");
        let (_, places) = counted(|| filter.insert_many(&keys[..1_000]));
        assert!(places < 1_000 * after, "{layout}: {places}");
    }
}
