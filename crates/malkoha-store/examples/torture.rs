//! A store that is written to until something ends it, and what must be there then. `checks/torture`
//! runs it: with kills, with power cuts, and on a device that fails.
//!
//! ```text
//! torture write DIR DURABILITY SEED FIRST FIRST   two threads write, one syncs, checkpoints, compacts and
//!                                                 makes backups; tells on stdout what is done, until killed
//! torture check DIR SEED LEAST LEAST MOST MOST    prints of how many operations of each thread the store
//!                                                 in DIR has all, and nothing of a later one
//! ```
//!
//! Every operation follows from seed, thread and number. A line `1 99` says that thread 1 has done its
//! operations before number 99; `s 1 99`, that a sync since then has.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use malkoha_store::{Batch, Durability, Error, Options, Store};

const THREADS: usize = 2;
/// Keys of each thread.
const KEYS: u64 = 400;

type Contents = BTreeMap<Vec<u8>, Vec<u8>>;
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The effect of an operation: keys and their values afterwards.
type Operation = Vec<(Vec<u8>, Option<Vec<u8>>)>;

fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

fn operation(seed: u64, thread: usize, number: u64) -> Operation {
    let random = |n: u64| mix(seed ^ mix(number ^ mix(n ^ ((thread as u64) << 32))));
    let key = |n: u64| format!("{thread} {}", random(n) % KEYS).into_bytes();
    let value = |n: u64| {
        let mut value = number.to_le_bytes().to_vec();
        // One of a hundred is written apart from its head.
        let long = if random(n + 1) % 100 == 0 { 9000 } else { 300 };
        value.resize(8 + usize::try_from(random(n + 2) % long).unwrap_or(0), b'v');
        Some(value)
    };
    match random(0) % 10 {
        0 | 1 => vec![(key(1), None)],
        2 => (1..=2 + random(100) % 8).map(|n| (key(10 * n), value(10 * n))).collect(),
        _ => vec![(key(1), value(1))],
    }
}

fn apply(store: &Store, operation: &Operation) -> Result<(), Error> {
    match &operation[..] {
        [(key, Some(value))] => store.put(key, value),
        [(key, None)] => store.delete(key).map(drop),
        several => {
            let mut batch = Batch::new();
            for (key, value) in several {
                batch.put(key, value.as_deref().unwrap_or_default())?;
            }
            store.apply(&batch).map(drop)
        }
    }
}

fn tell(line: &str) {
    // The listener might be gone, which ends this.
    let _ = io::stdout().lock().write_all(line.as_bytes());
}

/// With an odd seed, keys are kept in order.
fn options(durability: &str, seed: u64) -> Result<Options, Failure> {
    let durability = match durability {
        "always" => Durability::Always,
        "every" => Durability::Every(Duration::from_millis(20)),
        "system" => Durability::System,
        other => return Err(format!("no durability: {other}").into()),
    };
    let options = Options::new().durability(durability).ordered(seed % 2 == 1);
    Ok(options.file_bytes(1 << 16).checkpoint_bytes(1 << 20).seed(5))
}

fn write(path: &Path, durability: &str, seed: u64, first: [u64; THREADS]) -> Result<(), Failure> {
    let store = Store::open(path.join("store"), &options(durability, seed)?)?;
    tell("open\n");
    let done = first.map(AtomicU64::new);
    let stopped = AtomicBool::new(false);
    let write = |thread: usize| -> Result<(), Failure> {
        for number in first[thread].. {
            apply(&store, &operation(seed, thread, number))?;
            done[thread].store(number + 1, Ordering::Release);
            tell(&format!("{thread} {}\n", number + 1));
        }
        Ok(())
    };
    thread::scope(|scope| {
        let reader = scope.spawn(|| read(&store, seed, &stopped));
        scope.spawn(|| look_after(&store, path, &done, &stopped));
        let writers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let write = &write;
                scope.spawn(move || write(thread))
            })
            .collect();
        let ended: Vec<_> = writers.into_iter().map(|it| it.join().expect("no panic")).collect();
        stopped.store(true, Ordering::Release);
        reader.join().expect("no panic")?;
        ended.into_iter().collect()
    })
}

