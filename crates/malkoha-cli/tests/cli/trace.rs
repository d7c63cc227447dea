//! `malkoha trace`.

use crate::harness::Dir;

#[test]
fn a_trace_tells_who_moved_and_draws_it() {
    let lines: String = (1..=60).map(|n| format!("{n}\n")).collect();
    let dir = Dir::with("lines", lines);
    let run = dir.run("trace --slots 56 --bucket-size 2 --svg moves.svg lines").succeeds();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains(" moves on, ") && text.contains(": refused, "), "{text}");
    let moves = text.matches(" moves on, ").count();
    assert!(text.contains(&format!(" {moves} moves, ")), "{text}");
    let svg = String::from_utf8(dir.read("moves.svg")).unwrap();
    assert_eq!(svg.matches("marker-end").count(), moves);
    assert_eq!(svg.matches("class=\"in\"").count() + svg.matches("class=\"no\"").count(), 60);
    // The same lines, the same trace; a line that is in already is no step.
    let again = dir.run("trace --slots 56 --bucket-size 2 lines lines").succeeds();
    assert_eq!(String::from_utf8(again.stdout).unwrap(), text);
}

#[test]
fn what_cannot_be_traced_is_refused() {
    let lines: String = (0..513).map(|n| format!("{n}\n")).collect();
    let dir = Dir::with("lines", lines);
    let few = "more than 512 different lines: trace fewer, as with 'head'";
    dir.run("trace lines").complains(few);
    dir.write("lines", "a\n");
    let run = dir.run("trace --fingerprint-bits 3 lines");
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("fingerprint"), "{run:?}");
}
