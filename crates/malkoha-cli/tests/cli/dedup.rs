//! `malkoha dedup`.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::Dir;

/// Made documents in three files, of more than a block each: a third are earlier ones, perhaps
/// with other words, and paragraphs are repeated.
fn data_set() -> Dir {
    let mut state = 1_u64;
    let mut random = |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let dir = Dir::new();
    fs::create_dir_all(dir.path("raw/sub")).unwrap();
    let mut texts: Vec<Vec<String>> = Vec::new();
    for file in ["raw/a.jsonl", "raw/b.jsonl", "raw/sub/c.jsonl"] {
        let mut lines = String::new();
        for id in 0..1500 {
            let text = if !texts.is_empty() && random(3) == 0 {
                let mut text = texts[usize::try_from(random(texts.len() as u64)).unwrap()].clone();
                for _ in 0..random(6) {
                    let at = usize::try_from(random(text.len() as u64)).unwrap();
                    text[at] = format!("v{}", random(9_000));
                }
                text
            } else {
                (0..40 + random(60)).map(|_| format!("v{}", random(9_000))).collect()
            };
            let joined: Vec<String> = text.chunks(17).map(|chunk| chunk.join(" ")).collect();
            let record = json!({ "id": id, "text": joined.join("\n"), "tail": [1, "x"] });
            lines += &format!("{record}\n");
            texts.push(text);
        }
        dir.write(file, lines);
    }
    dir
}

const JOURNAL: &str = ".malkoha-dedup";

const FILES: [&str; 3] = ["a.jsonl", "b.jsonl", "sub/c.jsonl"];

