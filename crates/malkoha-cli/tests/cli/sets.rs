//! `malkoha union`, `intersect` and `diff` of files of lines, with comm and sort as oracles.

use crate::harness::Dir;

fn dir() -> Dir {
    let dir = Dir::new();
    dir.shell(
        "RANDOM=1; line() { echo $((RANDOM % 1500)); }
         for file in a b c; do for i in {1..2000}; do line; done > $file; done
         (echo; printf 'last') >> a; (echo last; echo) >> c",
    )
    .prints("");
    dir
}

#[test]
fn they_are_those_of_comm() {
    let dir = dir();
    for (command, oracle) in [
        ("union a b", "sort -u a b"),
        ("union a b c", "sort -u a b c"),
        ("intersect a b", "comm -12 <(sort -u a) <(sort -u b)"),
        ("intersect a b c", "comm -12 <(sort -u a) <(comm -12 <(sort -u b) <(sort -u c))"),
        ("diff a b", "comm -23 <(sort -u a) <(sort -u b)"),
        ("diff a b c", "comm -23 <(sort -u a) <(sort -u b c)"),
        ("diff --threads 1 <(gzip -c a) b - < c", "comm -23 <(sort -u a) <(sort -u b c)"),
    ] {
        // a has no last newline, and sort gives it one.
        let expected = dir.shell(&format!("(echo >> a; {oracle}); truncate -s -1 a")).stdout;
        dir.shell(&format!("$MALKOHA {command} | sort")).prints(&expected);
    }
    // In the order of first occurrences.
    let expected = dir.shell("cat a b > ab; awk '!seen[$0]++' a b").stdout;
    dir.run("union a b").prints(&expected);
    let expected = dir.shell("grep -vFxf b a | awk '!seen[$0]++'").stdout;
    dir.run("diff a b").prints(&expected);
}

#[test]
fn nothing_is_an_exit_code_and_trouble_is_told() {
    let dir = Dir::with("a", "x\ny\n").and("b", "y\nx\n").and("none", "");
    dir.run("diff a b").finds_nothing();
    let told = "malkoha: list 'none' has no entries\n";
    assert_eq!(dir.run("intersect a none").stderr, told);
    dir.run("union none none").finds_nothing();
    dir.run("diff none a").finds_nothing();
    dir.run("diff a none").prints_and_tells("x\ny\n", told);
    dir.run("intersect a b a").prints("x\ny\n");
    dir.run("intersect a missing").complains("cannot open 'missing': No such file or directory");
    dir.run("diff - -").complains("two files are both standard input: name a file for one of them");
    dir.run("build -q -o f.mlk a").prints("");
    dir.run("union f.mlk f.mlk")
        .complains("'f.mlk' is a filter file: name one to write with --output");
    let why = "it is a filter file, which has no lines: see 'malkoha check --help'";
    dir.run("diff f.mlk a").complains(&format!("cannot open list 'f.mlk': {why}"));
    dir.run("diff a f.mlk").complains(&format!("cannot read 'f.mlk': {why}"));
    let run = dir.run("union -o out.mlk a b");
    assert_eq!(run.code, Some(2), "{run:?}");
}

#[test]
fn records_may_end_with_nul() {
    let dir = Dir::with("a", b"x\ny\0z\0").and("b", b"z\0");
    dir.run("diff -0 a b").prints(b"x\ny\0");
}
