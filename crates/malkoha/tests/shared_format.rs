//! Files of growable sets that threads share: kept ones, damaged ones and hostile ones.

use malkoha::locks::{McsLock, Striped};
use malkoha::{
    AnyFilter, Builder, ConcurrentCuckooFilter, ConcurrentCuckooFilterWith, CuckooFilter, FileKind,
    GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooFilterWith, Layout, ReadError,
};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const FIXTURE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/shared-growable-set-v1.mlk");
const DEEP_FIXTURE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/shared-growable-set-deep-v1-bound.mlk");
/// As it was before tables below had checksums.
const DEEP_FIXTURE_BEFORE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/shared-growable-set-deep-v1.mlk");
const HEADER: usize = 128;

/// A filter of several parts, and of copies beside the table.
fn grown() -> GrowableConcurrentCuckooFilter {
    let filter: GrowableConcurrentCuckooFilter =
        Builder::new().capacity(2_500).fpr(0.01).growth(8.0).seed(42).build().unwrap();
    filter.insert_many(&(0..9_000_u64).collect::<Vec<_>>()).unwrap();
    (0..40).for_each(|_| filter.insert(7_u64).unwrap());
    (1_000..2_000_u64).for_each(|key| assert!(filter.remove(key)));
    filter
}

/// A filter with tables below its parts, and below one of these, and a crowd of keys without slots.
fn deep() -> GrowableConcurrentCuckooFilter {
    let filter: GrowableConcurrentCuckooFilter =
        Builder::new().capacity(500).fpr(0.01).growth(1.0).seed(42).build().unwrap();
    filter.insert_many(&(0..8_000_u64).collect::<Vec<_>>()).unwrap();
    (0..40).for_each(|_| filter.insert(7_u64).unwrap());
    filter
}

#[test]
fn the_kept_file_with_tables_below_is_read_and_written_again() {
    let bytes = deep().to_bytes();
    let is_there = std::path::Path::new(DEEP_FIXTURE).exists();
    if std::env::var_os("MALKOHA_WRITE_FIXTURES").is_some() && !is_there {
        std::fs::write(DEEP_FIXTURE, &bytes).unwrap();
    }
    assert!(std::fs::read(DEEP_FIXTURE).unwrap() == bytes);
    let before = std::fs::read(DEEP_FIXTURE_BEFORE).unwrap();
    assert!(GrowableConcurrentCuckooFilter::from_bytes(&before).unwrap() == deep());
    let read = GrowableConcurrentCuckooFilter::from_bytes(&bytes).unwrap();
    assert!(read == deep() && read.clone() == read);
    assert_eq!((read.len(), read.count(7_u64)), (8_040, 41));
    assert_eq!(read.entries().map(|entry| entry.copies).sum::<u64>(), 8_040);
    assert!((0..8_000_u64).all(|key| read.contains(key)));
    read.insert_many(&(8_000..30_000_u64).collect::<Vec<_>>()).unwrap();
    assert!((0..30_000_u64).all(|key| read.contains(key)) && read != deep());
    assert!((0..30_000_u64).all(|key| read.remove(key)));
    assert_eq!((read.len(), read.count(7_u64)), (40, 40));
    read.clear();
    assert!(read.is_empty() && read.entries().next().is_none() && read.spilled() == 0);
}

/// All keys of both would seem not to be in.
#[test]
fn tables_below_that_changed_places_are_noticed() {
    let filter: GrowableConcurrentCuckooFilter =
        Builder::new().capacity(2_500).fpr(0.01).growth(8.0).build().unwrap();
    filter.insert_many(&(0..60_000_u64).collect::<Vec<_>>()).unwrap();
    let bytes = filter.to_bytes();
    let word = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let field = |at: usize| usize::try_from(word(at)).unwrap();
    let spilled = field(64);
    let first = HEADER + field(56) + spilled * 32 + if spilled > 0 { 8 } else { 0 };
    let second = first + 24 + field(first + 8);
    assert!(second < bytes.len(), "one table below only");
    let third = second + 24 + field(second + 8);
    // The names stay, and what is below of them changes places.
    let mut swapped = bytes[..first].to_vec();
    for part in [
        first..first + 8,
        second + 8..third,
        second..second + 8,
        first + 8..second,
        third..bytes.len(),
    ] {
        swapped.extend(&bytes[part]);
    }
    assert!(swapped.len() == bytes.len() && swapped != bytes);
    let error = GrowableConcurrentCuckooFilter::from_bytes(&swapped).unwrap_err();
    assert!(matches!(error, ReadError::ShardChecksum { .. }), "{error}");
}

