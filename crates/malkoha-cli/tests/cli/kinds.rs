//! Filter files of every kind: growable filters, and maps that a program wrote.

use malkoha::{
    CuckooMap, GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooMap, GrowableCuckooMap,
};
use serde_json::json;

use crate::harness::Dir;

fn numbers(range: std::ops::Range<u32>) -> String {
    range.map(|n| format!("{n}\n")).collect()
}

/// A file of each kind that has the line a once, b twice and c three times.
fn of_every_kind() -> Dir {
    let lines = "a\nb\nb\nc\nc\nc\n";
    let dir = Dir::with("lines", lines);
    dir.run("build -q --fixed --copies -o set.mlk lines").prints("");
    dir.run("build -q --copies -o growable-set.mlk lines").prints("");
    let mut map = CuckooMap::with_capacity(10, 0.001, 20).unwrap();
    let mut growable = GrowableCuckooMap::with_capacity(10, 0.001, 20).unwrap();
    let shared_set = GrowableConcurrentCuckooFilter::with_capacity(10, 0.001).unwrap();
    let shared_map = GrowableConcurrentCuckooMap::with_capacity(10, 0.001, 20).unwrap();
    for (value, line) in (0..).zip(lines.lines()) {
        map.insert(line, value).unwrap();
        growable.insert(line, value).unwrap();
        shared_set.insert(line).unwrap();
        shared_map.insert(line, value).unwrap();
    }
    let mut bytes = Vec::new();
    map.write_to(&mut bytes).unwrap();
    dir.write("map.mlk", bytes);
    dir.write("growable-map.mlk", growable.to_bytes());
    dir.write("shared-set.mlk", shared_set.to_bytes());
    dir.write("shared-map.mlk", shared_map.to_bytes());
    dir
}

const KINDS: [&str; 6] = ["set", "growable-set", "shared-set", "map", "growable-map", "shared-map"];

#[test]
fn every_kind_is_looked_up_in() {
    let dir = of_every_kind().and("input", "x\nc\na\nb\n");
    for kind in KINDS {
        dir.run(&format!("check {kind}.mlk input")).prints("c\na\nb\n");
        dir.run(&format!("check -v {kind}.mlk input")).prints("x\n");
        dir.run(&format!("count {kind}.mlk input")).prints("0\tx\n3\tc\n1\ta\n2\tb\n");
        dir.run(&format!("count --min 2 {kind}.mlk input")).prints("3\tc\n2\tb\n");
        dir.run(&format!("count --min 4 {kind}.mlk input")).finds_nothing();
        dir.run(&format!("verify {kind}.mlk")).prints(format!("{kind}.mlk: ok\n"));
    }
    dir.pipe(b"c\0x\n\0", "count -0 set.mlk").prints(b"3\tc\x000\tx\n\0");
}

