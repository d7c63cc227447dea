//! Reducing lines to hashes, each once.

use std::thread;

use anyhow::Result;
use malkoha::KeyHasher;

use crate::input::{Inputs, split};
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;

/// The hashes of a set of lines, 8 bytes each.
pub(super) struct Hashes {
    pub(super) hashes: Vec<u64>,
    /// Lines that were read, repetitions included.
    pub(super) lines: u64,
}

impl Hashes {
    /// Hashes all lines of the input. Unless `copies` are wanted, equal lines count once, which
    /// equal hashes tell: two different lines have the same 64 bits once in n^2 / 2^65 lists.
    ///
    /// The hashes are sorted then, so that the table is filled from one end to the other.
    pub(super) fn read(
        inputs: &Inputs,
        hasher: KeyHasher,
        copies: bool,
        threads: usize,
        progress: &Progress,
    ) -> Result<Self> {
        let separator = inputs.separator();
        let work = move |lines: &[u8], hashes: &mut Vec<u64>| {
            split(lines, separator, |batch| {
                hashes.extend(batch.iter().map(|line| hasher.hash_bytes(line)));
                Ok(())
            })
        };
        let All(mut hashes) = in_order(inputs, progress, threads, work, All(Vec::new()))?;
        let lines = hashes.len() as u64;
        sort(&mut hashes, threads);
        if !copies {
            hashes.dedup();
        }
        Ok(Self { hashes, lines })
    }

    pub(super) fn len(&self) -> u64 {
        self.hashes.len() as u64
    }
}

/// The hashes of all blocks.
struct All(Vec<u64>);

impl Sink for All {
    type Made = Vec<u64>;

    fn take(&mut self, hashes: &mut Vec<u64>) -> Result<()> {
        self.0.append(hashes);
        Ok(())
    }
}

/// Fewer hashes are sorted before a thread has started.
const MIN_HASHES_A_THREAD: usize = 1 << 15;

/// Sorts on up to `threads` threads: each takes those that belong between two of them. The standard
/// library's sort is so much faster than rayon's that a pool would take a quarter longer.
fn sort(hashes: &mut [u64], threads: usize) {
    let threads = threads.min(hashes.len() / MIN_HASHES_A_THREAD);
    if threads < 2 {
        return hashes.sort_unstable();
    }
    let half = threads / 2;
    let middle = hashes.len() / threads * half;
    hashes.select_nth_unstable(middle);
    let (low, high) = hashes.split_at_mut(middle);
    thread::scope(|scope| {
        scope.spawn(|| sort(low, half));
        sort(high, threads - half);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_sorts() {
        let hasher = KeyHasher::new(1);
        // Many are equal.
        let of = |n: u32| hasher.hash_bytes(&(n % 90_000).to_le_bytes());
        let hashes: Vec<u64> = (0..300_000).map(of).collect();
        let mut expected = hashes.clone();
        expected.sort_unstable();
        for threads in [1, 2, 3, 8, 1000] {
            let mut sorted = hashes.clone();
            sort(&mut sorted, threads);
            assert!(sorted == expected, "{threads}");
        }
        sort(&mut [], 2);
    }
}
