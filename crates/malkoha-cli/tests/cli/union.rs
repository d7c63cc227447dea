//! `malkoha union`: filters in one, or one error and nothing written.

use malkoha::CuckooMap;
use serde_json::json;

use crate::harness::Dir;

/// Two filters of these options. The lines of `both` are in both.
fn two(options: &str) -> Dir {
    let dir = Dir::with("a", "a\nboth\n").and("b", "b\nboth\n").and("all", "a\nb\nx\nboth\n");
    for name in ["a", "b"] {
        dir.run(&format!("build -q {options} -o {name}.mlk {name}")).prints("");
    }
    dir
}

#[test]
fn a_union_has_the_lines_of_all() {
    for options in ["--fixed --capacity 100", "--capacity 100", "--layout words --capacity 9"] {
        let dir = two(options);
        let run = dir.run("union -o u.mlk a.mlk b.mlk").succeeds();
        assert!(run.stderr.starts_with("u.mlk: 3 lines of 2 filters in "), "{}", run.stderr);
        dir.run("check u.mlk all").prints("a\nb\nboth\n");
        dir.run("count u.mlk all").prints("1\ta\n1\tb\n0\tx\n1\tboth\n");
        dir.run("union -q --copies -o u.mlk a.mlk b.mlk").prints("");
        dir.run("count u.mlk all").prints("1\ta\n1\tb\n0\tx\n2\tboth\n");
        dir.run("verify u.mlk").prints("u.mlk: ok\n");
        dir.run("union -q --copies -o - a.mlk b.mlk").prints(dir.read("u.mlk"));
        let record = dir.run("union --copies --json -o u.mlk a.mlk b.mlk a.mlk").succeeds().json();
        assert_eq!((&record["filters"], &record["keys"]), (&json!(3), &json!(6)));
        // One of the filters may be the output.
        dir.run("union -q -o a.mlk a.mlk b.mlk").prints("");
        dir.run("check a.mlk all").prints("a\nb\nboth\n");
        assert_eq!(dir.names(), ["a", "a.mlk", "all", "b", "b.mlk", "u.mlk"]);
    }
}

#[test]
fn a_union_of_maps_has_the_values_of_all() {
    for options in ["--fixed --value-bits 9 --capacity 100", "--capacity 100"] {
        let dir = Dir::with("a", "a\t1\nboth\t2\n").and("b", "b\t3\nboth\t4\n");
        for name in ["a", "b"] {
            dir.run(&format!("build -q --values {options} -o {name}.mlk {name}")).prints("");
        }
        let run = dir.run("union -o u.mlk a.mlk b.mlk").succeeds();
        assert!(run.stderr.starts_with("u.mlk: 4 pairs of 2 filters in "), "{}", run.stderr);
        dir.pipe("a\nb\nx\nboth\n", "get u.mlk").prints("a\t1\nb\t3\nboth\t2,4\n");
    }
}

/// From few lines and from many, grown to different sizes.
#[test]
fn growable_filters_of_all_sizes_are_united() {
    let lines = |from: u32, to: u32| (from..to).map(|n| format!("{n}\n")).collect::<String>();
    let dir = Dir::with("many", lines(0, 90_000)).and("few", lines(80_000, 100_000));
    for (name, options) in [("many", "--capacity 100"), ("few", "")] {
        dir.run(&format!("build -q {options} -o {name}.mlk {name}")).prints("");
    }
    for filters in ["many.mlk few.mlk", "few.mlk many.mlk"] {
        dir.run(&format!("union -q -o u.mlk {filters}")).prints("");
        dir.pipe(lines(0, 100_000), "check -c u.mlk").prints("100000\n");
        // Lines of either that share a fingerprint with one of the other are one.
        let keys = dir.run("info --json u.mlk").json()["keys"].as_u64().unwrap();
        assert!((99_800..=100_000).contains(&keys), "{keys}");
    }
    for filters in ["many.mlk few.mlk", "few.mlk many.mlk"] {
        dir.run(&format!("union -q --copies -o u.mlk {filters}")).prints("");
        assert_eq!(dir.run("info --json u.mlk").json()["keys"], 110_000);
    }
}

