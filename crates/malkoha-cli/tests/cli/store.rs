//! `malkoha store`, on real directories.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use malkoha_store::Store;

use crate::harness::Dir;

#[test]
fn puts_depend_on_what_a_key_has() {
    let dir = Dir::new();
    // Nothing is made for what cannot be there.
    let run = dir.run("store put s koel Cuculus --if-value Eudynamys");
    assert_eq!((run.code, dir.names().len()), (Some(2), 0), "{}", run.stderr);
    dir.run("store put s koel Eudynamys --if-absent").prints("");
    dir.run("store put s koel Cuculus --table birds --if-value Eudynamys").complains(
        "store 's': there is no table 'birds' in the store: 'tables' lists those that it has",
    );
    dir.run("store tables s").finds_nothing();
    dir.run("store put s koel Cuculus --if-value Cuculus").finds_nothing();
    dir.run("store put s koel Cuculus --if-absent").finds_nothing();
    dir.run("store get s koel").prints("Eudynamys");
    dir.run("store put s koel Cuculus --if-value Eudynamys").prints("");
    let run = dir.run("store put s koel again --if-value Eudynamys --json");
    assert_eq!((run.code, &run.json()["put"]), (Some(1), &false.into()));
    for name in ["koel", "kiwi", "kea", "robin"] {
        dir.run(&format!("store put s {name} 1")).prints("");
    }
    dir.run("store scan s --prefix k").prints("kea\nkiwi\nkoel\n");
    dir.run("store scan s --hex --prefix 6b6f --values").prints("6b6f656c\t31\n");
    dir.run("store scan s --prefix x").finds_nothing();
    let told = dir.run("store stats --prometheus s").succeeds().stdout;
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("\nmalkoha_store_keys{store=\"s\"} 4\n"), "{told}");
}

#[test]
fn values_end_after_their_time() {
    let dir = Dir::new();
    dir.run("store put s koel 1 --ttl 1h").prints("");
    dir.run("store put s kea 1 --ttl 1ms --table birds").prints("");
    dir.pipe("kiwi\t1\n", "store load s --ttl 1ms").prints("");
    dir.pipe("robin\t1\n", "store load s --ttl 1ms --echo").prints("robin\n");
    std::thread::sleep(std::time::Duration::from_millis(2));
    dir.run("store scan s").prints("koel\n");
    for key in ["kiwi", "robin", "kea --table birds"] {
        dir.run(&format!("store get s {key}")).finds_nothing();
    }
    for (options, message) in [
        ("0s", "write at least 1ms"),
        ("1h --if-absent", "cannot be used with"),
        ("1h --if-value 1", "cannot be used with"),
    ] {
        let run = dir.run(&format!("store put s koel 1 --ttl {options}"));
        assert!(run.code == Some(2) && run.stderr.contains(message), "{}", run.stderr);
    }
}

#[test]
fn keys_can_be_kept_in_order() {
    let dir = Dir::new();
    let pairs = "koel\t1\nhoopoe\t2\nkiwi\t3\nrobin\t4\n";
    let sorted = "hoopoe\nkiwi\nkoel\nrobin\n";
    dir.pipe(pairs, "store load s --ordered").prints("");
    dir.pipe(pairs, "store load s --ordered --table birds").prints("");
    dir.pipe(pairs, "store load s --table plain").prints("");
    dir.run("store put s koel 1 --ordered").prints("");
    for table in ["", "--table birds"] {
        dir.run(&format!("store scan s {table}")).prints(sorted);
    }
    dir.run("store scan s --table plain").prints("koel\nhoopoe\nkiwi\nrobin\n");
    for table in ["", "--table birds", "--table plain"] {
        let prints = |range: &str, lines| {
            dir.run(&format!("store scan s {range} {table}")).prints(lines);
        };
        prints("--prefix k", "kiwi\nkoel\n");
        prints("--from kiwi --until robin", "kiwi\nkoel\n");
        prints("--from kj --values", "koel\t1\nrobin\t4\n");
        prints("--until kiwi", "hoopoe\n");
    }
    let in_no_order = "store 's': keys of table 'plain' are in no order: open it as it is, or \
                       change that ('set_ordered', or 'malkoha store order')";
    dir.run("store put s koel 1 --table plain --ordered").complains(in_no_order);
    dir.run("store order s --table plain --json")
        .prints("{\"ordered\":true,\"table\":\"plain\"}\n");
    dir.run("store scan s --table plain").prints(sorted);
    dir.run("store order s --table plain --off").prints("");
    dir.run("store scan s --table plain").prints("koel\nhoopoe\nkiwi\nrobin\n");
}

