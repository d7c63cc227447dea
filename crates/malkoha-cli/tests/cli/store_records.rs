//! `malkoha store`: JSON records, keys of any bytes, and directories that are no stores.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use malkoha_store::{Durability, Options, Store};
use serde_json::json;

use crate::harness::{Dir, Run};

/// Runs a command with a last argument of any bytes.
fn run_with(dir: &Dir, arguments: &str, last: &[u8]) -> Run {
    dir.command(arguments).arg(OsStr::from_bytes(last)).output().unwrap().into()
}

#[test]
fn every_command_prints_a_record() {
    let dir = Dir::with("file", "x");
    for (command, code, record) in [
        ("put --json s koel Eudynamys", 0, json!({ "key": "koel", "value_bytes": 9, "put": true })),
        (
            "get --json s koel",
            0,
            json!({ "key": "koel", "found": true, "value": "Eudynamys", "value_bytes": 9 }),
        ),
        ("get --json s kiwi", 1, json!({ "key": "kiwi", "found": false })),
        ("load --json s", 1, json!({ "pairs": 0 })),
        ("scan --json s", 0, json!({ "key": "koel", "value_bytes": 9 })),
        (
            "scan --json --values --hex s",
            0,
            json!({
                "key_hex": "6b6f656c", "value_hex": "457564796e616d7973", "value_bytes": 9,
            }),
        ),
        ("del --json s koel kiwi", 0, json!({ "asked": 2, "removed": 1 })),
        ("del --json s koel", 1, json!({ "asked": 1, "removed": 0 })),
        (
            "repair --json s",
            0,
            json!({ "keys": 0, "skipped": [], "lost_keys": [], "set_aside": [] }),
        ),
        (
            "import --json s file",
            0,
            json!({
                "files": 1, "directories": 0, "links": 0, "bytes": 1, "chunks": 1,
                "new_bytes": 1, "skipped": 0, "failed": 0,
            }),
        ),
        (
            "export --json s --into out",
            0,
            json!({ "files": 1, "directories": 0, "links": 0, "bytes": 1 }),
        ),
        ("rm --json s none", 1, json!({ "removed": 0 })),
        ("rm --json s file", 0, json!({ "removed": 1 })),
        ("gc --json s", 0, json!({ "chunks": 1, "bytes": 1 })),
        (
            "verify --json s",
            0,
            json!({
                "records": 0, "live": 0, "unfinished": null, "unfinished_files": [], "damage": [],
                "lost": 0, "lost_keys": [],
            }),
        ),
        ("compact --json s", 0, json!({ "log_bytes_before": 0, "log_bytes": 0 })),
        ("backup --json s copy", 0, json!({ "keys": 0, "files": 0, "log_bytes": 0 })),
    ] {
        let run = dir.run(&format!("store {command}"));
        assert_eq!((run.json(), run.code, &*run.stderr), (record, Some(code), ""), "{command}");
    }
}

#[test]
fn damage_is_listed_in_the_record() {
    let dir = Dir::new();
    dir.run("store put s k v").prints("");
    dir.run("store put s other v").prints("");
    let mut log = dir.read("s/000000000001.log");
    // The value: the key can be read still.
    log[81] ^= 1;
    dir.write("s/000000000001.log", log);
    dir.run("store get s k").complains(
        "store 's': '000000000001.log' is damaged at byte 64: no record there matches its checksum; \
         restore it, or run repair",
    );
    let run = dir.run("store verify --json s");
    let damage = json!({
        "file": "000000000001.log", "offset": 64, "what": "no record there matches its checksum",
    });
    assert_eq!(run.json()["damage"][0], damage);
    assert_eq!(run.json()["live"], 1);
    let text = dir.run("store verify s");
    assert_eq!(
        (&run.json()["lost"], &run.json()["lost_keys"]),
        (&1.into(), &json!([{ "key": "k" }]))
    );
    assert_eq!((run.code, format!("gone: k\n{}", run.stderr)), (Some(2), text.stderr));
    // A scan continues behind it.
    let scan = dir.run("store scan s");
    assert_eq!((scan.code, &scan.stdout[..]), (Some(2), &b"other\n"[..]));
    assert!(scan.stderr.contains("1 places could not be read"), "{}", scan.stderr);
    assert!(scan.stderr.contains("\ngone: k\n"), "{}", scan.stderr);
    let prefix = dir.run("store scan s --prefix o");
    assert_eq!((prefix.code, &prefix.stdout[..]), (Some(2), &b"other\n"[..]));
    assert_eq!(prefix.stderr, scan.stderr);
    assert!(run.stderr.contains("is damaged at byte 64"), "{}", run.stderr);
    // A store that cannot be opened can be read too.
    let mut checkpoint = dir.read("s/CHECKPOINT");
    checkpoint[70] ^= 1;
    dir.write("s/CHECKPOINT", checkpoint);
    let refused = dir.run("store get s other");
    assert_eq!((refused.code, refused.stderr), (Some(2), run.stderr.clone()));
    let record = run.json();
    let run = dir.run("store verify --json s");
    for field in ["records", "live", "lost", "lost_keys"] {
        assert_eq!(run.json()[field], record[field], "{field}");
    }
    assert_eq!((run.code, &run.json()["damage"][0]), (Some(2), &damage));
    let scan_again = dir.run("store scan s");
    assert_eq!((scan_again.stdout, scan_again.stderr), (scan.stdout, scan.stderr));
    let repair = dir.run("store repair --json s").succeeds().json();
    assert_eq!((&repair["keys"], &repair["skipped"][0]), (&json!(1), &damage));
    assert_eq!(repair["set_aside"], json!(["000000000001.log.damaged"]));
    assert_eq!(repair["lost_keys"], json!([{ "key": "k" }]));
}

