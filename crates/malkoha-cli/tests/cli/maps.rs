//! Maps: `build --values`, `get`, and what the other commands do with such files.

use std::collections::{HashMap, HashSet};

use serde_json::json;

use crate::harness::Dir;

const KINDS: [&str; 2] = ["--fixed", ""];

const AGES: &str = "koel\t12\nmagpie\t7\nkoel\t300\nkoel\t12\na\tb\t5\n";

/// A map of three keys and four pairs, with room for more.
fn ages(options: &str) -> Dir {
    let dir = Dir::with("ages.tsv", AGES).and("names", "magpie\nx\nkoel\na\tb\n");
    dir.run(&format!("build -q --values --capacity 100 {options} -o m.mlk ages.tsv")).prints("");
    dir
}

/// Many keys, of which every seventh has three values and every 500th twelve: of 28 bits, in lines
/// in no order.
fn many_pairs() -> Vec<(String, u64)> {
    let value = |key: u64, n: u64| (key * 0x9e37 + n * 0x79b9_7f4a) % (1 << 28);
    let values = |key| if key % 500 == 0 { 12 } else { 1 + key % 7 / 6 * 2 };
    let mut pairs: Vec<(String, u64)> = (0..50_000)
        .flat_map(|key| (0..values(key)).map(move |n| (format!("key {key}"), value(key, n))))
        .collect();
    pairs.sort_by_key(|&(_, value)| value % 9973);
    pairs
}

fn text(pairs: &[(String, u64)]) -> String {
    pairs.iter().map(|(key, value)| format!("{key}\t{value}\n")).collect()
}

#[test]
fn every_value_is_among_the_candidates() {
    let pairs = many_pairs();
    let mut oracle: HashMap<&str, HashSet<u64>> = HashMap::new();
    for (key, value) in &pairs {
        oracle.entry(key).or_default().insert(*value);
    }
    let keys: String = oracle.keys().map(|key| format!("{key}\n")).collect();
    let absent: String = (0..50_000).map(|n| format!("other {n}\n")).collect();
    let dir = Dir::with("pairs", text(&pairs)).and("keys", keys).and("absent", absent);
    for kind in KINDS {
        dir.run(&format!("build -q --values {kind} --threads 1 -o m.mlk pairs")).prints("");
        let printed = dir.run("get --threads 1 m.mlk keys").succeeds().stdout;
        for threads in [2, 8] {
            dir.run(&format!("build -q --values {kind} --threads {threads} -o n.mlk pairs"))
                .prints("");
            assert!(dir.read("m.mlk") == dir.read("n.mlk"), "{kind} {threads}");
            dir.run(&format!("get --threads {threads} m.mlk keys")).prints(&printed);
        }
        let printed = String::from_utf8(printed).unwrap();
        // In the order of the input, with all their values and hardly any others.
        let mut others = 0;
        for (line, key) in printed.lines().zip(oracle.keys()) {
            let (printed, values) = line.split_once('\t').unwrap();
            assert_eq!(&printed, key);
            let values: Vec<u64> = values.split(',').map(|value| value.parse().unwrap()).collect();
            assert!(values.is_sorted());
            let expected = &oracle[key];
            assert!(expected.iter().all(|value| values.contains(value)), "{line}");
            others += values.len() - expected.len();
        }
        assert_eq!(printed.lines().count(), oracle.len());
        // At the rate of 0.001 there are 50 and 50 on average.
        assert!(others < 100, "{others} values by mistake");
        let found = dir.run("get m.mlk absent").stdout.split(|&byte| byte == b'\n').count() - 1;
        assert!(found < 100, "{found} absent keys have values");
    }
}

#[test]
fn get_prints_values_in_the_order_of_the_input() {
    for kind in KINDS {
        let dir = ages(kind);
        dir.run("get m.mlk names").prints("magpie\t7\nkoel\t12,300\na\tb\t5\n");
        dir.run("get --all m.mlk names").prints("magpie\t7\nx\t\nkoel\t12,300\na\tb\t5\n");
        dir.pipe("koel", "get --line-buffered m.mlk").prints("koel\t12,300\n");
        dir.pipe("x\n", "get m.mlk").finds_nothing();
        dir.pipe("x\n", "get -a m.mlk").prints_with(1, "x\t\n");
        dir.pipe("x\nkoel\n", "get --json m.mlk")
            .prints("{\"key\":\"koel\",\"values\":[12,300]}\n");
        dir.pipe("x\n", "get --json -a m.mlk").prints_with(1, "{\"key\":\"x\",\"values\":[]}\n");
    }
}

#[test]
fn keys_are_any_bytes_and_values_any_number() {
    let dir = Dir::with("pairs", b"\xff\n\t18446744073709551615\0\t0\0k\r\t007");
    for kind in KINDS {
        dir.run(&format!("build -q -0 --values {kind} -o m.mlk pairs")).prints("");
        dir.pipe(b"k\r\0\0\xff\n\0", "get -0 m.mlk")
            .prints(b"k\r\t7\0\t0\0\xff\n\t18446744073709551615\0");
        let run = dir.pipe(b"\xff\n\0", "get -0 --json m.mlk").succeeds();
        assert_eq!(run.stdout, b"{\"key_hex\":\"ff0a\",\"values\":[18446744073709551615]}\0");
        assert_eq!(dir.run("info --json m.mlk").json()["value_bits"], 64);
    }
}

