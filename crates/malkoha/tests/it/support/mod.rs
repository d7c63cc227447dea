//! Crafted keys, damaged files, repeatable random numbers, kept files.

pub(crate) mod crafted;
pub(crate) mod mutate;
pub(crate) mod random;
pub(crate) mod xxh3;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use malkoha::tables::Lookup;
use malkoha::{Content, Filter, Layout};
use xxhash_rust::xxh3::xxh3_64_with_seed;

pub(crate) fn every_layout() -> impl Iterator<Item = Layout> {
    let bucketed = [1, 2, 4, 8].map(|bucket_size| Layout::Bucketed { bucket_size });
    bucketed.into_iter().chain([Layout::SemiSorted, Layout::GapWindows, Layout::Words])
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The fixture of this name, which must be these bytes. Set `MALKOHA_WRITE_FIXTURES` to add one for
/// a new version; never to change an old one.
pub(crate) fn fixture(name: &str, bytes: &[u8]) -> Vec<u8> {
    let path = fixtures().join(name);
    if std::env::var_os("MALKOHA_WRITE_FIXTURES").is_some() && !path.exists() {
        std::fs::write(&path, bytes).unwrap();
    }
    let stored = std::fs::read(&path).unwrap();
    assert!(stored == bytes, "{name}: the format has changed");
    stored
}

/// Puts the right checksum on a header, as a hostile writer would.
pub(crate) fn seal_header(bytes: &mut [u8]) {
    let checksum = xxh3_64_with_seed(&bytes[..120], u64::MAX);
    bytes[120..128].copy_from_slice(&checksum.to_le_bytes());
}

/// That a file is refused if it ends early, and with any bit changed.
pub(crate) fn assert_damage_is_noticed(file: &[u8], is_refused: impl Fn(&[u8]) -> bool) {
    assert!(!is_refused(file));
    for length in 0..file.len() {
        assert!(is_refused(&file[..length]), "cut at {length}");
    }
    let mut flipped = file.to_vec();
    for bit in 0..file.len() * 8 {
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(is_refused(&flipped), "bit {bit}");
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Hands keys to four threads at the same time, twice each, in chunks and one by one.
/// Returns, for each key, how many threads found it new.
pub(crate) fn new_to_threads<K: Sync>(
    keys: &[K],
    chunk: usize,
    many: impl Fn(&[K]) -> Vec<bool> + Sync,
    one: impl Fn(&K) -> bool + Sync,
) -> Vec<u32> {
    let new: Vec<_> = keys.iter().map(|_| AtomicU32::new(0)).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (new, many, one) = (&new, &many, &one);
            scope.spawn(move || {
                for (number, keys) in keys.chunks(chunk).enumerate() {
                    for round in [0, 1] {
                        let is_many = (number + thread + round) % 2 == 0;
                        let is_new =
                            if is_many { many(keys) } else { keys.iter().map(one).collect() };
                        for (new, is_new) in new[number * chunk..].iter().zip(is_new) {
                            new.fetch_add(is_new.into(), Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    new.into_iter().map(AtomicU32::into_inner).collect()
}

/// That a filter's rate is the one that it states, by so many lookups of absent keys.
///
/// Tolerance: 4.5 sigma, sigma = sqrt(p(1-p)/n), and 4 % for the model error of the formula (it
/// takes a lookup's slots as independent).
pub(crate) fn assert_rate_is_as_stated<T: Lookup, C: Content>(filter: &Filter<T, C>, lookups: u32) {
    let absent: Vec<u64> = (0..lookups).map(|n| u64::from(n) + (1 << 40)).collect();
    let found = filter.contains_many(&absent).into_iter().filter(|&found| found).count();
    let (measured, stated) = (found as f64 / f64::from(lookups), filter.expected_fpr());
    let sigma = (stated * (1.0 - stated) / f64::from(lookups)).sqrt();
    assert!(
        (measured - stated).abs() <= 4.5 * sigma + 0.04 * stated,
        "measured {measured}, stated {stated}, sigma {sigma}"
    );
}
