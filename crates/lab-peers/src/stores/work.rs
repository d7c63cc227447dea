//! The work that every store is given, and its costs.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use lab::measure::memory;

use crate::Cli;
use crate::items::{GROUP, KEY, Key, PREFIX, VALUE, key, random, random_keys};
use crate::output::{Output, Stopwatch};
use crate::peer::{Kind, Level, Peer};

/// Puts in a synced batch.
const BATCH: u64 = 1000;
/// Deletes in a transaction.
const DELETES: usize = 1000;
/// The course of the first lookups; those after them have the numbers from 0.
const FIRST: u64 = 1 << 20;

pub(crate) struct Work<'a> {
    cli: &'a Cli,
    directory: &'a Path,
    pub(crate) keys: u64,
    /// How long puts one by one go on at most, and reading while another thread writes.
    pub(crate) seconds: Duration,
    pub(crate) output: Output,
}

/// A way to look keys up.
struct Way {
    name: &'static str,
    /// Returns how many keys are there, unless the store cannot do it in this way.
    look_up: fn(&dyn Peer, &[Key]) -> Result<Option<u64>>,
    by_two_threads: bool,
}

const WAYS: [Way; 4] = [
    Way { name: "get", look_up: |peer, keys| peer.get(keys).map(Some), by_two_threads: false },
    Way {
        name: "get on 2 threads",
        look_up: |peer, keys| peer.get(keys).map(Some),
        by_two_threads: true,
    },
    Way { name: "get many", look_up: |peer, keys| peer.get_many(keys), by_two_threads: false },
    Way {
        name: "get many on 2 threads",
        look_up: |peer, keys| peer.get_many(keys),
        by_two_threads: true,
    },
];

impl<'a> Work<'a> {
    pub(crate) fn new(cli: &'a Cli, directory: &'a Path) -> Self {
        let (keys, seconds) = (cli.keys, Duration::from_secs(cli.seconds));
        Self { cli, directory, keys, seconds, output: Output::new(keys) }
    }

    pub(crate) fn path_of(&self, kind: &Kind) -> PathBuf {
        self.directory.join(kind.name)
    }

    /// A new store, with puts that are on the device when they return: one by one, and as many
    /// batches.
    pub(crate) fn put_synced(&mut self, kind: &Kind) -> Result<()> {
        let (peer, path) = self.create(kind, "-synced", Level::Durable)?;
        // The first one makes files.
        peer.put(&[u64::MAX / 2], true)?;
        let count = self.cli.synced;
        let mut add = |measure, puts, time: Instant| {
            self.output.add_rate(kind.name, measure, puts, time.elapsed());
        };
        let start = Instant::now();
        (0..count).try_for_each(|n| peer.put(&[n], true))?;
        add("synced puts, one by one", count, start);
        let start = Instant::now();
        (1..=count).try_for_each(|n| {
            let numbers: Vec<u64> = (n * BATCH..(n + 1) * BATCH).collect();
            peer.put(&numbers, true)
        })?;
        add("synced puts, batches of 1000", count * BATCH, start);
        drop(peer);
        Ok(fs::remove_dir_all(path)?)
    }

    /// Another new store, in transactions of one put each, until it has all keys or the time is up.
    pub(crate) fn put_one_by_one(&mut self, kind: &Kind) -> Result<()> {
        let (peer, path) = self.create(kind, "-one-by-one", Level::Relaxed)?;
        let watch = Stopwatch::of_process();
        let (count, longest) =
            self.put_while(&*peer, |count| (count < self.keys).then_some(count))?;
        self.output.add_rates(kind.name, "puts one by one", count, &watch);
        self.output.add_time(kind.name, "longest put", longest);
        drop(peer);
        Ok(fs::remove_dir_all(path)?)
    }

    fn create(&self, kind: &Kind, end: &str, level: Level) -> Result<(Box<dyn Peer>, PathBuf)> {
        let path = self.directory.join(format!("{}{end}", kind.name));
        fs::create_dir(&path)?;
        Ok((kind.open(&path, level)?, path))
    }

