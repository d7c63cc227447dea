//! Any lines: what went in is found, and exact screening is exact.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::harness::Dir;

/// Lines over few letters, so that many are equal.
fn lines() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(prop_oneof![vec(0_u8..4, 0..4), vec(any::<u8>(), 0..40)], 0..300)
        .prop_map(|lines| lines.into_iter().map(without_newlines).collect())
}

fn without_newlines(mut line: Vec<u8>) -> Vec<u8> {
    line.retain(|&byte| byte != b'\n');
    line
}

fn joined<'a>(lines: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    lines.into_iter().flat_map(|line| line.iter().chain(b"\n")).copied().collect()
}

proptest! {
    // Each case starts several processes.
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_line_that_was_built_in_is_found(lines in lines(), bits in 6_u32..=32) {
        let text = joined(&lines);
        let dir = Dir::with("lines", &text);
        dir.run(&format!("build -q --fingerprint-bits {bits} -o f.mlk lines")).prints("");
        let found = dir.run("check f.mlk lines");
        prop_assert_eq!(found.code, Some(i32::from(lines.is_empty())));
        prop_assert!(found.stdout == text);
    }

    #[test]
    fn screening_is_exact(list in lines(), input in lines()) {
        let dir = Dir::with("list", joined(&list)).and("input", joined(&input));
        let set: HashSet<_> = list.iter().collect();
        let (inside, outside): (Vec<_>, Vec<_>) = input.iter().partition(|line| set.contains(line));
        prop_assert!(dir.run("screen --list list input").stdout == joined(inside));
        prop_assert!(dir.run("screen -v --list list input").stdout == joined(outside));
    }

    #[test]
    fn first_occurrences_are_those_of_a_hash_set(lines in lines()) {
        let dir = Dir::with("lines", joined(&lines));
        let mut seen = HashSet::new();
        let (first, repeated): (Vec<_>, Vec<_>) = lines.iter().partition(|&line| seen.insert(line));
        prop_assert!(dir.run("uniq --capacity 20 lines").stdout == joined(first));
        prop_assert!(dir.run("uniq --capacity 20 --repeated lines").stdout == joined(repeated));
    }
}
