//! Fields by their numbers, as in cut(1), but in the order in which they are named.

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

/// Parses numbers, or else names with commas between them.
pub(super) fn called(text: &str) -> Result<Called, String> {
    let has_names =
        text.split(',').any(|part| !part.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()));
    if has_names {
        return Ok(Called::Names(text.split(',').map(str::to_owned).collect()));
    }
    parse(text).map(Called::Numbers)
}

/// Parses `2`, `1,3` or `2-4,7-`.
pub(super) fn parse(text: &str) -> Result<Fields, String> {
    let wrong = || "write numbers of fields, from 1, as 2 or 1,3 or 2-4 or 3-".to_owned();
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

/// Parses one byte, or `\t`.
pub(super) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        &[byte] => Ok(byte),
        _ => Err("write one character of one byte, or \\t".to_owned()),
    }
}

impl Fields {
    /// Appends the fields of a line; `false` if it lacks one.
    pub(super) fn push(&self, line: &[u8], delimiter: u8, text: &mut Vec<u8>) -> bool {
        let mut rest = Some(line);
        let fields = std::iter::from_fn(|| {
            let line = rest?;
            let end = memchr(delimiter, line);
            rest = end.map(|end| &line[end + 1..]);
            Some(end.map_or(line, |end| &line[..end]))
        });
        if let [(wanted, last)] = self.0[..]
            && wanted == last
        {
            let field = { fields }.nth(wanted);
            text.extend_from_slice(field.unwrap_or(b""));
            return field.is_some();
        }
        let fields: Vec<&[u8]> = fields.collect();
        self.join(fields.len(), |i| fields[i], text)
    }

    /// Appends fields of a line that has enough.
    pub(super) fn join<'a>(
        &self,
        count: usize,
        field: impl Fn(usize) -> &'a [u8],
        text: &mut Vec<u8>,
    ) -> bool {
        let mut is_whole = true;
        for (number, &(first, last)) in self.0.iter().enumerate() {
            let last = if last == usize::MAX { count.max(first + 1) - 1 } else { last };
            for i in first..=last {
                if number > 0 || i > first {
                    text.push(b'\t');
                }
                if i < count {
                    text.extend_from_slice(field(i));
                } else {
                    is_whole = false;
                }
            }
        }
        is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges() {
        assert_eq!(parse("2").unwrap().0, [(1, 1)]);
        assert_eq!(parse("1,3-5,7-").unwrap().0, [(0, 0), (2, 4), (6, usize::MAX)]);
        for text in ["", "0", "a", "1,", "3-2", "-2", "+1", "1--2"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!((delimiter(";"), delimiter("\\t")), (Ok(b';'), Ok(b'\t')));
        assert!(delimiter("ab").is_err() && delimiter("\u{e9}").is_err() && delimiter("").is_err());
    }
}
