//! `malkoha uniq`, with a hash set as its oracle.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::Stdio;

use crate::harness::Dir;

#[test]
fn prints_first_occurrences_in_order() {
    let dir = Dir::with("input", "b\na\nb\n\nc\na\n\n");
    dir.run("uniq input").prints("b\na\n\nc\n");
    dir.run("uniq input input").prints("b\na\n\nc\n");
    dir.run("uniq --repeated input").prints("b\na\n\n");
    dir.pipe("x\r\nx\nx", "uniq").prints("x\r\nx\n");
    dir.pipe(b"a\nb\0c\0a\nb", "uniq -0").prints(b"a\nb\0c\0");
    dir.pipe("", "uniq").finds_nothing();
    dir.pipe("a\nb\n", "uniq --repeated").finds_nothing();
}

/// From a capacity of ten too, so that the filter grows many times.
#[test]
fn grows_with_the_stream() {
    let (mut input, mut expected, mut seen) = (String::new(), String::new(), HashSet::new());
    let mut state = 1_u64;
    for _ in 0..200_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let line = (state >> 33) % 100_000;
        writeln!(input, "{line}").unwrap();
        if seen.insert(line) {
            writeln!(expected, "{line}").unwrap();
        }
    }
    let dir = Dir::with("input", input);
    // At the default rate one such stream in fifty loses a line; these do not.
    for options in ["", "--capacity 10", "--capacity 50k", "--seed 9 --capacity 100k"] {
        let run = dir.run(&format!("uniq {options} input")).succeeds();
        assert!(run.stdout == expected.as_bytes(), "{options}");
    }
    let run = dir.run("uniq --json --capacity 50000 input").succeeds();
    let record: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(record["lines"], 200_000);
    assert_eq!(record["distinct"], seen.len());
    assert!(record["fpr"].as_f64().unwrap() < 1e-6, "{record}");
    let bits = record["bytes"].as_f64().unwrap() * 8.0 / seen.len() as f64;
    assert!(bits < 40.0, "{bits} bits a line");
}

#[test]
fn lines_come_out_while_the_input_is_open() {
    let dir = Dir::new();
    let mut command = dir.command("uniq --line-buffered");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in ["a", "b"] {
        writeln!(input, "{line}").unwrap();
        assert_eq!(output.next().unwrap().unwrap(), line);
    }
    drop(input);
    assert!(output.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn says_before_it_starts_what_it_cannot() {
    let dir = Dir::with("input", "a\na\n");
    dir.run("uniq --fpr 1e-7 input").prints("a\n");
    let run = dir.pipe("a\n", "uniq --fpr 1e-12");
    assert_eq!((run.code, run.stdout.len()), (Some(2), 0));
    assert!(run.stderr.contains("ask for at least"), "{}", run.stderr);
}
