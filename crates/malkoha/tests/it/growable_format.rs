//! The files of growable filters and maps: what is written opens again, also in pieces, and damaged
//! or hostile bytes never do harm.

use malkoha::{
    CuckooFilter, FileKind, GrowableCuckooFilter, GrowableCuckooMap, GrowableLoader, KeyHasher,
    ReadError,
};

use crate::support::mutate::{Random, assert_fields_are_checked, seal};
use crate::support::{fixture, fixtures};

const HEADER: usize = 128;
const RECORD: usize = 16;
const SPILLED: usize = 32;

fn filter(capacity: u64, fpr: f64, keys: u64) -> GrowableCuckooFilter {
    let builder = GrowableCuckooFilter::builder().capacity(capacity).fpr(fpr).growth(4.0);
    filled(builder.build().unwrap(), keys)
}

/// One whose rate holds at any size.
fn endless(keys: u64) -> GrowableCuckooFilter {
    filled(GrowableCuckooFilter::with_capacity(10, 0.002).unwrap(), keys)
}

fn filled(mut filter: GrowableCuckooFilter, keys: u64) -> GrowableCuckooFilter {
    (0..keys).for_each(|key| filter.insert(key).unwrap());
    (0..7 * keys.min(3)).for_each(|key| filter.insert(key % 3).unwrap());
    filter
}

fn map(keys: u64) -> GrowableCuckooMap {
    let builder = GrowableCuckooMap::builder().capacity(1).fpr(0.01).growth(1024.0).seed(42);
    let mut map: GrowableCuckooMap = builder.value_bits(40).build().unwrap();
    (0..keys).for_each(|key| map.insert(key, key << 20).unwrap());
    (0..5).for_each(|value| map.insert(0_u64, value).unwrap());
    map
}

/// One with a key of 128 bits: bytes 0 to 15, in their order.
fn keyed() -> GrowableCuckooFilter {
    let key = KeyHasher::sip13(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);
    let builder = GrowableCuckooFilter::builder().capacity(10).fpr(0.002).growth(80_000.0);
    builder.with_hasher(key).build().unwrap()
}

fn golden_filters() -> Vec<(&'static str, GrowableCuckooFilter)> {
    vec![
        ("growable-set-v1-empty.mlk", filter(10, 0.001, 0)),
        ("growable-set-v1-small.mlk", filter(10, 0.01, 300)),
        ("growable-set-v1-split.mlk", filter(16_000, 0.2, 33_000)),
        ("growable-set-v1-sip13.mlk", keyed()),
        ("growable-set-v1-endless.mlk", endless(33_000)),
    ]
}

fn answers(filter: &GrowableCuckooFilter, name: &str) {
    answers_to(filter, filter.len().saturating_sub(21), name);
}

fn answers_to(filter: &GrowableCuckooFilter, keys: u64, name: &str) {
    assert!((0..keys).all(|key| filter.contains(key)), "{name}");
    let all: Vec<u64> = (0..keys).collect();
    assert!(filter.contains_many(&all).into_iter().all(|found| found), "{name}");
    assert!((0..keys.min(3)).all(|key| filter.count(key) >= 8), "{name}");
}

fn answers_with_values(map: &GrowableCuckooMap) {
    assert!((0..200_u64).all(|key| map.get(&key).any(|value| value == key << 20)));
    let mut batched = 0;
    map.get_many(&(0..200_u64).collect::<Vec<_>>(), |i, value| {
        batched += u32::from(value == (i as u64) << 20);
    });
    assert!(batched >= 200);
    assert!((0..5).all(|value| map.get(&0_u64).any(|found| found == value)));
}

/// A filter that grew far beyond what it was built for has fingerprints in several segments.
/// Shrunk, it could not be opened again: those have bits once more then, but no keys.
#[test]
fn a_shrunk_filter_opens_however_far_it_had_grown() {
    for kept in [10, 1_000, 50_000] {
        let builder = GrowableCuckooFilter::builder().capacity(1).fpr(0.01).growth(1.0);
        let mut filter = builder.build().unwrap();
        let keys: Vec<u64> = (0..150_000).collect();
        filter.insert_many(&keys).unwrap();
        let (kept, gone) = keys.split_at(kept);
        assert!(filter.remove_many(gone).into_iter().all(|removed| removed));
        let before = filter.size_in_bytes();
        filter.shrink_to_fit();
        assert!(filter.size_in_bytes() < before, "segments were put together");
        let read = GrowableCuckooFilter::from_bytes(&filter.to_bytes()).unwrap();
        assert!(read == filter && read.len() == kept.len() as u64);
        assert!(kept.iter().all(|&key| read.contains(key)));
    }
}

