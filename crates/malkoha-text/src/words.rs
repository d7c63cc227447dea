//! From a text to its words: what two texts must share to be similar.

use std::borrow::Cow;

use unicase::UniCase;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Bytes that are looked at together.
const CHUNK: usize = u64::BITS as usize;

/// Calls `each` with the words of a text, in order: its longest runs of letters, their marks and
/// digits, with Unicode's full case folding (`ß` is `ss`) in normalization form C. Braille patterns
/// are letters. Punctuation, other symbols (emoji too) and white space separate words and have no
/// other effect.
///
/// Chinese, Japanese, Thai, Lao, Khmer and Burmese do not separate words, so each character of
/// their scripts is a word.
///
/// ```
/// let mut words = Vec::new();
/// malkoha_text::words("“Don't” — 杜鵑 CUCKOOS!", |word| words.push(word.to_owned()));
/// assert_eq!(words, ["don", "t", "杜", "鵑", "cuckoos"]);
/// ```
pub fn words(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    let mut rest = text;
    // Most text is ASCII, which needs neither tables nor decoding.
    while let Some(at) = first_other(rest) {
        // A letter can combine with the character after it, so the word before it waits.
        let start = rest[..at].rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        ascii_words(&rest[..start], &mut word, &mut each);
        let after = &rest[start..];
        let end = after.find(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric());
        let (run, later) = after.split_at(end.unwrap_or(after.len()));
        any_words(run, &mut word, &mut each);
        rest = later;
    }
    ascii_words(rest, &mut word, &mut each);
}

/// Where the first character that is not ASCII begins.
fn first_other(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    // Whole chunks first, by vector instructions.
    let before: usize = bytes.chunks(CHUNK).take_while(|c| c.is_ascii()).map(<[u8]>::len).sum();
    let after = bytes[before..].iter().position(|byte| !byte.is_ascii());
    after.map(|at| before + at)
}

/// The words of ASCII characters. `lower` is memory to use.
fn ascii_words(text: &str, lower: &mut String, each: &mut impl FnMut(&str)) {
    // All at once, by vector instructions.
    lower.clear();
    lower.push_str(text);
    lower.make_ascii_lowercase();
    let (mut start, mut was_inside) = (0, false);
    for (number, chunk) in lower.as_bytes().chunks(CHUNK).enumerate() {
        let inside = inside_words(chunk);
        // A bit for each byte at which a word begins or has just ended.
        let mut edges = inside ^ (inside << 1 | u64::from(was_inside));
        while edges != 0 {
            let at = number * CHUNK + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            if was_inside {
                each(&lower[start..at]);
            }
            (start, was_inside) = (at, !was_inside);
        }
    }
    if was_inside {
        each(&lower[start..]);
    }
}

/// A bit for each of at most [`CHUNK`] ASCII bytes: whether it is a digit or a small letter.
fn inside_words(bytes: &[u8]) -> u64 {
    const fn all(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let mut padded = [0; CHUNK];
    padded[..bytes.len()].copy_from_slice(bytes);
    let (words, _) = padded.as_chunks::<8>();
    words.iter().rev().fold(0, |mask, word| {
        let word = u64::from_le_bytes(*word);
        // The highest bit of each byte: no sum of ASCII reaches the next byte.
        let within = |first, last| (word + all(0x80 - first)) & !(word + all(0x7f - last));
        let found = (within(b'a', b'z') | within(b'0', b'9')) & all(0x80);
        // The product collects these bits in its highest byte.
        mask << 8 | (found >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

/// The words of any characters. A word ends with them.
fn any_words(text: &str, word: &mut String, each: &mut impl FnMut(&str)) {
    word.clear();
    let folded = UniCase::unicode(composed(text)).to_folded_case();
    for c in composed(&folded).chars() {
        let alone = is_word(c);
        // A dot above and the like, which has no composed form with its letter.
        let is_mark = !alone && is_combining_mark(c) && !word.is_empty();
        let is_inside = is_letter(c) || is_mark;
        if (alone || !is_inside) && !word.is_empty() {
            each(word);
            word.clear();
        }
        if alone {
            each(c.encode_utf8(&mut [0; 4]));
        } else if is_inside {
            word.push(c);
        }
    }
    if !word.is_empty() {
        each(word);
    }
}

fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}

/// Whether words have the character, which might be a digit.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{2801}'..='\u{28ff}')
}

/// Whether a character belongs to a script that does not separate words.
fn is_word(c: char) -> bool {
    matches!(c,
        // Thai and Lao, Burmese, Khmer.
        '\u{0e01}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        // Kana, ideographs and their extensions.
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words_of(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        words(text, |word| all.push(word.to_owned()));
        all
    }

    /// The definition, without the shortcuts.
    fn oracle(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        any_words(text, &mut String::new(), &mut |word: &str| all.push(word.to_owned()));
        all
    }

    #[test]
    fn words_ignore_case_punctuation_space_and_composition() {
        for (text, expected) in [
            ("", &[][..]),
            (" \t\n.,;-", &[]),
            ("One, two;THREE", &["one", "two", "three"]),
            ("caf\u{e9} cafe\u{301} CAFE\u{301}S", &["caf\u{e9}", "caf\u{e9}", "caf\u{e9}s"]),
            ("x1 2y", &["x1", "2y"]),
            ("Straße STRASSE ÅNGSTRÖM", &["strasse", "strasse", "ångström"]),
            (
                "İZMİR i\u{307}zmi\u{307}r \u{307}x",
                &["i\u{307}zmi\u{307}r", "i\u{307}zmi\u{307}r", "x"],
            ),
            ("\u{212a}m ﬁn", &["km", "fin"]),
            ("东京tower", &["东", "京", "tower"]),
            ("Дрозд—птица", &["дрозд", "птица"]),
            ("ΟΔΟΣ οδος", &["οδοσ", "οδοσ"]),
            ("⠅⠕⠑⠇⠀⠅ 😢", &["⠅⠕⠑⠇", "⠅"]),
        ] {
            assert_eq!(words_of(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn ascii_and_other_runs_are_one_text(text in "[ -~éÉ\u{301}\u{307}杜ßİςΣ\u{c5}\u{212b}\u{345}.]{0,60}") {
            prop_assert_eq!(words_of(&text), oracle(&text));
        }

        /// Words across the ends of chunks, and every ASCII character.
        #[test]
        fn long_ascii_texts_have_their_words(text in "([a-zA-Z0-9]{0,70}[\0-\x7f]é?){0,20}") {
            prop_assert_eq!(words_of(&text), oracle(&text));
        }
    }
}
