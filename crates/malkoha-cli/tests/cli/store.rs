//! `malkoha store`: files, sizes, rates, and kills.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use malkoha_store::Store;

use crate::harness::Dir;

#[test]
fn values_are_compressed_if_asked_for() {
    let dir = Dir::new();
    let value = "malkoha, koel, coucal; ".repeat(4000);
    for (store, option) in [("plain", ""), ("packed", "--compress")] {
        dir.pipe(&value, &format!("store put {store} a {option}")).prints("");
        dir.pipe(format!("b\t{value}\n"), &format!("store load {store} {option}")).prints("");
        dir.run(&format!("store get {store} a")).prints(&value);
        dir.run(&format!("store get {store} b")).prints(&value);
    }
    let bytes = |store: &str| {
        let stats = dir.run(&format!("store stats --json {store}")).succeeds().json();
        stats["log_bytes"].as_u64().unwrap()
    };
    assert!(bytes("packed") * 20 < bytes("plain"), "{} {}", bytes("packed"), bytes("plain"));
    dir.write("text", &value);
    dir.run("store import -q --compress files text").succeeds();
    assert!(bytes("files") * 20 < value.len() as u64);
    dir.run("store export files text --into restored").succeeds();
    assert_eq!(dir.read("restored/text"), value.as_bytes());
}

#[test]
fn files_are_restored_byte_for_byte() {
    let text: Vec<u8> = (0..200_000_u32).flat_map(|n| (n * 7919).to_le_bytes()).collect();
    let dir = Dir::with("a", &text).and("b", "");
    let run = dir.run("store import --json s a b").succeeds().json();
    assert_eq!(
        (&run["files"], &run["bytes"], &run["new_bytes"]),
        (&2.into(), &800_000.into(), &800_000.into())
    );
    // The same again, with something in front: nearly all chunks are there.
    dir.write("a", [b"in front", &text[..]].concat());
    let run = dir.run("store import --json s a").succeeds().json();
    assert!(run["new_bytes"].as_u64().unwrap() < 100_000, "{run}");
    dir.run("store export s --into out").prints("");
    assert_eq!(dir.read("out/a"), dir.read("a"));
    assert_eq!(dir.read("out/b"), b"");
    dir.run("store export s b").prints("");
    dir.run("store rm s a").prints("");
    dir.run("store gc s").succeeds();
    dir.run("store export s a")
        .complains("store 's': there is no file 'a' in the store: 'ls' lists those that it has");
    assert_eq!(
        dir.run("store ls s").stdout,
        b"af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262            0 b\n"
    );
    dir.run("store import -q --fixed 1004 --sha256 fixed a").prints("");
    dir.run("store export fixed a").prints(dir.read("a"));
}

#[test]
fn rates_are_measured() {
    let dir = Dir::new();
    let run = dir.run("store bench --keys 2000 --synced 5 --json").succeeds().json();
    assert!(run["put"].as_f64().unwrap() > 0.0 && run["index"].as_f64().unwrap() > 1.0, "{run}");
    for range in ["--keys 5", "--keys 99999999999999", "--value-bytes 1073741825"] {
        assert_eq!(dir.run(&format!("store bench {range}")).code, Some(2), "{range}");
    }
    let run = dir.run("store bench none");
    assert!(run.stderr.contains("cannot make a directory in 'none': No such file"), "{run:?}");
}

/// Kills of each kind; `MALKOHA_KILLS` asks for more of them.
fn kills() -> u32 {
    env::var("MALKOHA_KILLS").map_or(10, |text| text.parse().expect("a number of kills"))
}

/// The process is killed while it puts and overwrites pairs. What it reported as on the device is
/// there, and nothing older, nor anything that was never sent.
#[test]
fn killed_loads_lose_nothing_that_was_told() {
    const KEYS: u32 = 50;
    let dir = Dir::new();
    let (mut sent, mut told) = (0_u32, vec![None::<u32>; KEYS as usize]);
    for round in 0..kills() {
        let mut command = dir.command("store load --echo s");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let begin = sent;
        // More than will be read before it is killed, but no more than a pipe holds.
        for _ in 0..400 {
            let padding = "v".repeat((sent % 100) as usize);
            writeln!(input, "key {}\t{sent} {padding}", sent % KEYS).unwrap();
            sent += 1;
        }
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Some may have been told and not read here; those are on the device all the same.
        for (n, line) in (begin..).zip(lines.take(round as usize * 7 % 61)) {
            assert_eq!(line.unwrap(), format!("key {}", n % KEYS));
            told[(n % KEYS) as usize] = Some(n);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        drop(input);
        let store = Store::open_read_only(dir.path("s"));
        let store = match store {
            Err(_) if told.iter().all(Option::is_none) => continue,
            store => store.unwrap(),
        };
        for (key, told) in (0..KEYS).zip(&mut told) {
            let value = store.get(format!("key {key}").as_bytes()).unwrap();
            let found = value.map(|value| {
                let text = String::from_utf8(value).unwrap();
                let (n, padding) = text.split_once(' ').unwrap();
                let n: u32 = n.parse().unwrap();
                assert!(n % KEYS == key && n < sent && padding.len() == (n % 100) as usize);
                n
            });
            assert!(found >= *told, "key {key}: {found:?} where {told:?} was told");
            // What was found once stays.
            *told = found;
        }
        assert!(store.verify().unwrap().damage.is_empty());
    }
}

/// The process is killed in the middle of an import, repeatedly: what was recorded before is whole,
/// and the store still works.
#[test]
fn killed_imports_leave_a_whole_store() {
    let text: Vec<u8> =
        (0..1_000_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let dir = Dir::with("first", "first\n");
    dir.run("store import -q s first").prints("");
    for round in (0..10).cycle().take(kills() as usize) {
        let mut command = dir.command("store import -q s /dev/stdin");
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&text[..(round + 1) * 390_000]).unwrap();
        // The end of the input never comes, so the import is under way.
        child.kill().unwrap();
        child.wait().unwrap();
        drop(input);
        dir.run("store export s first").prints("first\n");
        dir.run("store verify s").succeeds();
    }
    dir.run("store gc s").succeeds();
    assert_eq!(dir.run("store stats --json s").succeeds().json()["keys"], 2);
}
