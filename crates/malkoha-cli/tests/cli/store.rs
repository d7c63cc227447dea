//! `malkoha store`, on real directories.

use std::io::Write;
use std::process::Stdio;

use crate::harness::Dir;

#[test]
fn keys_come_and_go() {
    let dir = Dir::new();
    dir.run("store put s koel Eudynamys").prints("");
    dir.pipe("a\0b\n", "store put s bytes").prints("");
    dir.run("store get s koel").prints("Eudynamys");
    dir.run("store get s bytes").prints("a\0b\n");
    dir.run("store get s kiwi").finds_nothing();
    dir.run("store scan s").prints("koel\nbytes\n");
    dir.run("store del s koel kiwi").prints("");
    dir.run("store del s koel").finds_nothing();
    dir.run("store compact s").succeeds();
    dir.run("store verify s").succeeds();
    assert_eq!(dir.run("store stats --json s").succeeds().json()["keys"], 1);
    dir.run("store backup s copy").prints("");
    dir.run("store get copy bytes").prints("a\0b\n");
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
        .complains("store 's': the store has no file 'a': 'ls' lists those that it has");
    assert_eq!(
        dir.run("store ls s").stdout,
        b"da39a3ee5e6b4b0d3255bfef95601890afd80709            0 b\n"
    );
    dir.run("store import -q --fixed 1004 --sha256 fixed a").prints("");
    dir.run("store export fixed a").prints(dir.read("a"));
}

#[test]
fn what_is_wrong_is_told() {
    let dir = Dir::with("file", "x");
    dir.run("store get none k")
        .complains("store 'none': 'none' is no store: it holds no log files");
    dir.run("store del none k")
        .complains("store 'none': 'none' is no store: it holds no log files");
    dir.run("store put s k v").prints("");
    let mut bytes = dir.read("s/000000000001.log");
    bytes[80] ^= 1;
    dir.write("s/000000000001.log", bytes);
    dir.run("store get s k").complains(
        "store 's': '000000000001.log' is damaged at byte 64: no record there matches its checksum; \
         restore it, or run repair",
    );
    assert_eq!(dir.run("store verify s").code, Some(2));
    dir.run("store import s missing").complains("cannot open 'missing': No such file or directory");
}

/// The process is killed in the middle of an import, again and again: what was recorded before is
/// whole, and the store goes on.
#[test]
fn killed_imports_leave_a_whole_store() {
    let text: Vec<u8> =
        (0..1_000_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let dir = Dir::with("first", "first\n");
    dir.run("store import -q s first").prints("");
    for round in 0..10 {
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
