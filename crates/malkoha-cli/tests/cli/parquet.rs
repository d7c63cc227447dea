//! `malkoha dedup` and `malkoha overlap` with Parquet.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

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

/// The files below a directory, and their content.
fn outputs(dir: &Dir, output: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in [output.to_owned(), format!("{output}/sub")] {
        for entry in fs::read_dir(dir.path(&folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name != "sub" {
                let path = format!("{folder}/{name}");
                files.push((path[output.len()..].to_owned(), dir.read(&path)));
            }
        }
    }
    files.sort();
    files
}

const METHODS: [&str; 3] = ["", "--near 0.8", "--paragraphs --min-left 20"];

#[test]
fn threads_and_runs_give_the_same_tables() {
    let dir = data_set(3);
    for method in METHODS {
        let dedup = format!("dedup --field text --bad keep {method}");
        dir.run(&format!("{dedup} -o one --report one.report --force --threads 1 raw")).succeeds();
        let expected = outputs(&dir, "one");
        assert_eq!(expected.len(), 8);
        for threads in [2, 7] {
            let run = format!("-o more --report more.report --force --threads {threads} raw");
            dir.run(&format!("{dedup} {run}")).succeeds();
            assert!(outputs(&dir, "more") == expected, "{method}: {threads} threads");
            assert!(dir.read("more.report") == dir.read("one.report"));
        }
        let files = ["a.jsonl", "b0.parquet", "b1.parquet", "b2.parquet", "sub/0.PQ", "sub/1.PQ"];
        for file in files.iter().chain(&["sub/2.PQ", "z.jsonl"]) {
            let output = if file.starts_with("sub") { "runs/sub" } else { "runs" };
            dir.run(&format!(
                "{dedup} --seen seen -o {output} --report r{} raw/{file}",
                file.len()
            ))
            .code
            .filter(|code| *code < 2)
            .unwrap_or_else(|| panic!("{file}"));
            fs::remove_file(dir.path(&format!("r{}", file.len()))).unwrap();
        }
        assert!(outputs(&dir, "runs") == expected, "{method}: one run for each file");
        fs::remove_dir_all(dir.path("runs")).unwrap();
        fs::remove_file(dir.path("seen")).unwrap();
    }
}

#[test]
fn a_killed_run_goes_on() {
    let dir = data_set(60);
    let dedup = "dedup --field text --bad drop --near 0.8 --report";
    dir.run(&format!("{dedup} whole.report -o whole raw")).succeeds();
    let mut kills = 0;
    for milliseconds in (0..).step_by(8) {
        let resume = if milliseconds == 0 { "" } else { "--resume" };
        let mut command = dir.command(&format!("{dedup} kill.report {resume} -o kill raw"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        if status.success() {
            break;
        }
        // Windows has no signals.
        assert!(status.code().is_none() || cfg!(windows), "it failed by itself: {status}");
        kills += 1;
    }
    assert!(kills > 3, "{kills} kills");
    assert!(outputs(&dir, "kill") == outputs(&dir, "whole"));
    assert!(dir.read("kill.report") == dir.read("whole.report"));
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
    let refusal = "row 51 of 'a.parquet' has null in the field of the text";
    dir.run(&format!("{overlap} b.parquet")).complains(refusal);
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
