//! `malkoha new`: prints what is not in a filter, and adds it.

use malkoha::{ExpiringCuckooFilter, GrowableConcurrentExpiringCuckooFilter};

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
    for kind in ["--fixed --capacity 100", "", "--copies --capacity 100"] {
        dir.run(&format!("build -q {kind} -o f.mlk some")).prints("");
        dir.pipe("b\nc\nc\n", "new -q f.mlk").prints("c\n");
        dir.run("check f.mlk some").prints("a\nb\n");
    }
    dir.run("build -q --values -o m.mlk pairs").prints("");
    dir.pipe("b\n", "new m.mlk").complains(
        "'m.mlk' is unchanged: it holds a map, and lines have no values: see 'malkoha add --help'",
    );
    dir.run("new some pairs").complains(
        "'some' is not a filter file: 'malkoha build' makes one from its lines, and 'malkoha \
         screen --list' takes the lines as they are",
    );
    dir.run("new f.mlk f.mlk")
        .complains("'f.mlk' is named as input too, and has no lines: leave it out there");
}

/// Lines whose reader had gone are printed again.
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
    dir.shell(
        "for i in {1..20}; do seq $i 100 | $MALKOHA new -q --wait f.mlk & done | sort -n; wait",
    )
    .prints((1..=100).map(|n| format!("{n}\n")).collect::<String>());
    assert_eq!(dir.names(), ["f.mlk"]);
}

/// Lines of some seconds since 1970, each with a word.
fn log(lines: &[(u64, &str)]) -> String {
    lines.iter().map(|(time, word)| format!("{time}\t{word}\n")).collect()
}

const START: u64 = 1_790_000_000;
const DAY: u64 = 86_400;

#[test]
fn a_line_is_new_again_after_a_time() {
    let dir = Dir::new();
    let new = "new -q --within 24h --time-field 1 -k 2 f.mlk";
    let run = dir.pipe(log(&[(START, "a"), (START, "b"), (START + 1_000, "a")]), new);
    run.prints(log(&[(START, "a"), (START, "b")]));
    let noon = START + DAY / 2;
    dir.pipe(log(&[(noon, "a"), (noon, "c")]), new).prints(log(&[(noon, "c")]));
    // b, which did not occur again, is forgotten; a and c are new again.
    let later = START + 2 * DAY;
    let both = log(&[(later, "a"), (later, "c")]);
    dir.pipe(&both, new).prints(&both);
    dir.pipe(&both, new).finds_nothing();
    let info = dir.run("info --json --now file f.mlk").succeeds().json();
    assert_eq!(
        (&info["kind"], &info["keys"]),
        (&"growable set whose lines expire".into(), &2.into())
    );
    assert_eq!((&info["ttl"], &info["now"]), (&(DAY * 1000).into(), &(later * 1000).into()));
    let text = dir.run("info --now file f.mlk").succeeds().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("within        1day, in steps of 1h 36m\n"), "{text}");
    assert!(text.ends_with("now           2026-09-23T14:13:20Z\n"), "{text}");

    let some = dir.and("some", "a\nb\nc\n");
    some.run("check --now file f.mlk some").prints("a\nc\n");
    some.run(&format!("count --now {} f.mlk some", later + 60)).prints("1\ta\n0\tb\n1\tc\n");
    some.run(&format!("check --now {} f.mlk some", later + 2 * DAY)).finds_nothing();
    // By the clock all of it is long ago.
    some.run("check f.mlk some").finds_nothing();
    some.run("verify f.mlk").prints("f.mlk: ok\n");
    some.run("new --within 12h f.mlk some")
        .complains("lines of 'f.mlk' expire after 1day, and not after 12h: name another FILTER");
}

#[test]
fn renewed_lines_are_new_after_their_last_occurrence() {
    let dir = Dir::new();
    let hours = |hours: &[u64]| {
        log(&hours.iter().map(|hour| (START + hour * 3600, "a")).collect::<Vec<_>>())
    };
    let new = "new -q --within 24h --time-field 1 -k 2";
    dir.pipe(hours(&[0, 20]), &format!("{new} --renew f.mlk")).prints(hours(&[0]));
    dir.pipe(hours(&[40]), &format!("{new} --renew f.mlk")).finds_nothing();
    dir.pipe(hours(&[67]), &format!("{new} --renew f.mlk")).prints(hours(&[67]));
    dir.pipe(hours(&[0, 20, 40]), &format!("{new} g.mlk")).prints(hours(&[0, 40]));
}

#[test]
fn files_whose_lines_expire_are_changed_as_others() {
    let dir = Dir::with("some", "a\nb\n").and("more", "b\nc\n");
    dir.run("new -q --within 1h f.mlk some").prints("a\nb\n");
    dir.run("new -q f.mlk more").prints("c\n");
    dir.run("new -q --within 1h g.mlk more").prints("b\nc\n");
    dir.run("add -q f.mlk more").prints("");
    dir.run("remove -q f.mlk some").prints("");
    dir.pipe("a\nb\nc\n", "check f.mlk").prints("c\n");
    dir.pipe("x\n", "add -q f.mlk").prints("");
    dir.run("union -o h.mlk f.mlk g.mlk").complains(
        "cannot unite 'f.mlk' and 'g.mlk': the filters hash keys in different ways: build one like \
         the other, with its seed or key",
    );
    dir.shell("cp f.mlk g.mlk; $MALKOHA new -q g.mlk some").prints("a\nb\n");
    dir.run("union -q -o h.mlk f.mlk g.mlk").prints("");
    dir.pipe("a\nb\nc\nd\nx\n", "check h.mlk").prints("a\nb\nc\nx\n");
    dir.run("union --copies -o h.mlk f.mlk g.mlk")
        .complains("'f.mlk' has lines that expire, of which none is in twice: leave --copies away");
    dir.run("new -q plain.mlk some").prints("a\nb\n");
    dir.run("new --within 1h plain.mlk some")
        .complains("lines of 'plain.mlk' do not expire: name another FILTER for --within");
    dir.run("union -o h.mlk plain.mlk f.mlk").complains(
        "cannot unite 'plain.mlk' and 'f.mlk': lines of one expire and of the other do not",
    );
    dir.run("get f.mlk some").code.iter().for_each(|&code| assert_eq!(code, 2));
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
        "'fixed.mlk' was last told a time before 1973, not the clock's: only what made it adds to it",
    );
    // Seconds since 1970, but long ago.
    let new = "new -q --within 10s --time-field 1 -k 2 early.mlk";
    dir.pipe("5\tx\n6\tx\n20\tx\n", new).prints("5\tx\n20\tx\n");
    dir.pipe("25\tx\n35\tx\n", new).prints("35\tx\n");
    dir.pipe("x\n", "new early.mlk").complains(
        "'early.mlk' was last told a time before 1973, not the clock's: only what made it adds to it",
    );
}
