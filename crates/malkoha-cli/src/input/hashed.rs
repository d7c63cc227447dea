//! Lines with their hashes, which the threads that hash pass to the one that decides.

use anyhow::Result;
use malkoha::KeyHasher;

use super::split;
use crate::keys::Keys;

/// A block of lines, and what the key of each hashes to.
#[derive(Default)]
pub(crate) struct Hashed {
    /// With terminators.
    text: Vec<u8>,
    /// Of the lines, without terminators.
    lens: Vec<usize>,
    pub(crate) hashes: Vec<u64>,
}

impl Hashed {
    /// Adds lines.
    pub(crate) fn fill(
        &mut self,
        text: &[u8],
        separator: u8,
        keys: &Keys,
        hasher: KeyHasher,
    ) -> Result<()> {
        self.text.extend_from_slice(text);
        split(text, separator, |batch| {
            self.lens.extend(batch.iter().map(|line| line.len()));
            keys.with(batch, |keys| {
                self.hashes.extend(keys.iter().map(|key| hasher.hash_bytes(key)));
                Ok(())
            })
        })
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.lens.iter().map(move |len| {
            let line = &self.text[start..][..*len];
            start += len + 1;
            line
        })
    }

    /// Its memory stays.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.lens.clear();
        self.hashes.clear();
    }
}
