//! Any bytes, read as filters and maps of every kind: an error or something that works, and no
//! panic.
//!
//! The header's checksum and those of the segments are put right first, or the fuzzer would never
//! get past them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use malkoha::{
    Copies, CuckooFilter, CuckooMap, FilterView, GrowableCuckooFilter, GrowableCuckooMap, MapView,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

fuzz_target!(|bytes: Vec<u8>| {
    let mut bytes = bytes;
    // Bytes 10 and 11 are the kind; 3 and 4 are growable.
    let is_growable = bytes.get(10).is_some_and(|&kind| kind > 2);
    if is_growable {
        seal_growable(&mut bytes)
    } else {
        seal(&mut bytes)
    };
    if let Ok(mut filter) = CuckooFilter::read_from(&bytes[..]) {
        for key in 0..16_u64 {
            let _ = filter.insert(key);
            filter.count(key);
            filter.remove(key);
        }
        filter.to_bytes();
    }
    if let Ok(view) = FilterView::view(&bytes) {
        view.contains_many(&[1_u8, 2, 3]);
    }
    if let Ok(view) = MapView::view(&bytes) {
        view.get_many(&[1_u8, 2, 3], |_, _| {});
    }
    if let Ok(mut map) = CuckooMap::read_from(&bytes[..]) {
        let _ = map.insert(1_u8, 1);
        for (value, _) in map.values(1_u8) {
            map.remove(1_u8, value);
        }
        map.entries().for_each(drop);
        map.to_bytes();
    }
    if let Ok(mut filter) = GrowableCuckooFilter::from_bytes(&bytes) {
        let keys: Vec<u64> = (0..64).collect();
        let _ = filter.insert_many(&keys);
        filter.contains_many(&keys);
        keys.iter().for_each(|key| drop(filter.count(key)));
        filter.entries().for_each(drop);
        if filter.spilled() < 1 << 60 {
            let mut other = reopened_set(&filter);
            other.intersect_with(&filter).expect("the same places");
            for copies in [Copies::Most, Copies::Sum] {
                let mut union = filter.clone();
                if union.unite(&other, copies).is_ok() {
                    reopened_set(&union);
                }
            }
            filter.remove_many(&keys);
            filter.shrink_to_fit();
            reopened_set(&filter);
        }
    }
    if let Ok(mut map) = GrowableCuckooMap::from_bytes(&bytes) {
        let pairs: Vec<(u64, u64)> = (0..64).map(|key| (key, key & 1)).collect();
        let _ = map.insert_many(&pairs);
        for &(key, value) in &pairs {
            map.get(key).for_each(drop);
            let _ = map.update(key, value, value ^ 1);
        }
        map.entries().for_each(drop);
        if map.len() < 1 << 60 {
            let other = reopened_map(&map);
            for copies in [Copies::Most, Copies::Sum] {
                let mut union = map.clone();
                if union.unite(&other, copies).is_ok() {
                    reopened_map(&union);
                }
            }
            map.remove_many(&pairs);
            map.shrink_to_fit();
            reopened_map(&map);
        }
    }
});

/// What was read once and changed can be read again.
fn reopened_set(filter: &GrowableCuckooFilter) -> GrowableCuckooFilter {
    GrowableCuckooFilter::from_bytes(&filter.to_bytes()).expect("its own bytes")
}

fn reopened_map(map: &GrowableCuckooMap) -> GrowableCuckooMap {
    GrowableCuckooMap::from_bytes(&map.to_bytes()).expect("its own bytes")
}

/// The same for growable kinds, whose segments follow from their records.
fn seal_growable(bytes: &mut [u8]) -> Option<()> {
    let checksum = xxh3_64_with_seed(bytes.get(..120)?, u64::MAX);
    bytes.get_mut(120..128)?.copy_from_slice(&checksum.to_le_bytes());
    let bits = u64::from(bytes[15]);
    let segments = u32::from_le_bytes(*bytes[48..].first_chunk()?);
    let mut at = 128;
    for number in 0..segments {
        let value_bits = u64::from(*bytes.get(at + 5)?);
        let buckets = u64::from(u16::from_le_bytes(*bytes.get(at + 6..)?.first_chunk()?));
        let narrowing = 12_u64.saturating_sub(u64::from(buckets.max(1).ilog2()));
        let table = (buckets * 4 * (bits + 1 + narrowing + value_bits)).div_ceil(64) * 8 + 16;
        let end = at + 16 + usize::try_from(table).ok()?;
        let checksum = xxh3_64_with_seed(bytes.get(at..end)?, number.into());
        bytes.get_mut(end..end + 8)?.copy_from_slice(&checksum.to_le_bytes());
        at = end + 8;
    }
    let end = bytes.len().checked_sub(8).filter(|&end| end >= at)?;
    let checksum = xxh3_64_with_seed(&bytes[at..end], u64::MAX - 1);
    bytes[end..].copy_from_slice(&checksum.to_le_bytes());
    Some(())
}

/// Right checksums, wherever the header says that they belong.
fn seal(bytes: &mut [u8]) -> Option<()> {
    let checksum = xxh3_64_with_seed(bytes.get(..120)?, u64::MAX);
    bytes.get_mut(120..128)?.copy_from_slice(&checksum.to_le_bytes());
    let segments = u32::from_le_bytes(*bytes[48..].first_chunk()?) as usize;
    let table_bytes = usize::try_from(u64::from_le_bytes(*bytes[56..].first_chunk()?)).ok()?;
    let spilled = usize::try_from(u64::from_le_bytes(*bytes[64..].first_chunk()?)).ok()?;
    let spilled = if spilled == 0 { 0 } else { spilled.checked_mul(32)?.checked_add(8)? };
    let before = segments.checked_mul(8)?.checked_add(table_bytes)?.checked_add(128)?;
    let whole = before.checked_add(spilled)?;
    if whole != bytes.len() || segments == 0 || table_bytes / segments == 0 {
        return None;
    }
    let (bytes, list) = bytes.split_at_mut(before);
    if let Some((entries, checksum)) = list.split_last_chunk_mut::<8>() {
        *checksum = xxh3_64_with_seed(entries, u64::MAX - 1).to_le_bytes();
    }
    let (table, checksums) = bytes[128..].split_at_mut(table_bytes);
    let segments = table.chunks_exact(table_bytes / segments);
    for ((seed, segment), checksum) in (0..).zip(segments).zip(checksums.chunks_exact_mut(8)) {
        checksum.copy_from_slice(&xxh3_64_with_seed(segment, seed).to_le_bytes());
    }
    Some(())
}