    /// Loads a new store in transactions of many puts, and syncs nothing meanwhile; then
    /// looks up some of the keys, for the first time.
    pub(crate) fn load(&mut self, kind: &Kind) -> Result<Box<dyn Peer>> {
        let mut numbers: Vec<u64> = (0..self.keys).collect();
        if self.cli.sorted {
            numbers.sort_unstable_by_key(|&n| key(n));
        }
        // Memory that no file is behind.
        let before = memory("RssAnon");
        let (peer, _) = self.create(kind, "", Level::Relaxed)?;
        let (watch, mut longest) = (Stopwatch::of_process(), Duration::ZERO);
        for numbers in numbers.chunks(self.cli.batch) {
            let begin = Instant::now();
            peer.put(numbers, false)?;
            longest = longest.max(begin.elapsed());
        }
        self.output.add_rates(kind.name, "load", self.keys, &watch);
        self.output.add_time(kind.name, "longest transaction of the load", longest);
        let memory = ratio(memory("RssAnon").saturating_sub(before), self.keys);
        self.output.add(kind.name, "memory after load", "bytes a key", memory);
        if let Some(bytes) = peer.index_bytes() {
            self.output.add(kind.name, "index", "bytes a key", ratio(bytes, self.keys));
        }
        let keys = random_keys(self.keys, self.cli.lookups, FIRST, 0);
        let expected = self.cli.lookups;
        let which = "present, first after the load";
        self.look_up_in(kind, &*peer, &WAYS[0], which, &keys, expected)?;
        Ok(peer)
    }

