//! Saves a filter repeatedly while a thread inserts into it, and opens the last file.
//!
//! A file holds at least the keys whose inserts returned before `save` was called. It replaces the
//! previous file in one step, so a reader finds a whole filter at any time.

use std::error::Error;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;

use malkoha::{Builder, Filter, GrowableConcurrentCuckooFilter};

const KEYS: u64 = 300_000;

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("seen.mlk");
    let seen: GrowableConcurrentCuckooFilter = Builder::new().capacity(1_000).fpr(0.001).build()?;
    let inserted = AtomicU64::new(0);

    let in_file = thread::scope(|scope| {
        let insert = |key| seen.insert(key).map(|()| inserted.store(key + 1, Release));
        let writer = scope.spawn(move || (0..KEYS).try_for_each(insert));
        loop {
            let before = inserted.load(Acquire);
            seen.save(&path)?;
            if writer.is_finished() {
                writer.join().expect("no panic")?;
                return Ok::<u64, Box<dyn Error>>(before);
            }
        }
    })?;

    let opened: GrowableConcurrentCuckooFilter = Filter::open(&path)?;
    println!("{in_file} keys were in before the last save, {} are in its file", opened.len());
    assert!((0..in_file).all(|key| opened.contains(key)));
    assert!(opened.len() >= in_file && seen.len() == KEYS);
    Ok(())
}
