//! `malkoha new` without a reader, and with files of another clock.

use malkoha::{ExpiringCuckooFilter, GrowableConcurrentExpiringCuckooFilter};

use crate::harness::Dir;

/// Lines whose reader had gone are printed again.
#[test]
fn what_nobody_read_stays_new() {
    let dir = Dir::new();
    dir.pipe("x\n", "new -q f.mlk").prints("x\n");
    let before = dir.read("f.mlk");
    dir.shell("seq 1 300000 | malkoha new -q f.mlk | head -1").prints("1\n");
    assert!(before == dir.read("f.mlk"));
    let run = dir.shell("seq 1 300000 | malkoha new -q f.mlk > /dev/full");
    assert_eq!(run.code, Some(2));
    assert!(before == dir.read("f.mlk"));
    let count = dir.shell("seq 1 300000 | malkoha new -q f.mlk | wc -l").succeeds().stdout;
    assert!(count.starts_with(b"300000") || count.starts_with(b"299999"), "{count:?}");
}

/// A program that counts seconds from its start wrote it, on one thread or for several.
#[test]
fn a_file_of_another_clock_is_asked_at_its_own_time() {
    let dir = Dir::with("some", "a\nb\n");
    let mut fixed = ExpiringCuckooFilter::with_capacity(10, 0.001, 60).unwrap();
    let shared = GrowableConcurrentExpiringCuckooFilter::with_capacity(10, 0.001, 60).unwrap();
    fixed.advance(1_000);
    fixed.insert("a").unwrap();
    shared.advance(1_000);
    shared.insert("a").unwrap();
    dir.write("fixed.mlk", fixed.to_bytes());
    dir.write("shared.mlk", shared.to_bytes());
    for file in ["fixed.mlk", "shared.mlk"] {
        dir.run(&format!("check {file} some")).prints("a\n");
        dir.run(&format!("check --now 5 {file} some")).finds_nothing();
        let info = dir.run(&format!("info --json {file}")).succeeds().json();
        assert_eq!(
            (&info["now"], &info["ttl"], &info["keys"]),
            (&1000.into(), &60.into(), &1.into())
        );
    }
    dir.run("new fixed.mlk some").complains(
        "'fixed.mlk' has a time before 1973, not the clock's: only what made it adds to it",
    );
}