#[test]
fn what_cannot_be_united_is_told_and_nothing_is_written() {
    let dir = two("--fixed --capacity 100");
    dir.run("build -q --fixed --capacity 100 --seed 1 -o seed.mlk a").prints("");
    dir.run("build -q --fixed --capacity 100000 -o large.mlk a").prints("");
    dir.run("build -q -o grows.mlk a").prints("");
    dir.run("build -q --seed 1 -o grows-seed.mlk a").prints("");
    let mut map = Vec::new();
    CuckooMap::with_capacity(10, 0.001, 8).unwrap().write_to(&mut map).unwrap();
    dir.write("map.mlk", map);
    dir.pipe("a\t1\n", "build -q --values -o grows-map.mlk").prints("");
    let names = dir.names();
    let different = |what: &str| {
        format!(
            "the filters differ in {what}: only filters of the same layout, fingerprint and value \
             size and capacity can be united; build one from the keys of both, or growable ones"
        )
    };
    let seeds = "the filters hash keys in different ways: build one like the other, with its \
                 seed or key";
    let mixed = "one grows and the other does not: build both without --fixed";
    for (a, b, why) in [
        ("a", "seed", seeds),
        ("a", "large", different("geometry").as_str()),
        ("a", "grows", mixed),
        ("grows", "a", mixed),
        ("grows", "grows-seed", seeds),
    ] {
        dir.run(&format!("union -o u.mlk {a}.mlk {b}.mlk"))
            .complains(&format!("cannot unite '{a}.mlk' and '{b}.mlk': {why}"));
    }
    for (a, b) in [("a", "map"), ("map", "grows")] {
        dir.run(&format!("union -o u.mlk {a}.mlk {b}.mlk")).complains(&format!(
            "cannot unite '{a}.mlk' and '{b}.mlk': one holds a map and the other does not"
        ));
    }
    dir.run("union -o u.mlk map.mlk grows-map.mlk")
        .complains(&format!("cannot unite 'map.mlk' and 'grows-map.mlk': {mixed}"));
    dir.run("union -o u.mlk a.mlk none.mlk")
        .complains("cannot open filter 'none.mlk': No such file or directory");
    dir.run("union -o all a.mlk b.mlk").complains(
        "'all' exists and is not a filter: name another file, or overwrite it with --force",
    );
    dir.run("union -o - --json a.mlk b.mlk")
        .complains("--json and the filter cannot both go to standard output: name an output file");
    assert_eq!(dir.run("union -o u.mlk a.mlk").code, Some(2));
    assert_eq!(dir.names(), names);
}

#[test]
fn a_union_without_room_leaves_the_output_as_it_was() {
    let lines = |from: u32| (from..from + 900).map(|n| format!("{n}\n")).collect::<String>();
    let dir = Dir::with("a", lines(0)).and("b", lines(10_000));
    for name in ["a", "b"] {
        dir.run(&format!("build -q --fixed --capacity 1000 -o {name}.mlk {name}")).prints("");
    }
    let before = dir.read("a.mlk");
    let run = dir.run("union -o a.mlk a.mlk b.mlk");
    assert_eq!((run.code, run.stderr.lines().count()), (Some(2), 1), "{run:?}");
    assert!(run.stderr.contains("the union does not fit: "), "{}", run.stderr);
    assert!(before == dir.read("a.mlk"));
}

/// While a file is read and written, another process does the same to it.
#[test]
fn unions_at_the_same_time_lose_nothing() {
    let dir = Dir::new();
    for n in 0..12 {
        let lines = format!("line{n}\n");
        dir.pipe(lines, &format!("build -q --capacity 100 -o {n}.mlk")).prints("");
    }
    dir.shell(
        "cp 0.mlk u.mlk
        for i in {1..11}; do $MALKOHA union --wait -q -o u.mlk u.mlk $i.mlk & done; wait",
    )
    .prints("");
    let lines: String = (0..12).map(|n| format!("line{n}\n")).collect();
    dir.pipe(&lines, "check u.mlk").prints(&lines);
}
