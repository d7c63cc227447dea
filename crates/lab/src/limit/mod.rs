//! The limit that memory sets: random loads and nothing else.
//!
//! A filter's lookup needs two cache lines. How many pairs of lines a core can fetch per second, in
//! a plain loop and with prefetches, is the limit that no filter of that kind can pass.

mod kernels;
pub(crate) mod writes;

use std::hint::black_box;
use std::time::Duration;

use anyhow::{Context, Result};
use memmap2::{Advice, MmapMut};

use crate::keys::Keys;
use crate::measure::{rate, timed};
use kernels::LINE_WORDS;

/// Which two lines a step loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    /// Anywhere, independent of each other.
    Two,
    /// In one segment of 384 KiB, as our filters do.
    Near,
}

/// How the loads are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Issue {
    /// One step after the other; the processor decides which overlap.
    Loop,
    /// Prefetches for this many steps, then their loads.
    Batch(usize),
    /// Each step prefetches for the one this far ahead.
    Ring(usize),
}

/// One kind of access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    lines: Lines,
    issue: Issue,
}

/// The sizes of batches and the distances of rings that are tried.
const ISSUES: [Issue; 7] = [
    Issue::Loop,
    Issue::Batch(64),
    Issue::Batch(256),
    Issue::Batch(512),
    Issue::Ring(16),
    Issue::Ring(32),
    Issue::Ring(64),
];

impl Access {
    /// Those that a filter's lookups are compared with.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let of = |lines| ISSUES.into_iter().map(move |issue| Self { lines, issue });
        of(Lines::Two).chain(of(Lines::Near))
    }

    /// Whether this is a limit for batched lookups; otherwise it is one for single lookups.
    pub(crate) fn is_prefetched(self) -> bool {
        self.issue != Issue::Loop
    }
}

/// Memory of a filter's size, every page of it written to.
pub(crate) struct Table {
    map: MmapMut,
    /// Length in 64-byte lines.
    lines: u64,
}

impl Table {
    /// A table of at least this many bytes that asks the system for huge pages, as our filters do.
    pub(crate) fn new(bytes: u64) -> Result<Self> {
        let lines = bytes.div_ceil(64).max(1);
        let length = usize::try_from(lines * 64).context("table length")?;
        let mut map = MmapMut::map_anon(length).context("memory for the limit's table")?;
        #[cfg(target_os = "linux")]
        let _ = map.advise(Advice::HugePage);
        // Pages that are only read would all map to the shared zero page.
        map.fill(0x55);
        Ok(Self { map, lines })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.lines * 64
    }

    /// Million steps per second of `access`, over `steps` keys from `first` on, made in `batch`
    /// outside the timed part. An eighth as many steps run first to warm the caches.
    pub(crate) fn rate(
        &self,
        access: Access,
        keys: Keys,
        first: u64,
        steps: u64,
        batch: &mut [u64],
    ) -> f64 {
        let (mut warm_up, mut time) = (Duration::ZERO, Duration::ZERO);
        for (time, steps) in [(&mut warm_up, steps / 8), (&mut time, steps)] {
            keys.batches(first..first + steps, batch, |batch| {
                black_box(timed(time, || self.run(access, batch)));
            });
        }
        rate(steps, time)
    }

    /// Does one step of `access` for each of the random `keys`; returns the sum of the words.
    fn run(&self, access: Access, keys: &[u64]) -> u64 {
        // SAFETY: the map is aligned to pages, any bytes are a valid `u64`, and the slice borrows
        // `self`, which nothing else writes to.
        let words = unsafe {
            std::slice::from_raw_parts(self.map.as_ptr().cast::<u64>(), self.map.len() / 8)
        };
        debug_assert_eq!(words.len() as u64, self.lines * LINE_WORDS as u64);
        match access.lines {
            Lines::Two => kernels::run(words, access.issue, keys, kernels::two(words)),
            Lines::Near => kernels::run(words, access.issue, keys, kernels::near(words)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each step loads the lines it says, however the loads are issued: the sum is known.
    #[test]
    fn every_access_loads_all_its_lines() {
        let mut keys = vec![0; 3000];
        Keys::new(5).members(0, &mut keys);
        for bytes in [64, 100_000, 1 << 20] {
            let table = Table::new(bytes).unwrap();
            for access in Access::all() {
                let expected = 0x5555_5555_5555_5555_u64.wrapping_mul(3000 * 2);
                assert_eq!(table.run(access, &keys), expected, "{access:?}, {bytes} bytes");
            }
        }
    }
}
