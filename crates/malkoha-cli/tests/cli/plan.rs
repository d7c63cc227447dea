//! `malkoha plan`.

use crate::harness::Dir;

#[test]
fn a_record_of_all_structures() {
    let dir = Dir::new();
    let record = dir.run("plan --keys 10M --fpr 0.001 --json").succeeds().json();
    assert_eq!(record["keys"], 10_000_000);
    let structures = record["structures"].as_array().unwrap();
    let bits = |name: &str| {
        let found = structures.iter().find(|s| s["structure"].as_str().unwrap().starts_with(name));
        found.unwrap_or_else(|| panic!("no {name}"))["bits_per_key"].as_f64().unwrap()
    };
    assert!((bits("information bound") - 9.966).abs() < 0.001);
    assert!((bits("Bloom") - 14.378).abs() < 0.001);
    assert!(bits("cuckoo, bucketed, 4") < bits("Bloom"));
    assert!(bits("Bloom, blocks") > bits("Bloom"));
    for structure in structures.iter().filter(|s| s["built_by_malkoha"] == true) {
        assert!(structure["fpr"].as_f64().unwrap() <= 0.001);
    }
}

/// High rates have a price too.
#[test]
fn blocks_cost_what_they_can() {
    let blocked = |fpr: &str| {
        let record = Dir::new().run(&format!("plan --keys 10M --fpr {fpr} --json")).succeeds();
        let record = record.json();
        let mut structures = record["structures"].as_array().unwrap().iter();
        let found = structures.find(|s| s["structure"] == "Bloom, blocks of one cache line");
        found.map(|structure| structure["bits_per_key"].as_f64().unwrap())
    };
    assert!((1.08..1.11).contains(&blocked("0.6").unwrap()), "{:?}", blocked("0.6"));
    assert!(blocked("0.9") < blocked("0.6") && blocked("0.6") < blocked("0.1"));
}

/// What is announced is what is built.
#[test]
fn the_first_marked_rows_are_what_build_takes() {
    let lines: String = (0..50_000).map(|n| format!("{n}\n")).collect();
    let dir = Dir::with("lines", lines);
    let plan = dir.run("plan --keys 50_000 --fpr 1e-4 --json").succeeds().json();
    let structures = plan["structures"].as_array().unwrap();
    let mut marked = structures.iter().filter(|s| s["built_by_malkoha"] == true);
    for option in ["", "--fixed"] {
        let build = format!("build {option} --fpr 1e-4 -o f.mlk --json lines");
        let built = dir.run(&build).succeeds().json();
        let [plan, built] = [&marked.next().unwrap()["bytes"], &built["table_bytes"]];
        let ratio = plan.as_f64().unwrap() / built.as_f64().unwrap();
        // One that grows depends a little on its lines.
        let allowed = if option.is_empty() { 0.98..1.02 } else { 1.0..1.0 + f64::EPSILON };
        assert!(allowed.contains(&ratio), "{option}: {plan} and {built}");
    }
}

#[test]
fn a_table_for_people() {
    let run = Dir::new().run("plan --keys 1e6").succeeds();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.starts_with("1,000,000 keys, false-positive rate 1e-3\n"), "{text}");
    assert!(text.lines().all(|line| line.len() <= 100), "{text}");
}
