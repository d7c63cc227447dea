//! A thread that reads while another overwrites.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::items::{random, random_keys};
use crate::peer::{Kind, Level, Peer};
use crate::work::Work;

/// Keys that are looked up in one transaction.
const GETS: u64 = 1000;
/// The courses of reads and writes.
const READS: u64 = 1 << 21;
const WRITES: u64 = 1 << 22;

impl Work<'_> {
    /// Opens a store such that it compacts by itself, if it can; reads and overwrites it for some
    /// seconds, one put per transaction.
    pub(crate) fn mix(&mut self, kind: &Kind) -> Result<()> {
        let (name, path) = (kind.name, self.path_of(kind));
        let peer = kind.open(&path, Level::Busy)?;
        let ((gets, longest_gets), (puts, longest_put)) = thread::scope(|scope| {
            let reader = scope.spawn(|| self.read(&*peer));
            let written = self.overwrite(&*peer)?;
            Ok::<_, anyhow::Error>((reader.join().expect("no panic in a lookup")?, written))
        })?;
        let seconds = self.seconds;
        self.output.add_rate(name, "mixed: gets, one thread", gets, seconds);
        self.output.add_time(name, "mixed: longest 1000 gets", longest_gets);
        self.output.add_rate(name, "mixed: puts one by one, another", puts, seconds);
        self.output.add_time(name, "mixed: longest put", longest_put);
        let disk = self.disk(&path, self.keys);
        self.output.add(name, "disk at the end of it", "of logical", disk);
        Ok(())
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
        self.put_while(peer, |count| Some(random(self.keys, count, WRITES)))
    }

    /// Puts the records that `next` names, one by one, until there is none or the time is up: their
    /// number, and how long the longest took.
    pub(crate) fn put_while(
        &self,
        peer: &dyn Peer,
        next: impl Fn(u64) -> Option<u64>,
    ) -> Result<(u64, Duration)> {
        let (start, mut longest, mut count) = (Instant::now(), Duration::ZERO, 0);
        while let Some(number) = next(count).filter(|_| start.elapsed() < self.seconds) {
            let begin = Instant::now();
            peer.put(&[number], false)?;
            longest = longest.max(begin.elapsed());
            count += 1;
        }
        Ok((count, longest))
    }
}
