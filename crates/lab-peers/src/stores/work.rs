//! What every store is given to do, and what it costs.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rustix::time::{ClockId, clock_gettime};

use crate::items::{KEY, Key, VALUE, key, random_keys};
use crate::output::{Output, per_second};
use crate::peer::{Kind, Level, Peer};

/// Deletes in a transaction.
const DELETES: usize = 1000;
/// The course of the first lookups; those after them have the numbers from 0.
const FIRST: u64 = 1 << 20;

pub(crate) struct Work {
    pub(crate) keys: u64,
    pub(crate) lookups: u64,
    pub(crate) runs: u64,
    /// Puts in a transaction of a load.
    pub(crate) batch: u64,
    /// Whether a load comes in the order of keys.
    pub(crate) sorted: bool,
    /// How long puts one by one go on at most, and reading beside writing.
    pub(crate) seconds: Duration,
}

/// A way to look up keys.
#[derive(Clone, Copy)]
enum Way {
    One,
    Threads,
    Batch,
    BatchThreads,
}

impl Work {
    /// Loads a new store in transactions of many puts, and syncs nothing meanwhile; then
    /// looks up some of the keys, for the first time.
    pub(crate) fn load(
        &self,
        kind: &Kind,
        directory: &Path,
        output: &mut Output,
    ) -> Result<Box<dyn Peer>> {
        let path = path_of(kind, directory);
        fs::create_dir(&path)?;
        let mut numbers: Vec<u64> = (0..self.keys).collect();
        if self.sorted {
            numbers.sort_unstable_by_key(|&n| key(n));
        }
        let before = anonymous_memory();
        let peer = kind.open(&path, Level::Relaxed)?;
        let (start, processor) = (Instant::now(), processor(ClockId::ProcessCPUTime));
        let mut longest = Duration::ZERO;
        for numbers in numbers.chunks(usize::try_from(self.batch)?) {
            let begin = Instant::now();
            peer.put(numbers, false)?;
            longest = longest.max(begin.elapsed());
        }
        output.add(kind.name, "load", "/s", per_second(self.keys, start.elapsed()));
        let used = self::processor(ClockId::ProcessCPUTime).saturating_sub(processor);
        output.add(kind.name, "load", "/s of processor", per_second(self.keys, used));
        output.add(kind.name, "longest transaction of the load", "ms", millis(longest));
        let memory = anonymous_memory().saturating_sub(before);
        output.add(kind.name, "memory after load", "bytes a key", ratio(memory, self.keys));
        if let Some(bytes) = peer.index_bytes() {
            output.add(kind.name, "index", "bytes a key", ratio(bytes, self.keys));
        }
        let keys = random_keys(self.keys, self.lookups, FIRST, 0);
        let name = "present, first after the load";
        self.look_up_in(&*peer, &keys, self.lookups, Way::One, (kind.name, name), output)?;
        Ok(peer)
    }

    /// Another new store, in transactions of one put each, until it has all keys or the time is up.
    pub(crate) fn put_one_by_one(
        &self,
        kind: &Kind,
        directory: &Path,
        output: &mut Output,
    ) -> Result<()> {
        let path = directory.join(format!("{}-one-by-one", kind.name));
        fs::create_dir(&path)?;
        let peer = kind.open(&path, Level::Relaxed)?;
        let (start, processor) = (Instant::now(), processor(ClockId::ProcessCPUTime));
        let (mut longest, mut count) = (Duration::ZERO, 0);
        while count < self.keys && start.elapsed() < self.seconds {
            let begin = Instant::now();
            peer.put(&[count], false)?;
            longest = longest.max(begin.elapsed());
            count += 1;
        }
        output.add(kind.name, "puts one by one", "/s", per_second(count, start.elapsed()));
        let used = self::processor(ClockId::ProcessCPUTime).saturating_sub(processor);
        output.add(kind.name, "puts one by one", "/s of processor", per_second(count, used));
        output.add(kind.name, "longest put", "ms", millis(longest));
        drop(peer);
        Ok(fs::remove_dir_all(path)?)
    }

    fn delete(&self, peer: &dyn Peer, numbers: impl Iterator<Item = u64>) -> Result<()> {
        let keys: Vec<Key> = numbers.map(key).collect();
        keys.chunks(DELETES).try_for_each(|keys| peer.delete(keys))
    }