/// Looks keys up, one by one and together, until writing fails: no value is one that no operation
/// gave the key. That it cannot be read is no wrong answer.
fn read(store: &Store, seed: u64, stopped: &AtomicBool) -> Result<(), Failure> {
    let is_right = |key: &[u8], value: &[u8]| {
        let number = value.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let thread = usize::from(key.first() == Some(&b'1'));
        number.is_some_and(|number| {
            let mut given = operation(seed, thread, number).into_iter();
            given.any(|(name, given)| name == key && given.as_deref() == Some(value))
        })
    };
    let keys: Vec<_> = (0..KEYS * 2).map(|n| format!("{} {}", n % 2, n / 2).into_bytes()).collect();
    let mut wrong = None;
    for key in keys.iter().cycle() {
        if stopped.load(Ordering::Acquire) {
            break;
        }
        if let Ok(Some(value)) = store.get(key)
            && !is_right(key, &value)
        {
            wrong = Some(key.clone());
        }
        let some = [key.clone(), keys[0].clone()];
        // An error comes after some of the answers.
        let mut seen = Vec::new();
        if store.get_many(&some, |_, value| seen.push(value.map(<[u8]>::to_vec))).is_ok() {
            for (key, value) in some.iter().zip(seen) {
                wrong =
                    wrong.or_else(|| value.filter(|it| !is_right(key, it)).map(|_| key.clone()));
            }
        }
        let snapshot = store.snapshot();
        if let Ok(found) = snapshot.prefix(&key[..3]) {
            let found: Vec<_> = found.filter_map(Result::ok).collect();
            let is_sorted = found.is_sorted_by(|a, b| a.key < b.key);
            let bad = found.iter().find(|it| !is_sorted || !is_right(&it.key, &it.value));
            wrong = wrong.or_else(|| bad.map(|it| it.key.to_vec()));
        }
        if let Some(key) = wrong {
            return Err(format!("wrong answer: {key:?}").into());
        }
        thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

/// All that is done in addition to writing and reading, until writing fails.
fn look_after(store: &Store, path: &Path, done: &[AtomicU64; THREADS], stopped: &AtomicBool) {
    for round in 0.. {
        if stopped.load(Ordering::Acquire) {
            return;
        }
        let before = done.each_ref().map(|done| done.load(Ordering::Acquire));
        let result = match round % 4 {
            0 => store.checkpoint(),
            // Which syncs nothing if it has nothing to give back.
            1 => store.compact().and_then(|()| store.sync()),
            2 => store.sync(),
            _ => {
                let copy = path.join(format!("copy {}", round / 4 % 2));
                // One that is not whole is made again; one that is goes.
                if copy.join("BACKUP").exists() {
                    // Under another name, because a half removed directory is not a backup.
                    let gone = path.join("gone");
                    let _ = fs::remove_dir_all(&gone);
                    let _ = fs::rename(&copy, &gone);
                }
                store.backup(&copy)
            }
        };
        match result {
            // All four sync what was written before.
            Ok(()) => {
                for (thread, done) in before.iter().enumerate() {
                    tell(&format!("s {thread} {done}\n"));
                }
            }
            Err(error) => tell(&format!("upkeep: {error}\n")),
        }
        thread::sleep(Duration::from_millis(3));
    }
}

/// Of how many operations of each thread a store has all, and nothing of a later one.
fn check(
    path: &Path,
    seed: u64,
    least: [u64; THREADS],
    most: [u64; THREADS],
) -> Result<[u64; THREADS], Failure> {
    let store = Store::open(path, &options("system", seed)?.background(false))?;
    let snapshot = store.snapshot();
    let mut found = [Contents::new(), Contents::new()];
    let mut last = Vec::new();
    for entry in snapshot.iter() {
        let entry = entry?;
        if store.main().is_ordered() && *entry.key <= *last {
            return Err(format!("{:?} comes after {last:?}", entry.key).into());
        }
        last = entry.key.to_vec();
        let thread = usize::from(entry.key.first() == Some(&b'1'));
        found[thread].insert(entry.key.to_vec(), entry.value.to_vec());
    }
    let mut numbers = [0; THREADS];
    for (thread, found) in found.iter().enumerate() {
        let (mut state, mut differ) = (Contents::new(), found.len());
        let mut number = 0;
        loop {
            if number >= least[thread] && differ == 0 {
                break;
            }
            if number >= most[thread] {
                let what = format!("thread {thread}: nothing from {} to {number}", least[thread]);
                return Err(format!("{what} is what the store has").into());
            }
            for (key, value) in operation(seed, thread, number) {
                let is = |state: &Contents| state.get(&key) == found.get(&key);
                let before = is(&state);
                match value {
                    Some(value) => state.insert(key.clone(), value),
                    None => state.remove(&key),
                };
                differ = differ + usize::from(before) - usize::from(is(&state));
            }
            number += 1;
        }
        numbers[thread] = number;
        for (key, value) in found {
            if store.get(key)?.as_ref() != Some(value) {
                return Err(format!("iteration and get differ at {key:?}").into());
            }
        }
    }
    let damage = store.verify()?.damage;
    if let Some(first) = damage.into_iter().next() {
        return Err(first.into());
    }
    drop(snapshot);
    store.close()?;
    Ok(numbers)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u64>().map_err(Failure::from);
    let run = || -> Result<(), Failure> {
        match words[..] {
            ["write", path, durability, seed, a, b] => {
                write(Path::new(path), durability, number(seed)?, [number(a)?, number(b)?])
            }
            ["check", path, seed, a, b, c, d] => {
                let (least, most) = ([number(a)?, number(b)?], [number(c)?, number(d)?]);
                let [a, b] = check(Path::new(path), number(seed)?, least, most)?;
                tell(&format!("{a} {b}\n"));
                Ok(())
            }
            _ => Err("see the head of examples/torture.rs".into()),
        }
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("torture: {error}");
            ExitCode::FAILURE
        }
    }
}
