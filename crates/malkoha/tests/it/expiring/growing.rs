//! What holds of the kind that grows: memory follows the keys that live.

use malkoha::{GrowableExpiringCuckooFilter, GrowableExpiringLoader, UnionError};

use crate::support::seal_header;

const HOUR: u64 = 3_600;

fn of(capacity: u64) -> GrowableExpiringCuckooFilter {
    GrowableExpiringCuckooFilter::with_capacity(capacity, 0.001, HOUR).unwrap()
}

/// A tide of keys comes and goes: space follows, and no key is forgotten early.
#[test]
fn memory_follows_the_keys_that_live() {
    let mut filter = of(1);
    let (mut key, mut largest) = (0_u64, 0);
    let tide = [200, 20_000, 200_000, 20_000, 200, 200];
    let mut sizes = Vec::new();
    for (hour, keys) in (0..).zip(tide) {
        for step in 0..200 {
            filter.advance(hour * HOUR + step * HOUR / 200);
            for _ in 0..keys / 200 {
                filter.insert(key).unwrap();
                key += 1;
            }
            largest = largest.max(filter.size_in_bytes());
        }
        let seen_in_time = key - keys..key;
        assert!(seen_in_time.clone().all(|key| filter.contains(key)), "hour {hour}");
        assert!(filter.expected_fpr() <= 0.001, "{}", filter.expected_fpr());
        sizes.push(filter.size_in_bytes());
    }
    // The peak is of 213,000 keys.
    assert!(largest * 8 < 213_334 * 40, "{largest}");
    assert!(sizes[5] * 5 < largest, "{sizes:?} of {largest}");
}

/// Nothing is looked at for a year, and then all is gone at once.
#[test]
fn all_that_is_old_is_gone_at_once() {
    let mut filter = of(100_000);
    filter.insert_many(&(0..300_000_u64).collect::<Vec<_>>()).unwrap();
    let large = filter.size_in_bytes();
    filter.advance(HOUR * 24 * 365);
    assert!(filter.is_empty() && filter.entries().next().is_none());
    assert!((0..300_000_u64).all(|key| !filter.contains(key)));
    let bytes = filter.to_bytes();
    assert!((bytes.len() as u64) < large, "what has expired is not in files");
    let again = filter.insert_unique_many(&(0..60_000_u64).collect::<Vec<_>>()).unwrap();
    let new = again.into_iter().filter(|&new| new).count();
    assert!(new > 59_900, "{new}: but for those that share a fingerprint");
}

#[test]
fn unions_of_any_sizes() {
    let (mut ours, mut theirs) = (of(10), of(50_000));
    ours.insert_many(&(0..30_000_u64).collect::<Vec<_>>()).unwrap();
    theirs.advance(HOUR / 2);
    theirs.insert_many(&(20_000..60_000_u64).collect::<Vec<_>>()).unwrap();
    ours.union_with(&theirs).unwrap();
    assert!(ours.now() == HOUR / 2 && (0..60_000_u64).all(|key| ours.contains(key)));
    ours.advance(HOUR + HOUR / 15);
    assert!((20_000..60_000_u64).all(|key| ours.contains(key)));
    let left = (0..20_000_u64).filter(|key| ours.contains(key)).count();
    assert!(left < 60 && ours.len() < 42_000, "{left} and {}", ours.len());
    let other = GrowableExpiringCuckooFilter::with_capacity(10, 0.001, HOUR / 2).unwrap();
    assert!(matches!(ours.union_with(&other), Err(UnionError::Different(_))));
}

fn pieces(filter: &GrowableExpiringCuckooFilter) -> Vec<u8> {
    let piece = |number| filter.piece(number).expect("there are so many");
    assert!(filter.piece(filter.piece_count()).is_none());
    (0..filter.piece_count()).flat_map(piece).collect()
}

