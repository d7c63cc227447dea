//! Errors are one line, with exit code 2 and without output.

use crate::harness::Dir;

#[test]
fn files_that_are_not_there() {
    let dir = Dir::with("a", "x\n");
    dir.run("screen --list none a").complains("cannot open list 'none': No such file or directory");
    dir.run("screen --list a none").complains("cannot open 'none': No such file or directory");
    dir.run("check none a").complains("cannot open filter 'none': No such file or directory");
    dir.run("add none a").complains("cannot open filter 'none': No such file or directory");
    dir.run("check - a").complains(
        "cannot open filter standard input: '-' is for lines: name the file of the filter",
    );
    dir.run("info none").complains("cannot open filter 'none': No such file or directory");
    dir.run("uniq a/b").complains("cannot open 'a/b': Not a directory");
    dir.run("build -o no/f.mlk a").complains("cannot write 'no/f.mlk': No such file or directory");
}

#[test]
fn directories_instead_of_files() {
    let dir = Dir::with("a", "x\n");
    dir.run("uniq .").complains("cannot read '.': it is a directory, and lines come from files");
    dir.run("screen --list . a").complains("cannot open list '.': it is a directory");
    dir.run("build -o . a").complains("cannot write '.': it is a directory");
}

#[test]
fn files_that_are_no_filters() {
    let text = "just some lines\n".repeat(100);
    let dir = Dir::with("text", text).and("empty", "").and("short", "x");
    for file in ["text", "short"] {
        for command in ["info", "verify", "check", "count", "add", "remove"] {
            let run = dir.run(&format!("{command} {file}"));
            assert_eq!(run.code, Some(2));
            assert!(
                run.stderr.starts_with(&format!("malkoha: '{file}' is not a filter file: ")),
                "{}",
                run.stderr
            );
            assert_eq!(run.stderr.lines().count(), 1);
        }
    }
    assert_eq!(dir.run("check empty").code, Some(2));
}

#[test]
fn a_version_of_the_future() {
    let dir = Dir::with("lines", "a\n");
    dir.run("build -q -o f.mlk lines").prints("");
    let mut bytes = dir.read("f.mlk");
    bytes[8] = 9;
    dir.write("f.mlk", bytes);
    dir.run("check f.mlk lines").complains(
        "cannot open filter 'f.mlk': format version 9 is not supported, only version 1: \
         use a newer malkoha",
    );
}

/// Each of these, without the option, says what it did.
#[test]
fn all_commands_can_be_quiet() {
    let dir = Dir::with("a", "x\n").and("b", "y\n");
    for command in [
        "build -o f.mlk a",
        "add f.mlk b",
        "remove f.mlk b",
        "union -o g.mlk f.mlk f.mlk",
        "index a",
        "store import s a",
        "store gc s",
        "store compact s",
        "store verify s",
        "store repair s",
    ] {
        let runs =
            [String::new(), " -q".to_owned()].map(|option| dir.run(&format!("{command}{option}")));
        assert!(!runs[0].stderr.is_empty(), "{command}");
        assert!(runs[1].stderr.is_empty(), "{command}: {}", runs[1].stderr);
    }
    dir.pipe("k\tv\n", "store load -q s").prints("");
    dir.run("-q new n.mlk a").prints("x\n");
}

