//! `build`, `check`, `add`, `remove`, `info`, `verify`: the life of a filter file.

use serde_json::json;

use crate::harness::Dir;

const BUILT: &str = "a\nb\nc\n";

fn built() -> Dir {
    let dir = Dir::with("lines", BUILT);
    dir.run("build -q --fixed -o f.mlk lines").prints("");
    dir
}

#[test]
fn check_prints_what_was_built_in() {
    let dir = built().and("input", "x\nb\na\n\nb");
    dir.run("check f.mlk input").prints("b\na\nb\n");
    dir.run("check -v f.mlk input").prints("x\n\n");
    dir.run("check -c f.mlk input").prints("3\n");
    dir.run("check --no-verify f.mlk input").prints("b\na\nb\n");
    dir.pipe("c\nd\n", "check f.mlk").prints("c\n");
    dir.pipe("d\n", "check f.mlk").finds_nothing();
    let run = dir.run("check --count --json f.mlk input");
    assert_eq!(run.json(), json!({ "lines": 5, "selected": 3 }));
}

#[test]
fn build_tells_what_it_built() {
    let dir = Dir::with("lines", "a\nb\na\n");
    let run = dir.run("build -o f.mlk lines").succeeds();
    assert!(run.stderr.starts_with("f.mlk: 2 of 3 lines in "), "{}", run.stderr);
    let record = dir.run("build --json -o f.mlk lines").succeeds().json();
    assert_eq!((&record["lines"], &record["keys"]), (&json!(3), &json!(2)));
    assert!(record["fpr"].as_f64().unwrap() <= 0.001);
}

#[test]
fn equal_lines_give_equal_files_whatever_their_order() {
    let dir = Dir::with("one", "a\nb\nc\n").and("two", "c\na\nb\nb\na\n");
    dir.run("build -q -o 1.mlk one").prints("");
    dir.pipe("c\na\nb\nb\n", "build -q -o 2.mlk").prints("");
    dir.run("build -q -o 3.mlk two one").prints("");
    assert!(dir.read("1.mlk") == dir.read("2.mlk") && dir.read("1.mlk") == dir.read("3.mlk"));
    dir.run("build -q --seed 7 -o 4.mlk one").prints("");
    assert!(dir.read("1.mlk") != dir.read("4.mlk"));
    dir.run("build -q --random-seed -o 5.mlk one").prints("");
    assert!(dir.read("1.mlk") != dir.read("5.mlk"));
    dir.run("check 5.mlk one").prints("a\nb\nc\n");
}

/// A key that was drawn at random is that of all files that are built like the first.
#[test]
fn files_that_are_built_alike_unite() {
    let dir = Dir::with("a", "a\n").and("b", "b\n");
    for kind in ["--fixed", "", "--values"] {
        let lines =
            if kind.starts_with("--values") { ("a\t1\n", "b\t2\n") } else { ("a\n", "b\n") };
        let build = format!("build -q {kind} --capacity 100");
        dir.pipe(lines.0, &format!("{build} --random-seed -o a.mlk")).prints("");
        dir.pipe(lines.1, &format!("{build} --random-seed -o b.mlk")).prints("");
        let run = dir.run("union -q -o u.mlk a.mlk b.mlk");
        assert!(run.stderr.contains("hash keys in different ways"), "{}", run.stderr);
        dir.pipe(lines.1, &format!("{build} --like a.mlk -o b.mlk")).prints("");
        dir.run("union -q -o u.mlk a.mlk b.mlk").prints("");
        dir.pipe("a\nb\n", "check -c u.mlk").prints("2\n");
    }
    let info = dir.run("info --json u.mlk").succeeds().json();
    assert_eq!((&info["hash"], &info["seed"]), (&json!("SipHash-1-3"), &json!(null)));
    let text = String::from_utf8(dir.run("info u.mlk").succeeds().stdout).unwrap();
    assert!(text.contains("hash          SipHash-1-3, a key of 128 bits\n"), "{text}");
    dir.run("build -q --like a -o c.mlk a").complains(
        "'a' is not a filter file: 'malkoha build' makes one from its lines, and 'malkoha screen \
         --list' takes the lines as they are",
    );
}

#[test]
fn the_filter_can_be_had_on_standard_output() {
    let dir = built();
    let run = dir.run("build -q --fixed -o - lines").succeeds();
    assert!(run.stdout == dir.read("f.mlk"));
}

#[test]
fn the_geometry_can_be_chosen() {
    let dir = Dir::with("lines", BUILT);
    dir.run("build -q -o f.mlk --fingerprint-bits 20 --bucket-size 2 --capacity 1k lines")
        .prints("");
    let info = dir.run("info --json f.mlk").succeeds().json();
    assert_eq!(info["fingerprint_bits"], 20);
    assert_eq!(info["slots_probed"], 4);
    assert_eq!(info["capacity"], 1000);
    assert_eq!(info["keys"], 3);
    assert_eq!((&info["hash"], &info["seed"]), (&json!("XXH3-64"), &json!(0)));
    let text = String::from_utf8(dir.run("info f.mlk").succeeds().stdout).unwrap();
    assert!(text.contains("fpr") && text.contains("3 of 1,000"), "{text}");
}

#[test]
fn the_layout_can_be_chosen() {
    let dir = Dir::with("lines", BUILT);
    for layout in ["bucketed", "semi-sorted", "gap-windows"] {
        dir.run(&format!("build -q -o f.mlk --layout {layout} lines")).prints("");
        assert_eq!(dir.run("info --json f.mlk").json()["layout"], layout);
        dir.run("check f.mlk lines").prints(BUILT);
    }
}

