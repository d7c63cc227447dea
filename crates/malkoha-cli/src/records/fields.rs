//! Fields by their numbers, as in cut(1), but in the order in which they are named.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use memchr::memchr;

/// Numbers of fields from 0, first and last; a range without end has the largest number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields(pub(super) Vec<(usize, usize)>);

/// How fields are named: by numbers, or by the names in the header of each file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Called {
    Numbers(Fields),
    Names(Vec<String>),
}

impl Called {
    /// How many fields these are, at least and at most.
    pub(super) fn count(&self) -> RangeInclusive<usize> {
        match self {
            Self::Names(names) => names.len()..=names.len(),
            Self::Numbers(fields) => fields.count(),
        }
    }
}

/// The separator of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    Byte(u8),
    /// Spaces and tabs, however many. Those around the line part nothing.
    Blanks,
}

/// Parses numbers, or else names with commas between them.
pub(super) fn called(text: &str) -> Result<Called, String> {
    let has_names =
        text.split(',').any(|part| !part.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()));
    if has_names {
        return Ok(Called::Names(text.split(',').map(str::to_owned).collect()));
    }
    parse(text).map(Called::Numbers)
}

/// The numbers that select fields without names.
pub(super) const NUMBERS: &str = "write numbers of fields, from 1, as 2 or 1,3 or 2-4 or 3-";

/// Parses `2`, `1,3` or `2-4,7-`.
pub(super) fn parse(text: &str) -> Result<Fields, String> {
    let wrong = || NUMBERS.to_owned();
    let number = |digits: &str| match digits.parse::<usize>() {
        Ok(number) if number > 0 && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(number - 1)
        }
        _ => Err(wrong()),
    };
    let range = |part: &str| match part.split_once('-') {
        None => number(part).map(|number| (number, number)),
        Some((first, "")) => Ok((number(first)?, usize::MAX)),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            if first <= last { Ok((first, last)) } else { Err(wrong()) }
        }
    };
    text.split(',').map(range).collect::<Result<_, _>>().map(Fields)
}

/// Parses one byte, `\t`, or `blank`.
pub(super) fn delimiter(text: &str) -> Result<Delimiter, String> {
    match text.as_bytes() {
        b"\\t" => Ok(Delimiter::Byte(b'\t')),
        b"blank" => Ok(Delimiter::Blanks),
        &[byte] => Ok(Delimiter::Byte(byte)),
        _ => Err("write one character of one byte, or \\t, or blank".to_owned()),
    }
}

impl Delimiter {
    /// The number of fields of a line, or 2 if it has more than one.
    pub(super) fn count(self, line: &[u8]) -> usize {
        match self {
            Self::Byte(byte) => 1 + usize::from(memchr(byte, line).is_some()),
            Self::Blanks => words(line).take(2).count(),
        }
    }
}

impl Fields {
    /// The first one alone.
    pub(super) fn first() -> Self {
        Self(vec![(0, 0)])
    }

    /// How many these are, at least and at most.
    pub(super) fn count(&self) -> RangeInclusive<usize> {
        let least = self.0.iter().map(|&(first, last)| match last {
            usize::MAX => 1,
            last => last - first + 1,
        });
        let least = least.fold(0, usize::saturating_add);
        let is_open = self.0.iter().any(|range| range.1 == usize::MAX);
        least..=if is_open { usize::MAX } else { least }
    }

    /// The number of the field, if it is one.
    pub(super) fn one(&self) -> Option<usize> {
        match self.0[..] {
            [(wanted, last)] if wanted == last => Some(wanted),
            _ => None,
        }
    }

    /// Appends the content of fields of a line; `false` if it lacks one.
    pub(super) fn push<'a>(
        &self,
        line: &'a [u8],
        delimiter: Delimiter,
        content: impl Fn(&'a [u8]) -> Cow<'a, [u8]>,
        text: &mut Vec<u8>,
    ) -> bool {
        match delimiter {
            Delimiter::Byte(delimiter) => self.take(parts(line, delimiter), content, text),
            Delimiter::Blanks => self.take(words(line), content, text),
        }
    }

    /// Appends the content of fields; `false` if one is lacking.
    pub(super) fn take<'a>(
        &self,
        mut fields: impl Iterator<Item = &'a [u8]>,
        content: impl Fn(&'a [u8]) -> Cow<'a, [u8]>,
        text: &mut Vec<u8>,
    ) -> bool {
        if let Some(wanted) = self.one() {
            let field = fields.nth(wanted);
            text.extend_from_slice(&content(field.unwrap_or(b"")));
            return field.is_some();
        }
        let most = self.0.iter().map(|range| range.1).max().unwrap_or(0);
        let fields: Vec<&[u8]> = fields.take(most.saturating_add(1)).collect();
        let (mut is_whole, count) = (true, fields.len());
        for (number, &(first, last)) in self.0.iter().enumerate() {
            let last = if last == usize::MAX { count.max(first + 1) - 1 } else { last };
            for i in first..=last {
                if number > 0 || i > first {
                    text.push(b'\t');
                }
                match fields.get(i) {
                    Some(field) => text.extend_from_slice(&content(field)),
                    None => is_whole = false,
                }
            }
        }
        is_whole
    }
}

/// Fields between delimiters.
fn parts(line: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let end = memchr(delimiter, line);
        rest = end.map(|end| &line[end + 1..]);
        Some(end.map_or(line, |end| &line[..end]))
    })
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Fields between blanks.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(is_blank).filter(|word| !word.is_empty())
}