/// A key of a table is not taken for one of the store itself.
#[test]
fn a_lost_key_is_named_with_its_table() {
    let dir = Dir::new();
    dir.run("store put s koel v").prints("");
    dir.run("store put --table birds s koel value").prints("");
    let mut log = dir.read("s/000000000001.log");
    let at = log.windows(5).rposition(|bytes| bytes == b"value").unwrap();
    log[at] ^= 1;
    dir.write("s/000000000001.log", log);
    let run = dir.run("store verify --json s");
    let lost = json!([{ "table": "birds", "key": "koel" }]);
    assert_eq!((run.code, &run.json()["lost_keys"]), (Some(2), &lost));
    assert!(dir.run("store verify s").stderr.starts_with("gone: koel, of table 'birds'\n"));
    assert_eq!(dir.run("store repair --json s").succeeds().json()["lost_keys"], lost);
    dir.run("store get s koel").prints("v");
}

/// The first command that writes after a crash reports what it removes: the end of the log, and all
/// later files.
#[test]
fn what_a_crash_left_is_told() {
    let dir = Dir::new();
    let options = Options::new().durability(Durability::System).file_bytes(1 << 14);
    let store = Store::open(dir.path("s"), &options.background(false)).unwrap();
    for n in 0..300 {
        store.put(format!("key {n}").as_bytes(), &[1; 50]).unwrap();
    }
    let names: Vec<_> = (1..=2).map(|n| format!("s/{n:012}.log")).collect();
    let mut logs: Vec<_> = names.iter().map(|name| dir.read(name)).collect();
    drop(store);
    logs[0][8000..9000].fill(0);
    for (name, log) in names.iter().zip(logs) {
        dir.write(name, log);
    }
    fs::remove_file(dir.path("s/CHECKPOINT")).unwrap();
    let run = dir.run("store verify --json s");
    let unfinished = &run.json()["unfinished"];
    assert_eq!(unfinished["file"], "000000000001.log", "{run:?}");
    let (offset, cut) = (&unfinished["offset"], &unfinished["bytes"]);
    let found = &run.json()["unfinished_files"][0];
    assert_eq!(found["file"], "000000000002.log", "{run:?}");
    let bytes = &found["bytes"];
    let run = dir.run("store verify s").succeeds();
    assert!(run.stderr.ends_with(&format!(
        "'000000000002.log', {bytes} bytes, lies behind the end of the log, of writes that are \
         under way, or that a crash left unfinished\n"
    )));
    dir.write("s/CHECKPOINT", "damaged");
    let run = dir.run("store put s other v").succeeds();
    let (checkpoint, log) = run.stderr.split_once('\n').unwrap();
    assert!(checkpoint.starts_with("malkoha: store 's': 'CHECKPOINT' is damaged at byte 0: "));
    assert!(checkpoint.ends_with("; it is rebuilt from the log"), "{checkpoint}");
    assert_eq!(
        log,
        format!(
            "malkoha: store 's': the last {cut} bytes of '000000000001.log', from byte {offset} \
             on, are of a write that a crash left unfinished: they are cut off\n\
             malkoha: store 's': '000000000002.log', {bytes} bytes, lies behind the end of the \
             log, of writes that a crash left unfinished: it is removed\n"
        )
    );
    let run = dir.run("store verify s").succeeds();
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    dir.run("store put s k v").prints("");
}

