//! Packed arrays of bits in 64-bit words, and the arithmetic that every structure shares.

use crate::error::BuildError;

/// An odd constant (2^64 / golden ratio): multiplication by it spreads every bit upwards.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Keys in flight at a time in batches: few enough for a processor's miss queues.
pub(crate) const PREFETCH_DISTANCE: usize = 32;

/// `value * range / 2^64` for a well mixed `value`: uniform over `0..range` for any range.
#[inline(always)]
pub(crate) const fn scale(value: u64, range: u64) -> u64 {
    ((value as u128 * range as u128) >> 64) as u64
}

/// Number `which` of a family of hashes derived from one: a 64 x 64 multiplication, folded.
#[inline(always)]
pub(crate) const fn derive(hash: u64, which: u64) -> u64 {
    let salted = hash ^ (which + 1).wrapping_mul(0xd1b5_4a32_d192_ed03);
    let product = salted as u128 * MIX as u128;
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    let folded = product as u64 ^ (product >> 64) as u64;
    folded
}

/// The lowest `bits` bits set, for 1 to 64 bits.
#[inline(always)]
pub(crate) const fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// An index into memory. Whatever it indexes was allocated, so it fits.
#[inline(always)]
pub(crate) const fn index(position: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let index = position as usize;
    index
}

/// A count as a float: exact up to 2^53, then with a relative error of 2^-53.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(crate) const fn float(count: u64) -> f64 {
    count as f64
}

/// A non-negative float, rounded up, as a count; saturates.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
pub(crate) fn ceil(value: f64) -> u64 {
    value.ceil() as u64
}

/// A table of `count` equal items, or an error if it cannot be allocated.
pub(crate) fn allocate<T>(count: u64, item: impl Fn() -> T) -> Result<Vec<T>, BuildError> {
    let refused = || BuildError::Memory { bytes: count.saturating_mul(size_of::<T>() as u64) };
    let len = usize::try_from(count).map_err(|_| refused())?;
    let mut items = Vec::new();
    items.try_reserve_exact(len).map_err(|_| refused())?;
    items.resize_with(len, item);
    Ok(items)
}

/// `width` bits (1 to 64) at bit `bit`. Reads the word after the first one too, so an array has
/// one more word than its bits need.
#[inline(always)]
pub(crate) fn read(words: &[u64], bit: u64, width: u32) -> u64 {
    read_word(words, bit) & ones(width)
}

/// The 64 bits from bit `bit` on, under the same rule.
#[inline(always)]
pub(crate) fn read_word(words: &[u64], bit: u64) -> u64 {
    let (at, shift) = (index(bit >> 6), bit & 63);
    let pair = &words[at..at + 2];
    // The upper word is shifted in two steps, so that a shift of 64 gives 0; no branch.
    (pair[0] >> shift) | (pair[1] << 1 << (63 - shift))
}

/// Writes `width` bits (1 to 64) at bit `bit`, under the same rule as [`read`].
#[inline(always)]
pub(crate) fn write(words: &mut [u64], bit: u64, width: u32, value: u64) {
    let (at, shift) = (index(bit >> 6), bit & 63);
    let pair = &mut words[at..at + 2];
    let mask = ones(width);
    pair[0] = pair[0] & !(mask << shift) | value << shift;
    let above = 63 - shift;
    pair[1] = pair[1] & !(mask >> 1 >> above) | value >> 1 >> above;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pinned: keys lie in the same places on every machine.
    #[test]
    fn known_answers() {
        assert_eq!(scale(u64::MAX, 1000), 999);
        assert_eq!(scale(1 << 63, 1001), 500);
        assert_eq!(derive(0x0123_4567_89ab_cdef, 0), 0x8d51_17c2_89ea_c751);
        assert_eq!(derive(0x0123_4567_89ab_cdef, 3), 0x7c7d_289a_7630_a682);
    }
}
