//! Random lookups in a store that is larger than memory. `checks/beyond` runs it against LMDB, both
//! in a group of processes that gets a quarter of the data as memory.
//!
//! ```text
//! beyond load DIR KEYS            makes a store of so many keys of 16 bytes with values of 100
//! beyond run DIR KEYS SECONDS     rates of `get` and `get_many`, and bytes read from the device for each
//! ```

use std::env;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use malkoha_store::{Batch, Durability, Options, Store};

type Failure = Box<dyn std::error::Error>;

/// Keys of a batch, and of a `get_many`.
const TOGETHER: u64 = 1000;

/// No two are equal, and they come in no order.
fn key(n: u64) -> Vec<u8> {
    format!("{:016x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).into_bytes()
}

fn load(directory: &Path, keys: u64) -> Result<(), Failure> {
    let options = Options::new().durability(Durability::System).background(false);
    let store = Store::open(directory, &options)?;
    let mut batch = Batch::new();
    for n in 0..keys {
        batch.put(&key(n), &[n.to_le_bytes()[0]; 100])?;
        if batch.len() as u64 == TOGETHER {
            store.apply(&batch)?;
            batch.clear();
        }
    }
    store.apply(&batch)?;
    Ok(store.close()?)
}

/// Bytes that this process has read from devices.
fn read_bytes() -> Result<u64, Failure> {
    let told = fs::read_to_string("/proc/self/io")?;
    let line = told.lines().find_map(|line| line.strip_prefix("read_bytes: "));
    Ok(line.ok_or("no count of bytes")?.parse()?)
}

/// Looks keys up for a time, by `look`, which returns how many it found.
fn measure(
    name: &str,
    time: Duration,
    mut look: impl FnMut() -> Result<u64, Failure>,
) -> Result<(), Failure> {
    let (start, before, mut found) = (Instant::now(), read_bytes()?, 0);
    while start.elapsed() < time {
        found += look()?;
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = found as f64 / start.elapsed().as_secs_f64();
    println!("{name} {rate:.0} {}", (read_bytes()? - before) / found);
    Ok(())
}

fn run(directory: &Path, keys: u64, time: Duration) -> Result<(), Failure> {
    let store = Store::open_read_only(directory)?;
    let mut state = u64::from(std::process::id());
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        key((state >> 33) % keys)
    };
    // The first round fills what memory there is.
    for time in [time / 3, time] {
        measure("get", time, || Ok(u64::from(store.get(&random())?.is_some())))?;
        measure("get_many", time, || {
            let (keys, mut found): (Vec<_>, _) = ((0..TOGETHER).map(|_| random()).collect(), 0);
            store.get_many(&keys, |_, value| found += u64::from(value.is_some()))?;
            Ok(found)
        })?;
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["load", directory, keys] => load(Path::new(directory), keys.parse()?),
        ["run", directory, keys, seconds] => {
            run(Path::new(directory), keys.parse()?, Duration::from_secs(seconds.parse()?))
        }
        _ => Err("see the head of examples/beyond.rs".into()),
    }
}
