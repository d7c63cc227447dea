//! Lists as one text in memory, in which the offset of a record identifies it.

use std::sync::Arc;

use anyhow::{Context, Result};
use memchr::{memchr, memchr_iter};

use super::{List, Side, name};
use crate::records::{Batch, Form, Forms, Keys, Source, Tally};

/// Of long lists, records in this many places are looked at, of this many bytes each.
const PLACES: usize = 64;
const PLACE: usize = 1024;

/// All records of a shorter list are.
const SHORT: usize = 1 << 17;

/// Of longer records, the beginning is looked at there.
const LONGEST: usize = 4096;

/// Lists, one behind the other, and what of their records is compared.
pub(crate) struct Texts {
    /// Where each list begins.
    bases: Vec<u64>,
    lists: Vec<List>,
    /// Of each list, and the length of its header with its terminator.
    keys: Vec<(Keys, usize)>,
    names: Vec<String>,
    form: Form,
    are_lines: bool,
    /// Keys are records, except for quotes and line ends.
    are_written: bool,
}

impl Texts {
    /// The lists that are the files of a side, in this order.
    pub(crate) fn new(lists: Vec<List>, side: &Side) -> Result<Self> {
        let (mut end, mut keys) = (0, Vec::new());
        let form = side.keys.form;
        for (list, path) in lists.iter().zip(side.inputs.paths()) {
            let header = (side.keys.are_named() && !list.is_empty()).then(|| form.header(list));
            let resolved = side.keys.resolve(header).with_context(|| name(path))?.into_owned();
            keys.push((resolved, header.map_or(0, |it| (it.len() + 1).min(list.len()))));
        }
        for (file, (list, (keys, start))) in lists.iter().zip(&keys).enumerate() {
            keys.look_at(Source { text: &list[*start..], header: None, file, lines_before: 0 })?;
        }
        let base_of = |list: &List| {
            let base = end;
            end += list.len() as u64;
            base
        };
        let bases = lists.iter().map(base_of).collect();
        Ok(Self {
            bases,
            lists,
            keys,
            names: side.inputs.paths().iter().map(|path| name(path)).collect(),
            form,
            are_lines: side.keys.are_lines(),
            are_written: side.keys.are_written(),
        })
    }

    /// The files of a side, read or mapped.
    pub(crate) fn open(side: &Side) -> Result<Self> {
        let lists = side.inputs.paths().iter().map(|path| List::open(path));
        Self::new(lists.collect::<Result<_>>()?, side)
    }

    /// The files of a side, if each of them is one that can be mapped, and standard input if all of
    /// it has been read.
    pub(crate) fn of(side: &Side) -> Result<Option<Self>> {
        let lists = side.inputs.paths().iter().map(|path| side.inputs.in_memory(path));
        lists.collect::<Option<_>>().map(|lists| Self::new(lists, side)).transpose()
    }

    /// Keys without their looks: of all records of a short list, or of some.
    pub(crate) fn forms(&self) -> Forms {
        let mut forms = Forms::of(self.names.clone());
        for (file, (list, (keys, start))) in self.lists.iter().zip(&self.keys).enumerate() {
            let of = (keys, &keys.undigested());
            self.sample(&list[*start..], |record| forms.add(file, record, of));
        }
        forms.settled()
    }

    /// Whether all records of short lists, and some of others, can be compared.
    pub(crate) fn fit(&self) -> bool {
        let (mut all_fit, mut key) = (true, Vec::new());
        for (list, (keys, start)) in self.lists.iter().zip(&self.keys) {
            self.sample(&list[*start..], |record| {
                key.clear();
                all_fit &= keys.key_of(record, &mut key).is_ok();
            });
        }
        all_fit
    }

    /// Calls `each` with the records of a short text, or with some in many places of a long one.
    fn sample<'t>(&self, text: &'t [u8], mut each: impl FnMut(&'t [u8])) {
        let is_short = text.len() <= SHORT;
        let (count, len) = if is_short { (1, text.len()) } else { (PLACES, PLACE) };
        for number in 0..count {
            // The last place is at the end.
            let at = (text.len() - len) / (PLACES - 1) * number;
            let mut rest = &text[at..text.len().min(at + len + LONGEST)];
            let is_last = at + rest.len() == text.len();
            if at > 0 {
                let Some(end) = memchr(self.form.separator, rest) else { continue };
                rest = &rest[end + 1..];
            }
            while !rest.is_empty() && (is_last || rest.len() > LONGEST) {
                let record = self.form.first(rest);
                // Of one that is longer, the beginning.
                if is_last || record.len() < rest.len() || record.len() > LONGEST {
                    each(record);
                }
                rest = rest.get(record.len() + 1..).unwrap_or(b"");
            }
        }
    }

    /// The length of each list.
    pub(crate) fn lengths(&self) -> Arc<[u64]> {
        self.lists.iter().map(|list| list.len() as u64).collect()
    }

    pub(crate) fn len(&self) -> u64 {
        self.lists.iter().map(|list| list.len() as u64).sum()
    }

    /// At least the number of records.
    pub(crate) fn most_records(&self) -> u64 {
        let separator = self.separator();
        let is_open = |list: &List| list.last().is_some_and(|&last| last != separator);
        let lines =
            |list: &List| memchr_iter(separator, list).count() as u64 + u64::from(is_open(list));
        self.form.most_records(self.lists.iter().map(lines).sum())
    }

