//! Looking up: one key, or many with the lines of the next ones on their way.

use super::codec::Codec;
use super::matches::{Match, Matches};
use super::table::{GrowTable, Target, with_codec};
use crate::arch::prefetch;
use crate::layout::bits::Word;

/// Keys whose lines are on their way in a batch.
const RING: usize = 64;

impl GrowTable {
    #[inline]
    pub(super) fn contains(&self, hash: u64) -> bool {
        let target = self.target(hash);
        let bytes = &*self.segments[target.number()];
        with_codec!(&self.kernel, codec => {
            let [first, second] = self.bits_of(codec.width, &target).map(|bit| codec.load(bytes, bit));
            codec.contains(first, second, target.fingerprint)
        })
    }

    /// The slots that match.
    #[inline]
    pub(super) fn find(&self, target: &Target) -> Matches {
        let number = target.number();
        let bytes = &*self.segments[number];
        let mut found = Matches::default();
        with_codec!(&self.kernel, codec => {
            let segment = self.segment(codec, number);
            segment.for_each_match(bytes, target.places, target.fingerprint, |at| {
                let (fingerprint, value) = (segment.fingerprint(bytes, at), segment.value(bytes, at));
                found.push(Match { fingerprint, value, at });
            });
        });
        found
    }

    pub(super) fn count(&self, hash: u64) -> u64 {
        let target = self.target(hash);
        let found = self.find(&target);
        found.longest().map_or(0, |fingerprint| {
            let spilled = self.spill.count(&target.spill_key(fingerprint, 0));
            spilled + u64::from(found.copies(fingerprint))
        })
    }

    /// The values of the slots that match, and of their spilled copies.
    #[inline]
    pub(super) fn get(&self, hash: u64) -> impl Iterator<Item = u64> {
        let target = self.target(hash);
        let found = self.find(&target);
        let spilled = if self.spill.is_empty() { Matches::default() } else { found };
        let spilled = spilled.fingerprints();
        let spilled = spilled.flat_map(move |found| self.spill.values(target.spill_key(found, 0)));
        found.values().chain(spilled)
    }

    /// Asks for the lines of a key.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        let target = self.target(hash);
        let bytes = &*self.segments[target.number()];
        for bit in self.bits_of(self.kernel.width(), &target) {
            prefetch(bytes, bit >> 3);
        }
    }

    /// Whether each hash's fingerprint is in, with the lines of the next keys on their way.
    pub(super) fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        with_codec!(&self.kernel, codec => self.contains_batch_in(codec, hashes, found));
    }

    fn contains_batch_in<W: Word>(&self, codec: &Codec<W>, hashes: &[u64], found: &mut [bool]) {
        let mut ring: [(&[u8], [u64; 2], u64); RING] = [(&[], [0; 2], 0); RING];
        for i in 0..hashes.len() + RING {
            let aimed = ring[i % RING];
            if let Some(&hash) = hashes.get(i) {
                let target = self.target(hash);
                let bytes = &*self.segments[target.number()];
                let bits = self.bits_of(codec.width, &target);
                prefetch(bytes, bits[0] >> 3);
                prefetch(bytes, bits[1] >> 3);
                ring[i % RING] = (bytes, bits, target.fingerprint);
            }
            if let Some(i) = i.checked_sub(RING) {
                let (bytes, bits, fingerprint) = aimed;
                let [first, second] = bits.map(|bit| codec.load(bytes, bit));
                found[i] = codec.contains(first, second, fingerprint);
            }
        }
    }

    /// Calls `each` with the position of a hash and a value of it.
    pub(super) fn get_batch(&self, hashes: &[u64], mut each: impl FnMut(usize, u64)) {
        for &hash in &hashes[..hashes.len().min(RING)] {
            self.prefetch(hash);
        }
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i + RING) {
                self.prefetch(later);
            }
            self.get(hash).for_each(|value| each(i, value));
        }
    }
}
