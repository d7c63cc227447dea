//! Errors in pairs and maps are one line each, and nothing is written.

use crate::harness::Dir;

const NO_TAB: &str = "has no tab: write 'KEY<tab>VALUE' in each line";
const NO_NUMBER: &str = "write a decimal number from 0 to 18446744073709551615";

#[test]
fn lines_that_are_no_pairs() {
    let dir = Dir::with("pairs", "a\t1\nb\t2\n").and("key", "a\t1\nb 2\nc\n");
    dir.write("text", "a\t1\nb\ttwo\n");
    dir.write("large", "a\t1\nb\t2\nc\t256\n");
    let names = dir.names();
    let run = |options: &str| dir.run(&format!("build --values -o m.mlk {options}"));
    run("key").complains(&format!("line 2 of 'key' {NO_TAB}"));
    run("pairs pairs key").complains(&format!("line 2 of 'key' {NO_TAB}"));
    run("--fixed text").complains(&format!("line 2 of 'text' has the value 'two': {NO_NUMBER}"));
    let large =
        "has the value 256, which has more than 8 bits: build a map with --value-bits 9 or more";
    for kind in ["--fixed", ""] {
        run(&format!("{kind} --value-bits 8 large"))
            .complains(&format!("line 3 of 'large' {large}"));
    }
    dir.pipe("a\n", "build --values -o m.mlk pairs -")
        .complains(&format!("line 1 of standard input {NO_TAB}"));
    dir.pipe("a\t1\0\0", "build -0 --values -o m.mlk")
        .complains(&format!("line 2 of standard input {NO_TAB}"));
    assert_eq!(dir.names(), names);
}

/// The first of several, many blocks into the second file.
#[test]
fn the_number_of_the_line_is_right_in_large_inputs() {
    let lines = |wrong: &[usize]| -> String {
        (1..=200_000)
            .map(|n| format!("a{}\n", if wrong.contains(&n) { "" } else { "\t1" }))
            .collect()
    };
    let dir = Dir::with("good", lines(&[])).and("bad", lines(&[150_001, 150_002, 190_000]));
    for threads in [1, 2, 8] {
        dir.run(&format!("build --values --threads {threads} -o m.mlk good bad good bad"))
            .complains(&format!("line 150001 of 'bad' {NO_TAB}"));
    }
    assert_eq!(dir.names(), ["bad", "good"]);
}

#[test]
fn a_map_that_cannot_be_changed_stays_as_it_was() {
    for kind in ["--fixed", ""] {
        let dir = Dir::with("pairs", "a\t1\nb\t2\n");
        dir.run(&format!("build -q --values --value-bits 8 {kind} -o m.mlk pairs")).prints("");
        let (before, names) = (dir.read("m.mlk"), dir.names());
        let refused = |input: &[u8], why: &str| {
            dir.pipe(input, "add m.mlk")
                .complains(&format!("cannot add to 'm.mlk', which is unchanged: {why}"));
            dir.pipe(input, "remove m.mlk")
                .complains(&format!("cannot remove from 'm.mlk', which is unchanged: {why}"));
        };
        refused(b"c\t3\nd\n", &format!("line 2 of standard input {NO_TAB}"));
        for (value, shown) in [
            (&b""[..], ""),
            (b"+5", "+5"),
            (b"-1", "-1"),
            (b"1.5", "1.5"),
            (b"5\r", "5\\r"),
            (b"5 ", "5 "),
            (b"\xff", "\\xff"),
            (b"18446744073709551616", "18446744073709551616"),
            (&[b'7'; 50], &format!("{}...", "7".repeat(40))),
        ] {
            let why = format!("line 1 of standard input has the value '{shown}': {NO_NUMBER}");
            refused(&[b"c\t", value].concat(), &why);
        }
        dir.pipe("c\t3\nd\t300\n", "add m.mlk").complains(
            "cannot add to 'm.mlk', which is unchanged: line 2 of standard input has the value 300, \
             which has more than 8 bits: build a map with --value-bits 9 or more",
        );
        assert!(before == dir.read("m.mlk") && names == dir.names());
    }
}

#[test]
fn options_that_maps_do_not_have() {
    let dir = Dir::with("pairs", "a\t1\n");
    dir.run("build --value-bits 8 -o m.mlk pairs").complains(
        "the following required arguments were not provided: --values (see malkoha --help)",
    );
    for bits in [0, 65] {
        dir.run(&format!("build --values --value-bits {bits} -o m.mlk pairs")).complains(&format!(
            "invalid value '{bits}' for '--value-bits <BITS>': {bits} is not in 1..=64 \
             (see malkoha --help)"
        ));
    }
    dir.run("build --values --layout gap-windows -o m.mlk pairs")
        .complains("the gap-windows layout does not support values: choose the bucketed layout");
    let many: String = (0..1000).map(|n| format!("{n}\t{n}\n")).collect();
    dir.pipe(many, "build --fixed --values --capacity 999 -o m.mlk")
        .complains("the input has 1000 pairs to put in, more than --capacity 999: raise it");
    assert_eq!(dir.names(), ["pairs"]);
}

#[test]
fn get_wants_a_map() {
    let dir = Dir::with("lines", "a\n");
    for kind in ["--fixed", ""] {
        dir.run(&format!("build -q {kind} -o s.mlk lines")).prints("");
        dir.run("get s.mlk lines").complains(
            "'s.mlk' holds a set, in which lines have no values: use 'malkoha check' or 'malkoha \
             count', or build a map with --values",
        );
    }
    dir.run("get none lines").complains("cannot open filter 'none': No such file or directory");
    dir.run("get lines lines").complains(
        "'lines' is not a filter file: 'malkoha build' makes one from its lines, and 'malkoha \
         screen --list' takes the lines as they are",
    );
}