    pub(crate) fn separator(&self) -> u8 {
        self.form.separator
    }

    pub(crate) fn are_lines(&self) -> bool {
        self.are_lines
    }

    /// Each list, with the place where it begins.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (u64, &List)> {
        self.bases.iter().copied().zip(&self.lists)
    }

    /// The header of each list, if it has one.
    pub(crate) fn headers(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let lists = self.lists.iter().zip(&self.keys);
        lists.map(|(list, (_, len))| (*len > 0).then(|| self.form.header(list)))
    }

    /// Calls `each` with all records, and the place of the first in each batch. The next one begins
    /// behind it and a terminator.
    pub(crate) fn read(&self, each: impl FnMut(u64, Batch<'_, '_>) -> Result<()>) -> Result<()> {
        self.read_with(|keys| keys.clone(), each)
    }

    /// As [`read`](Self::read), without counting records another time.
    pub(crate) fn read_again(
        &self,
        each: impl FnMut(u64, Batch<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        self.read_with(Keys::uncounted, each)
    }

    fn read_with(
        &self,
        how: impl Fn(&Keys) -> Keys,
        mut each: impl FnMut(u64, Batch<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        for (file, (base, list)) in self.lists().enumerate() {
            let (keys, start) = &self.keys[file];
            // Without a header, an input has no records; of a list it is reported.
            if list.is_empty() && keys.tally().is_none() {
                continue;
            }
            let header = &list[..*start];
            let lines_before = if *start > 0 { self.form.lines_of(header) - 1 } else { 0 };
            let mut place = base + *start as u64;
            let source = Source { text: &list[*start..], header: None, file, lines_before };
            how(keys).read(source, |batch| {
                each(place, batch)?;
                place += batch.records.iter().map(|record| record.len() as u64 + 1).sum::<u64>();
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The place at this distance from the beginning of a list.
    pub(crate) fn place(&self, list: usize, offset: u64) -> u64 {
        self.bases[list] + offset
    }

    /// Counts the records of a list, if something does.
    pub(crate) fn tally(&self, list: usize) -> Option<&Tally> {
        self.keys[list].0.tally()
    }

    /// Whether a list has more than a header.
    pub(crate) fn has_records(&self, list: usize) -> bool {
        self.lists[list].len() > self.keys[list].1
    }

    /// The name of a list.
    pub(crate) fn name(&self, list: usize) -> &str {
        &self.names[list]
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

    /// Whether the key of the record at `place` is `key`.
    #[inline]
    pub(crate) fn is_at(&self, place: u64, key: &[u8]) -> bool {
        if self.are_lines {
            return self.line_of(place, key.len()).is_some_and(|found| found == key);
        }
        // A key that was not in quotes, unless it has the end of a line.
        let is_written = |found: &[u8]| found == key && key.first() != Some(&b'"');
        if self.are_written
            && self.line_of(place, key.len()).is_some_and(is_written)
            && memchr(self.form.separator, key).is_none()
        {
            return true;
        }
        let mut found = Vec::new();
        self.key_at(place, &mut found) && found == key
    }

    /// Whether the records at two places have one key.
    #[inline]
    pub(crate) fn are_equal(&self, one: u64, other: u64) -> bool {
        if self.are_lines {
            return self.is_at(one, self.record_at(other));
        }
        let mut found = Vec::new();
        self.key_at(other, &mut found) && self.is_at(one, &found)
    }

    fn key_at(&self, place: u64, key: &mut Vec<u8>) -> bool {
        let Some((list, _)) = self.offset(place) else { return false };
        self.keys[list].0.key_of(self.record_at(place), key).is_ok()
    }

    /// The line of `len` bytes at `place`, if the text has them. It may contain separators.
    #[inline]
    pub(crate) fn line_of(&self, place: u64, len: usize) -> Option<&[u8]> {
        let (line, rest) = self.from(place)?.split_at_checked(len)?;
        rest.first().is_none_or(|&next| next == self.form.separator).then_some(line)
    }

    /// The record that begins at `place`.
    pub(crate) fn record_at(&self, place: u64) -> &[u8] {
        self.form.first(self.from(place).unwrap_or(&[]))
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
    use crate::input::Inputs;

    #[test]
    fn a_line_is_the_whole_line() {
        let lists = [&b"ab\nabc\n\nlast"[..], b"", b"xy\n"].map(|list| List::Read(list.into()));
        let inputs = Inputs::new(vec!["a".into(), "b".into(), "c".into()], b'\n');
        let side = Side::new(inputs, Keys::lines(b'\n'), true, false);
        let texts = Texts::new(lists.into(), &side).unwrap();
        let is = |place, line: &str| texts.is_at(place, line.as_bytes());
        assert!(is(0, "ab") && is(3, "abc") && is(7, "") && is(8, "last") && is(12, "xy"));
        assert!(!is(0, "a") && !is(0, "abc") && !is(3, "ab") && !is(0, ""));
        assert!(!is(8, "lastly") && !is(8, "las") && !is(99, "") && !is(8, "lastxy"));
    }
}
