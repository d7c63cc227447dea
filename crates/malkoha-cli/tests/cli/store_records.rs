//! `malkoha store`: damage, crashes, and stores in use.

use std::fs;

use malkoha_store::{Durability, Options, Store};
use serde_json::json;

use crate::harness::Dir;

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
