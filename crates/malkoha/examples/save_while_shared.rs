//! Saves a filter again and again while a thread inserts into it, and opens the last file.
//!
//! A file holds at least the keys whose inserts returned before `save` was called. It replaces the
//! one before it in one step, so whoever opens it finds a whole filter at any time.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
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
        let writer = scope.spawn(|| {
            (0..KEYS).try_for_each(|key| {
                seen.insert(key).map(|()| inserted.store(key + 1, Ordering::Release))
            })
        });
        let mut in_file = 0;
        while !writer.is_finished() {
            in_file = inserted.load(Ordering::Acquire);
            seen.save(&path)?;
        }
        writer.join().expect("no panic")?;
        Ok::<u64, Box<dyn Error>>(in_file)
    })?;

    let opened: GrowableConcurrentCuckooFilter = Filter::open(&path)?;
    println!("the last file has {} keys, {in_file} of which were in before", opened.len());
    assert!((0..in_file).all(|key| opened.contains(key)));
    assert!(opened.len() >= in_file && seen.len() == KEYS);
    Ok(())
}