#[test]
fn fixtures_are_reproduced_and_answer() {
    for (name, filter) in golden_filters() {
        let stored = fixture(name, &filter.to_bytes());
        assert_eq!(FileKind::of(&stored).unwrap(), FileKind::GrowableSet);
        let opened = GrowableCuckooFilter::from_bytes(&stored).unwrap();
        answers(&opened, name);
        assert_eq!((opened.len(), opened.segments()), (filter.len(), filter.segments()));
    }
    assert!(golden_filters()[2].1.segments() > 1);
    let stored = fixture("growable-map-v1-v40.mlk", &map(200).to_bytes());
    assert_eq!(FileKind::of(&stored).unwrap(), FileKind::GrowableMap);
    answers_with_values(&GrowableCuckooMap::from_bytes(&stored).unwrap());
}

/// Also while some segments have fingerprints of one length and some of another.
#[test]
fn files_of_several_widths_open_and_grow() {
    let mut keys = 60_000;
    let mut map = GrowableCuckooMap::with_capacity(10, 0.002, 7).unwrap();
    let insert = |map: &mut GrowableCuckooMap, key: u64| map.insert(key, key % 100).unwrap();
    (0..keys).for_each(|key| insert(&mut map, key));
    let before = map.segments();
    while map.segments() == before {
        insert(&mut map, keys);
        keys += 1;
    }
    let answers = |map: &GrowableCuckooMap| {
        assert!((0..keys).all(|key| map.get(&key).any(|value| value == key % 100)));
    };
    let mut read = GrowableCuckooMap::from_bytes(&map.to_bytes()).unwrap();
    assert!(read == map && read.expected_fpr() == map.expected_fpr());
    answers(&read);
    for map in [&mut map, &mut read] {
        (keys..3 * keys).for_each(|key| insert(map, key));
        (keys..3 * keys).for_each(|key| assert!(map.remove(key, key % 100)));
        map.shrink_to_fit();
        answers(map);
    }
    assert!(read.to_bytes() == map.to_bytes());
}

/// It opens as it was, and goes on from there as the original does.
#[test]
fn a_filter_survives_the_way_out_and_in_and_grows_on() {
    for keys in [0, 1, 5_000, 200_000_u64] {
        let mut original = filter(100, 0.001, keys);
        let bytes = original.to_bytes();
        let mut read = GrowableCuckooFilter::read_from(&bytes[..]).unwrap();
        assert_eq!(read.expected_fpr(), original.expected_fpr());
        for filter in [&mut original, &mut read] {
            (keys..keys + 50_000).for_each(|key| filter.insert(key).unwrap());
            (0..keys / 2).for_each(|key| assert!(filter.remove(key)));
        }
        assert!(read.to_bytes() == original.to_bytes());
    }
    let mut read = GrowableCuckooMap::from_bytes(&map(100_000).to_bytes()).unwrap();
    (1..100_000_u64).for_each(|key| assert!(read.remove(key, key << 20)));
    assert_eq!(read.len(), 6);
}

#[test]
fn pieces_may_be_cut_anywhere() {
    let original = filter(100, 0.01, 100_000);
    let bytes = original.to_bytes();
    let mut random = Random(7);
    for longest in [1, 100, 100_000] {
        let (mut loader, mut rest) = (GrowableLoader::for_filter(), &bytes[..]);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(1 + random.below(longest)));
            loader.push(piece).unwrap();
            rest = after;
        }
        assert!(loader.into_filter().unwrap().to_bytes() == bytes);
    }
    assert!(original.pieces().all(|piece| piece.len() < 200_000));
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "no temporary files")]
fn a_file_opens_whole_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.mlk");
    let original = map(3_000);
    original.write_to(std::fs::File::create(&path).unwrap()).unwrap();
    assert_eq!(GrowableCuckooMap::open(&path).unwrap().len(), original.len());
    let bytes = original.to_bytes();
    std::fs::write(&path, [&bytes[..], b"!"].concat()).unwrap();
    assert!(matches!(GrowableCuckooMap::open(&path), Err(ReadError::Length { .. })));
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert!(matches!(GrowableCuckooMap::open(&path), Err(ReadError::Length { .. })));
    assert!(matches!(GrowableCuckooFilter::open(&path), Err(ReadError::Kind { .. })));
    assert!(matches!(GrowableCuckooFilter::from_bytes(b"text\n"), Err(ReadError::Signature)));
    assert!(matches!(FileKind::of(b"text\n"), Err(ReadError::Signature)));
    assert!(matches!(FileKind::of(&bytes[..20]), Err(ReadError::Length { .. })));
    let fixed = CuckooFilter::with_capacity(10, 0.01).unwrap();
    let mut bytes = Vec::new();
    fixed.write_to(&mut bytes).unwrap();
    let error = GrowableCuckooFilter::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.contains("holds a set") && error.contains("growable set"), "{error}");
    assert_eq!(FileKind::of(&bytes).unwrap(), FileKind::Set);
}

