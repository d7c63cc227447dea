//! The bits of a hash that a table of one segment keeps, so that few keys can wait elsewhere until
//! they are worth a table.

use super::grid::{KeyBits, MIX_BITS, PLACE_BITS};
use super::table::Growing;
use super::widths::MAX_BITS;
use crate::addressing::{LOW_32, MIX};

/// The bits of a hash that a growing filter keeps before its first split: the lower of its two
/// places, and as many bits of its string as a fingerprint has. A program that keeps these bits of
/// a few items instead of a filter can insert them later, as hashes: the filter then finds the
/// items, counts them, and grows as if they had been inserted at once. They must come before it
/// splits: fingerprints in deeper segments have bits of which nothing was kept, and such an item
/// may not be found.
///
/// ```
/// use malkoha::{GrowableCuckooFilter, Key};
///
/// let mut seen = GrowableCuckooFilter::with_capacity(10, 0.01)?;
/// let bits = seen.kept_bits().expect("one segment");
/// let waiting = ["koel", "magpie"].map(|word| bits.of(seen.hasher().hash_bytes(word.as_bytes())));
/// for kept in waiting {
///     assert!(kept < 1 << bits.count());
///     seen.insert_hash(bits.hash(kept))?;
/// }
/// assert!(seen.contains("koel") && seen.count("magpie") == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptBits {
    of_string: u32,
}

/// The number whose product with [`MIX`] is 1.
const INVERSE: u64 = 0xf1de_83e1_9937_733d;
const _: () = assert!(MIX.wrapping_mul(INVERSE) == 1);

impl KeptBits {
    /// For filters whose fingerprints have this many bits; `None` if none have.
    #[must_use]
    pub fn of_fingerprints(bits: u32) -> Option<Self> {
        (MIX_BITS..=MAX_BITS).contains(&bits).then_some(Self { of_string: bits })
    }

    /// How many there are: at most 42.
    #[must_use]
    pub const fn count(self) -> u32 {
        PLACE_BITS + self.of_string
    }

    /// The kept bits of a hash.
    #[must_use]
    pub fn of(self, hash: u64) -> u64 {
        let key = KeyBits::of(hash);
        let [first, second] = key.places;
        first.min(second) << self.of_string | key.string >> (u64::BITS - self.of_string)
    }

    /// A hash of which just this is kept.
    #[must_use]
    pub const fn hash(self, kept: u64) -> u64 {
        let place = kept >> self.of_string << (32 - PLACE_BITS);
        let string = kept << (u64::BITS - self.of_string);
        // The low half of the string decides on that of the hash, which the place is in.
        (string | place.wrapping_mul(MIX) & LOW_32).wrapping_mul(INVERSE)
    }
}

impl Growing {
    pub(crate) fn kept_bits(&self) -> Option<KeptBits> {
        let bits = KeptBits::of_fingerprints(self.shape.widths.at(0));
        bits.filter(|_| self.segments() == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GrowableCuckooFilter;

    /// Of filters of many rates: what is kept is all that they know of a key, now and when they
    /// have grown.
    #[test]
    fn filters_know_no_more_of_a_key() {
        for rate in [0.2, 0.01, 1e-4, 1e-6] {
            let built = || GrowableCuckooFilter::with_capacity(32, rate).unwrap();
            let (mut filter, mut other) = (built(), built());
            let bits = filter.kept_bits().unwrap();
            assert_eq!(bits.count(), 12 + filter.fingerprint_bits());
            let hashes: Vec<u64> = (1..=if cfg!(miri) { 40 } else { 40_000_u64 })
                .map(|n| n.wrapping_mul(MIX))
                .collect();
            for (n, &hash) in hashes.iter().enumerate() {
                let kept = bits.of(hash);
                assert!(kept >> bits.count() == 0 && bits.of(bits.hash(kept)) == kept);
                filter.insert_hash(hash).unwrap();
                other.insert_hash(if n < 40 { bits.hash(kept) } else { hash }).unwrap();
            }
            for &hash in &hashes {
                assert_eq!(filter.count_hash(hash), other.count_hash(hash), "{rate}");
            }
            for &hash in &hashes {
                assert!(other.remove_hash(hash));
            }
            assert!(other.is_empty());
        }
    }
}