    /// All stores in turns, round after round.
    pub(crate) fn look_up(&mut self, kinds: &[Kind], peers: &[Box<dyn Peer>]) -> Result<()> {
        for run in 0..self.cli.runs {
            for (absent, name) in [(false, "present"), (true, "absent")] {
                let add = if absent { self.keys } else { 0 };
                let lookups = self.cli.lookups;
                let keys = random_keys(self.keys, lookups, run * 2 + u64::from(absent), add);
                let expected = if absent { 0 } else { lookups };
                for (kind, peer) in kinds.iter().zip(peers) {
                    for way in &WAYS {
                        self.look_up_in(kind, &**peer, way, name, &keys, expected)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// All stores in turns scan for keys with the same prefix, and then put one before each scan.
    pub(crate) fn scan(&mut self, kinds: &[Kind], peers: &[Box<dyn Peer>]) -> Result<()> {
        let groups = self.keys / GROUP;
        for run in (0..self.cli.runs).filter(|_| self.cli.scans > 0) {
            for (kind, peer) in kinds.iter().zip(peers) {
                for (measure, puts) in [("scan of 256", false), ("put, then scan of 256", true)] {
                    let watch = Stopwatch::of_process();
                    for i in 0..self.cli.scans {
                        let n = random(groups, i, FIRST + run);
                        if puts {
                            peer.put(&[random(self.keys, i, FIRST - 1 - run)], false)?;
                        }
                        let Some(found) = peer.scan(&key(n)[..PREFIX])? else { break };
                        let (name, expected) = (kind.name, (self.keys - n).div_ceil(groups));
                        ensure!(found == expected, "{name} found {found} of {expected} keys");
                        if i + 1 == self.cli.scans {
                            self.output.add_rates(name, measure, i + 1, &watch);
                        }
                    }
                }
                if let Some(bytes) = peer.index_bytes() {
                    let bytes = ratio(bytes, self.keys);
                    self.output.add(kind.name, "index after scans", "bytes a key", bytes);
                }
            }
        }
        Ok(())
    }

    fn look_up_in(
        &mut self,
        kind: &Kind,
        peer: &dyn Peer,
        way: &Way,
        which: &str,
        keys: &[Key],
        expected: u64,
    ) -> Result<()> {
        let (watch, look_up) = (Stopwatch::of_thread(), way.look_up);
        let found = if way.by_two_threads {
            let (first, second) = keys.split_at(keys.len() / 2);
            thread::scope(|scope| {
                let other = scope.spawn(|| look_up(peer, second));
                let found = look_up(peer, first)?;
                let other = other.join().expect("no panic in a lookup")?;
                Ok::<_, anyhow::Error>(found.zip(other).map(|(found, other)| found + other))
            })?
        } else {
            look_up(peer, keys)?
        };
        let Some(found) = found else { return Ok(()) };
        let (measure, count) = (format!("{}, {which}", way.name), keys.len() as u64);
        if way.by_two_threads {
            self.output.add_rate(kind.name, &measure, count, watch.clock());
        } else {
            self.output.add_rates(kind.name, &measure, count, &watch);
        }
        ensure!(found == expected, "{} found {found} of {expected} keys", kind.name);
        Ok(())
    }

    /// Opens a store that is closed; our own also without its checkpoint.
    pub(crate) fn reopen(&mut self, kind: &Kind) -> Result<()> {
        let path = self.path_of(kind);
        self.output.add(kind.name, "disk after load", "of logical", self.disk(&path, self.keys));
        self.timed_open(kind, &path, "reopen")?;
        let checkpoint = path.join("CHECKPOINT");
        if checkpoint.exists() {
            fs::remove_file(checkpoint)?;
            self.timed_open(kind, &path, "reopen from the log alone")?;
        }
        Ok(())
    }

    fn timed_open(&mut self, kind: &Kind, path: &Path, measure: &str) -> Result<()> {
        let watch = Stopwatch::of_process();
        let peer = kind.open(path, Level::Relaxed)?;
        ensure!(peer.get(&[key(0)])? == 1, "{} lost its first key", kind.name);
        let (time, processor) = (watch.clock(), watch.processor());
        self.output.add_time(kind.name, measure, time);
        self.output.add_time(kind.name, &format!("{measure}, of processor"), processor);
        self.output.add_rate(kind.name, &format!("{measure}, records"), self.keys, time);
        Ok(())
    }

    /// Removes every second key; the last thing that is done to a store.
    pub(crate) fn delete_half(&mut self, kind: &Kind) -> Result<()> {
        let path = self.path_of(kind);
        let mut peer = kind.open(&path, Level::Relaxed)?;
        let start = Instant::now();
        let keys: Vec<Key> = (0..self.keys).step_by(2).map(key).collect();
        keys.chunks(DELETES).try_for_each(|keys| peer.delete(keys))?;
        let (live, measure) = (self.keys / 2, "of live data");
        self.output.add_rate(kind.name, "delete half", live, start.elapsed());
        self.output.add(kind.name, "disk after deletes", measure, self.disk(&path, live));
        let start = Instant::now();
        if peer.compact()? {
            self.output.add_time(kind.name, "compaction", start.elapsed());
        }
        let keys: Vec<Key> = (0..self.keys.min(10_000)).map(key).collect();
        ensure!(peer.get(&keys)? == keys.len() as u64 / 2, "{} has other keys", kind.name);
        drop(peer);
        self.output.add(kind.name, "disk after compaction", measure, self.disk(&path, live));
        Ok(fs::remove_dir_all(path)?)
    }

    /// Bytes that a store takes on the device, over those of as many keys and values.
    pub(crate) fn disk(&self, path: &Path, keys: u64) -> f64 {
        ratio(bytes_on_disk(path), keys * (KEY + VALUE) as u64)
    }
}

fn bytes_on_disk(path: &Path) -> u64 {
    let Ok(metadata) = fs::symlink_metadata(path) else { return 0 };
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let below: u64 = entries.map(|entry| bytes_on_disk(&entry.path())).sum();
    if metadata.is_file() { metadata.blocks() * 512 } else { below }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}
