//! Text eight bytes at a time, in words whose lowest byte is the first.

/// Bytes of a word.
pub(super) const CHUNK: usize = 8;

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;

/// Bits that words of ASCII lack.
pub(super) const NOT_ASCII: u64 = HIGH;

/// The eight bytes of a text before `end`, or all that there are behind zeros.
#[inline(always)]
pub(super) fn word_before(text: &[u8], end: usize) -> u64 {
    if let Some(last) = text[..end].last_chunk::<CHUNK>() {
        return u64::from_le_bytes(*last);
    }
    let mut first = [0; CHUNK];
    match text.first_chunk::<CHUNK>() {
        Some(chunk) => first = *chunk,
        None => first[..end].copy_from_slice(&text[..end]),
    }
    u64::from_le_bytes(first) << (8 * (CHUNK - end))
}

/// The highest bit of each byte that is this one.
#[inline(always)]
pub(super) fn equal(word: u64, byte: u8) -> u64 {
    let other = word ^ (ONES * u64::from(byte));
    !(((other & !HIGH) + !HIGH) | other) & HIGH
}

/// The highest bit of each byte of ASCII from `first` to `last`.
#[inline(always)]
fn between(word: u64, first: u8, last: u8) -> u64 {
    let low = word & !HIGH;
    let from_first = low + ONES * u64::from(0x80 - first);
    let above_last = low + ONES * u64::from(0x7f - last);
    from_first & !above_last & !word & HIGH
}

/// ASCII letters in lower case.
#[inline(always)]
pub(super) fn lower(word: u64) -> u64 {
    word | (between(word, b'A', b'Z') >> 2)
}

/// Whether a text is equal to another that is in lower case.
#[inline]
pub(super) fn is_lowered(text: &[u8], lowered: &[u8]) -> bool {
    if text.len() != lowered.len() {
        return false;
    }
    let mut end = text.len();
    while end > 0 {
        if lower(word_before(text, end)) != word_before(lowered, end) {
            return false;
        }
        end = end.saturating_sub(CHUNK);
    }
    true
}

/// Whether a text has nothing but ASCII letters, digits, and `-`, `.` and `_`.
#[inline]
pub(super) fn is_name(text: &[u8]) -> bool {
    let mut end = text.len();
    while end > 0 {
        let word = lower(word_before(text, end));
        let are_in = between(word, b'a', b'z')
            | between(word, b'0', b'9')
            | between(word, b'-', b'.')
            | equal(word, b'_');
        // Those of zeros before the text are not counted.
        let wanted = if end >= CHUNK { HIGH } else { HIGH << (8 * (CHUNK - end)) };
        if are_in & wanted != wanted {
            return false;
        }
        end = end.saturating_sub(CHUNK);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_lowered_and_nothing_else() {
        for byte in 0..=255 {
            let word = u64::from_le_bytes([byte, b'x', byte, byte, b'.', byte, 0x80, 0xff]);
            assert_eq!(lower(word).to_le_bytes()[0], byte.to_ascii_lowercase());
            assert_eq!(lower(word).to_le_bytes()[5..], [byte.to_ascii_lowercase(), 0x80, 0xff]);
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
                assert!(is_lowered(&text, &lowered), "{text:?}");
                lowered[at] = lowered[at].wrapping_add(1);
                assert!(!is_lowered(&text, &lowered), "{text:?}");
                assert!(!is_lowered(&text, &lowered[1..]));
            }
        }
        assert!(is_name(b"") && is_lowered(b"", b""));
    }
}
