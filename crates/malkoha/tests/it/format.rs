//! The file format: yesterday's files open tomorrow, and damaged or hostile ones never do harm.
#![expect(clippy::cast_possible_truncation, reason = "random bytes and small offsets")]

use malkoha::{CuckooFilter, CuckooMap, FilterView, KeyHasher, Layout, ReadError};

use crate::support::mutate::assert_fields_are_checked;
use crate::support::mutate::seal;
use crate::support::{fixture, fixtures, seal_header};

const HEADER: usize = 128;
/// Bytes 0 to 15, in their order.
const KEYED: KeyHasher = KeyHasher::sip13(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);

/// The filters of the fixtures; the format must reproduce them byte by byte.
fn golden_filters() -> Vec<(&'static str, CuckooFilter)> {
    let builder = || CuckooFilter::builder().capacity(100);
    let filled = |builder: malkoha::Builder, keys: u64| {
        let mut filter = builder.build().unwrap();
        filter.try_extend(0..keys).unwrap();
        filter
    };
    let semi_sorted = builder().layout(Layout::SemiSorted).fingerprint_bits(13);
    let gap_windows = builder().layout(Layout::GapWindows).fingerprint_bits(11);
    let words = builder().layout(Layout::Words).fingerprint_bits(12);
    let mut copies = filled(builder().fingerprint_bits(12), 40);
    for key in 0..40_u64 {
        copies.try_extend(vec![key; key as usize % 5]).unwrap();
    }
    vec![
        ("set-v1-copies.mlk", copies),
        ("set-v1-b4-f12.mlk", filled(builder().fingerprint_bits(12), 100)),
        (
            "set-v1-b2-f7-seed.mlk",
            filled(builder().fingerprint_bits(7).bucket_size(2).seed(42), 90),
        ),
        ("set-v1-b8-f32.mlk", filled(builder().fingerprint_bits(32).bucket_size(8), 100)),
        ("set-v1-semi-sorted-f13.mlk", filled(semi_sorted, 100)),
        ("set-v1-gap-windows-f11.mlk", filled(gap_windows, 100)),
        ("set-v1-words-f12.mlk", filled(words, 100)),
        ("set-v1-empty.mlk", filled(builder().fpr(0.001), 0)),
        ("set-v1-sip13-f12.mlk", filled(builder().fingerprint_bits(12).with_hasher(KEYED), 100)),
    ]
}

#[test]
fn fixtures_are_reproduced_and_answer() {
    for (name, filter) in golden_filters() {
        let stored = fixture(name, &filter.to_bytes());
        let opened = FilterView::view(&stored).unwrap();
        assert_eq!(opened.len(), filter.len());
        for key in 0..filter.len() {
            assert_eq!(opened.count(key), filter.count(key), "{name}");
            assert!(name.contains("copies") || opened.contains(key), "{name}");
        }
    }
}

fn golden_maps() -> [(&'static str, CuckooMap); 2] {
    let mut plain = CuckooMap::with_capacity(100, 0.001, 33).unwrap();
    let mut copies = CuckooMap::with_capacity(100, 0.001, 33).unwrap();
    for key in 0..100_u64 {
        plain.insert(key, key << 26).unwrap();
        if key < 40 {
            (0..=key % 5).try_for_each(|_| copies.insert(key, key << 26)).unwrap();
            (0..key % 14).try_for_each(|value| copies.insert(key, value)).unwrap();
        }
    }
    [("map-v1-v33.mlk", plain), ("map-v1-copies.mlk", copies)]
}

#[test]
fn fixtures_of_maps() {
    for (name, map) in golden_maps() {
        let bytes = fixture(name, &map.to_bytes());
        let opened = CuckooMap::read_from(&bytes[..]).unwrap();
        for key in 0..100_u64 {
            assert!(opened.get(&key).eq(map.get(&key)));
            assert!(name.contains("copies") || opened.get(&key).any(|value| value == key << 26));
        }
    }
}

/// The boundaries of pieces lie anywhere in the table, its checksums and the spilled copies.
#[test]
fn pieces_are_the_file() {
    for (keys, spilled) in [(1, 0), (10, 5), (90_000, 9_000), (90_000, 0)] {
        let mut filter = CuckooFilter::with_capacity(keys + 20 * spilled, 0.001).unwrap();
        filter.insert_many(&(0..keys).collect::<Vec<_>>()).unwrap();
        (0..spilled).for_each(|n| (0..12).for_each(|_| filter.insert(n).unwrap()));
        let pieces: Vec<_> = (0..).map_while(|number| filter.piece(number)).collect();
        assert_eq!(pieces.len(), filter.piece_count());
        assert!(pieces.concat() == filter.to_bytes());
    }
}

#[test]
fn errors_say_what_and_where() {
    let whole = golden_filters()[1].1.to_bytes();
    let message = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        FilterView::view(&bytes).unwrap_err().to_string()
    };
    assert!(message(&|bytes| bytes[..4].fill(b'x')).contains("not a malkoha file"));
    assert!(message(&|bytes| bytes[8] = 9).contains("version 9"));
    assert!(message(&|bytes| bytes[24] ^= 1).contains("bytes 0 to 127"));
    assert!(message(&|bytes| bytes[HEADER] ^= 1).contains("segment 0 is damaged"));
    assert!(message(&|bytes| bytes.truncate(200)).contains("200 bytes long"));
    let as_map = CuckooMap::read_from(&whole[..]).unwrap_err().to_string();
    assert!(as_map.contains("holds a set") && as_map.contains("map"), "{as_map}");
    assert!(matches!(FilterView::view(b"text\n").unwrap_err(), ReadError::Signature));
}

