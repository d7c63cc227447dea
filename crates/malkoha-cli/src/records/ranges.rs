//! Networks in words that follow each other, with masks and ends in words of their own.

use std::iter::Peekable;
use std::net::IpAddr;

use super::range::{DASH, Range, mask, network, number, range, up_to, v4};

/// The ranges of words that follow each other, with masks and ends in words of their own, and
/// whether `!` is before each. The word `joint` is between ends, too.
pub(super) fn ranges<'a>(
    words: &mut Peekable<impl Iterator<Item = &'a [u8]> + Clone>,
    joint: &'a [u8],
) -> impl Iterator<Item = (Range, bool)> {
    std::iter::from_fn(move || {
        let word = *words.peek()?;
        let mut it = range(word)?;
        words.next();
        let mut ahead = words.clone();
        let is_sign =
            |word: &&[u8]| matches!(*word, b"-" | b".." | DASH) || *word == joint || is_end(word);
        if let Some(last) = ahead.next_if(is_sign).and_then(|_| range(ahead.next()?))
            && !is_mask_of(last, it)
        {
            // Whose ends are single addresses.
            it = up_to(it, last).filter(|_| it.size() == 0 && last.size() == 0)?;
            *words = ahead;
        } else if let Range::V4(first, last) = it
            && first == last
        {
            let mut ahead = words.clone();
            let mut is_said = false;
            while ahead.next_if(|word| is_mask(word)).is_some() {
                is_said = true;
            }
            let bits = ahead.next().and_then(|word| match word.strip_prefix(b"/") {
                Some(bits) => number(bits),
                None if is_said => number(word).or_else(|| mask(v4(word)?, first)),
                None => mask(v4(word)?, first),
            });
            if bits.is_some() || is_said {
                *words = ahead;
                it = network(IpAddr::V4(first.into()), bits?)?;
            }
        }
        // Attributes of an element of a set in nftables.
        while let Some(word) = words.next_if(|word| SAID.contains(word)) {
            words.next_if(|_| word != b"counter");
        }
        Some((it, word.starts_with(b"!")))
    })
}

/// Whether an address behind a dash is a mask, as in tables of routes.
fn is_mask_of(last: Range, it: Range) -> bool {
    const MULTICAST: u32 = 224 << 24;
    match (it, last) {
        (Range::V4(it, _), Range::V4(last, _)) => last >> 24 == 255 && it < MULTICAST,
        _ => false,
    }
}

/// Whether a name, of parts as in `start-ip`, has one of these.
pub(super) fn has_part(name: &[u8], wanted: &[&str]) -> bool {
    let mut parts = name.split(|byte| b"-_:".contains(byte));
    parts.any(|part| wanted.iter().any(|it| part.eq_ignore_ascii_case(it.as_bytes())))
}

/// Words before the first address of a range.
pub(super) const STARTS: [&str; 5] = ["start", "first", "begin", "lower", "min"];

/// Words before the mask of a network.
pub(super) const MASKS: [&str; 4] = ["mask", "netmask", "hostmask", "wildcard"];

/// Whether the last address of a range follows a word.
pub(super) fn is_end(word: &[u8]) -> bool {
    has_part(word, &["end", "last", "stop", "upper", "max", "through", "thru", "until"])
}

/// Whether the mask or length of a network follows a word.
pub(super) fn is_mask(word: &[u8]) -> bool {
    let end = word.len().saturating_sub(4);
    word[end..].eq_ignore_ascii_case(b"mask")
        || has_part(word, &MASKS)
        || has_part(word, &["bits", "prefix", "prefixlen"])
}

/// Words of elements of sets; all but the first have a value behind them.
const SAID: [&[u8]; 5] = [b"counter", b"packets", b"bytes", b"timeout", b"expires"];

/// The parts between blanks, commas, semicolons, brackets of sets and quotes, except for a colon
/// alone. A dash behind an address, or before a number that no line begins with, is a word, too.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let words = line.split(|byte| {
        matches!(byte, b',' | b';' | b'{' | b'}' | b'<' | b'(' | b')' | b'"' | b'\'' | b'=')
            || byte.is_ascii_whitespace()
    });
    // Signs of tags, and no arrows.
    let is_arrow = |word: &[u8]| word == b">" || word.windows(2).any(|it| it == b"->");
    let words = words.flat_map(move |word| {
        let is_tag = word.contains(&b'>') && !is_arrow(word);
        word.split(move |&it| is_tag && it == b'>')
    });
    let is_dotted = |word: &[u8]| word.contains(&b'.') && !word.contains(&b':');
    let words = words.flat_map(move |word| match word {
        b":" => [&b""[..]; 2],
        // Of lists in brackets.
        [b'[', it @ ..] if is_dotted(it) => [it.strip_suffix(b"]").unwrap_or(it), b""],
        [it @ .., b']'] if is_dotted(it) => [it, b""],
        // An address, and not the beginning of one.
        [start @ .., b'0'..=b'9', b':'] if is_dotted(start) => [&word[..=start.len()], b""],
        [start @ .., b'0'..=b'9', b'-'] => [&word[..=start.len()], &word[start.len() + 1..]],
        [b'-', b'0'..=b'9', ..] if word.as_ptr() != line.as_ptr() => [&word[..1], &word[1..]],
        word => [word, b""],
    });
    words.filter(|word| !word.is_empty())
}
