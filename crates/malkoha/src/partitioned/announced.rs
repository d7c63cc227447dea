//! Batches that room was made for and that are on their way into the table. A batch with the same
//! keys as they need not be made room for.

use crate::growable::New;

/// At most 512 KiB for each batch on its way, and a sixteenth of its hashes.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// Each with its number.
    batches: Vec<(u64, New)>,
    /// Batches that were looked at.
    begun: u64,
    /// Batches that are in.
    left: u64,
}

impl Announced {
    /// Returns the number of a batch, for which room may be made, and how many have left.
    pub(super) fn begin(&mut self) -> (u64, u64) {
        let number = self.begun;
        self.begun += 1;
        (number, self.left)
    }

    /// How many batches have left: their keys are in the table.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// The share of these keys that batches on their way have too.
    pub(super) fn share_of(&self, new: &New) -> f64 {
        new.share_in(self.batches.iter().map(|(_, batch)| batch))
    }

    /// Adds the new keys of the batch of this number.
    pub(super) fn add(&mut self, number: u64, new: New) {
        self.batches.push((number, new));
    }

    /// Removes what it added.
    pub(super) fn remove(&mut self, number: u64) {
        self.batches.retain(|&(batch, _)| batch != number);
        self.left += 1;
    }
}