#[test]
fn info_tells_the_kind() {
    let dir = of_every_kind();
    for (kind, capacity) in KINDS.into_iter().zip([3, 3, 10, 10, 10, 10]) {
        let record = dir.run(&format!("info --json {kind}.mlk")).succeeds().json();
        // The file of a filter that threads share is that of one owner.
        let held = kind.replace("shared", "growable").replace('-', " ");
        assert_eq!(record["kind"], held);
        assert_eq!((&record["keys"], &record["capacity"]), (&json!(6), &json!(capacity)));
        let value_bits = if kind.ends_with("map") { 20 } else { 0 };
        assert_eq!(record["value_bits"], value_bits, "{kind}");
        assert!(record["spilled"].as_u64().unwrap() <= 1 && record["slots"].as_u64() >= Some(6));
        let text = String::from_utf8(dir.run(&format!("info {kind}.mlk")).succeeds().stdout);
        let text = text.unwrap();
        assert!(text.starts_with(&format!("holds         {held}\n")), "{text}");
        assert_eq!(text.contains("values of 20 bits"), kind == "map", "{text}");
        assert_eq!(text.contains("values of up to 20 bits"), held == "growable map", "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_filter_is_no_pipe() {
    let dir = of_every_kind();
    for kind in KINDS {
        for command in ["info", "verify", "check", "count", "get", "add", "remove"] {
            let run = dir.shell(&format!("cat {kind}.mlk | malkoha {command} /dev/stdin"));
            run.complains(
                "cannot open filter '/dev/stdin': it is a pipe or a device, and filters are read \
                 twice: write it to a file first",
            );
        }
        dir.shell(&format!("malkoha info /dev/stdin < {kind}.mlk")).succeeds();
    }
}

/// Every byte of the files that are read as a whole, and of a mapped one when it is verified.
#[test]
fn damage_is_told_in_one_line() {
    let dir = of_every_kind();
    for kind in KINDS {
        let commands = ["verify", "check", "count", "get", "add", "remove"];
        let whole = dir.read(&format!("{kind}.mlk"));
        for at in [3, 8, 70, 130, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            dir.write("bad.mlk", &bytes);
            for command in commands {
                let run = dir.run(&format!("{command} bad.mlk"));
                assert_eq!((run.code, run.stdout.len()), (Some(2), 0), "{command} {kind} {at}");
                assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
                assert!(run.stderr.contains("bad.mlk"), "{}", run.stderr);
                if (command, kind, at) == ("verify", "set", 130) {
                    let expected = "malkoha: filter 'bad.mlk' is not whole: ";
                    assert!(run.stderr.starts_with(expected) && run.stderr.contains("segment 0"));
                }
            }
            assert!(dir.read("bad.mlk") == bytes);
        }
        dir.write("bad.mlk", &whole[..whole.len() - 1]);
        let run = dir.run("info bad.mlk");
        assert_eq!(run.code, Some(2));
        assert!(
            run.stderr.starts_with("malkoha: cannot open filter 'bad.mlk': "),
            "{}",
            run.stderr
        );
        dir.write("bad.mlk", [&whole[..], b"!"].concat());
        let commands = commands.map(|command| format!("{command} bad.mlk"));
        let union = format!("union -o bad.mlk {kind}.mlk bad.mlk");
        for command in commands.into_iter().chain(["info bad.mlk".to_owned(), union]) {
            dir.run(&command).complains(&format!(
                "cannot open filter 'bad.mlk': file is {} bytes long, but its header announces {}: \
                 it is cut off or has bytes appended",
                whole.len() + 1,
                whole.len(),
            ));
        }
    }
}

#[test]
fn a_growable_filter_grows_when_lines_are_added() {
    let dir = Dir::with("lines", numbers(0..100));
    dir.run("build -q --growth 1000 --fpr 0.01 -o f.mlk lines").prints("");
    for start in [100, 5_000, 40_000] {
        dir.write("more", numbers(start..start * 8));
        dir.run("add -q f.mlk more").prints("");
    }
    let all = numbers(0..800) + &numbers(5_000..320_000);
    dir.pipe(&all, "check f.mlk").prints(&all);
    let info = dir.run("info --json f.mlk").succeeds().json();
    assert_eq!(info["capacity"], 100);
    assert!((313_000..=315_800).contains(&info["keys"].as_u64().unwrap()), "{info}");
    let fpr = info["fpr"].as_f64().unwrap();
    assert!((0.001..0.01).contains(&fpr), "{fpr}");
    dir.run("verify f.mlk").prints("f.mlk: ok\n");
}

/// A capacity is where it begins, and what goes in comes out.
#[test]
fn a_growable_filter_holds_more_than_its_capacity() {
    let dir = Dir::with("lines", numbers(0..20_000));
    let run = dir.run("build --capacity 10 --json -o f.mlk lines").succeeds();
    assert_eq!((&run.json()["keys"], &run.json()["capacity"]), (&json!(20_000), &json!(10)));
    dir.run("build -q --capacity 10 -o - lines").prints(dir.read("f.mlk"));
    dir.run("remove -q f.mlk lines").prints("");
    let info = dir.run("info --json f.mlk").succeeds().json();
    assert_eq!((&info["keys"], &info["load"]), (&json!(0), &json!(0.0)));
    dir.run("check f.mlk lines").finds_nothing();
}
