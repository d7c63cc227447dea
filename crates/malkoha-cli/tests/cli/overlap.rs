//! `malkoha overlap`.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Dir;

fn data() -> Dir {
    let dir = Dir::with(
        "evals.jsonl",
        "{\"q\":\"One two three four\",\"a\":\"five\"}\n\n{\"q\":\"x y z\"}\n",
    );
    dir.write(
        "d.jsonl",
        "{\"t\":\"zero, one TWO three nine\"}\n{\"t\":\"other words only\"}\n[]\n{\"t\":\"X-Y-Z\"}\n",
    );
    dir
}

const RUN: &str = "overlap --ngrams 3 --against evals.jsonl --against-field q --against-field a";

#[test]
fn overlapping_documents_are_printed_or_dropped() {
    let dir = data();
    let run = dir.run(&format!("{RUN} --field t --bad keep d.jsonl")).succeeds();
    let found: Vec<Value> = String::from_utf8(run.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let expected = [
        json!({ "file": "d.jsonl", "line": 1, "share": 0.3333, "found": 1, "ngrams": 3 }),
        json!({ "file": "d.jsonl", "line": 3, "bad": "is no JSON object" }),
        json!({ "file": "d.jsonl", "line": 4, "share": 1.0, "found": 1, "ngrams": 1 }),
    ];
    assert_eq!(found, expected);
    assert!(
        run.stderr.contains("1 of 3 texts of --against have fewer than 3 words"),
        "{}",
        run.stderr
    );
    let run = dir
        .run(&format!("{RUN} --field t --bad drop --above 0.5 -o clean --report r --json d.jsonl"));
    let totals: Value = serde_json::from_slice(&run.succeeds().stdout).unwrap();
    assert_eq!(totals["overlapping"], 1);
    let text = fs::read_to_string(dir.path("d.jsonl")).unwrap();
    let rest: Vec<&str> = text.lines().take(2).collect();
    assert_eq!(String::from_utf8(dir.read("clean/d.jsonl")).unwrap(), rest.join("\n") + "\n");
    assert_eq!(dir.read("r").iter().filter(|&&byte| byte == b'\n').count(), 2);
}

#[test]
fn nothing_is_compared_in_silence() {
    let dir = data();
    for (arguments, complaint) in [
        (
            "--field t d.jsonl",
            "line 3 of 'd.jsonl' is no JSON object: '[]' (--bad keep or drop goes on)",
        ),
        ("--field t --above 2 d.jsonl", "--above 2: a share is from 0 to 1"),
    ] {
        let run = dir.run(&format!("{RUN} {arguments}"));
        assert_eq!(run.code, Some(2));
        assert_eq!(run.stderr.lines().last(), Some(&*format!("malkoha: {complaint}")));
    }
    dir.run("overlap --against evals.jsonl --against-field b --field t d.jsonl")
        .complains("line 1 of 'evals.jsonl' lacks the field 'b'; its fields: a, q (--bad keep or drop goes on)");
    dir.run("overlap --ngrams 0 --against evals.jsonl --against-field q --field t d.jsonl")
        .complains("shingles of 0: choose 1 to 1000 words or characters");
}
