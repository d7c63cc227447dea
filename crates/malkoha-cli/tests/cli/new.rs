//! `malkoha new`: print what is not in a filter and add it.

use crate::harness::Dir;

#[test]
fn prints_and_remembers() {
    let dir = Dir::with("monday", "a\nb\na\n").and("tuesday", "c\nb\nd\nc");
    let run = dir.run("new seen.mlk monday");
    assert_eq!(run.stdout, b"a\nb\n");
    assert_eq!(run.stderr, "seen.mlk: 2 of 3 lines were new, holds 2\n");
    dir.run("new -q seen.mlk tuesday").prints("c\nd\n");
    dir.run("new -q seen.mlk monday tuesday").finds_nothing();
    dir.pipe(b"b\0e\0", "new -q -0 seen.mlk").prints(b"e\0");
    dir.run("verify seen.mlk").prints("seen.mlk: ok\n");
    assert_eq!(dir.run("info --json seen.mlk").json()["keys"], 5);
    assert_eq!(dir.names(), ["monday", "seen.mlk", "tuesday"]);
}

#[test]
fn every_kind_of_set_and_no_map() {
    let dir = Dir::with("some", "a\nb\n").and("pairs", "a\t1\n");
    for kind in ["--capacity 100", "--growable", "--copies --capacity 100"] {
        dir.run(&format!("build -q {kind} -o f.mlk some")).prints("");
        dir.pipe("b\nc\nc\n", "new -q f.mlk").prints("c\n");
        dir.run("check f.mlk some").prints("a\nb\n");
    }
    dir.run("build -q --values -o m.mlk pairs").prints("");
    dir.pipe("b\n", "new m.mlk").complains(
        "'m.mlk' is unchanged: it holds a map, and lines have no values: see 'malkoha add --help'",
    );
    dir.run("new some pairs").complains(
        "cannot open filter 'some': not a malkoha file: it does not begin with the format's signature",
    );
    dir.run("new f.mlk f.mlk")
        .complains("'f.mlk' is named as input too, and has no lines: leave it out there");
}

/// What was printed to somebody who did not read it is printed again.
#[test]
fn what_nobody_read_stays_new() {
    let dir = Dir::new();
    dir.pipe("x\n", "new -q f.mlk").prints("x\n");
    let before = dir.read("f.mlk");
    dir.shell("seq 1 300000 | $MALKOHA new -q f.mlk | head -1").prints("1\n");
    assert!(before == dir.read("f.mlk"));
    let run = dir.shell("seq 1 300000 | $MALKOHA new -q f.mlk > /dev/full");
    assert_eq!(run.code, Some(2));
    assert!(before == dir.read("f.mlk"));
    let count = dir.shell("seq 1 300000 | $MALKOHA new -q f.mlk | wc -l").succeeds().stdout;
    assert!(count.starts_with(b"300000") || count.starts_with(b"299999"), "{count:?}");
}

/// Also when all find no filter and make one.
#[test]
fn each_line_is_printed_once_whoever_runs_at_the_same_time() {
    let dir = Dir::new();
    dir.shell("for i in {1..20}; do seq $i 100 | $MALKOHA new -q f.mlk & done | sort -n; wait")
        .prints((1..=100).map(|n| format!("{n}\n")).collect::<String>());
    assert_eq!(dir.names(), ["f.mlk"]);
}
