//! Single slots, for tools: the thesis's `ReadTags` and `WriteTags` (its table 1.2).

use super::filter::ConcurrentCuckooFilter;
use super::sync::Ordering;
use crate::locks::Locking;

impl<P: Locking> ConcurrentCuckooFilter<P> {
    /// Buckets of the whole table.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.table.space.words().len() as u64
    }

    /// Slots a bucket.
    #[must_use]
    pub fn bucket_size(&self) -> u32 {
        self.table.lanes.number()
    }

    /// The fingerprint in a slot of a bucket; 0 if it is empty, `None` if there is no such slot.
    #[must_use]
    pub fn slot(&self, bucket: u64, slot: u32) -> Option<u32> {
        let word =
            self.table.space.words().get(usize::try_from(bucket).ok()?)?.load(Ordering::Acquire);
        let exists = slot < self.bucket_size();
        // Fingerprints have at most 32 bits.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let fingerprint = exists.then(|| self.table.lanes.lane(word, slot) as u32);
        fingerprint
    }

    /// Puts a fingerprint into a slot, 0 to empty it, and answers what was there; `None`, and nothing
    /// is changed, if there is no such slot or no such fingerprint. For the filter's only owner: what
    /// is overwritten is lost, and nothing checks that the fingerprint belongs there. Copies that are
    /// kept beside the table go with the last one in it when the filter is made into one of one owner.
    pub fn set_slot(&mut self, bucket: u64, slot: u32, fingerprint: u32) -> Option<u32> {
        let before = self.slot(bucket, slot)?;
        let bits = self.geometry().fingerprint_bits;
        if u64::from(fingerprint) >> bits != 0 {
            return None;
        }
        let shift = slot * bits;
        let word = &self.table.space.words()[usize::try_from(bucket).ok()?];
        let others = self.table.lanes.without(word.load(Ordering::Relaxed), shift);
        word.store(others | u64::from(fingerprint) << shift, Ordering::Relaxed);
        self.add_to_len(i64::from(fingerprint != 0) - i64::from(before != 0));
        Some(before)
    }
}