/// `MALKOHA_WRITE_FIXTURES=1` writes the file anew: only for a new version of the format.
#[test]
fn the_kept_file_is_read_and_written_again() {
    let bytes = grown().to_bytes();
    let is_there = std::path::Path::new(FIXTURE).exists();
    if std::env::var_os("MALKOHA_WRITE_FIXTURES").is_some() && !is_there {
        std::fs::write(FIXTURE, &bytes).unwrap();
    }
    let stored = std::fs::read(FIXTURE).unwrap();
    assert!(stored == bytes, "equal histories in one thread give equal files");
    let read = GrowableConcurrentCuckooFilterWith::<Striped<McsLock>>::from_bytes(&stored).unwrap();
    assert_eq!((read.len(), read.count(7_u64)), (8_040, 41));
    assert!((0..1_000).chain(2_000..9_000_u64).all(|key| read.contains(key)));
    assert_eq!(read.capacity(), 2_500);
    // It goes on as the one that was saved.
    let more: Vec<u64> = (1_000_000..1_005_000).collect();
    assert_eq!(read.insert_many(&more).is_ok(), grown().insert_many(&more).is_ok());
    assert!((0..1_000_u64).all(|key| read.remove(key)));
    assert!(matches!(AnyFilter::from_bytes(&stored), Ok(AnyFilter::SharedGrowableSet(_))));
    assert_eq!(FileKind::of(&stored).unwrap(), FileKind::SharedGrowableSet);
}

/// A shared set of fixed size is a set with words, and no other can be shared.
#[test]
fn a_shared_set_of_fixed_size_is_a_set_with_words() {
    let shared = ConcurrentCuckooFilter::with_capacity(1_000, 0.01).unwrap();
    shared.insert_many(&(0..1_000_u64).collect::<Vec<_>>()).unwrap();
    let plain = CuckooFilter::from_bytes(&shared.to_bytes()).unwrap();
    assert!(plain.geometry().layout == Layout::Words && plain == shared.to_filter().unwrap());
    let back: ConcurrentCuckooFilter = Builder::new().capacity(1).fpr(0.1).build().unwrap();
    assert!(back != shared);
    let back: ConcurrentCuckooFilter =
        ConcurrentCuckooFilter::from_bytes(&plain.to_bytes()).unwrap();
    assert!(back == shared);
    let other = CuckooFilter::with_capacity(10, 0.01).unwrap().to_bytes();
    let error = ConcurrentCuckooFilterWith::<Striped<McsLock>>::from_bytes(&other).unwrap_err();
    assert!(matches!(error, ReadError::Layout("gap-windows")), "{error}");
}

#[test]
fn every_cut_and_every_flipped_bit_is_noticed() {
    cuts_and_flips_are_noticed(grown().to_bytes());
    cuts_and_flips_are_noticed(deep().to_bytes());
}

fn cuts_and_flips_are_noticed(whole: Vec<u8>) {
    let read = |bytes: &[u8]| -> Result<GrowableConcurrentCuckooFilter, ReadError> {
        GrowableConcurrentCuckooFilter::from_bytes(bytes)
    };
    for length in (0..HEADER).chain((HEADER..whole.len()).step_by(997)).chain([whole.len() - 1]) {
        assert!(read(&whole[..length]).is_err(), "cut at {length}");
    }
    for bit in (0..HEADER * 8).chain((HEADER * 8..whole.len() * 8).step_by(7_919)) {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&flipped).is_err(), "bit {bit}");
    }
    let mut longer = whole;
    longer.push(0);
    assert!(matches!(read(&longer), Err(ReadError::Length { .. })));
    assert!(matches!(read(b"text\n"), Err(ReadError::Signature)));
}

/// Gives a changed file right checksums.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let places = u32::from_le_bytes(*bytes[52..].first_chunk().unwrap()) as usize;
    let part = 16_usize.saturating_add(places.saturating_mul(8));
    let (mut at, mut number) = (HEADER, 0);
    while let Some(end) = at.checked_add(part).filter(|end| end + 8 <= bytes.len()) {
        let checksum = xxh3_64_with_seed(&bytes[at..end], number);
        bytes[end..end + 8].copy_from_slice(&checksum.to_le_bytes());
        (at, number) = (end + 8, number + 1);
    }
    if let Some((entries, checksum)) = bytes[at..].split_last_chunk_mut::<8>() {
        *checksum = xxh3_64_with_seed(entries, u64::MAX - 1).to_le_bytes();
    }
    let checksum = xxh3_64_with_seed(&bytes[..120], u64::MAX);
    bytes[120..HEADER].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 200 }))]

    /// What is accepted of changed files with right checksums works as any filter does.
    #[test]
    fn hostile_files_are_refused_or_work(
        changes in prop::collection::vec((0_usize..1 << 20, any::<u8>()), 1..8),
        in_header: bool,
    ) {
        let mut bytes = grown().to_bytes();
        let length = if in_header { HEADER } else { bytes.len() };
        for (at, byte) in changes {
            bytes[at % length] = byte;
        }
        let read: Result<GrowableConcurrentCuckooFilter, ReadError> =
            GrowableConcurrentCuckooFilter::from_bytes(&sealed(bytes));
        if let Ok(filter) = read {
            let copies: u64 = filter.entries().map(|entry| entry.copies).sum();
            prop_assert_eq!(copies, filter.len());
            for key in 0..2_000_u64 {
                let count = filter.count(key);
                prop_assert_eq!(count > 0, filter.contains(key));
                prop_assert!(filter.insert(key).is_ok() || count == 0);
                filter.remove(key);
            }
            let again: GrowableConcurrentCuckooFilter =
                GrowableConcurrentCuckooFilter::from_bytes(&filter.to_bytes()).unwrap();
            prop_assert!(again == filter && filter.clone() == filter);
            filter.clear();
            prop_assert!(filter.is_empty() && filter.entries().next().is_none());
        }
    }
}
