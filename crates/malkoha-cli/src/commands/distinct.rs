//! Reducing lines to hashes, each once.

use anyhow::Result;
use malkoha::KeyHasher;

use crate::input::Inputs;
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
        progress: &Progress,
    ) -> Result<Self> {
        let mut hashes = Vec::new();
        inputs.for_each_batch(progress, |batch| {
            hashes.extend(batch.iter().map(|line| hasher.hash_bytes(line)));
            Ok(())
        })?;
        let lines = hashes.len() as u64;
        hashes.sort_unstable();
        if !copies {
            hashes.dedup();
        }
        Ok(Self { hashes, lines })
    }

    pub(super) fn len(&self) -> u64 {
        self.hashes.len() as u64
    }
}
