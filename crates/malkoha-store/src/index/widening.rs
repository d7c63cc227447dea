//! Room for longer locations, part by part, before they arrive.
//!
//! A segment stores locations in as many bits as its longest one needs. Hashes are spread evenly,
//! so the first thousand records behind a power of two would rebuild nearly every segment at once:
//! a pause of 20 ms in one batch with a million keys, and proportionally more with more keys.

use std::sync::atomic::Ordering;

use super::{Index, LOCATION_BITS, PARTS};
use crate::error::Result;

/// The share of a power of two before its end in which parts are widened.
const AHEAD: u64 = 8;

impl Index {
    /// Widens a part, if one is left to be widened. Call this before each write, with the location
    /// at which the write begins, from one thread at a time.
    pub(crate) fn widen_ahead(&self, location: u64) -> Result<()> {
        let bits = u64::BITS - location.leading_zeros();
        let next = 1_u64 << bits;
        if bits >= LOCATION_BITS || location < next - next / AHEAD {
            return Ok(());
        }
        // Counts parts through all widths, and skips those that writes have already widened.
        let first = bits as usize * PARTS;
        let part = self.widened.load(Ordering::Relaxed).max(first);
        if part < first + PARTS {
            self.part_mut(part - first).reserve(0, next)?;
            self.widened.store(part + 1, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_location_behind_a_power_of_two_rebuilds_nothing() {
        let (index, hasher) = (Index::new().unwrap(), malkoha::KeyHasher::new(1));
        let hash = |n: u64| hasher.hash_bytes(&n.to_le_bytes());
        let insert = |n, location| index.part_mut_of(hash(n)).insert(hash(n), location).unwrap();
        (0..10_000).for_each(|n| insert(n, n));
        let before = index.size_in_bytes();
        index.widen_ahead(12_000).unwrap();
        assert_eq!(index.size_in_bytes(), before, "too early");
        (0..2 * PARTS).for_each(|_| index.widen_ahead((1 << 14) - 1).unwrap());
        let widened = index.size_in_bytes();
        assert!(widened > before);
        (10_000..10_010).for_each(|n| insert(n, 1 << 14));
        assert_eq!(index.size_in_bytes(), widened);
        assert!((0..10_000).all(|n| index.has(hash(n), n)));
    }
}
