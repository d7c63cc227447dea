//! Kept files, damaged ones and hostile ones.

use malkoha::tables::{Ages, Expiring};
use malkoha::{
    AnyFilter, CuckooMap, ExpiringCuckooFilter, FileKind, Filter, GrowableExpiringCuckooFilter,
    ReadError,
};

use crate::support::{fixture, seal_header};

const HEADER: usize = 128;

/// Has forgotten some keys and not swept all of them.
fn filled<T: Ages>(mut filter: Filter<Expiring<T>>) -> Filter<Expiring<T>> {
    for hour in 0..3 {
        filter.advance(1_000_000 + hour * 2_000);
        let first = hour * 400;
        filter.insert_many(&(first..first + 500).collect::<Vec<_>>()).unwrap();
    }
    filter
}

fn aged() -> ExpiringCuckooFilter {
    let builder = ExpiringCuckooFilter::builder().capacity(1_000).fpr(0.001).seed(42);
    filled(builder.expire_after(3_600).build().unwrap())
}

#[test]
fn the_kept_file_is_read_and_written_again() {
    let bytes = aged().to_bytes();
    fixture("expiring-set-v1.mlk", &bytes);
    let mut read = ExpiringCuckooFilter::from_bytes(&bytes).unwrap();
    assert!(read == aged() && read.now() == 1_004_000 && read.ttl() == 3_600);
    assert!((400..1_300_u64).all(|key| read.contains(key)) && read.len() < 1_000);
    // It continues as the one that was written.
    let mut same = aged();
    for filter in [&mut read, &mut same] {
        filter.advance(1_006_000);
        filter.insert_many(&(5_000..5_500_u64).collect::<Vec<_>>()).unwrap();
    }
    assert!(read.to_bytes() == same.to_bytes());
    assert_eq!(FileKind::of(&bytes).unwrap(), FileKind::ExpiringSet);
    let any = AnyFilter::from_bytes(&bytes).unwrap();
    assert!(any.contains(1_299_u64) && any.kind() == FileKind::ExpiringSet);
    assert!(any == AnyFilter::ExpiringSet(aged()));
    assert!(matches!(CuckooMap::from_bytes(&bytes), Err(ReadError::Kind { .. })));
    let appended = [&bytes[..], &[0]].concat();
    assert!(ExpiringCuckooFilter::from_bytes(&appended).is_err());
    let read = ExpiringCuckooFilter::read_from(&appended[..]).unwrap();
    assert!(read == aged(), "a stream may go on");
}

/// Of the other kind: one that has grown and shrunk.
#[test]
fn the_kept_file_of_a_growing_set_is_read_and_written_again() {
    // As long as fingerprints were at 1 % when all had one length.
    let builder = GrowableExpiringCuckooFilter::builder().capacity(10).fpr(0.002).seed(42);
    let filter = filled(builder.growth(70_000.0).expire_after(3_600).build().unwrap());
    let bytes = fixture("growable-expiring-set-v1.mlk", &filter.to_bytes());
    let read = AnyFilter::from_bytes(&bytes).unwrap();
    assert!(read == AnyFilter::GrowableExpiringSet(filter) && read.contains(1_299_u64));
    assert_eq!(FileKind::of(&bytes).unwrap(), read.kind());
}

/// A header with other bytes, and the checksum that these have.
fn forged(bytes: &[u8], at: usize, field: &[u8]) -> Vec<u8> {
    let mut forged = bytes.to_vec();
    forged[at..][..field.len()].copy_from_slice(field);
    seal_header(&mut forged);
    forged
}

#[test]
fn forged_headers_are_refused() {
    let bytes = aged().to_bytes();
    let map = |bits| {
        let mut map = CuckooMap::with_capacity(1_000, 0.001, bits).unwrap();
        (0..900_u64).for_each(|key| map.insert(key, key % 3).unwrap());
        map.to_bytes()
    };
    let with_map = |map: Vec<u8>| {
        let length = (map.len() as u64).to_le_bytes();
        let seedless = forged(&forged(&bytes, 24, &[0; 8]), 40, &900_u64.to_le_bytes());
        [&forged(&seedless, 56, &length)[..HEADER], &map[..]].concat()
    };
    let all = [
        forged(&bytes, 17, &[1]),
        forged(&bytes, 20, &0_u32.to_le_bytes()),
        forged(&bytes, 20, &256_u32.to_le_bytes()),
        // Labels of another width.
        forged(&bytes, 20, &100_u32.to_le_bytes()),
        forged(&bytes, 24, &7_u64.to_le_bytes()),
        forged(&bytes, 32, &0_u64.to_le_bytes()),
        forged(&bytes, 40, &1_u64.to_le_bytes()),
        forged(&bytes, 48, &[1]),
        forged(&bytes, 56, &u64::MAX.to_le_bytes()),
        forged(&bytes, 56, &1_u64.to_le_bytes()),
        // The ttl: below the steps.
        forged(&bytes, 80, &14_u64.to_le_bytes()),
        forged(&bytes, 96, &[1]),
        // A map with values of another width.
        with_map(map(7)),
    ];
    for (number, forged) in all.iter().enumerate() {
        assert!(ExpiringCuckooFilter::from_bytes(forged).is_err(), "{number}");
        assert!(ExpiringCuckooFilter::read_from(&forged[..]).is_err(), "{number}");
    }
    // Invalid ages: 9 steps have 10 of the 16 labels.
    let fewer = forged(&bytes, 20, &9_u32.to_le_bytes());
    assert!(matches!(ExpiringCuckooFilter::from_bytes(&fewer), Err(ReadError::Field { .. })));
    // Whatever the time is said to be, nothing panics.
    for now in [0, 1, u64::MAX - 1, u64::MAX] {
        let mut read =
            ExpiringCuckooFilter::from_bytes(&forged(&bytes, 88, &now.to_le_bytes())).unwrap();
        read.advance(now.saturating_add(100));
        read.insert(1_u64).unwrap();
        assert!(read.contains(1_u64) && read.age(1_u64).is_some());
        read.advance(u64::MAX);
        read.insert(1_u64).unwrap();
        assert!(read.remove(1_u64));
    }
    assert!(ExpiringCuckooFilter::from_bytes(&with_map(map(4))).is_ok(), "ages of somebody else");
}