    /// All stores in turns, round after round.
    pub(crate) fn look_up(
        &self,
        kinds: &[Kind],
        peers: &[Box<dyn Peer>],
        output: &mut Output,
    ) -> Result<()> {
        for run in 0..self.runs {
            for (absent, name) in [(false, "present"), (true, "absent")] {
                let add = if absent { self.keys } else { 0 };
                let keys = random_keys(self.keys, self.lookups, run * 2 + u64::from(absent), add);
                let expected = if absent { 0 } else { self.lookups };
                for (kind, peer) in kinds.iter().zip(peers) {
                    for way in [Way::One, Way::Threads, Way::Batch, Way::BatchThreads] {
                        self.look_up_in(&**peer, &keys, expected, way, (kind.name, name), output)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn look_up_in(
        &self,
        peer: &dyn Peer,
        keys: &[Key],
        expected: u64,
        way: Way,
        (kind, name): (&'static str, &str),
        output: &mut Output,
    ) -> Result<()> {
        let (start, processor) = (Instant::now(), processor(ClockId::ThreadCPUTime));
        let found = match way {
            Way::One => Some(peer.get(keys)?),
            Way::Threads => on_two_threads(keys, &|keys| peer.get(keys).map(Some))?,
            Way::Batch => peer.get_many(keys)?,
            Way::BatchThreads => on_two_threads(keys, &|keys| peer.get_many(keys))?,
        };
        let elapsed = start.elapsed();
        let used = self::processor(ClockId::ThreadCPUTime).saturating_sub(processor);
        let Some(found) = found else { return Ok(()) };
        ensure!(found == expected, "{kind} found {found} of {expected} keys");
        let how = match way {
            Way::One => "get",
            Way::Threads => "get on 2 threads",
            Way::Batch => "get many",
            Way::BatchThreads => "get many on 2 threads",
        };
        output.add(kind, &format!("{how}, {name}"), "/s", per_second(self.lookups, elapsed));
        if matches!(way, Way::One | Way::Batch) {
            let rate = per_second(self.lookups, used);
            output.add(kind, &format!("{how}, {name}"), "/s of processor", rate);
        }
        Ok(())
    }

    /// Closes a store and opens it again.
    pub(crate) fn reopen(
        &self,
        kind: &Kind,
        peer: Box<dyn Peer>,
        directory: &Path,
        output: &mut Output,
    ) -> Result<Box<dyn Peer>> {
        let path = path_of(kind, directory);
        drop(peer);
        output.add(kind.name, "disk after load", "of logical", self.disk(&path, self.keys));
        let mut peer = self.timed_open(kind, &path, "reopen", output)?;
        let checkpoint = path.join("CHECKPOINT");
        if checkpoint.exists() {
            drop(peer);
            fs::remove_file(checkpoint)?;
            peer = self.timed_open(kind, &path, "reopen from the log alone", output)?;
        }
        Ok(peer)
    }

    fn timed_open(
        &self,
        kind: &Kind,
        path: &Path,
        measure: &str,
        output: &mut Output,
    ) -> Result<Box<dyn Peer>> {
        let (start, processor) = (Instant::now(), processor(ClockId::ProcessCPUTime));
        let peer = kind.open(path, Level::Relaxed)?;
        ensure!(peer.get(&[key(0)])? == 1, "{} lost its first key", kind.name);
        let elapsed = start.elapsed();
        output.add(kind.name, measure, "ms", millis(elapsed));
        let used = self::processor(ClockId::ProcessCPUTime).saturating_sub(processor);
        output.add(kind.name, measure, "ms of processor", millis(used));
        output.add(kind.name, measure, "records/s", per_second(self.keys, elapsed));
        Ok(peer)
    }

    /// Removes every second key; the last thing that is done to a store.
    pub(crate) fn delete_half(
        &self,
        kind: &Kind,
        mut peer: Box<dyn Peer>,
        directory: &Path,
        output: &mut Output,
    ) -> Result<()> {
        let path = path_of(kind, directory);
        let start = Instant::now();
        self.delete(&*peer, (0..self.keys).step_by(2))?;
        output.add(kind.name, "delete half", "/s", per_second(self.keys / 2, start.elapsed()));
        let (live, measure) = (self.keys / 2, "of live data");
        output.add(kind.name, "disk after deletes", measure, self.disk(&path, live));
        let start = Instant::now();
        if peer.compact()? {
            output.add(kind.name, "compaction", "ms", millis(start.elapsed()));
        }
        let keys: Vec<Key> = (0..self.keys.min(10_000)).map(key).collect();
        ensure!(peer.get(&keys)? == keys.len() as u64 / 2, "{} has other keys", kind.name);
        drop(peer);
        output.add(kind.name, "disk after compaction", measure, self.disk(&path, live));
        Ok(fs::remove_dir_all(path)?)
    }

    /// Bytes that a store takes on the device, over those of so many keys and values.
    pub(crate) fn disk(&self, path: &Path, keys: u64) -> f64 {
        ratio(bytes_on_disk(path), keys * (KEY + VALUE) as u64)
    }
}

pub(crate) fn path_of(kind: &Kind, directory: &Path) -> PathBuf {
    directory.join(kind.name)
}

type Lookup<'a> = &'a (dyn Fn(&[Key]) -> Result<Option<u64>> + Sync);

fn on_two_threads(keys: &[Key], look_up: Lookup<'_>) -> Result<Option<u64>> {
    let (first, second) = keys.split_at(keys.len() / 2);
    thread::scope(|scope| {
        let other = scope.spawn(|| look_up(second));
        let found = look_up(first)?;
        let other = other.join().expect("no panic in a lookup")?;
        Ok(found.zip(other).map(|(found, other)| found + other))
    })
}

fn bytes_on_disk(path: &Path) -> u64 {
    let Ok(metadata) = fs::symlink_metadata(path) else { return 0 };
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let below: u64 = entries.map(|entry| bytes_on_disk(&entry.path())).sum();
    if metadata.is_file() { metadata.blocks() * 512 } else { below }
}

/// Memory of this process that no file is behind, in bytes.
fn anonymous_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}

fn processor(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}