#[test]
fn options_that_do_not_exist_or_do_not_fit() {
    let dir = Dir::with("a", "x\n");
    dir.run("screen --lits a").complains(
        "unexpected argument '--lits' found; tip: a similar argument exists: '--list' \
         (see malkoha --help)",
    );
    dir.run("screen a").complains(
        "the following required arguments were not provided: --list <LIST> (see malkoha --help)",
    );
    dir.run("plan --keys many").complains(
        "invalid value 'many' for '--keys <N>': write it as 10000000, 10_000_000, 10M or 1e7 \
         (see malkoha --help)",
    );
    for command in [
        "nothing",
        "check --json f a",
        "screen --fpr 0.1 --list a a",
        "build -o f --fpr 0.1 --fingerprint-bits 8 a",
        "build -o f --seed 1 --random-seed a",
        "build -o f --like g --random-seed a",
        "build -o f --growable --layout bucketed a",
        "build -o f --fixed --growth 10 a",
        "build -o f --fpr x a",
        "add --unique f a",
        "uniq -c -d a",
        "uniq -c --approximate a",
        "uniq --fpr 0.1 a",
        "completions tcl",
    ] {
        let run = dir.run(command);
        assert_eq!((run.code, run.stdout.len()), (Some(2), 0), "{command}");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
}

#[test]
fn values_out_of_range() {
    let dir = Dir::with("a", "x\ny\n");
    let range = "false-positive rate 2 is out of range: ask for one above 0 and below 1";
    dir.run("build -o f --fpr 2 a").complains(range);
    dir.run("plan --keys 10 --fpr 2").complains(range);
    dir.run("uniq --approximate --fpr 2 a").complains(range);
    dir.run("build -o f --fingerprint-bits 99 a")
        .complains("fingerprints of 99 bits are not supported: choose 4 to 32");
    dir.run("build -o f --growth 0 a")
        .complains("growth by a factor of 0 is out of range: ask for 1 to 1000000000");
    dir.run("build -o f --capacity 1M --growth 1e9 a")
        .complains("growth by a factor of 1000000000 is out of range: ask for 1 to 56808100");
    dir.run("build -o f --bucket-size 3 a")
        .complains("buckets of 3 slots are not supported: choose 1, 2, 4 or 8");
    dir.run("build -o f --fixed --capacity 1 a")
        .complains("the input has 2 lines to put in, more than --capacity 1: raise it");
    assert_eq!(dir.names(), ["a"]);
}

/// The limit stands for a machine with less memory.
#[cfg(target_os = "linux")]
#[test]
fn a_table_that_no_memory_holds() {
    let dir = Dir::with("a", "x\n");
    for kind in ["--fixed", ""] {
        let build = format!("$MALKOHA build {kind} --capacity 60G -o f a");
        let run = dir.shell(&format!("ulimit -v 4000000 && {build}"));
        assert_eq!((run.code, run.stdout.len()), (Some(2), 0), "{run:?}");
        let remedy = "bytes does not fit in memory: ask for fewer keys or a higher fpr\n";
        assert!(run.stderr.starts_with("malkoha: a table of "), "{}", run.stderr);
        assert!(run.stderr.ends_with(remedy) && run.stderr.lines().count() == 1, "{}", run.stderr);
    }
    assert_eq!(dir.names(), ["a"]);
}

#[test]
fn two_uses_of_one_stream() {
    let dir = Dir::with("a", "x\n");
    dir.pipe("x\n", "screen --list -")
        .complains("list and input are both standard input: name a file for one of them");
    dir.run("build -o - --json a")
        .complains("--json and the filter cannot both go to standard output: name an output file");
}

/// Whole lines of such files equal nothing in a list of names, which the user has to be told.
#[test]
fn reads_that_are_compared_line_by_line() {
    let told = |option: &str, format: &str| {
        format!(
            "malkoha: 'reads' seems to be {format}, and is compared line by line: {option} compares \
             the names of its records\n"
        )
    };
    let dir = Dir::with("reads", "@r1 x\nACGT\n+\nIIII\n@r2\nAC\n+\nII\n").and("names", "r2\nr1\n");
    let run = dir.run("screen -k 1 -t blank -f names reads");
    assert_eq!((run.stderr, run.code), (told("--fastq", "FASTQ"), Some(1)));
    dir.run("screen --fastq -c -f names reads").prints("2\n");
    dir.write("reads", ">r1 x\nACGTACGTACGT\n>r2\nACGTTGCAACGTAAA\n");
    let run = dir.run("screen -k 1 -t blank -f names reads");
    assert_eq!((run.stderr, run.code), (told("--fasta", "FASTA"), Some(1)));
    dir.write("reads", "@someone\n> quoted\n+1\nI agree with it\n");
    dir.run("screen -f names reads").finds_nothing();
}
