//! ASCII eight bytes at a time, in words whose lowest byte is the first. For words with other bytes
//! the results are useless, but well defined.

/// Bytes of a word.
pub(crate) const CHUNK: usize = 8;

const ONES: u64 = u64::MAX / 255;

/// The highest bit of each byte, which words of ASCII lack.
const HIGH: u64 = ONES << 7;

/// The eight bytes of a text before `end`, or fewer behind zeros.
#[inline(always)]
pub(crate) fn word_before(text: &[u8], end: usize) -> u64 {
    if let Some(last) = text[..end].last_chunk::<CHUNK>() {
        return u64::from_le_bytes(*last);
    }
    if let Some(first) = text.first_chunk::<CHUNK>() {
        return u64::from_le_bytes(*first) << (8 * (CHUNK - end));
    }
    text[..end].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
        << (8 * (CHUNK - end))
}

/// The highest bit of each byte that is greater than this one; other bits might be set too.
#[inline(always)]
fn above(word: u64, byte: u8) -> u64 {
    word.wrapping_add(ONES * u64::from(0x7f - byte))
}

/// The highest bit of each byte from `first` to `last`.
#[inline(always)]
fn between(word: u64, first: u8, last: u8) -> u64 {
    (above(word, first - 1) ^ above(word, last)) & HIGH
}

/// The highest bit of each byte that is this one.
#[inline(always)]
pub(crate) fn equal(word: u64, byte: u8) -> u64 {
    !above(word ^ (ONES * u64::from(byte)), 0) & HIGH
}

/// Letters in lower case.
#[inline(always)]
pub(crate) fn lower(word: u64) -> u64 {
    word | (between(word, b'A', b'Z') >> 2)
}

/// Calls `each` with the words that a text has, until it returns `false`, and with the highest bits
/// of the bytes that are the text's; returns whether it reached the end.
#[inline(always)]
fn all(text: &[u8], mut each: impl FnMut(usize, u64) -> bool) -> bool {
    let mut end = text.len();
    while end >= CHUNK {
        if !each(end, HIGH) {
            return false;
        }
        end -= CHUNK;
    }
    end == 0 || each(end, HIGH << (8 * (CHUNK - end)))
}

/// Whether a text is equal to another that is ASCII and in lower case.
#[inline]
pub(crate) fn is_lowered(text: &[u8], lowered: &[u8]) -> bool {
    text.len() == lowered.len()
        && all(text, |end, _| lower(word_before(text, end)) == word_before(lowered, end))
}

/// Whether a text has nothing but ASCII letters, digits, and `-`, `.` and `_`.
#[inline]
pub(crate) fn is_name(text: &[u8]) -> bool {
    all(text, |end, wanted| {
        let word = lower(word_before(text, end));
        let are_in = between(word, b'a', b'z')
            | between(word, b'0', b'9')
            | between(word, b'-', b'.')
            | between(word, b'_', b'_');
        word & HIGH == 0 && are_in & wanted == wanted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_lowered_and_nothing_else() {
        for byte in 0..0x80 {
            let word = u64::from_le_bytes([byte, b'x', byte, byte, b'.', byte, 0, 0x7f]);
            assert_eq!(lower(word).to_le_bytes()[0], byte.to_ascii_lowercase());
            assert_eq!(lower(word).to_le_bytes()[5..], [byte.to_ascii_lowercase(), 0, 0x7f]);
            let dot = if byte == b'.' { 0x80 } else { 0 };
            assert_eq!(equal(word, b'.').to_le_bytes(), [dot, 0, dot, dot, 0x80, dot, 0, 0]);
        }
    }

    /// Every byte at every place of texts of any length.
    #[test]
    fn texts_are_as_bytes_say() {
        for len in 1..20 {
            for (at, byte) in (0..len).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
                let mut text = vec![b'Q'; len];
                text[at] = byte;
                let is_one = byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
                assert_eq!(is_name(&text), is_one, "{text:?}");
                let mut lowered = text.to_ascii_lowercase();
                lowered[at] &= 0x7f;
                assert_eq!(is_lowered(&text, &lowered), byte.is_ascii(), "{text:?}");
                lowered[at] = lowered[at].wrapping_add(1);
                assert!(!is_lowered(&text, &lowered), "{text:?}");
                assert!(!is_lowered(&text, &lowered[1..]));
            }
        }
        assert!(is_name(b"") && is_lowered(b"", b""));
    }
}
