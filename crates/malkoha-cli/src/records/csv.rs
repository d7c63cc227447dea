//! CSV: fields that can be quoted, and records that end with a line outside of quotes.

use std::borrow::Cow;

use anyhow::{Result, anyhow, bail};
use memchr::{memchr, memchr2};

use super::fields::Fields;
use super::form::End;
use super::split::{count, places};

/// A quote that is not closed within this many bytes is a mistake.
const MOST_BYTES: usize = 16 << 20;

/// Where the first record ends. A quote opens at the beginning of a field alone. If one is not
/// closed, or what follows it is no end of a field, and this is on a later line, then it is not
/// the quote that was meant, and the first line alone is wrong.
pub(super) fn record_end(bytes: &[u8], delimiter: u8, separator: u8, is_all: bool) -> End {
    let mut at = 0;
    let line = || memchr(separator, bytes).map(|end| end + 1);
    loop {
        // Outside of quotes.
        let Some(found) = memchr2(b'"', separator, &bytes[at..]).map(|found| at + found) else {
            return if is_all { End::Whole(bytes.len()) } else { End::Open };
        };
        at = found + 1;
        if bytes[found] == separator {
            return End::Whole(at);
        }
        let opens = found == 0 || bytes[found - 1] == delimiter;
        if !opens {
            continue;
        }
        // Within them, up to a quote that is not doubled.
        loop {
            let Some(quote) = memchr(b'"', &bytes[at..]).map(|quote| at + quote) else {
                return match line() {
                    Some(end) if is_all || bytes.len() >= MOST_BYTES => End::Wrong(end),
                    _ if is_all => End::Wrong(bytes.len()),
                    _ => End::Open,
                };
            };
            at = quote + 1;
            match bytes.get(at) {
                Some(b'"') => at += 1,
                None if !is_all => return End::Open,
                None => break,
                Some(&byte) if byte == delimiter || byte == separator || byte == b'\r' => break,
                Some(_) => match line().filter(|&end| end < at) {
                    Some(end) => return End::Wrong(end),
                    None => break,
                },
            }
        }
    }
}

/// Calls `each` with the end of each record, up to the first one with a quote that is not around a
/// field, or that is not closed: [`record_end`] is for these. Looks at 64 bytes at once.
pub(super) fn ends(
    bytes: &[u8],
    delimiter: u8,
    separator: u8,
    mut each: impl FnMut(usize) -> Result<()>,
) -> Result<()> {
    // Whether the byte before is in quotes, lets a quote open behind it, and closes one.
    let (mut is_inside, mut may_open, mut closes) = (0, 1, 0);
    let (chunks, rest) = bytes.as_chunks::<64>();
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    for (number, chunk) in chunks.iter().chain([&last]).enumerate() {
        let (quotes, ends) = (places(chunk, b'"'), places(chunk, separator));
        let between = places(chunk, delimiter) | ends;
        // An odd number of quotes is before what lies within some.
        let inside = [1, 2, 4, 8, 16, 32].iter().fold(quotes, |bits, by| bits ^ bits << by);
        let inside = inside ^ is_inside;
        let (opening, closing) = (quotes & inside, quotes & !inside);
        // A quote that closes, and one that opens directly behind it, are a doubled one.
        let wrong = opening & !((between | quotes) << 1 | may_open)
            | (closing << 1 | closes) & !(between | quotes | places(chunk, b'\r'));
        let len = if number < chunks.len() { 64 } else { rest.len() };
        let right = (wrong.trailing_zeros() as usize).min(len);
        let mut found = ends & !inside;
        while (found.trailing_zeros() as usize) < right {
            each(64 * number + found.trailing_zeros() as usize)?;
            found &= found - 1;
        }
        if right < len {
            return Ok(());
        }
        is_inside = u64::MAX * (inside >> 63);
        (may_open, closes) = ((between | quotes) >> 63, closing >> 63);
    }
    Ok(())
}

/// The fields of a record as they are written.
pub(super) fn parts(record: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(record);
    std::iter::from_fn(move || {
        let record = rest?;
        let mut at = 0;
        if record.first() == Some(&b'"') {
            at = 1;
            // Up to a quote that is not doubled.
            while let Some(quote) = memchr(b'"', &record[at..]) {
                at += quote + 1;
                if record.get(at) != Some(&b'"') {
                    break;
                }
                at += 1;
            }
        }
        let end = memchr(delimiter, &record[at..]).map(|end| at + end);
        rest = end.map(|end| &record[end + 1..]);
        Some(end.map_or(record, |end| &record[..end]))
    })
}

/// The content of a field. What follows its last quote belongs to it.
pub(super) fn unquoted(field: &[u8]) -> Cow<'_, [u8]> {
    let Some(inner) = field.strip_prefix(b"\"") else { return field.into() };
    let first = memchr(b'"', inner);
    if first.is_none_or(|quote| quote + 1 == inner.len()) {
        return inner[..first.unwrap_or(inner.len())].into();
    }
    let (mut text, mut rest) = (Vec::with_capacity(inner.len()), inner);
    while let Some(quote) = memchr(b'"', rest) {
        text.extend_from_slice(&rest[..quote]);
        rest = &rest[quote + 1..];
        let Some(more) = rest.strip_prefix(b"\"") else { break };
        text.push(b'"');
        rest = more;
    }
    text.extend_from_slice(rest);
    text.into()
}

/// Whether a field of a record has text behind its closing quote, as if quotes were escaped by
/// backslashes.
pub(super) fn has_text_behind(record: &[u8], delimiter: u8) -> bool {
    let record = record.strip_suffix(b"\r").unwrap_or(record);
    parts(record, delimiter).any(|it| it.first() == Some(&b'"') && it.last() != Some(&b'"'))
}

/// Whether a record, which is part of a text, has more fields than there are columns, apart from
/// empty ones at the end.
pub(super) fn is_long(text: &[u8], record: &[u8], delimiter: u8, columns: usize) -> bool {
    let start = (record.as_ptr() as usize - text.as_ptr() as usize).min(text.len());
    // Most have fewer delimiters, even with those in quotes.
    count(&text[start..], record.len(), delimiter) >= columns && {
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        parts(record, delimiter).skip(columns).any(|field| !unquoted(field).is_empty())
    }
}

/// The numbers of the columns with these names, in a file with this header, and of all columns.
pub(super) fn columns(header: &[u8], delimiter: u8, names: &[String]) -> Result<(Fields, usize)> {
    let columns: Vec<_> = parts(header, delimiter).map(unquoted).collect();
    let number = |name: &String| {
        let is_it = |column: &Cow<'_, [u8]>| column.trim_ascii() == name.as_bytes();
        if columns.iter().filter(|it| is_it(it)).count() > 1 {
            bail!("several columns are called '{name}': select one by its number");
        }
        let number = columns.iter().position(is_it);
        number.map(|number| (number, number)).ok_or_else(|| {
            let all = columns.iter().map(|it| format!("'{}'", it.trim_ascii().escape_ascii()));
            let all = all.collect::<Vec<_>>().join(", ");
            anyhow!("there is no column '{name}' in the first line: it has {all}")
        })
    };
    let fields = names.iter().map(number).collect::<Result<_>>()?;
    Ok((Fields(fields), columns.len()))
}
