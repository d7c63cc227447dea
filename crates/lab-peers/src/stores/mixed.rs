//! A thread that reads while another overwrites.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::items::{random, random_keys};
use crate::output::{Output, per_second};
use crate::peer::{Kind, Level, Peer};
use crate::work::{Work, millis, path_of};

/// Keys that are looked up in one transaction.
const GETS: u64 = 1000;
/// The courses of reads and writes.
const READS: u64 = 1 << 21;
const WRITES: u64 = 1 << 22;

impl Work {
    /// Opens a store such that it compacts by itself, if it can; reads and overwrites it for some
    /// seconds, one put a transaction; opens it again as it was before.
    pub(crate) fn mix(
        &self,
        kind: &Kind,
        peer: Box<dyn Peer>,
        directory: &Path,
        output: &mut Output,
    ) -> Result<Box<dyn Peer>> {
        let path = path_of(kind, directory);
        drop(peer);
        let peer = kind.open(&path, Level::Busy)?;
        let (read, written) = thread::scope(|scope| {
            let reader = scope.spawn(|| self.read(&*peer));
            let written = self.overwrite(&*peer)?;
            Ok::<_, anyhow::Error>((reader.join().expect("no panic in a lookup")?, written))
        })?;
        let name = kind.name;
        output.add(name, "mixed: gets, one thread", "/s", per_second(read.0, self.seconds));
        output.add(name, "mixed: longest 1000 gets", "ms", millis(read.1));
        output.add(
            name,
            "mixed: puts one by one, another",
            "/s",
            per_second(written.0, self.seconds),
        );
        output.add(name, "mixed: longest put", "ms", millis(written.1));
        output.add(name, "disk at the end of it", "of logical", self.disk(&path, self.keys));
        drop(peer);
        kind.open(&path, Level::Relaxed)
    }

    /// The number of lookups, and how long the longest thousand took.
    fn read(&self, peer: &dyn Peer) -> Result<(u64, Duration)> {
        let (start, mut longest, mut turn) = (Instant::now(), Duration::ZERO, 0);
        while start.elapsed() < self.seconds {
            let keys = random_keys(self.keys, GETS, READS + turn, 0);
            let begin = Instant::now();
            ensure!(peer.get(&keys)? == GETS, "a key is gone");
            longest = longest.max(begin.elapsed());
            turn += 1;
        }
        Ok((turn * GETS, longest))
    }

    /// The number of puts, and how long the longest took.
    fn overwrite(&self, peer: &dyn Peer) -> Result<(u64, Duration)> {
        let (start, mut longest, mut count) = (Instant::now(), Duration::ZERO, 0);
        while start.elapsed() < self.seconds {
            let begin = Instant::now();
            peer.put(&[random(self.keys, count, WRITES)], false)?;
            longest = longest.max(begin.elapsed());
            count += 1;
        }
        Ok((count, longest))
    }
}