fn put_together(bytes: &[u8], cut: usize) -> Option<GrowableExpiringCuckooFilter> {
    let mut loader = GrowableExpiringLoader::new();
    bytes.chunks(cut).try_for_each(|bytes| loader.push(bytes)).ok()?;
    loader.into_filter().ok()
}

/// A copy by pieces does in all that follows what its original does, though neither was swept.
#[test]
fn pieces_make_the_same_set() {
    let mut filter = of(1);
    let mut copy = of(1);
    for round in 0..40_u64 {
        for filter in [&mut filter, &mut copy] {
            filter.advance(round * round * 97);
            let first = round * 1_500;
            filter.insert_many(&(first..first + 300 * (round % 11)).collect::<Vec<_>>()).unwrap();
            filter.refresh_many(&(first..first + 10).collect::<Vec<_>>()).unwrap();
            filter.remove_many(&(first + 5..first + 20).collect::<Vec<_>>());
        }
        let bytes = pieces(&filter);
        assert!(bytes == pieces(&copy), "round {round}");
        let piece = usize::try_from(1 + (round * 7919) % 70_000).unwrap();
        copy = put_together(&bytes, piece).unwrap();
        assert!(copy == filter && copy.len() == filter.len());
    }
}

#[test]
fn damaged_pieces_are_refused() {
    let mut filter = of(10);
    for round in 0..3 {
        filter.advance(1_000_000 + round * 1_500);
        filter.insert_many(&(round * 400..round * 400 + 500).collect::<Vec<_>>()).unwrap();
    }
    let bytes = pieces(&filter);
    for at in (0..600).chain((600..bytes.len()).step_by(13)) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(put_together(&damaged, bytes.len()).is_none(), "byte {at}");
        assert!(at == 0 || put_together(&bytes[..at], 100).is_none(), "{at} bytes");
    }
    assert!(put_together(&[&bytes[..], &[0]].concat(), 1000).is_none());
    // A file has another form, and pieces are no file.
    assert!(put_together(&filter.to_bytes(), 1000).is_none());
    assert!(GrowableExpiringCuckooFilter::from_bytes(&bytes).is_err());
}

/// A header with more times than 32 bits can count bytes of: their length once overflowed there.
#[test]
fn a_header_that_lies_about_its_times_is_refused() {
    let bytes = pieces(&of(10));
    for blocks in [0, 2, 1 << 29, u64::from(u32::MAX), u64::MAX] {
        let mut lying = bytes.clone();
        lying[96..104].copy_from_slice(&blocks.to_le_bytes());
        seal_header(&mut lying);
        assert!(put_together(&lying, 1000).is_none(), "{blocks}");
    }
    assert!(put_together(&bytes, 1000).is_some());
}

/// A query for a later time returns what will be true then.
#[test]
fn later_times_are_foreseen() {
    let mut filter = of(100);
    for step in 0..100 {
        filter.advance(1_000_000 + step * 31);
        filter.insert_many(&(step * 50..step * 50 + 50).collect::<Vec<_>>()).unwrap();
    }
    let (keys, mut hashes) = (Vec::from_iter(0..6_000_u64), vec![0; 6_000]);
    filter.hasher().hash_many(&keys, &mut hashes);
    for later in (0..2 * HOUR).step_by(200) {
        let now = filter.now() + later;
        let mut then = filter.clone();
        then.advance(now);
        assert_eq!(filter.len_at(now), then.len());
        assert_eq!(filter.step_start(now), then.step_start(then.now()));
        assert!(then.next_step() > now && filter.step_start(then.next_step()) == then.next_step());
        let mut found = vec![false; hashes.len()];
        filter.contains_hashes_at(&hashes, now, &mut found);
        for (&hash, &found) in hashes.iter().zip(&found) {
            assert_eq!(found, then.contains_hash(hash));
            assert_eq!(found, filter.contains_hash_at(hash, now));
        }
        let before = then.len();
        then.sweep();
        assert!(then.len() == before && then == { then.clone() });
    }
}
