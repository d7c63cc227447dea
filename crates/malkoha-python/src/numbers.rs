//! Integers of more than 64 bits, and decimals.

use malkoha::{Key, KeyHasher};

use crate::parts::{self, Part};

/// The two's complement of an integer of 256 bits, lowest word first.
pub(crate) type Wide = [u64; 4];

/// An integer as a word if 64 bits hold it with or without a sign; otherwise the hash of 16 bytes,
/// or of 32 if it does not fit these.
pub(crate) fn integer(words: Wide, hasher: KeyHasher) -> Part {
    let fits = |count: usize| {
        let is_negative = words[count - 1] >> 63 == 1;
        let above = &words[count..];
        above.iter().all(|&word| word == 0)
            || (is_negative && above.iter().all(|&word| word == u64::MAX))
    };
    if fits(1) {
        return Part::Word(words[0]);
    }
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Part::Hash(hasher.hash_bytes(&bytes[..if fits(2) { 16 } else { 32 }]))
}

/// The number `digits / 10^scale`: an integer if it is one and has at most 255 bits, otherwise the
/// tuple of digits and scale in lowest terms, so that a number is one key whatever its type.
pub(crate) fn decimal(digits: Wide, mut scale: i64, hasher: KeyHasher) -> Part {
    let of_two = |digits: Part, scale: i64| {
        Part::Hash(parts::tuple(&[digits.hash(hasher), scale.hash_with(hasher)], hasher))
    };
    // As the rest does it, but most are as small as this.
    if digits[1..] == [0; 3] && (scale >= 0 || digits[0] == 0) {
        let mut word = digits[0];
        while scale > 0 && word != 0 && word.is_multiple_of(10) {
            (word, scale) = (word / 10, scale - 1);
        }
        let is_integer = scale == 0 || word == 0;
        return if is_integer { Part::Word(word) } else { of_two(Part::Word(word), scale) };
    }
    let is_negative = digits[3] >> 63 == 1;
    let sign = |words| if is_negative { negated(words) } else { words };
    let mut magnitude = sign(digits);
    while scale > 0
        && let (tenth, 0) = divided_by_ten(magnitude)
    {
        (magnitude, scale) = (tenth, scale - 1);
    }
    let (mut shifted, mut left) = (magnitude, scale);
    while left < 0
        && let Some(more) = times_ten_plus(shifted, 0)
    {
        (shifted, left) = (more, left + 1);
    }
    if left == 0 {
        return integer(sign(shifted), hasher);
    }
    while let (tenth, 0) = divided_by_ten(magnitude) {
        (magnitude, scale) = (tenth, scale.saturating_sub(1));
    }
    of_two(integer(sign(magnitude), hasher), scale)
}

pub(crate) fn negated(words: Wide) -> Wide {
    let mut carry = true;
    words.map(|word| {
        let (negated, over) = (!word).overflowing_add(carry.into());
        carry = over;
        negated
    })
}

/// `None` if it has more than 255 bits.
pub(crate) fn times_ten_plus(words: Wide, digit: u8) -> Option<Wide> {
    let mut carry = u128::from(digit);
    let words = words.map(|word| {
        carry += u128::from(word) * 10;
        let [low, high] = halves(carry);
        carry = high.into();
        low
    });
    (carry == 0 && words[3] >> 63 == 0).then_some(words)
}

/// The quotient and the remainder.
fn divided_by_ten(words: Wide) -> (Wide, u64) {
    if let [word, 0, 0, 0] = words {
        return ([word / 10, 0, 0, 0], word % 10);
    }
    let (mut quotient, mut rest) = ([0; 4], 0);
    for (quotient, word) in quotient.iter_mut().zip(words).rev() {
        let dividend = u128::from(rest) << 64 | u128::from(word);
        [*quotient, _] = halves(dividend / 10);
        [rest, _] = halves(dividend % 10);
    }
    (quotient, rest)
}

#[expect(clippy::cast_possible_truncation, reason = "the halves")]
fn halves(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

/// A number of 128 bits, extended by its sign.
pub(crate) fn widened(number: i128) -> Wide {
    let [low, high] = halves(number.cast_unsigned());
    let [above, _] = halves((number >> 127).cast_unsigned());
    [low, high, above, above]
}