#[test]
fn an_empty_input_is_an_empty_filter() {
    let dir = Dir::with("empty", "");
    dir.run("build -q -o f.mlk empty").prints("");
    dir.run("verify f.mlk").prints("f.mlk: ok\n");
    dir.pipe("\n", "check f.mlk").finds_nothing();
    dir.run("info f.mlk").succeeds();
}

#[test]
fn null_separated_records() {
    let dir = Dir::with("lines", b"a\nb\0c");
    dir.run("build -q -0 -o f.mlk lines").prints("");
    dir.pipe(b"a\0a\nb\0c\0", "check -0 f.mlk").prints(b"a\nb\0c\0");
}

#[test]
fn add_and_remove() {
    let dir = Dir::with("lines", BUILT);
    dir.run("build -q -o f.mlk --capacity 100 lines").prints("");
    let run = dir.pipe("d\ne\nd\n", "add f.mlk").succeeds();
    assert_eq!(run.stderr, "f.mlk: added 2 of 3 lines, holds 5\n");
    dir.pipe("e\nf\na\n", "check f.mlk").prints("e\na\n");
    let run = dir.pipe("a\na\n", "remove f.mlk").succeeds();
    assert_eq!(run.stderr, "f.mlk: removed 1 of 2 lines, holds 4\n");
    dir.pipe("e\na\n", "check f.mlk").prints("e\n");
    dir.pipe("zzz\n", "remove -q f.mlk").finds_nothing();
    dir.pipe("e\n", "remove --json f.mlk").prints("{\"keys\":3,\"lines\":1,\"removed\":1}\n");
    dir.run("verify f.mlk").prints("f.mlk: ok\n");
    assert_eq!(dir.names(), ["f.mlk", "lines"]);
}

#[test]
fn copies_are_removed_one_by_one() {
    let dir = Dir::with("lines", "a\na\n");
    dir.run("build -q --copies --capacity 1 -o f.mlk lines").prints("");
    dir.pipe("a\n", "remove -q f.mlk").prints("");
    dir.pipe("a\n", "check f.mlk").prints("a\n");
    dir.pipe("a\n", "remove -q f.mlk").prints("");
    dir.pipe("a\n", "check f.mlk").finds_nothing();
    // They need no capacity.
    dir.pipe("a\n".repeat(1000), "add -q --copies f.mlk").prints("");
    dir.run("verify f.mlk").prints("f.mlk: ok\n");
    dir.run("count f.mlk lines").prints("1000\ta\n1000\ta\n");
    dir.pipe("a\n".repeat(1000), "remove -q --copies f.mlk").prints("");
    dir.pipe("a\n", "check f.mlk").finds_nothing();
}

/// The same lines day by day, which must not make the file larger.
#[test]
fn lines_that_are_in_are_not_added_again() {
    let dir = built();
    let before = dir.read("f.mlk");
    for _ in 0..3 {
        dir.run("add -q f.mlk lines").prints("");
        assert!(before == dir.read("f.mlk"));
    }
    dir.run("add -q --copies f.mlk lines").prints("");
    dir.run("count f.mlk lines").prints("2\ta\n2\tb\n2\tc\n");
}

#[test]
fn a_filter_without_room_stays_as_it_was() {
    for (options, value, of) in [("", "", "lines"), ("--values", "\t7", "pairs")] {
        let lines = |n: u32| (0..n).map(|n| format!("{n}{value}\n")).collect::<String>();
        let dir = Dir::new();
        dir.pipe(lines(3), &format!("build -q --fixed {options} -o f.mlk")).prints("");
        let before = dir.read("f.mlk");
        let run = dir.pipe(lines(1000), "add f.mlk");
        assert_eq!((run.code, run.stderr.lines().count()), (Some(2), 1), "{run:?}");
        assert!(run.stderr.starts_with("malkoha: cannot add to 'f.mlk', which is unchanged: "));
        assert!(run.stderr.contains(&format!(" of 997 {of} found no place; ")), "{run:?}");
        assert!(run.stderr.contains("build a larger one"), "{run:?}");
        assert!(before == dir.read("f.mlk"));
    }
}

/// As `remove f.mlk *` would do, which would remove whatever its bytes happen to match.
#[test]
fn a_filter_is_no_input_of_its_own_change() {
    let dir = built();
    let before = dir.read("f.mlk");
    dir.shell("ln -s f.mlk link").prints("");
    for input in ["f.mlk lines", "lines ./f.mlk", "link"] {
        for (command, cannot) in [("add", "add to"), ("remove", "remove from")] {
            dir.run(&format!("{command} f.mlk {input}")).complains(&format!(
                "cannot {cannot} 'f.mlk', which is unchanged: it is named as input too, and has no \
                 lines: leave it out there"
            ));
        }
    }
    assert!(before == dir.read("f.mlk"));
}

#[test]
fn adders_at_the_same_time_lose_nothing() {
    let dir = Dir::new();
    dir.run("build -q --capacity 1000 -o f.mlk").prints("");
    dir.shell("for i in {1..20}; do echo line$i | $MALKOHA add -q --wait f.mlk & done; wait")
        .prints("");
    let lines: String = (1..=20).map(|n| format!("line{n}\n")).collect();
    dir.pipe(&lines, "check f.mlk").prints(&lines);
    assert_eq!(dir.run("info --json f.mlk").json()["keys"], 20);
}
