//! `malkoha screen`, with `grep -Fxf` as its oracle.

use crate::harness::Dir;

const DISPOSABLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/disposable-email-domains.txt");
const POPULAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/popular-domains.txt");

#[test]
fn prints_lines_of_the_list_in_the_order_of_the_input() {
    let dir = Dir::with("list", "b\na\nc\n").and("input", "x\nc\nab\na\nc\n\n");
    dir.run("screen --list list input").prints("c\na\nc\n");
    dir.run("screen -v --list list input").prints("x\nab\n\n");
    dir.run("screen -f list input input").prints("c\na\nc\nc\na\nc\n");
}

#[test]
fn counts() {
    let dir = Dir::with("list", "b\na\nc\n").and("input", "x\nc\nab\na\nc\n");
    dir.run("screen -c --list list input").prints("3\n");
    dir.run("screen -cv --list list input").prints("2\n");
    let run = dir.run("screen -c --json --list list input").succeeds();
    assert_eq!(run.json(), serde_json::json!({ "lines": 5, "selected": 3 }));
    dir.run("screen -c --list input list").prints("2\n");
}

#[test]
fn reads_standard_input_without_input_or_with_a_dash() {
    let dir = Dir::with("list", "a\n").and("input", "a\nfile\n");
    dir.pipe("b\na\n", "screen --list list").prints("a\n");
    dir.pipe("b\na\n", "screen -v --list list input - input").prints("file\nb\nfile\n");
    dir.pipe("file\n", "screen --list - input").prints("file\n");
}

#[test]
fn a_list_may_be_a_pipe() {
    let dir = Dir::with("input", "a\nb\nc\n");
    dir.shell("$MALKOHA screen --list <(printf 'c\\na') input").prints("a\nc\n");
}

#[test]
fn exit_code_one_when_nothing_is_selected() {
    let dir = Dir::with("list", "a\n").and("input", "b\n").and("empty", "");
    dir.run("screen --list list input").finds_nothing();
    dir.run("screen -v --list list list").finds_nothing();
    dir.run("screen -c --list list input").prints_with(1, "0\n");
    dir.run("screen --list list empty").finds_nothing();
    let told = "malkoha: list 'empty' has no entries\n";
    for options in ["", "--approximate", "--cidr", "--domain"] {
        let run = dir.run(&format!("screen {options} --list empty list"));
        assert_eq!((run.code, run.stderr.starts_with(told)), (Some(1), true), "{run:?}");
    }
    dir.run("screen -v --list empty list").prints_and_tells("a\n", told);
    dir.write("comments", "# x\n\n");
    let run = dir.run("networks comments empty");
    assert_eq!(run.stderr, format!("{}{told}", told.replace("empty", "comments")));
}

#[test]
fn null_separated_records_may_contain_newlines() {
    let dir = Dir::with("list", b"a\nb\0c\0").and("input", b"a\0b\0a\nb\0c");
    dir.run("screen -0 --list list input").prints(b"a\nb\0c\0");
    dir.run("screen --null -v --list list input").prints(b"a\0b\0");
}

/// More equal lines than the two buckets of a key have slots, next to each other and apart.
#[test]
fn a_list_may_repeat_lines_any_number_of_times() {
    let list = "same\n".repeat(5000) + "other\n" + &"same\nother\n".repeat(3000);
    let dir = Dir::with("list", list).and("input", "other\nsame\nthird\n");
    dir.run("screen --list list input").prints("other\nsame\n");
    dir.run("screen --approximate --fpr 1e-6 --list list input").prints("other\nsame\n");
}

#[test]
fn approximate_finds_every_line_of_the_list() {
    let dir = Dir::new();
    let exact = dir.run(&format!("screen --list {DISPOSABLE} {POPULAR}")).succeeds();
    let run = dir.run(&format!("screen --approximate --fpr 0.01 --list {DISPOSABLE} {POPULAR}"));
    let lines = |stdout: &[u8]| stdout.split(|&b| b == b'\n').count();
    // 200 false hits are expected, with a standard deviation of 14.
    assert!((100..350).contains(&(lines(&run.stdout) - lines(&exact.stdout))), "{run:?}");
    dir.write("found", &run.stdout);
    dir.run(&format!("screen --list {DISPOSABLE} found")).prints(exact.stdout);
}

#[test]
fn real_lists_give_the_lines_of_grep() {
    let dir = Dir::new();
    for (list, input) in [(DISPOSABLE, POPULAR), (POPULAR, DISPOSABLE)] {
        for option in ["", "-v", "-c"] {
            let expected = dir.shell(&format!("grep -F -x {option} -f {list} {input}"));
            assert_eq!(expected.code, Some(0));
            for threads in [1, 2, 8] {
                dir.run(&format!("screen {option} --threads {threads} --list {list} {input}"))
                    .prints(&expected.stdout);
            }
        }
    }
}
