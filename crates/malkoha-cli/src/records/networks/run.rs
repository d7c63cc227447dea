//! Networks that follow each other in a line.

use std::iter::Peekable;

use super::super::Unfit;
use super::super::range::{Range, network, number, range, up_to};
use super::super::ranges::{MASKS, STARTS, has_part, is_end, ranges};
use super::kind::{before, behind};

/// Networks, and whether each is excepted.
pub(super) type Found = Vec<(Range, bool)>;

/// A statement of a line.
#[derive(Clone, Copy, Default)]
pub(super) struct Part<'a> {
    pub(super) text: &'a [u8],
    /// Whether another one follows.
    pub(super) is_ended: bool,
    /// Whether the line is of elements of a set.
    pub(super) is_set: bool,
    /// Whether it is of members of objects.
    pub(super) is_object: bool,
}

impl<'a> Part<'a> {
    /// The networks that follow each other behind a word, if there is one, and whether `!` is
    /// before each. The word `joint` is between the ends of ranges.
    pub(super) fn networks(
        self,
        words: &mut Peekable<impl Iterator<Item = &'a [u8]> + Clone>,
        last: &[u8],
        joint: &'a [u8],
    ) -> Result<Found, Unfit> {
        let is_one = |it: &(Range, bool)| it.0.size() == 0;
        let is_column = last.is_empty() || words.peek().is_some_and(|it| is_column(self.text, it));
        let mut found: Found = ranges(words, joint).collect();
        if let [(first, false), (end, false)] = found[..]
            && first.is_v4() == end.is_v4()
            && found.iter().all(is_one)
        {
            let is_range = last.ends_with(b"range");
            // Nobody has a range from one part of the world to another.
            let is_end = words.peek().is_none() && last.is_empty();
            match up_to(first, end) {
                Some(both) if is_range || are_of_blocks(both) || first == end => {
                    found = vec![(both, false)];
                }
                Some(both) if is_column && !self.is_set && !(is_end && are_distant(both)) => {
                    return Err(Unfit::Ends);
                }
                None if is_range => return Err(Unfit::NoNetwork),
                _ => {}
            }
        }
        let is_no_host = |it: &(Range, bool)| {
            it.0.is_v4() && is_one(it) && matches!(it.0.ends().0 >> 24, 0 | 255)
        };
        let is_half = is_end(last) || has_part(last, &STARTS) || has_part(last, &MASKS);
        if found.iter().skip(1).any(is_no_host)
            || is_half && matches!(&found[..], [it] if is_one(it))
        {
            // A mask that is none or of nothing, or an end of a range whose other end is elsewhere.
            return Err(Unfit::NoNetwork);
        }
        words.next_if(|word| *word == b"/");
        let mut ahead = words.clone();
        let (next, behind) = (ahead.next().unwrap_or(b""), ahead.next().unwrap_or(b""));
        let is_part = |word: &[u8]| {
            number(word.strip_prefix(b"/").unwrap_or(word)).is_some_and(|last| last < 256)
        };
        if found.is_empty() || next.starts_with(b"255.") {
            return Err(Unfit::NoNetwork);
        }
        // As in `(15 matches)`.
        let is_in_brackets = before(self.text, next).ends_with(b"(");
        let mut is_apart = last.is_empty() || is_odd(next);
        if is_apart && next == b"-" && is_part(behind) {
            return Err(Unfit::Ends);
        }
        if let ([(it, is_not)], Some(bits @ 8..)) = (&found[..], number(next))
            && is_one(&found[0])
            && !is_in_brackets
            && let Some(network) = network(it.address(), bits)
        {
            // If the address is not the network's first one, or words follow, the number might be a
            // count.
            let is_word = |it: &[u8]| it.iter().any(u8::is_ascii_alphabetic);
            let is_said = is_word(behind) && self::behind(self.text, next).starts_with(b" ");
            if network.address() != it.address() || is_said {
                return Err(Unfit::Length);
            }
            (found, is_apart) = (vec![(network, *is_not)], true);
        }
        if is_apart && range(behind).is_some() { Err(Unfit::Scattered) } else { Ok(found) }
    }
}

/// Whether a word is a sign, or might be a host or network that was not understood.
fn is_odd(word: &[u8]) -> bool {
    !word.iter().any(u8::is_ascii_alphanumeric) || word.iter().any(|byte| b"./".contains(byte))
}

/// Whether what is before a word says that it is in a column of a table.
fn is_column(line: &[u8], word: &[u8]) -> bool {
    let before = before(line, word);
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    before.last().is_some_and(|last| b",;\t".contains(last)) && !before.ends_with(b":\t")
}

/// Whether a range is a network, or of whole blocks of 256.
pub(super) fn are_of_blocks(range: Range) -> bool {
    let (first, last) = range.ends();
    // Few neighbours are as likely themselves.
    let host = (first ^ last).max(7);
    host & host.wrapping_add(1) == 0 && first & host == 0 && last & host == host
        || first & 0xff == 0 && last & 0xff == 0xff
}

/// Whether the first parts of the first and last address differ.
pub(super) fn are_distant(range: Range) -> bool {
    let (bits, (first, last)) = (if range.is_v4() { 24 } else { 96 }, range.ends());
    first >> bits != last >> bits
}

/// Whether a word has the parts of an address, or of two, and is none: `1.2.3.300`,
/// `1.2.3.4/40000`, `1.2.3.4-1.2.3.`.
pub(super) fn is_broken(word: &[u8]) -> bool {
    // Of mail, a sender that may not; and all but a list.
    if matches!(word, [b'-' | b'~' | b'?', b'i', b'p', b'4' | b'6', b':', ..] | [b'!', b'[', ..]) {
        return true;
    }
    let word = word.strip_prefix(b"!").unwrap_or(word);
    let is_name = |name: &[u8]| name.iter().all(u8::is_ascii_alphabetic);
    let address = match memchr::memchr(b':', word) {
        Some(at) if is_name(&word[..at]) => &word[at + 1..],
        _ => word,
    };
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"./".contains(byte);
    if let [b'0'..=b'9', middle @ .., b'.'] = address
        && middle.contains(&b'-')
        && middle.iter().all(|it| is_part(it) || *it == b'-')
    {
        return true;
    }
    address.first().is_some_and(u8::is_ascii_digit)
        && address.iter().filter(|it| **it == b'.').count() == 3
        && address.iter().all(is_part)
        && range(address).is_none()
}
