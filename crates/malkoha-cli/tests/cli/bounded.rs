//! Memory that does not follow the number of lines.

use crate::harness::Dir;

/// The hashes of this many lines, in a vector that doubles, would take all of it.
#[cfg(target_os = "linux")]
#[test]
fn building_and_adding_are_bounded_by_the_filter() {
    let dir = Dir::new();
    let build = "malkoha build -q --json --threads 2 -o f.mlk";
    for options in ["--fixed", "--copies --capacity 10"] {
        // Bytes that it may write to, in KiB; stacks of threads among them.
        let run = dir.shell(&format!("ulimit -d 34000; seq 1 2200000 | {build} {options}"));
        assert_eq!(run.succeeds().json()["lines"], 2_200_000, "{options}");
        dir.shell("seq 1 2200 2199999 | malkoha check -c f.mlk").prints("1000\n");
    }
    // And so is adding to one.
    dir.run("build -q --capacity 2200000 -o e.mlk /dev/null").prints("");
    let add = "malkoha add -q --json --threads 2 e.mlk";
    let run = dir.shell(&format!("ulimit -d 34000; seq 1 2200000 | {add}"));
    assert_eq!(run.succeeds().json()["lines"], 2_200_000);
    dir.shell("seq 1 2200 2199999 | malkoha check -c e.mlk").prints("1000\n");
}

/// Whether they were in one run or in two.
#[test]
fn lines_of_several_runs_are_in_once() {
    let dir = Dir::new();
    // Each line twice, far apart; and values.
    dir.shell("seq 1 1300000 > lines; cat lines >> lines.2; cat lines >> lines.2").prints("");
    dir.shell("awk '{ print $1 \"\\t\" NR % 1000 }' lines > pairs").prints("");
    dir.run("build -q --threads 1 -o one.mlk lines").prints("");
    dir.run("build -q --threads 3 -o two.mlk lines.2").prints("");
    for file in ["one.mlk", "two.mlk"] {
        let info = dir.run(&format!("info --json {file}")).succeeds().json();
        assert_eq!(info["keys"], 1_300_000, "{file}");
        dir.run(&format!("check -c {file} lines")).prints("1300000\n");
    }
    dir.shell("cat lines.2 - <<< $'5\\n5' | malkoha build -q --copies -o all.mlk").prints("");
    assert_eq!(dir.run("info --json all.mlk").json()["keys"], 2_600_002);
    dir.run("build -q --values -o map.mlk pairs").prints("");
    dir.shell("head -1250000 lines | tail -1 | malkoha get map.mlk").prints("1250000\t0\n");
}