#[test]
fn values_take_the_bits_that_they_need_or_those_that_are_given() {
    let dir = Dir::with("pairs", "a\t0\nb\t255\n").and("zeros", "a\t0\n").and("empty", "");
    for (options, bits) in [
        ("--fixed pairs", 8),
        ("--fixed zeros", 1),
        ("--fixed empty", 1),
        ("pairs", 64),
        ("--value-bits 40 --fixed pairs", 40),
        ("--value-bits 40 pairs", 40),
    ] {
        let run = dir.run(&format!("build --values --json -o m.mlk {options}")).succeeds();
        assert_eq!(run.json()["value_bits"], bits, "{options}");
        assert_eq!(dir.run("info --json m.mlk").json()["value_bits"], bits, "{options}");
    }
    let run =
        dir.run("build --values --bucket-size 2 --capacity 9 -o m.mlk pairs pairs").succeeds();
    assert!(run.stderr.starts_with("m.mlk: 2 of 4 pairs in "), "{}", run.stderr);
    assert!(run.stderr.ends_with(", values of up to 8 bits\n"), "{}", run.stderr);
    let info = dir.run("info --json m.mlk").json();
    assert_eq!((&info["slots_probed"], &info["capacity"]), (&json!(4), &json!(9)));
}

#[test]
fn a_pair_is_put_in_once_or_as_often_as_it_occurs() {
    for kind in KINDS {
        let dir = Dir::with("pairs", "a\t1\n".repeat(30) + "a\t2\n");
        dir.run(&format!("build -q --values {kind} -o m.mlk pairs")).prints("");
        dir.pipe("a\n", "get m.mlk").prints("a\t1,2\n");
        dir.run(&format!("build -q --values {kind} --copies -o m.mlk pairs")).prints("");
        dir.pipe("a\n", "get m.mlk").prints(format!("a\t{}2\n", "1,".repeat(30)));
        dir.pipe("a\n", "count m.mlk").prints("31\ta\n");
        dir.run("remove -q --copies m.mlk pairs").prints("");
        dir.pipe("a\n", "get m.mlk").finds_nothing();
    }
}

#[test]
fn pairs_are_added_and_removed() {
    for kind in KINDS {
        let dir = ages(kind);
        let run = dir.pipe("koel\t13\nowl\t4\nowl\t4\n", "add m.mlk").succeeds();
        assert_eq!(run.stderr, "m.mlk: added 2 of 3 pairs, holds 6\n");
        dir.pipe("owl\nkoel\n", "get m.mlk").prints("owl\t4\nkoel\t12,13,300\n");
        // One is in, one is not, and one has a value that no pair of this map can have.
        let run = dir.pipe("koel\t12\nowl\t5\nkoel\t999999999999\n", "remove m.mlk").succeeds();
        assert_eq!(run.stderr, "m.mlk: removed 1 of 3 pairs, holds 5\n");
        dir.pipe("owl\nkoel\n", "get m.mlk").prints("owl\t4\nkoel\t13,300\n");
        dir.pipe("koel\t7\n", "remove -q m.mlk").finds_nothing();
        let record = dir.pipe("owl\t4\nowl\t5\n", "add --json m.mlk").succeeds().json();
        assert_eq!(record, json!({ "lines": 2, "added": 1, "keys": 6 }));
        dir.pipe("owl\n", "get m.mlk").prints("owl\t4,5\n");
        dir.run("verify m.mlk").prints("m.mlk: ok\n");
    }
}

/// What was added is removed again, and only what was there before is left.
#[test]
fn a_round_trip_of_many_pairs() {
    let pairs = many_pairs();
    let (before, added) = pairs.split_at(pairs.len() / 2);
    let dir = Dir::with("before", text(before)).and("added", text(added));
    for kind in ["--fixed --capacity 100k", ""] {
        dir.run(&format!("build -q --values --value-bits 28 {kind} -o m.mlk before")).prints("");
        dir.run("add -q m.mlk added").prints("");
        assert_eq!(dir.run("info --json m.mlk").json()["keys"], pairs.len());
        dir.run("remove -q m.mlk added").prints("");
        assert_eq!(dir.run("info --json m.mlk").json()["keys"], before.len());
        let again = dir.run("add --json m.mlk before").json();
        assert_eq!((&again["added"], &again["keys"]), (&json!(0), &json!(before.len())));
        let run = dir.run("remove --json m.mlk before").json();
        assert_eq!((&run["removed"], &run["keys"]), (&json!(before.len()), &json!(0)));
    }
}

#[test]
fn the_other_commands_read_maps() {
    for kind in KINDS {
        let dir = ages(kind);
        dir.run("check m.mlk names").prints("magpie\nkoel\na\tb\n");
        dir.run("count m.mlk names").prints("1\tmagpie\n0\tx\n2\tkoel\n1\ta\tb\n");
        dir.run("verify m.mlk").prints("m.mlk: ok\n");
        let text = String::from_utf8(dir.run("info m.mlk").succeeds().stdout).unwrap();
        assert!(text.contains("\npairs         4 of 100\n"), "{text}");
        assert!(text.contains(" bits per pair\n"), "{text}");
    }
}
