//! Any number of threads gives the same bytes, in the order of the input, and the same errors.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::harness::{Dir, Run};

const POPULAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/popular-domains.txt");

/// Lines of all lengths, many blocks of them: every third is not in the list, some are longer than
/// a block and begin with another one, some end with CR, and the last has no terminator.
fn input() -> Vec<u8> {
    let mut text = Vec::new();
    for n in 0..120_000_u32 {
        match n % 40_000 {
            7 => text.extend(vec![b'z'; 700_000 + n as usize / 40_000]),
            8 => text.extend(b"line\r"),
            _ => text.extend(format!("line {}", n % 90_000).bytes()),
        }
        text.push(b'\n');
    }
    text.extend(b"line 3");
    text
}

fn list() -> Vec<u8> {
    let lines = (0..90_000).filter(|n| n % 3 != 0 || n % 9 == 3).map(|n| format!("line {n}\n"));
    let mut text: Vec<u8> = lines.flat_map(String::into_bytes).collect();
    text.extend(vec![b'z'; 700_000]);
    text.extend(b"\nline\r\nline 4\nline 4");
    text
}

#[test]
fn the_same_lines_in_the_same_order() {
    let dir = Dir::with("list", list()).and("input", input()).and("few", "line 1\nx\n");
    for options in ["", "-v", "-c", "-c --json -v", "--line-buffered"] {
        let job = format!("screen {options} --list list few input - {POPULAR} few");
        let one = dir.pipe(input(), &format!("{job} --threads 1")).succeeds();
        assert!(!one.stdout.is_empty());
        for threads in ["--threads 2", "--threads 8", ""] {
            dir.pipe(input(), &format!("{job} {threads}")).prints(&one.stdout);
        }
    }
    let expected = dir.shell("LC_ALL=C grep -a -F -x -f list input");
    dir.run("screen --list list --threads 8 input").prints(expected.stdout);
}

#[test]
fn the_same_filter_files_and_answers() {
    let dir = Dir::with("list", list()).and("input", input());
    for kind in ["--fixed", "--fixed --copies", "", "--layout words"] {
        dir.run(&format!("build -q {kind} -o one.mlk --threads 1 list")).prints("");
        for threads in [2, 8] {
            dir.run(&format!("build -q {kind} -o many.mlk --threads {threads} list")).prints("");
            assert!(dir.read("one.mlk") == dir.read("many.mlk"), "{kind} {threads}");
            for job in ["check", "check -v", "count --min 1"] {
                let one = dir.run(&format!("{job} --threads 1 one.mlk input")).succeeds();
                dir.run(&format!("{job} --threads {threads} one.mlk input")).prints(one.stdout);
            }
        }
    }
}

#[test]
fn keys_of_a_store_on_several_threads() {
    let dir = Dir::with("input", input());
    let pairs: String = (0..5000).map(|n| format!("line {}\tvalue\n", 3 * n)).collect();
    dir.pipe(pairs, "store load s").succeeds();
    let one = dir.run("screen --threads 1 --list s input").succeeds();
    for threads in [2, 8] {
        dir.run(&format!("screen --threads {threads} --list s input")).prints(&one.stdout);
    }
}

/// What lies before a file that cannot be read is printed, and what lies behind it.
#[test]
fn a_file_that_cannot_be_read_is_passed_over() {
    let dir = Dir::with("list", "line 1\nline 2\n").and("input", input());
    for threads in [1, 2, 8] {
        let run = dir.run(&format!("screen --threads {threads} --list list input none input"));
        assert_eq!(run.stderr, "malkoha: cannot open 'none': No such file or directory\n");
        assert_eq!(run.code, Some(2));
        let expected = dir.shell("grep -a -F -x -h -f list input input");
        assert!(run.stdout == expected.stdout, "{threads}");
    }
}

/// The pipe of the input stays open, as that of `tail -f` does.
#[test]
fn the_end_does_not_wait_for_input_when_nobody_reads_on() {
    let dir = Dir::with("list", "a\n");
    let ends = |threads: u32| {
        let job = format!("screen --line-buffered --threads {threads} --list list");
        let mut command = dir.command(&job);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"a\n").unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        stdout.read_line(&mut first).unwrap();
        assert_eq!(first, "a\n");
        drop(stdout);
        stdin.write_all(b"a\n").unwrap();
        for _ in 0..1_000 {
            if let Some(status) = child.try_wait().unwrap() {
                assert_eq!(status.code(), Some(0));
                return true;
            }
            thread::sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        false
    };
    for threads in [1, 2, 8] {
        // A program that another test starts has the pipe, too, until it is loaded.
        assert!((0..3).any(|_| ends(threads)), "{threads} threads wait");
    }
}

/// Where the system refuses threads, here since no memory is as large as their stacks, one does it
/// all.
#[test]
fn threads_that_are_refused_are_done_without() {
    // So many that every step of the work would have several threads.
    let list: String = (0..600_000).map(|n| format!("{n}.\n")).collect();
    let dir = Dir::with("list", list).and("input", input());
    dir.run("build -q --fpr 1e-8 -o one.mlk --threads 1 list").prints("");
    let jobs = ["build -q --fpr 1e-8 -o refused.mlk list", "screen -v --list list input"];
    for job in jobs {
        let one = dir.run(&format!("{job} --threads 1")).succeeds();
        let mut refused = dir.command(&format!("{job} --threads 8"));
        let output = refused.env("RUST_MIN_STACK", (1_u64 << 60).to_string()).output().unwrap();
        Run::from(output).prints(one.stdout);
    }
    assert!(dir.read("one.mlk") == dir.read("refused.mlk"));
}

#[test]
fn a_number_of_threads_that_is_none_is_an_error() {
    let dir = Dir::with("list", "a\n");
    for (threads, what) in [("0", "0 is not in 1..=1024"), ("1025", "1025 is not in 1..=1024")] {
        dir.run(&format!("screen --list list list --threads {threads}")).complains(&format!(
            "invalid value '{threads}' for '--threads <N>': {what} (see malkoha --help)"
        ));
    }
}
