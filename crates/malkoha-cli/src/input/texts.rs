//! Lists as one text in memory, in which the offset of a line identifies it.

use std::sync::Arc;

use memchr::memchr;

use super::{Inputs, List};

/// Lists, one behind the other.
pub(crate) struct Texts {
    /// Where each list begins.
    bases: Vec<u64>,
    lists: Vec<List>,
    separator: u8,
}

impl Texts {
    pub(crate) fn new(lists: Vec<List>, separator: u8) -> Self {
        let mut end = 0;
        let base_of = |list: &List| {
            let base = end;
            end += list.len() as u64;
            base
        };
        Self { bases: lists.iter().map(base_of).collect(), lists, separator }
    }

    /// The files of `inputs`, if each of them is one that can be mapped, and standard input if all
    /// of it has been read.
    pub(crate) fn of(inputs: &Inputs) -> Option<Self> {
        let lists = inputs.paths().iter().map(|path| inputs.in_memory(path));
        Some(Self::new(lists.collect::<Option<_>>()?, inputs.separator()))
    }

    /// The length of each list.
    pub(crate) fn lengths(&self) -> Arc<[u64]> {
        self.lists.iter().map(|list| list.len() as u64).collect()
    }

    pub(crate) fn len(&self) -> u64 {
        self.lists.iter().map(|list| list.len() as u64).sum()
    }

    pub(crate) fn count_lines(&self) -> u64 {
        self.lists.iter().map(|list| list.count_lines(self.separator)).sum()
    }

    pub(crate) fn separator(&self) -> u8 {
        self.separator
    }

    /// Each list, with the place where it begins.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (u64, &List)> {
        self.bases.iter().copied().zip(&self.lists)
    }

    /// The place at this distance from the beginning of a list.
    pub(crate) fn place(&self, list: usize, offset: u64) -> u64 {
        self.bases[list] + offset
    }

    /// The list that has this place, and the distance from its beginning.
    #[inline]
    pub(crate) fn offset(&self, place: u64) -> Option<(usize, u64)> {
        let after = match self.bases[..] {
            [_] => 1,
            _ => self.bases.partition_point(|&base| base <= place),
        };
        let list = after.checked_sub(1)?;
        Some((list, place - self.bases[list]))
    }

    /// Whether the line at `place` is `line`.
    #[inline]
    pub(crate) fn is_at(&self, place: u64, line: &[u8]) -> bool {
        self.line_of(place, line.len()).is_some_and(|found| found == line)
    }

    /// The line of `len` bytes at `place`, if the text has them. It may contain separators.
    #[inline]
    pub(crate) fn line_of(&self, place: u64, len: usize) -> Option<&[u8]> {
        let (line, rest) = self.from(place)?.split_at_checked(len)?;
        rest.first().is_none_or(|&next| next == self.separator).then_some(line)
    }

    /// The line that begins at `place`.
    pub(crate) fn line_at(&self, place: u64) -> &[u8] {
        let rest = self.from(place).unwrap_or(&[]);
        memchr(self.separator, rest).map_or(rest, |end| &rest[..end])
    }

    /// The list from a place in it on.
    #[inline]
    fn from(&self, place: u64) -> Option<&[u8]> {
        let (list, offset) = self.offset(place)?;
        self.lists[list].get(usize::try_from(offset).ok()?..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_the_whole_line() {
        let lists = [&b"ab\nabc\n\nlast"[..], b"", b"xy\n"].map(|list| List::Read(list.into()));
        let texts = Texts::new(lists.into(), b'\n');
        let is = |place, line: &str| texts.is_at(place, line.as_bytes());
        assert!(is(0, "ab") && is(3, "abc") && is(7, "") && is(8, "last") && is(12, "xy"));
        assert!(!is(0, "a") && !is(0, "abc") && !is(3, "ab") && !is(0, ""));
        assert!(!is(8, "lastly") && !is(8, "las") && !is(99, "") && !is(8, "lastxy"));
        let line = |place| texts.line_at(place);
        assert_eq!(
            [line(0), line(3), line(7), line(8), line(12), line(99)],
            [&b"ab"[..], b"abc", b"", b"last", b"xy", b""]
        );
        assert_eq!([texts.offset(8), texts.offset(13)], [Some((0, 8)), Some((2, 1))]);
    }
}