/// The files below a directory except the journal, and their content.
fn outputs(dir: &Dir, output: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in [output.to_owned(), format!("{output}/sub")] {
        for entry in fs::read_dir(dir.path(&folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name != "sub" && name != JOURNAL {
                let path = format!("{folder}/{name}");
                files.push((path[output.len()..].to_owned(), dir.read(&path)));
            }
        }
    }
    files.sort();
    files
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const METHODS: [&str; 4] = ["", "--words", "--near 0.8 --rate 0.01", "--paragraphs"];

/// The same files and report for any number of threads, and in several runs: those that are
/// returned.
pub(crate) fn agrees(dir: &Dir, dedup: &str, files: &[&str]) -> Vec<(String, Vec<u8>)> {
    dir.run(&format!("{dedup} -o one --report one.report --threads 1 raw")).succeeds();
    let (expected, report) = (outputs(dir, "one"), dir.read("one.report"));
    assert_eq!(expected.len(), files.len());
    for threads in [2, 7] {
        for output in ["-o more", "--dry-run"] {
            let run = format!("{output} --report more.report --force --threads {threads} raw");
            dir.run(&format!("{dedup} {run}")).succeeds();
            assert!(dir.read("more.report") == report, "{dedup} {run}");
        }
        assert!(outputs(dir, "more") == expected, "{dedup}: {threads} threads");
    }
    for file in files {
        let output = if file.starts_with("sub") { "runs/sub" } else { "runs" };
        let run = format!("{dedup} --seen seen -o {output} --report raw/{file}.report raw/{file}");
        let run = dir.run(&run);
        assert!(run.code.is_some_and(|code| code < 2), "{run:?}");
    }
    assert!(outputs(dir, "runs") == expected, "{dedup}: one run for each file");
    let reports = files.iter().flat_map(|file| dir.read(&format!("raw/{file}.report")));
    assert!(reports.eq(report), "{dedup}: reports of several runs");
    expected
}

#[test]
fn threads_pipes_and_runs_give_the_same_files() {
    for method in METHODS {
        let (dir, dedup) = (data_set(), format!("dedup --field text {method}"));
        let all: Vec<u8> = FILES.iter().flat_map(|file| dir.read(&format!("raw/{file}"))).collect();
        let piped = dir.pipe(&all, &format!("{dedup} --report pipe.report")).succeeds().stdout;
        let expected = agrees(&dir, &dedup, &FILES).into_iter().flat_map(|(_, bytes)| bytes);
        assert!(expected.eq(piped), "{method}: a pipe");
    }
}

/// Killed again and again, each time `step` milliseconds later, a run still gives the files and the
/// report of one that was not.
pub(crate) fn goes_on(dir: &Dir, dedup: &str, step: usize) {
    dir.run(&format!("{dedup} --seen whole.seen --report whole.report -o whole raw")).succeeds();
    let mut kills = 0;
    for milliseconds in (0..).step_by(step) {
        let resume = if milliseconds == 0 { "" } else { "--resume" };
        let job = format!("{dedup} --seen kill.seen --report kill.report {resume} -o kill raw");
        let mut command = dir.command(&job);
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
    assert!(kills > 1, "{kills} kills");
    // And no file besides.
    assert!(outputs(dir, "kill") == outputs(dir, "whole"), "{dedup}");
    assert!(dir.read("kill.report") == dir.read("whole.report"), "{dedup}");
    assert!(dir.read("kill.seen") == dir.read("whole.seen"), "{dedup}");
}

#[test]
fn a_killed_run_goes_on() {
    for method in METHODS {
        goes_on(&data_set(), &format!("dedup --field text {method}"), 2);
    }
}

#[test]
fn the_report_says_why_and_of_which() {
    let docs = [
        r#"{"t":"one line\nand another"}"#,
        r#"{"t":"another text"}"#,
        "",
        r#"{"t":"one line\nand another"}"#,
        r#"{"u":1}"#,
        r#"{"t":"one line\n\nnew words, more of them","u":"é"}"#,
    ];
    let dir = Dir::with("d.jsonl", docs.join("\n"));
    dir.run("dedup --field t --bad keep --report r -o o d.jsonl").succeeds();
    let expected = [docs[0], docs[1], docs[4], docs[5], ""].join("\n");
    assert_eq!(String::from_utf8(dir.read("o/d.jsonl")).unwrap(), expected);
    let of = json!({ "file": "d.jsonl", "line": 1 });
    let bad = "lacks the field of the text";
    let same = [
        json!({ "file": "d.jsonl", "line": 4, "why": "same", "of": of }),
        json!({ "file": "d.jsonl", "line": 5, "why": "bad", "bad": bad }),
    ];
    assert_eq!(lines(&dir.read("r")), same);
    let run =
        "dedup --field t --bad drop --paragraphs --min-left 5 --report r2 -o p d.jsonl --json";
    let totals = lines(&dir.run(run).succeeds().stdout);
    let expected = [docs[0], docs[1], r#"{"t":"new words, more of them","u":"é"}"#, ""].join("\n");
    assert_eq!(String::from_utf8(dir.read("p/d.jsonl")).unwrap(), expected);
    let cut = [
        json!({
            "file": "d.jsonl", "line": 4, "why": "paragraphs", "paragraphs": 2, "left": 0, "of": of
        }),
        json!({ "file": "d.jsonl", "line": 5, "why": "bad", "bad": bad }),
        json!({ "file": "d.jsonl", "line": 6, "why": "cut", "paragraphs": 1 }),
    ];
    assert_eq!(lines(&dir.read("r2")), cut);
    for (name, count) in [
        ("documents", 5),
        ("kept", 3),
        ("emptied", 1),
        ("cut", 1),
        ("paragraphs", 1),
        ("bad", 1),
        ("bad_dropped", 1),
        ("same", 0),
        ("near", 0),
    ] {
        assert_eq!(totals[0][name], count, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_report_goes_through_a_pipe() {
    let dir = Dir::with("d.jsonl", "{\"t\":\"x\"}\n{\"t\":\"x\"}\n");
    let dedup = "malkoha dedup -q --field t -o o --report pipe d.jsonl";
    dir.shell(&format!("mkfifo pipe; cat pipe > r & {dedup} && wait")).succeeds();
    assert_eq!(lines(&dir.read("r")).len(), 1);
    assert_eq!(dir.read("o/d.jsonl"), b"{\"t\":\"x\"}\n");
}

/// 0 if a record stays, with or without a text.
#[test]
fn exit_codes_say_whether_something_stays() {
    let dir = Dir::with("bad.jsonl", "[]\n").and("blank.jsonl", "\n");
    for (arguments, code) in [("keep bad", 0), ("drop bad", 1), ("keep blank", 1)] {
        assert_eq!(dir.run(&format!("dedup --field t --bad {arguments}.jsonl")).code, Some(code));
    }
}

/// The command fails with a last line that has this part.
#[track_caller]
fn refuses(dir: &Dir, arguments: &str, part: &str) {
    let run = dir.run(&format!("dedup {arguments}"));
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.lines().last().unwrap().contains(part), "{run:?}");
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_is_written() {
    let dir = Dir::with("a.jsonl", "{\"t\":\"x\"}\n[]\n").and("b.txt", "").and("none", "{}");
    fs::create_dir_all(dir.path("d/o")).unwrap();
    dir.write("d/a.jsonl", "{\"t\":\"x\"}");
    dir.write("d/README.md", "no shard");
    refuses(&dir, "--field t -o o a.jsonl", "line 2 of 'a.jsonl' is no JSON object (invalid type");
    refuses(&dir, "--field t none", "lacks the field 't'; it has none: '{}'");
    let lacks = "line 1 of 'd/a.jsonl' lacks the field 'u'; its fields: t: '{";
    refuses(&dir, "--field u d/a.jsonl", lacks);
    assert!(!dir.path("o/a.jsonl").exists());
    for (arguments, complaint) in [
        ("--field t missing.jsonl", "cannot read 'missing.jsonl': there is no such file"),
        ("--field t -o d/o d", "'d/o' lies in 'd', which is read"),
        ("--field t -o . a.jsonl", "'a.jsonl' is both input and output"),
        ("--field t -o o a.jsonl d/a.jsonl", "would both become 'o/a.jsonl'"),
        ("--field t -o o", "standard input has no name for a file"),
        ("--field t --near 2 a.jsonl", "the similarity is 2: choose one between 0.3 and 0.99"),
        ("--field t --near 0.8 --rate 3 a.jsonl", "choose one between 1e-6 and 0.1"),
        ("--field t --near 0.8 --bands 9 a.jsonl", "write it as 16x8"),
        ("--field t --near 0.8 --shingle 0 a.jsonl", "write 1 to 1000"),
        ("--field t --seen b.txt a.jsonl", "cannot read 'b.txt'"),
        ("--field t --report d/a.jsonl --force d", "'d/a.jsonl' is also a file of documents"),
        ("--field t --seen d/a.jsonl d", "'d/a.jsonl' is also a file of documents"),
        ("--field t --seen no/s d", "name a file in a directory that exists"),
        ("--field t --report - d", "a report goes to a file"),
        ("a.jsonl", "--field"),
    ] {
        refuses(&dir, arguments, complaint);
    }
    let run = dir.run("dedup --field t -o o d").succeeds();
    assert!(run.stderr.contains("1 file left out"), "{}", run.stderr);
    refuses(&dir, "--field t -o o d", "'o/a.jsonl' exists");
    assert_eq!(fs::read_dir(dir.path("o")).unwrap().count(), 2, "no trace of the refused run");
    dir.run("dedup --field t -o o --force d").succeeds();
    // A state of another method, or without numbers.
    dir.run("dedup --field t --seen s --bad drop a.jsonl").succeeds();
    refuses(&dir, "--field t --words --seen s d", "made with another method");
    refuses(&dir, "--field t --seen s --report r d", "has no numbers of documents");
}

/// What a build cannot read is refused before the files ahead of it are written.
#[test]
#[cfg(not(feature = "parquet"))]
fn a_build_without_parquet_writes_nothing() {
    let dir = Dir::with("a.jsonl", "{\"t\":\"x\"}").and("b.parquet", "");
    let lacks = "cannot read 'b.parquet': this malkoha was built without Parquet";
    refuses(&dir, "--field t -o o a.jsonl b.parquet", lacks);
    let run = dir.run("overlap --field t --against b.parquet -o o a.jsonl");
    assert!(run.code == Some(2) && run.stderr.contains(lacks), "{run:?}");
    assert!(!dir.path("o").exists());
}

/// A second run does not write to the directory or the state of one that is not over.
#[test]
fn two_runs_do_not_share_files() {
    let dir = Dir::with("a.jsonl", "{\"t\":\"x\"}\n");
    let mut command = dir.command("dedup --field t --seen s -");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut first = command.spawn().unwrap();
    while !dir.path("s-lock").exists() {
        assert!(first.try_wait().unwrap().is_none(), "it waits for its input");
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(50));
    refuses(&dir, "--field t --seen s a.jsonl", "another run writes to 's'");
    drop(first.stdin.take());
    first.wait().unwrap();
    dir.run("dedup --field t --seen s a.jsonl").succeeds();
    assert_eq!(dir.names(), ["a.jsonl", "s"]);
}

/// The file names behind a state are checked, too.
#[test]
fn damaged_states_are_refused() {
    let dir = Dir::with("a.jsonl", "{\"t\":\"x\"}\n");
    dir.run("dedup --field t --seen s --report r a.jsonl").succeeds();
    let whole = dir.read("s");
    let names = b"[[0,\"a.jsonl\"]]";
    assert!(whole.ends_with(names));
    for at in (0..whole.len()).step_by(whole.len() / 60).chain(whole.len() - 24..whole.len()) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        dir.write("s", damaged);
        refuses(&dir, "--field t --seen s --report r2 a.jsonl", "cannot read 's'");
        dir.write("s", &whole[..at]);
        refuses(&dir, "--field t --seen s --report r2 a.jsonl", "cannot read 's'");
    }
}

/// Files of all compressions, some of them empty, keep their names and forms.
#[test]
fn compressed_files_stay_compressed() {
    let dir = data_set();
    dir.run("dedup --field text -o plain raw").succeeds();
    dir.write("raw/empty.jsonl", "");
    for (program, ending) in [("gzip", "gz"), ("zstd", "zst"), ("xz", "xz")] {
        let packed = format!("packed-{ending}");
        fs::create_dir_all(dir.path(&packed)).unwrap();
        for name in ["a.jsonl", "b.jsonl", "empty.jsonl"] {
            let out = fs::File::create(dir.path(&format!("{packed}/{name}.{ending}"))).unwrap();
            let run = std::process::Command::new(program)
                .args(["-1", "-c"])
                .arg(dir.path(&format!("raw/{name}")))
                .stdout(out)
                .status();
            if run.is_err() {
                eprintln!("skipped: {program} is not installed");
                return;
            }
        }
        dir.run(&format!("dedup --field text -o {packed}-clean {packed}")).succeeds();
        for name in ["a.jsonl", "b.jsonl", "empty.jsonl"] {
            let path = dir.path(&format!("{packed}-clean/{name}.{ending}"));
            let mut command = std::process::Command::new(program);
            let back = command.arg("-dc").arg(path).output().unwrap();
            assert!(back.status.success(), "{program}");
            let expected =
                if name == "empty.jsonl" { Vec::new() } else { dir.read(&format!("plain/{name}")) };
            assert!(back.stdout == expected, "{program} {name}");
        }
    }
}