/// Copies that a file claims can be counted on, and there is room for one more.
#[test]
fn no_file_has_more_copies_than_can_be_counted() {
    let whole = filter(10, 0.01, 3).to_bytes();
    let in_table = filter(10, 0.01, 3).len() - filter(10, 0.01, 3).spilled();
    let read = |copies: u64| {
        let mut bytes = whole.clone();
        // One of the three entries has all copies but one each.
        let (entries, len) = (bytes.len() - 8 - 3 * SPILLED, copies + 2 + in_table);
        for (entry, copies) in [copies, 1, 1].into_iter().enumerate() {
            let at = entries + entry * SPILLED + 24;
            bytes[at..at + 8].copy_from_slice(&copies.to_le_bytes());
        }
        bytes[40..48].copy_from_slice(&len.to_le_bytes());
        seal(&mut bytes);
        GrowableCuckooFilter::from_bytes(&bytes)
    };
    let most = (1 << 63) - 2 - in_table;
    let mut filter = read(most).unwrap();
    filter.insert(0_u64).unwrap();
    assert_eq!(filter.len(), (1 << 63) + 1);
    for copies in [most + 1, u64::MAX - 2 - in_table] {
        let error = read(copies).unwrap_err();
        assert!(matches!(error, ReadError::Field { field: "len", .. }), "{error}");
    }
}

/// Nothing that a hostile header announces is believed before it is checked.
#[test]
fn hostile_headers_are_refused_without_an_allocation() {
    let whole = filter(10, 0.01, 300).to_bytes();
    let fields = [
        (1, &[12, 13, 14, 15, 16, 17][..]),
        (2, &[10]),
        (3, &[21]),
        (4, &[48, 52]),
        (8, &[40, 56, 64]),
    ];
    assert_fields_are_checked(&whole, &fields, |bytes| {
        // Fewer keys than slots there can be, where some are doubles.
        let has_few = u64::from_le_bytes(*bytes[40..].first_chunk().unwrap()) < 300;
        has_few || GrowableCuckooFilter::read_from(bytes).is_err()
    });
    // Consistent, and of 2^40 bytes and more, on a file of a few thousand.
    let mut bytes = whole;
    bytes[48..52].copy_from_slice(&u32::MAX.to_le_bytes());
    bytes[56..64].copy_from_slice(&(1_u64 << 50).to_le_bytes());
    bytes[64..72].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    seal(&mut bytes);
    assert!(GrowableCuckooFilter::read_from(&bytes[..]).is_err());
}

/// The number of keys of a hostile file might be too low: removals do not lose others for that.
#[test]
fn a_file_that_claims_few_keys_loses_none() {
    let mut bytes = filter(10, 0.01, 300).to_bytes();
    let keys: Vec<u64> = (0..1_000).map(|key| key << 40).collect();
    for claimed in [0_u64, 1, 5] {
        bytes[40..48].copy_from_slice(&claimed.to_le_bytes());
        seal(&mut bytes);
        let mut read = GrowableCuckooFilter::from_bytes(&bytes).unwrap();
        read.insert_many(&keys).unwrap();
        assert!(read.remove_many(&keys[..990]).into_iter().all(|removed| removed));
        let before = read.entries().count();
        read.remove_many(&(0..300_u64).collect::<Vec<_>>());
        assert!(read.is_empty() && read.entries().count() < before);
        assert!(keys[990..].iter().all(|key| read.contains(key)));
        read.clear();
        assert!(read.entries().next().is_none());
    }
}

/// Empty slots of a hostile file may have something where the low bits of a place lie. A large
/// batch once left it there, and the next growth put its keys where no lookup found them.
#[test]
fn what_lies_beside_empty_slots_loses_no_key() {
    let mut bytes = filter(10_000, 0.01, 0).to_bytes();
    let (width, buckets) =
        (usize::from(bytes[15]) + 1, u16::from_le_bytes([bytes[134], bytes[135]]));
    // Between 2^11 and 2^12 buckets: one bit of each place next to its fingerprint.
    for bucket in 0..usize::from(buckets) {
        for bit in (bucket * 4 * (width + 1) + 4 * width..).take(4) {
            bytes[HEADER + RECORD + bit / 8] |= 1 << (bit % 8);
        }
    }
    seal(&mut bytes);
    let mut read = GrowableCuckooFilter::from_bytes(&bytes).unwrap();
    let keys: Vec<u64> = (0..5_000).collect();
    read.insert_many(&keys).unwrap();
    (5_000..40_000_u64).for_each(|key| read.insert(key).unwrap());
    assert!(keys.iter().all(|key| read.contains(key)));
}

#[test]
fn pieces_have_numbers() {
    for filter in [filter(10, 0.001, 0), filter(10, 0.01, 300), filter(16_000, 0.2, 33_000)] {
        let pieces: Vec<_> = filter.pieces().collect();
        assert_eq!(filter.piece_count(), pieces.len());
        let by_number: Vec<_> = (0..).map_while(|number| filter.piece(number)).collect();
        assert_eq!(by_number, pieces);
    }
}

/// Lanes of one bit and the mark cannot count themselves: reading such a file once overflowed.
#[test]
fn fingerprints_of_one_bit_are_refused() {
    let mut bytes = std::fs::read(fixtures().join("growable-set-v1-small.mlk")).unwrap();
    bytes[15] = 1;
    seal(&mut bytes);
    let refused = GrowableCuckooFilter::from_bytes(&bytes);
    assert!(matches!(refused, Err(ReadError::Field { field: "fingerprint bits", offset: 15, .. })));
}