#[test]
fn keys_and_values_are_any_bytes() {
    let dir = Dir::new();
    let (key, value) = (b"\xff\n\t", b"\xfe\n");
    let mut put = dir.command("store put s");
    put.arg(OsStr::from_bytes(key)).arg(OsStr::from_bytes(value));
    assert!(put.status().unwrap().success());
    run_with(&dir, "store get s", key).prints(value);
    dir.run("store get --hex s ff0a09").prints(value);
    dir.run("store get --hex s FF0A09").prints(value);
    dir.run("store scan s").prints(b"\xff\n\t\n");
    dir.run("store scan --hex s").prints("ff0a09\n");
    let run = dir.run("store scan --json --values s").succeeds().json();
    assert_eq!(run, json!({ "key_hex": "ff0a09", "value_hex": "fe0a", "value_bytes": 2 }));
    let run = run_with(&dir, "store get --json s", key).json();
    assert_eq!((&run["key_hex"], &run["value_hex"]), (&json!("ff0a09"), &json!("fe0a")));
    // A key without bytes is one too; a NUL byte has no other spelling.
    run_with(&dir, "store put s x", b"").prints("");
    run_with(&dir, "store get --json s", b"").prints_with(1, "{\"found\":false,\"key\":\"\"}\n");
    dir.pipe("nul", "store put --hex s 00").prints("");
    dir.run("store scan --hex --values s").prints("ff0a09\tfe0a\n78\t\n00\t6e756c\n");
    dir.shell("$MALKOHA store scan --hex --values s | $MALKOHA store load --hex copy").prints("");
    dir.run("store scan --hex --values copy").prints("ff0a09\tfe0a\n78\t\n00\t6e756c\n");
    dir.run("store del --hex s ff0a09 00").prints("");
    dir.run("store scan s").prints("x\n");
    dir.run("store put --hex s 0g v")
        .complains("'0g' is not hex digits, two a byte: Invalid character 'g' at position 1");
    dir.run(&format!("store get --hex s {}", "0x".repeat(100))).complains(&format!(
        "'{}...' is not hex digits, two a byte: Invalid character 'x' at position 1",
        "0x".repeat(20)
    ));
    dir.run("store get --hex s 0")
        .complains("'0' is not hex digits, two a byte: Odd number of digits");
}

#[test]
fn a_line_that_is_no_pair_loses_none_before_it() {
    let dir = Dir::new();
    dir.pipe("a\t1\nb\t2\nc\nd\t4\n", "store load s").complains(
        "line 3 has no tab: write 'KEY<tab>VALUE' in each line; the pairs before it are in",
    );
    dir.run("store scan --values s").prints("a\t1\nb\t2\n");
    dir.pipe("61\t03\nx\t\n", "store load --hex s")
        .complains("line 2: 'x' is not hex digits, two a byte: Odd number of digits");
    dir.run("store get s a").prints(b"\x03");
    let long = format!("c\t1\n{}\t2\n", "x".repeat(70_000));
    dir.pipe(long, "store load s")
        .complains("line 2: the key has 70000 bytes, more than the 65536 that a key may have");
    dir.run("store get s c").prints("1");
}

/// What is asked of a directory of others changes nothing in it.
#[test]
fn directories_that_are_no_stores_stay_as_they_are() {
    let dir = Dir::with("file", "x");
    for name in ["empty", "photos"] {
        fs::create_dir(dir.path(name)).unwrap();
    }
    dir.write("photos/cuckoo.log", "no log file of a store");
    for place in ["empty", "photos"] {
        for command in [
            "get STORE k",
            "del STORE k",
            "scan STORE",
            "export STORE --into out",
            "ls STORE",
            "rm STORE x",
            "gc STORE",
            "stats STORE",
            "compact STORE",
            "verify STORE",
            "repair STORE",
            "backup STORE out",
        ] {
            let command = format!("store {}", command.replace("STORE", place));
            dir.run(&command).complains(&format!(
                "there is no store in '{place}': nothing was written yet, or it is another directory"
            ));
        }
        assert!(
            fs::read_dir(dir.path(place))
                .unwrap()
                .all(|it| it.unwrap().file_name() == "cuckoo.log")
        );
    }
    for command in ["put photos k v", "load photos", "load --echo photos", "import photos file"] {
        dir.run(&format!("store {command}")).complains(
            "store 'photos': it has other files and no store: name an empty or new directory",
        );
    }
    assert_eq!(fs::read_dir(dir.path("photos")).unwrap().count(), 1);
    dir.run("store put file k v").complains("store 'file': it is no directory, and a store is one");
    dir.run("store put file/s k v")
        .complains("store 'file/s': cannot make 'file/s': Not a directory");
    let long = "x".repeat(70_000);
    run_with(&dir, "store put new", long.as_bytes())
        .complains("store 'new': the key has 70000 bytes, more than the 65536 that a key may have");
    assert_eq!(dir.names(), ["empty", "file", "photos"]);
    // A store that was only begun is one.
    dir.write("empty/LOCK", "");
    dir.run("store put empty k v").prints("");
}

#[test]
fn a_store_in_use_says_so() {
    let dir = Dir::new();
    let store = Store::open(dir.path("s"), &Options::new()).unwrap();
    store.put(b"k", b"v").unwrap();
    dir.run("store backup s copy").complains(
        "store 's' is in use by another process: make the backup when that has ended, or in that \
         process, which can go on meanwhile (Store::backup)",
    );
    dir.run("store del s k").complains(
        "store 's': the store is in use by another process: close it there, or open it read-only",
    );
    dir.run("store get s k").prints("v");
    assert_eq!(dir.names(), ["s"]);
    drop(store);
    dir.run("store backup s copy").prints("");
    dir.run("store get copy k").prints("v");
    dir.run("store backup s copy")
        .complains("cannot copy store 's' into 'copy': a backup needs a directory without files");
}
