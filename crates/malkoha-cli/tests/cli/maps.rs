//! Maps of many pairs, compared with a model.

use std::collections::{HashMap, HashSet};

use serde_json::json;

use crate::harness::Dir;

const KINDS: [&str; 2] = ["--fixed", ""];

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
