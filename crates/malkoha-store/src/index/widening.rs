//! Room for longer locations, part by part, before they arrive.
//!
//! A segment stores locations in as many bits as its longest one needs. Hashes are spread evenly,
//! so the first thousand records behind a power of two would rebuild nearly every segment at once:
//! a pause of 20 ms in one transaction with a million keys, and proportionally more with more keys.

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

    /// A hash for each number: SplitMix64's first step is enough here.
    fn hash(n: u64) -> u64 {
        let n = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (n ^ (n >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    #[test]
    fn the_first_location_behind_a_power_of_two_rebuilds_nothing() {
        let index = Index::new().unwrap();
        for n in 0..10_000 {
            index.part_mut_of(hash(n)).insert(hash(n), n).unwrap();
        }
        let before = index.size_in_bytes();
        index.widen_ahead(12_000).unwrap();
        assert_eq!(index.size_in_bytes(), before, "too early");
        for _ in 0..2 * PARTS {
            index.widen_ahead((1 << 14) - 1).unwrap();
        }
        let widened = index.size_in_bytes();
        assert!(widened > before);
        for n in 10_000..10_010 {
            index.part_mut_of(hash(n)).insert(hash(n), 1 << 14).unwrap();
        }
        assert_eq!(index.size_in_bytes(), widened);
        for n in 0..10_000 {
            assert!(index.has(hash(n), n));
        }
    }
}
