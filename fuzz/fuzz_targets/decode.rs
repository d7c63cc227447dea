//! Any bytes, read as a filter and as a map: an error or something that works, and no panic.
//!
//! The header's checksum and those of the segments are put right first, or the fuzzer would never
//! get past them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use malkoha::{CuckooFilter, CuckooMap, FilterView};
use xxhash_rust::xxh3::xxh3_64_with_seed;

fuzz_target!(|bytes: Vec<u8>| {
    let mut bytes = bytes;
    seal(&mut bytes);
    if let Ok(mut filter) = CuckooFilter::read_from(&bytes[..]) {
        for key in 0..16_u64 {
            let _ = filter.insert(&key);
            filter.count(&key);
            filter.remove(&key);
        }
        let mut written = Vec::new();
        filter.write_to(&mut written).expect("a vector takes everything");
    }
    if let Ok(view) = FilterView::from_bytes(&bytes) {
        view.contains_many(&[1_u8, 2, 3]);
    }
    if let Ok(mut map) = CuckooMap::read_from(&bytes[..]) {
        let _ = map.insert(&1_u8, 1);
        for value in map.get(&1_u8).collect::<Vec<_>>() {
            map.remove(&1_u8, value);
        }
    }
});

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
