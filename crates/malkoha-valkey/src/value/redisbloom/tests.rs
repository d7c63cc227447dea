use std::collections::VecDeque;

use super::*;
use crate::value::{Damaged, Sink, Source};

/// The fields of an RDB file, in their order.
#[derive(Default)]
struct Tape(VecDeque<Result<u64, Vec<u8>>>);

impl Sink for Tape {
    fn number(&mut self, number: u64) {
        self.0.push_back(Ok(number));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.push_back(Err(bytes.to_vec()));
    }
}

impl Source for Tape {
    fn number(&mut self) -> Result<u64, Damaged> {
        self.0.pop_front().and_then(Result::ok).ok_or(Damaged("no number"))
    }

    fn bytes(&mut self) -> Result<Vec<u8>, Damaged> {
        self.0.pop_front().and_then(Result::err).ok_or(Damaged("no bytes"))
    }
}

fn header(numbers: [u64; 4], short: [u16; 3]) -> [u8; HEADER_BYTES] {
    let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
    bytes.extend(short.into_iter().flat_map(u16::to_le_bytes));
    bytes.try_into().unwrap()
}

fn empty(buckets: u64, tables: u64, expansion: u16) -> Chain {
    Chain::begin(&header([0, buckets, 0, tables], [2, 20, expansion]), |_| true).unwrap()
}

/// Adds an item where there is room without moving others, newest table first, as RedisBloom does.
fn put(chain: &mut Chain, item: &[u8]) -> bool {
    let probe = Probe::of(item);
    chain.tables.iter_mut().rev().any(|table| {
        let vacant = table.find(probe, 2, VACANT);
        vacant.inspect(|&at| table.slots[at] = probe.fingerprint).inspect(|_| table.occupied += 1);
        vacant.is_some()
    })
}

#[test]
fn hashes_are_murmurs() {
    // Computed by the C code that its author published.
    let known: [(&[u8], u64); 5] = [
        (b"", 0),
        (b"a", 0x0717_17d2_d36b_6b11),
        (b"hello", 0x1e68_d17c_457b_f117),
        (b"12345678", 0x758f_67d1_62b2_d202),
        (b"cuckoo filter of nineteen", 0x11ec_9d4c_9d30_9bff),
    ];
    for (item, hash) in known {
        assert_eq!(murmur64a(item), hash, "{item:?}");
    }
}

#[test]
fn items_are_found_counted_deleted_and_moved() {
    let mut chain = empty(64, 4, 2);
    let items: Vec<[u8; 4]> = (0..1000_u32).map(u32::to_le_bytes).collect();
    let added: Vec<_> = items.iter().filter(|item| put(&mut chain, *item)).collect();
    assert!(added.len() > 700 && added.len() as u64 == chain.len());
    assert!(added.iter().all(|item| chain.contains(*item) && chain.count(*item) >= 1));
    for item in &added[..500] {
        assert!(chain.remove(*item));
    }
    let before = (chain.len(), chain.tables());
    chain.compact();
    assert_eq!(chain.len(), before.0);
    assert!(chain.tables() < before.1 && chain.deleted() == 0);
    assert!(added[500..].iter().all(|item| chain.contains(*item)), "moved to where it is found");
    for item in &added[500..] {
        assert!(chain.remove(*item));
    }
    assert_eq!((chain.len(), chain.tables()), (0, 1));
}

#[test]
fn bytes_make_the_same_filter() {
    let mut chain = empty(1 << 18, 3, 4);
    (0..100_000_u32).for_each(|n| assert!(put(&mut chain, &n.to_le_bytes())));
    let mut tape = Tape::default();
    chain.write(&mut tape);
    let read = Chain::read(&mut tape, ENCODING_VERSION).unwrap();
    let (_, first) = chain.chunk(0).unwrap();
    let mut loaded = Chain::begin(&first.try_into().unwrap(), |_| true).unwrap();
    let (mut position, mut chunks) = (1, 0);
    while let Some((next, chunk)) = chain.chunk(position) {
        loaded.load(next, &chunk).unwrap();
        (position, chunks) = (next, chunks + 1);
    }
    assert!(chunks > chain.tables(), "large tables are cut");
    for other in [read, loaded] {
        assert!(chain.tables.iter().zip(&other.tables).all(|(a, b)| a.slots == b.slots));
        assert_eq!((other.len(), other.tables(), other.shape), (100_000, 3, chain.shape));
    }
}

#[test]
fn impossible_filters_are_refused() {
    let refused = |header| Chain::begin(&header, |bytes| bytes < 1 << 30).is_err();
    assert!(!refused(header([0, 64, 0, 3], [2, 20, 1])));
    for (numbers, short) in [
        ([0, 0, 0, 1], [2, 20, 1]),
        ([0, 63, 0, 1], [2, 20, 1]),
        ([0, 64, 0, 0], [2, 20, 1]),
        ([0, 64, 0, 1 << 16], [2, 20, 1]),
        ([0, 64, 0, 1], [0, 20, 1]),
        ([0, 64, 0, 1], [256, 20, 1]),
        // A filter that must not grow has one table; the others are too large, or overflow.
        ([0, 64, 0, 2], [2, 20, 0]),
        ([0, 64, 0, 65_535], [2, 20, 32_768]),
        ([0, 1 << 29, 0, 1], [2, 20, 1]),
        ([0, 1 << 63, 0, 1], [255, 20, 1]),
        // RedisBloom's lookups take remainders, so the buckets of every table are a power of two.
        ([0, 64, 0, 2], [2, 20, 3]),
    ] {
        assert!(refused(header(numbers, short)), "{numbers:?} {short:?}");
    }
    let mut chain = empty(64, 2, 1);
    for (position, len) in [(0, 1), (1, 1), (2, 2), (66, 0), (130, 129), (300, 10), (u64::MAX, 9)] {
        assert!(chain.load(position, &vec![1; len]).is_err(), "{position} {len}");
    }
    chain.load(129, &[1; 128]).unwrap();
    assert_eq!(chain.len(), 128);
    let numbers = [2_u64, 64, 0, 0, 2, 20, 1];
    let tables = |lens: [(u64, usize); 2]| {
        let mut tape = Tape(numbers.into_iter().map(Ok).collect());
        for (buckets, len) in lens {
            tape.0.extend([Ok(buckets), Err(vec![0; len])]);
        }
        Chain::read(&mut tape, ENCODING_VERSION)
    };
    assert!(tables([(64, 128), (128, 256)]).is_ok());
    for lens in [[(64, 128), (32, 64)], [(64, 127), (64, 128)], [(48, 96), (64, 128)]] {
        assert!(tables(lens).is_err(), "{lens:?}");
    }
}
