//! The inputs that are kept for the fuzz targets, again: fuzz/README.md.
#![cfg(not(target_family = "wasm"))]

use std::fs;
use std::path::Path;

use arbitrary::{Arbitrary, Unstructured};

#[path = "../../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "they are a library's there")]
mod targets;

/// Calls `run` with what is in each file of a folder below the repository.
fn each(folder: &str, mut run: impl FnMut(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 10, "{}: {}", folder.display(), paths.len());
    for path in paths {
        println!("{}", path.display());
        run(&fs::read(path).unwrap());
    }
}

/// As the fuzzer makes a case of an input.
fn case<'a, T: Arbitrary<'a>>(bytes: &'a [u8]) -> T {
    T::arbitrary_take_rest(Unstructured::new(bytes)).unwrap()
}

#[test]
fn decode() {
    each("crates/malkoha/tests/fixtures", targets::decode::run);
}

#[test]
fn growth() {
    each("fuzz/seeds/growth", |bytes| targets::growth::run(case(bytes)));
}

#[test]
fn operations() {
    each("fuzz/seeds/operations", |bytes| targets::operations::run(case(bytes)));
}