#[test]
fn tables_are_apart() {
    let dir = Dir::new();
    dir.run("store put s koel Eudynamys --table birds").prints("");
    dir.pipe("koel\thouse crow\nkiwi\t\n", "store load s --table hosts").prints("");
    dir.run("store put s koel main").prints("");
    dir.run("store get s koel --table birds").prints("Eudynamys");
    dir.run("store get s koel --table hosts").prints("house crow");
    dir.run("store get s koel").prints("main");
    dir.run("store scan s --table hosts --values").prints("koel\thouse crow\nkiwi\t\n");
    dir.run("store scan s --table hosts --prefix ki").prints("kiwi\n");
    dir.run("store scan s").prints("koel\n");
    dir.run("store tables s").prints("birds\nhosts\n");
    dir.run("store del s kiwi --table birds").finds_nothing();
    dir.run("store del s koel --table birds").prints("");
    dir.run("store tables s --remove hosts").prints("");
    dir.run("store tables s --remove hosts").finds_nothing();
    dir.run("store tables s --json").prints("{\"tables\":[\"birds\"]}\n");
    let none =
        "store 's': there is no table 'hosts' in the store: 'tables' lists those that it has";
    for command in ["get s koel", "del s koel", "scan s", "scan s --prefix k"] {
        dir.run(&format!("store {command} --table hosts")).complains(none);
    }
    dir.run("store scan s").prints("koel\n");
    dir.run("store verify s").succeeds();
}

#[test]
fn names_of_tables_may_be_odd_but_not_empty() {
    let dir = Dir::new();
    dir.shell("$MALKOHA store put s koel 1 --table \"$(printf 'a\\nb\\033[31m')\"").prints("");
    dir.run("store tables s").prints("a\\nb\\033[31m\n");
    dir.run("store tables s --json").prints("{\"tables\":[\"a\\nb\\u001b[31m\"]}\n");
    for name in [String::new(), "n".repeat(256)] {
        let run = dir.run(&format!("store put none koel 1 --table={name}"));
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains("has 1 to 255 bytes"), "{}", run.stderr);
    }
    assert_eq!(dir.names(), ["s"]);
}

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

const NO_STORE: &str =
    "there is no store in 'none': nothing was written yet, or it is another directory";

#[test]
fn what_is_wrong_is_told() {
    let dir = Dir::with("file", "x");
    for command in ["get none k", "del none k"] {
        dir.run(&format!("store {command}")).complains(NO_STORE);
    }
    dir.run("store import new --fixed 0 file").complains(
        "invalid value '0' for '--fixed <BYTES>': 0 is not in 1..=1073741824 (see malkoha --help)",
    );
    dir.run("store import new missing")
        .complains("cannot open 'missing': No such file or directory");
    assert_eq!(dir.names(), ["file"]);
}

#[test]
fn pairs_are_loaded_and_a_store_is_a_list() {
    let dir = Dir::with("birds", "koel\nkiwi\nanı\n");
    dir.pipe("koel\tEudynamys\nani\tCrotophaga\tani\nempty\t\n", "store load s").prints("");
    dir.run("store get s ani").prints("Crotophaga\tani");
    dir.run("store get s empty").prints("");
    dir.run("screen --list s birds").prints("koel\n");
    dir.run("screen -v --list s birds").prints("kiwi\nanı\n");
    dir.run("check -c s birds").prints("1\n");
    dir.run("screen --approximate --list s birds")
        .complains("a store answers without error: leave --approximate away");
    dir.run("screen --list . birds").complains("cannot open list '.': it is a directory");
    let run = dir.pipe("a\tb\nno tab\n", "store load --echo s");
    assert_eq!((&*run.stdout, run.code), (&b"a\n"[..], Some(2)));
    assert!(run.stderr.contains("line 2 has no tab"));
    dir.run("store get s a").prints("b");
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
