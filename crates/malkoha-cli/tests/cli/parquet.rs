//! `malkoha dedup` and `malkoha overlap` with Parquet.

use std::fs;

use serde_json::{Value, json};

use crate::dedup::{agrees, goes_on};
use crate::harness::Dir;

fn fixture(name: &str) -> Vec<u8> {
    fs::read(format!("{}/tests/parquet/{name}.parquet", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Files of Parquet and JSON lines.
fn data_set(copies: usize) -> Dir {
    let dir = Dir::new();
    fs::create_dir_all(dir.path("raw/sub")).unwrap();
    dir.write("raw/a.jsonl", "{\"text\":\"w1 w2 w3\"}\n{\"text\":\"only here\"}\n");
    for copy in 0..copies {
        dir.write(&format!("raw/b{copy}.parquet"), fixture("pyarrow"));
        dir.write(&format!("raw/sub/{copy}.PQ"), fixture("pyarrow-2"));
    }
    dir.write("raw/z.jsonl", "{\"text\":\"only here\"}\n");
    dir
}

#[test]
fn threads_and_runs_give_the_same_tables() {
    let files = ["a.jsonl", "b0.parquet", "b1.parquet", "b2.parquet"];
    let files = [&files[..], &["sub/0.PQ", "sub/1.PQ", "sub/2.PQ", "z.jsonl"]].concat();
    for method in ["", "--near 0.8", "--paragraphs --min-left 20"] {
        agrees(&data_set(3), &format!("dedup --field text --bad keep {method}"), &files);
    }
}

#[test]
fn a_killed_run_goes_on() {
    goes_on(&data_set(60), "dedup --field text --bad drop --near 0.8", 8);
}

#[test]
fn reports_have_rows_and_totals() {
    let dir = Dir::with("a.parquet", fixture("duckdb")).and("b.parquet", fixture("polars"));
    let run = "dedup --field text --bad drop --report r -o o --json a.parquet b.parquet";
    let totals = dir.run(run).succeeds().json();
    // A quarter of 90 repeats others, one is null, all of the second file are in the first.
    let dropped = (3..90).step_by(4).count() + 89;
    for (name, count) in [("documents", 180), ("same", dropped), ("bad", 2), ("bad_dropped", 2)] {
        assert_eq!(totals[name], count, "{name}");
    }
    let report = String::from_utf8(dir.read("r")).unwrap();
    let report: Vec<Value> =
        report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |line| json!({ "file": "a.parquet", "line": line });
    let bad = "has null in the field of the text";
    assert!(report.contains(&json!({
        "file": "a.parquet", "line": 51, "why": "bad", "bad": bad,
    })));
    assert!(report.contains(&json!({
        "file": "b.parquet", "line": 1, "why": "same", "of": of(1),
    })));
    let dry = dir.run("dedup --field text --bad drop --dry-run --json a.parquet b.parquet").json();
    assert_eq!(dry["same"], totals["same"]);
    // All of the second file is in the first one; a field of its own has no text.
    let overlap =
        "overlap --against a.parquet --against-field text --against-field id --field text";
    let bad =
        "row 51 of 'a.parquet' has null in the field of the text (--bad keep or drop goes on)";
    dir.run(&format!("{overlap} b.parquet")).complains(bad);
    let lacks = "no record of --against has a text in the field 'id'; 90 have another value";
    dir.run(&format!("{overlap} --bad drop b.parquet")).complains(lacks);
    dir.run("dedup --field text --bad drop -o known a.parquet").succeeds();
    let overlap = "overlap --against known --field text --bad drop -o rest --json b.parquet";
    assert_eq!(dir.run(overlap).succeeds().json()["overlapping"], 89);
    assert_eq!(dir.run("dedup --field text --dry-run --json rest").json()["documents"], 0);
}

#[test]
fn what_cannot_be_done_is_said() {
    let dir = Dir::with("a.parquet", fixture("duckdb"));
    for (arguments, complaint) in [
        (
            "--field txt -o o a.parquet",
            "row 1 of 'a.parquet' lacks the field 'txt'; its fields: id, text, tags, meta, ok \
             (--bad keep or drop goes on)",
        ),
        (
            "--field text -o o a.parquet",
            "row 51 of 'a.parquet' has null in the field of the text (--bad keep or drop goes on)",
        ),
        (
            "--field text a.parquet",
            "'a.parquet' is Parquet, which cannot go to standard output: name a directory with \
             --output",
        ),
    ] {
        dir.run(&format!("dedup --force {arguments}")).complains(complaint);
    }
    dir.run("uniq a.parquet").complains(
        "cannot read 'a.parquet': it is Parquet, which only 'dedup' and 'overlap' read, from a file",
    );
    // Files before one that is cut are finished, and the run can go on.
    let whole = fixture("polars");
    dir.write("z.parquet", &whole[..whole.len() - 9]);
    let run = dir.run("dedup --field text --bad drop --seen s --force -o o a.parquet z.parquet");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("cannot read 'z.parquet'"), "{}", run.stderr);
    assert!(dir.path("o/a.parquet").exists() && !dir.path("o/z.parquet").exists());
    assert!(!dir.path("s").exists());
    let left = fs::read_dir(dir.path("o")).unwrap().count();
    assert!(left <= 3, "the output, the journal and a state, but {left} files");
}
