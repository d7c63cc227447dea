//! Runs the fuzz targets (fuzz/README.md) on their kept inputs, on random inputs, and on mutated
//! files.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use arbitrary::{Arbitrary, Unstructured};
use malkoha::{
    AnyFilter, ExpiringCuckooFilter, FilterView, GrowableCuckooFilter, GrowableCuckooMap,
    GrowableExpiringCuckooFilter, MapView,
};

use crate::support::mutate::{Random, mutate, seal};
use crate::support::{assert_damage_is_noticed, fixtures};

#[path = "../../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "they are a library's there")]
mod targets;

/// The contents of the files of a folder.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 10, "{}: {}", folder.display(), paths.len());
    paths.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Runs a target on its kept inputs and on random ones of up to `longest` bytes.
fn each<T: for<'a> Arbitrary<'a>>(target: &str, random: usize, longest: usize, run: impl Fn(T)) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut numbers = Random(2026);
    let random = (0..random).map(|_| {
        let length = numbers.below(longest);
        (0..length).map(|_| numbers.next().to_le_bytes()[0]).collect()
    });
    for (number, bytes) in files(&kept).into_iter().chain(random).enumerate() {
        println!("input {number}");
        run(T::arbitrary_take_rest(Unstructured::new(&bytes)).unwrap());
    }
}

#[test]
fn growth() {
    each("growth", 60, 800, targets::growth::run);
}

#[test]
fn operations() {
    each("operations", 600, 400, targets::operations::run);
}

#[test]
fn decode() {
    files(&fixtures()).iter().for_each(|bytes| targets::decode::run(bytes));
}

/// Kept files that are not long.
fn short_files() -> Vec<Vec<u8>> {
    // A map with spilled values has nearly 8,000 bytes.
    files(&fixtures()).into_iter().filter(|file| file.len() < 8_000).collect()
}

/// By streams, by views and without `std`.
#[test]
fn every_truncation_and_every_flipped_bit_is_noticed() {
    for file in short_files() {
        assert_damage_is_noticed(&file, |bytes| {
            AnyFilter::from_bytes(bytes).is_err()
                && FilterView::view(bytes).is_err()
                && MapView::view(bytes).is_err()
                && GrowableCuckooFilter::from_bytes(bytes).is_err()
                && GrowableCuckooMap::from_bytes(bytes).is_err()
                && ExpiringCuckooFilter::from_bytes(bytes).is_err()
                && GrowableExpiringCuckooFilter::from_bytes(bytes).is_err()
        });
    }
}

#[test]
fn mutated_files_do_no_harm() {
    mutate_files(1, 30_000);
}

/// Emulated processors leave it out.
#[test]
fn a_million_mutated_files_do_no_harm() {
    let accepted = mutate_files(2026, 1_000_000);
    assert!(accepted.len() == 6 && accepted.values().all(|&accepted| accepted > 1_000));
}

/// Mutates files of every kind; returns how many of each were accepted. Without right checksums, no
/// changed file is accepted. With right checksums, hostile contents can be accepted, and then no
/// operation panics.
fn mutate_files(seed: u64, rounds: usize) -> HashMap<&'static str, u32> {
    let originals = short_files();
    let (mut random, mut accepted) = (Random(seed), HashMap::new());
    let mut mutated = Vec::new();
    for file in 0..rounds {
        let original = &originals[file % originals.len()];
        mutated.clone_from(original);
        mutate(&mut mutated, &mut random);
        if random.below(2) == 0 {
            let is_accepted = AnyFilter::from_bytes(&mutated).is_ok();
            assert!(!is_accepted || mutated == *original, "file {file} was accepted");
            assert!(is_accepted || FilterView::view(&mutated).is_err(), "file {file} was accepted");
            continue;
        }
        seal(&mut mutated);
        targets::decode::run(&mutated);
        if let Ok(any) = AnyFilter::from_bytes(&mutated) {
            *accepted.entry(any.kind().name()).or_insert(0) += u32::from(mutated != *original);
        }
    }
    println!("{accepted:?}");
    accepted
}
