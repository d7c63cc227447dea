//! The appearance of a line's text, before its words are read.

use std::net::Ipv4Addr;

use memchr::memmem;

use super::super::blocks::has_words;
use super::super::range::{Range, network, number, range, v4};
use super::super::ranges::words;

/// A line without the sign that it goes on in the next one. A network alone does not begin such a
/// line, and the end of a comment is no sign.
pub(super) fn unended(line: &[u8], goes_on: bool) -> Option<&[u8]> {
    let text = match line {
        [text @ .., b'\\'] | [text @ .., b' ', b'`' | b'^'] => text,
        _ => return None,
    };
    let is_comment = |two: &[u8]| matches!(two, [b' ' | b'\t', b'#' | b';'] | b"//");
    let is_begun = goes_on || !starts_with_network(text);
    (is_begun && !text.windows(2).any(is_comment)).then_some(text)
}

/// The network of IPv4 that a line is, as most lists have them.
#[inline]
pub(super) fn network_alone(line: &[u8]) -> Option<Range> {
    if let Some(address) = v4(line) {
        return Some(Range::V4(address, address));
    }
    let at = memchr::memchr(b'/', line)?;
    network(Ipv4Addr::from(v4(&line[..at])?).into(), number(&line[at + 1..])?)
}

/// Whether a line has a comment of another syntax.
pub(super) fn is_remark(line: &[u8]) -> bool {
    matches!(line, [b'/', b'/' | b'*', ..] | [b'-', b'-', b' ', ..])
}

/// A range behind a name, as in lists of P2P programs.
pub(super) fn named_range(line: &[u8]) -> Option<Range> {
    let range_at = memchr::memrchr(b':', line)? + 1;
    let is_range = memchr::memchr(b'-', &line[range_at..]).is_some();
    let first = words(line).next().filter(|_| is_range)?;
    range(&line[range_at..]).filter(|_| range(first).is_none() || first.len() == line.len())
}

/// Whether a line has members of objects of JSON.
pub(super) fn is_object(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"- ").unwrap_or(line);
    let is_key = |word: &[u8]| word.len() > 1 && word.ends_with(b":");
    matches!(line, [b'{' | b'[' | b'"', ..]) && memmem::find(line, b"\":").is_some()
        || line.starts_with(b"{") && words(line).next().is_some_and(is_key)
}

/// Whether semicolons are between fields. Behind others, statements and comments begin.
pub(super) fn is_row(line: &[u8]) -> bool {
    memchr::memchr(b';', line).is_some_and(|at| {
        let is_apart = line.get(at + 1).is_none_or(u8::is_ascii_whitespace);
        !is_apart && !line[..at].trim_ascii().contains(&b' ')
    })
}

/// Whether the first word of a line that has letters or digits is a network.
pub(super) fn starts_with_network(line: &[u8]) -> bool {
    words(line).find(|it| has_words(it)).is_some_and(|it| range(it).is_some())
}
