//! The text of lines that begin a block.

use std::borrow::Cow;

use memchr::memmem;

/// Whether a line has a name, and behind a colon perhaps its value.
pub(crate) fn is_member(text: &[u8]) -> bool {
    let is_name = |it: &u8| it.is_ascii_alphanumeric() || b" _-".contains(it);
    let is_end = |at: usize| matches!(text[at..], [b':'] | [b':', b' ' | b'\t', ..]);
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.iter().position(|it| !is_name(it)).is_some_and(is_end)
}

/// A line without what YAML has behind names: `|`, `>-`, `&anchor`, `!!seq`.
pub(crate) fn without_signs(text: &[u8]) -> &[u8] {
    let start = text.iter().rposition(|it| it.is_ascii_whitespace()).map_or(0, |at| at + 1);
    match text[start..] {
        [b'|' | b'>' | b'&' | b'!', ..] if start > 0 => text[..start].trim_ascii_end(),
        _ => text,
    }
}

/// The quote that is behind the name of a setting, and not closed.
pub(crate) fn open_quote(text: &[u8]) -> Option<u8> {
    let (name, value) = text.split_at(memchr::memchr2(b'=', b':', text)?);
    let quote = *value[1..].trim_ascii_start().first().filter(|it| b"\"'".contains(it))?;
    let quotes = value.windows(2).filter(|it| it[1] == quote && it[0] != b'\\').count();
    (quotes % 2 == 1 && !name.contains(&quote)).then_some(quote)
}

pub(crate) fn has_words(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_alphanumeric)
}

pub(crate) fn indent(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

/// A rule without its comments for people.
pub(in super::super) fn without_texts(line: &[u8]) -> Cow<'_, [u8]> {
    let mut line = Cow::Borrowed(line);
    let is_quoted = memchr::memchr2(b'"', b'\'', &line).is_some();
    if !is_quoted && memmem::find(&line, b"comment").is_none() {
        return line;
    }
    for name in [&b"--comment"[..], b"comment", b"prefix", b"label", b"description"] {
        let Some(at) = memmem::find(&line, name).map(|at| at + name.len()) else {
            continue;
        };
        let is_end = |end: &usize| line[at + 1 + end] != b'\\';
        let end = match &line[at..] {
            [b' ' | b'=', quote @ (b'"' | b'\''), text @ ..] => {
                memchr::memchr_iter(*quote, text).find(is_end).map(|end| end + 3)
            }
            [b' ' | b'=', first, ..] if *first != b'-' && name.ends_with(b"comment") => {
                memchr::memchr(b' ', &line[at + 1..]).map(|end| end + 1)
            }
            _ => continue,
        };
        let rest = end.map_or(&b""[..], |end| &line[at + end..]);
        line = [&line[..at - name.len()], b" ", rest].concat().into();
    }
    line
}