/// Removals from semi-sorted buckets rely on the order, which the code of the top nibbles alone
/// does not give.
#[test]
fn semi_sorted_buckets_are_in_order() {
    let mut bytes = std::fs::read(fixtures().join("set-v1-semi-sorted-f13.mlk")).unwrap();
    // Four fingerprints of nine bits each below their nibbles, which are 0: 3, 1, 2, 4.
    let bucket: u64 = (3 | 1 << 9 | 2 << 18 | 4 << 27) << 12;
    bytes[HEADER..][..6].copy_from_slice(&bucket.to_le_bytes()[..6]);
    seal(&mut bytes);
    let error = FilterView::view(&bytes).unwrap_err();
    let slots = ReadError::Field { field: "slots of segment", offset: HEADER as u64, value: 0 };
    assert_eq!(error.to_string(), slots.to_string());
}

/// Copies are counted only where the table has one of them: a hostile list makes nothing grow.
#[test]
fn impossible_copies_are_refused() {
    let (_, filter) = &golden_filters()[0];
    let whole = filter.to_bytes();
    let table_bytes = u64::from_le_bytes(whole[56..64].try_into().unwrap()) as usize;
    let list = HEADER + table_bytes + 8;
    let message = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        seal(&mut bytes);
        let error = CuckooFilter::read_from(&bytes[..]).unwrap_err().to_string();
        assert_eq!(FilterView::view(&bytes).unwrap_err().to_string(), error);
        error
    };
    let (entry, next) = (list, list + 32);
    for (at, value) in [(0, 1), (4, 0xffff), (8, 0), (8, 0xffff), (12, 1), (16, 1), (24, 0_u32)] {
        let error = message(&|bytes| {
            bytes[entry + at..entry + at + 4].copy_from_slice(&value.to_le_bytes());
        });
        assert!(error.contains("'spilled copies'"), "byte {at} of an entry = {value}: {error}");
    }
    let error = message(&|bytes| bytes.copy_within(entry..next, next));
    assert!(error.contains("'spilled copies'"), "the same entry twice: {error}");
    let error = message(&|bytes| bytes[entry + 24] += 1);
    assert!(error.contains("header says"), "one copy too many: {error}");
    let error = message(&|bytes| bytes[entry + 24..next].fill(0xff));
    assert!(error.contains("header says"), "more copies than can be counted: {error}");
    let mut bytes = whole.clone();
    bytes[entry + 24] += 1;
    assert!(matches!(FilterView::view(&bytes), Err(ReadError::SpillChecksum)));
}

/// Nothing that a hostile header announces is believed before it is checked.
#[test]
fn hostile_headers_are_refused_without_an_allocation() {
    let whole = golden_filters()[1].1.to_bytes();
    let fields =
        [(1, &[12, 13, 14, 15, 16][..]), (2, &[10]), (4, &[48, 52]), (8, &[32, 40, 56, 64])];
    assert_fields_are_checked(&whole, &fields, |bytes| {
        let is_refused = FilterView::view(bytes).is_err();
        assert_eq!(CuckooFilter::read_from(bytes).is_err(), is_refused);
        // The capacity is a harmless field.
        is_refused || bytes[32..40] != whole[32..40]
    });
    // A consistent header of a table of 2^40 bytes and more, on a file of a few hundred.
    let mut bytes = whole;
    bytes[48..52].copy_from_slice(&(1_u32 << 20).to_le_bytes());
    bytes[52..56].copy_from_slice(&(1_u32 << 20).to_le_bytes());
    let table_bytes = (1_u64 << 20) * ((1 << 20) * 48 / 8 + 16);
    bytes[56..64].copy_from_slice(&table_bytes.to_le_bytes());
    seal_header(&mut bytes);
    let refused = CuckooFilter::read_from(&bytes[..]).unwrap_err();
    // That many bytes have no length where usize has 32 bits.
    let is_right = match usize::BITS {
        32 => matches!(refused, ReadError::Memory(bytes) if bytes == table_bytes),
        _ => matches!(refused, ReadError::Length { .. }),
    };
    assert!(is_right, "{refused}");
}
