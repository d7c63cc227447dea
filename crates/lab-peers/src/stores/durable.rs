//! Puts that are on the device when they return.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;

use crate::output::{Output, per_second};
use crate::peer::{Kind, Level};

/// Puts in a batch.
const BATCH: u64 = 1000;

/// Measures a new store with `count` puts one by one, and as many batches.
pub(crate) fn run(kind: &Kind, directory: &Path, count: u64, output: &mut Output) -> Result<()> {
    let path = directory.join(format!("{}-durable", kind.name));
    fs::create_dir(&path)?;
    let peer = kind.open(&path, Level::Durable)?;
    // The first one makes files.
    peer.put(&[u64::MAX / 2], true)?;
    let start = Instant::now();
    (0..count).try_for_each(|n| peer.put(&[n], true))?;
    output.add(kind.name, "synced puts, one by one", "/s", per_second(count, start.elapsed()));
    let start = Instant::now();
    (1..=count).try_for_each(|n| {
        let numbers: Vec<u64> = (n * BATCH..(n + 1) * BATCH).collect();
        peer.put(&numbers, true)
    })?;
    let rate = per_second(count * BATCH, start.elapsed());
    output.add(kind.name, "synced puts, batches of 1000", "/s", rate);
    drop(peer);
    Ok(fs::remove_dir_all(path)?)
}
