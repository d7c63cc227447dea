//! Files: what was written is read, what was damaged is refused, and what lies does no harm.

use malkoha::KeyHasher;
use malkoha_classic::{
    BloomFilter, BucketedCuckooTable, CuckooHashTable, DLeftCountingFilter, Filter, Growth,
    QuotientFilter, ReadError, RemovableFilter,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::support::{Sample, file_of, key, keys};

for_all_filters!(
    come_back_as_they_were,
    leave_what_follows,
    are_pinned,
    notice_every_changed_byte,
    notice_every_cut,
    survive_lies,
);
for_removable_filters!(lies_can_be_removed_from);

const HEADER_BYTES: usize = 128;
const PART_BYTES: usize = 1 << 16;

fn filled<F: Sample>() -> F {
    let mut filter = F::tiny();
    filter.insert_many(&keys(1, 80)).unwrap();
    filter
}

fn come_back_as_they_were<F: Sample>() {
    // More than one part, and a part that is not full.
    let mut large = F::sized(100_000, 0.01);
    large.insert_many(&keys(1, 100_000)).unwrap();
    for filter in [F::tiny(), filled(), large] {
        let file = file_of(&filter);
        let read = F::read_from(&file[..]).unwrap();
        assert!(read == filter);
        assert_eq!(file_of(&read), file);
    }
}

fn leave_what_follows<F: Sample>() {
    let filter: F = filled();
    let two = [file_of(&filter), file_of(&F::tiny()), b"end".to_vec()].concat();
    let mut reader = &two[..];
    assert!(F::read_from(&mut reader).unwrap() == filter);
    assert!(F::read_from(&mut reader).unwrap() == F::tiny());
    assert_eq!(reader, b"end");
}

/// A change of any of these changes where keys lie, and makes old files answer wrongly.
fn are_pinned<F: Sample>() {
    let hash = KeyHasher::new(0).hash_bytes(&file_of(&filled::<F>()));
    let name = std::any::type_name::<F>().rsplit("::").next().unwrap();
    let pinned = match name {
        "BloomFilter" => 0x66f5_478b_4a3c_408c,
        "BlockedBloomFilter" => 0xeff7_1f4c_5125_e9a3,
        "CountingBloomFilter" => 0x2282_6536_e384_7d46,
        "QuotientFilter" => 0x3489_1220_63e9_b1d0,
        "DLeftCountingFilter" => 0xb739_7ebc_093c_03d3,
        _ => unreachable!("{name} is not pinned"),
    };
    assert_eq!(hash, pinned, "{name}: {hash:#018x}");
}

fn notice_every_changed_byte<F: Sample>() {
    let mut file = file_of(&filled::<F>());
    for at in 0..file.len() {
        for flip in [1, 0x80] {
            file[at] ^= flip;
            assert!(F::read_from(&file[..]).is_err(), "byte {at}");
            file[at] ^= flip;
        }
    }
}

fn notice_every_cut<F: Sample>() {
    let file = file_of(&filled::<F>());
    for end in 8..file.len() {
        let error = F::read_from(&file[..end]).unwrap_err();
        assert!(matches!(error, ReadError::Length { .. }), "{end}: {error}");
    }
    assert!(matches!(F::read_from(&file[..7]), Err(ReadError::Signature)));
}

/// Corrects all checksums after a forgery.
fn seal(file: &mut [u8]) {
    let checksum = KeyHasher::new(u64::MAX).hash_bytes(&file[..120]);
    file[120..128].copy_from_slice(&checksum.to_le_bytes());
    for (part, number) in file[HEADER_BYTES..].chunks_mut(PART_BYTES + 8).zip(0..) {
        if let Some(end) = part.len().checked_sub(8) {
            let checksum = KeyHasher::new(number).hash_bytes(&part[..end]);
            part[end..].copy_from_slice(&checksum.to_le_bytes());
        }
    }
}

/// Forges some bytes of a file, corrects the checksums, reads it, and uses what comes of it.
fn forge<F: Sample>(file: &[u8], change: impl Fn(&mut F)) {
    let at = prop_oneof![0..HEADER_BYTES, 0..file.len()];
    let forgeries = proptest::collection::vec((at, any::<u8>()), 1..4);
    let config = ProptestConfig { cases: 500, failure_persistence: None, ..Default::default() };
    TestRunner::new(config)
        .run(&forgeries, |forgeries| {
            let mut forged = file.to_vec();
            for (at, value) in forgeries {
                forged[at] = value;
            }
            seal(&mut forged);
            if let Ok(mut filter) = F::read_from(&forged[..]) {
                change(&mut filter);
            }
            Ok(())
        })
        .unwrap();
}

fn survive_lies<F: Sample>() {
    forge(&file_of(&filled::<F>()), |filter: &mut F| {
        for n in 0..40 {
            let _ = filter.insert(&key(2, n));
            let _ = filter.contains(&key(1, n));
        }
        let _ = (filter.expected_fpr(), filter.load_factor(), filter.bits_per_key());
    });
}

fn lies_can_be_removed_from<F: Sample + RemovableFilter>() {
    forge(&file_of(&filled::<F>()), |filter: &mut F| {
        for n in 0..80 {
            let _ = filter.remove(&key(1, n));
            let _ = filter.count(&key(1, n));
        }
    });
}

/// A header that announces a table of terabytes costs no memory: the bytes are not there.
#[test]
fn announced_terabytes_cost_nothing() {
    let filter = BloomFilter::with_geometry(64, 1, KeyHasher::new(0)).unwrap();
    let mut file = file_of(&filter);
    let bits = 1_u64 << 43;
    file[40..48].copy_from_slice(&(bits / 8).to_le_bytes());
    file[48..56].copy_from_slice(&bits.to_le_bytes());
    seal(&mut file);
    assert!(matches!(BloomFilter::read_from(&file[..]), Err(ReadError::Length { .. })));
}

/// Bloom filters count inserts, and nothing in their bits contradicts a count of 2^64 - 1.
#[test]
fn an_absurd_count_does_not_overflow() {
    let mut file = file_of(&BloomFilter::with_geometry(64, 1, KeyHasher::new(0)).unwrap());
    file[32..40].fill(0xff);
    seal(&mut file);
    let mut filter = BloomFilter::read_from(&file[..]).unwrap();
    filter.insert("cuckoo");
    assert_eq!(filter.len(), u64::MAX);
    assert!(filter.contains("cuckoo"));
}

#[test]
fn another_kind_is_refused_by_name() {
    let file = file_of(&QuotientFilter::with_capacity(10, 0.1).unwrap());
    let error = DLeftCountingFilter::read_from(&file[..]).unwrap_err();
    assert!(error.to_string().contains("d-left counting filter was asked for"), "{error}");
    let error = BloomFilter::read_from(&b"GIF89a, certainly not"[..]).unwrap_err();
    assert!(error.to_string().contains("signature"), "{error}");
}

fn table() -> BucketedCuckooTable<String, u32, 3, 2> {
    let mut table = BucketedCuckooTable::with_capacity(50).unwrap();
    for n in 0..50 {
        table.insert(format!("key {n}"), n).unwrap();
    }
    table
}

#[test]
fn tables_come_back_as_they_were() {
    let written = table().with_growth(Growth::Rehash).with_max_kicks(77);
    let mut file = Vec::new();
    written.write_to(&mut file).unwrap();
    let mut read = BucketedCuckooTable::<String, u32, 3, 2>::read_from(&file[..]).unwrap();
    assert!(written.iter().eq(read.iter()));
    let mut again = Vec::new();
    read.write_to(&mut again).unwrap();
    assert_eq!(again, file);
    assert_eq!(read.remove("key 7"), Some(7));
    let other = CuckooHashTable::<String, u32>::read_from(&file[..]);
    assert!(matches!(other, Err(ReadError::Field { field: "choices", value: 3 })));
    let hash = KeyHasher::new(0).hash_bytes(&file);
    assert_eq!(hash, 0x1dc2_30a1_854b_3eab, "pinned: {hash:#018x}");
}

#[test]
fn damaged_tables_are_refused_and_forged_ones_do_no_harm() {
    let mut file = Vec::new();
    table().write_to(&mut file).unwrap();
    for at in 0..file.len() {
        file[at] ^= 4;
        assert!(BucketedCuckooTable::<String, u32, 3, 2>::read_from(&file[..]).is_err());
        seal(&mut file);
        if let Ok(mut forged) = BucketedCuckooTable::<String, u32, 3, 2>::read_from(&file[..]) {
            for n in 0..50 {
                let _ = forged.insert(format!("new {n}"), n);
                let _ = forged.remove(format!("key {n}").as_str());
            }
        }
        file[at] ^= 4;
        seal(&mut file);
    }
    for end in 0..file.len() {
        assert!(BucketedCuckooTable::<String, u32, 3, 2>::read_from(&file[..end]).is_err());
    }
}
