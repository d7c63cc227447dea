//! Records that follow each other, with their keys.

use anyhow::{Context, Result};
use memchr::{memchr, memchr_iter};

use super::csv;
use super::fields::Delimiter;
use super::form::Kind;
use super::keys::{Digested, Keys, Pick};
use super::networks::Place;
use super::spelling::Joined;
use super::split::split;
use super::tally::Tally;
use super::unfit::Unfit;

/// Whole records, without the header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) header: Option<&'a [u8]>,
    /// The number of the file.
    pub(crate) file: usize,
    /// Lines of the file before the text, where they are counted.
    pub(crate) lines_before: u64,
}

/// Records that follow each other, and their keys.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a, 't> {
    pub(crate) records: &'a [&'t [u8]],
    pub(crate) keys: &'a [&'a [u8]],
    /// The numbers of records that cannot be compared. Their keys are empty.
    pub(crate) unfit: &'a [usize],
    /// The numbers of records whose fields are empty, where such are counted.
    pub(crate) empty: &'a [usize],
    pub(super) keys_of: &'a Keys,
    noting: Noting<'a>,
}

#[derive(Clone, Copy)]
struct Noting<'a> {
    tally: Option<&'a Tally>,
    source: &'a Source<'a>,
    separator: u8,
}

impl Batch<'_, '_> {
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether a record can be compared.
    #[inline]
    pub(crate) fn is_fit(&self, i: usize) -> bool {
        self.unfit.is_empty() || self.unfit.binary_search(&i).is_err()
    }

    /// The numbers of records that can be compared, and their keys.
    pub(crate) fn fit(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.keys.iter().enumerate().filter(move |(i, _)| self.is_fit(*i)).map(|(i, key)| (i, *key))
    }

    /// Counts a record that turned out to be unfit.
    pub(crate) fn note(&self, i: usize, why: Unfit) -> Result<()> {
        self.noting.note(self.records[i], why)
    }

    /// Counts a record that is so because of another one before it.
    pub(crate) fn note_under(&self, i: usize, why: Unfit, under: Option<Place>) -> Result<()> {
        self.note(i, why)?;
        if let (Some(tally), Some(under)) = (self.noting.tally, under) {
            tally.note_under(self.file(), why, self.at(i), &under);
        }
        Ok(())
    }

    /// Counts a record among those of other keys.
    pub(crate) fn note_for(&self, keys: &Keys, i: usize, why: Unfit) -> Result<()> {
        Noting { tally: keys.tally(), ..self.noting }.note(self.records[i], why)
    }

    pub(super) fn tally(&self) -> Option<&Tally> {
        self.noting.tally
    }

    /// Counts records.
    pub(crate) fn count(&self, records: u64) {
        if let Some(tally) = self.noting.tally {
            tally.add(self.noting.source.file, records);
        }
    }

    /// The number of the file.
    pub(crate) fn file(&self) -> usize {
        self.noting.source.file
    }

    /// Where a record begins, in the order of those of a file.
    pub(crate) fn at(&self, i: usize) -> (u64, usize) {
        self.noting.at(self.records[i])
    }

    /// The line of the file with which a record begins.
    pub(crate) fn line(&self, i: usize) -> u64 {
        self.noting.line(self.records[i])
    }
}

impl Noting<'_> {
    fn line(&self, record: &[u8]) -> u64 {
        let text = self.source.text;
        let before = &text[..self.at(record).1.min(text.len())];
        self.source.lines_before + memchr_iter(self.separator, before).count() as u64 + 1
    }

    fn note(&self, record: &[u8], why: Unfit) -> Result<()> {
        let Some(tally) = self.tally else { return Ok(()) };
        tally.note(self.source.file, record, why, self.at(record), || self.line(record))
    }

    fn at(&self, record: &[u8]) -> (u64, usize) {
        let offset = (record.as_ptr() as usize).wrapping_sub(self.source.text.as_ptr() as usize);
        (self.source.lines_before, offset)
    }
}

/// How databases, data frames and spreadsheets write a missing value.
const NOTHINGS: [&[u8]; 7] = [b"null", br"\n", b"nan", b"none", b"(null)", b"<na>", b"n/a"];
const MOST_OF_NOTHING: usize = 6;

/// Whether a record counts where all are counted.
fn is_counted(record: &[u8]) -> bool {
    !record.trim_ascii().is_empty() && record[0] != b'#'
}

impl Keys {
    /// Calls `each` with all records and their keys.
    ///
    /// # Errors
    ///
    /// Those of `each`, and if the header lacks a column.
    pub(crate) fn read<'t>(
        &self,
        source: Source<'t>,
        mut each: impl FnMut(Batch<'_, 't>) -> Result<()>,
    ) -> Result<()> {
        let noting =
            Noting { tally: self.tally(), source: &source, separator: self.form.separator };
        if self.are_lines() {
            return split(source.text, self.form.separator, |records| {
                let (unfit, empty) = (&[][..], &[][..]);
                each(Batch { records, keys: records, unfit, empty, keys_of: self, noting })
            });
        }
        let mut keys = match self.tally() {
            None => self.resolve(source.header)?,
            Some(tally) => {
                self.resolve(source.header).with_context(|| tally.name(source.file).to_owned())?
            }
        };
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        let (mut unfit, mut empty) = (Vec::new(), Vec::new());
        let nothing = keys.nothing();
        if !self.form.is_line() && memchr(b'"', source.text).is_none() {
            keys.to_mut().quotes = false;
        }
        if keys.spelling.joined == Joined::Tabs && !keys.have_tabs(source.text) {
            keys.to_mut().spelling.joined = Joined::Tab;
        }
        self.form.split(source.text, |records| {
            text.clear();
            ends.clear();
            unfit.clear();
            empty.clear();
            for (i, record) in records.iter().enumerate() {
                let start = text.len();
                if let Err(why) = keys.key_of(record, &mut text) {
                    text.truncate(start);
                    unfit.push(i);
                    if is_counted(record) {
                        noting.note(record, why)?;
                    }
                } else if let Some(tally) = noting.tally {
                    if keys.is_nothing(&text[start..], &nothing) && tally.notes_empty(record) {
                        empty.push(i);
                        noting.note(record, Unfit::Empty)?;
                    }
                    if let Kind::Csv { delimiter } = keys.form.kind {
                        if keys.is_long(source.text, record, delimiter) {
                            noting.note(record, Unfit::Long)?;
                        }
                        if keys.quotes && csv::has_text_behind(record, delimiter) {
                            noting.note(record, Unfit::Behind)?;
                        }
                    }
                }
                ends.push(text.len());
            }
            if let Some(tally) = noting.tally {
                let counted = records.iter().filter(|record| is_counted(record)).count();
                tally.add(source.file, counted as u64);
            }
            let starts = [0].into_iter().chain(ends.iter().copied());
            let texts: Vec<&[u8]> =
                starts.zip(&ends).map(|(start, &end)| &text[start..end]).collect();
            let (unfit, empty) = (&unfit[..], &empty[..]);
            each(Batch { records, keys: &texts, unfit, empty, keys_of: &keys, noting })
        })
    }

    /// The key of an empty field.
    fn nothing(&self) -> Vec<u8> {
        let mut nothing = Vec::new();
        if let Some(Digested::Of(digest)) = self.digest {
            digest.apply(&mut nothing, 0);
        }
        nothing
    }

    /// Whether fields in a text may have tabs or newlines.
    fn have_tabs(&self, text: &[u8]) -> bool {
        let are_quoted = !self.form.is_line() && self.quotes;
        let has = |byte| memchr(byte, text).is_some();
        let has_tabs = match self.pick {
            Pick::Fields { delimiter: Delimiter::Byte(it), .. } => it != b'\t' && has(b'\t'),
            // They might be escaped.
            Pick::Json(_) => true,
            _ => false,
        };
        are_quoted || has_tabs || self.form.separator != b'\n' && has(b'\n')
    }

    /// Whether a key is that of empty fields.
    #[inline]
    fn is_nothing(&self, key: &[u8], nothing: &[u8]) -> bool {
        let is_one =
            || !matches!(&self.pick, Pick::Fields { fields, .. } if fields.one().is_none());
        let is_word = || NOTHINGS.iter().any(|word| key.eq_ignore_ascii_case(word));
        key == nothing
            || key.len() <= MOST_OF_NOTHING && is_word()
            || key.iter().all(|&byte| byte == b'\t') && !is_one()
    }

    /// Whether a record has more fields than its header.
    #[inline]
    fn is_long(&self, text: &[u8], record: &[u8], delimiter: u8) -> bool {
        self.columns > 0 && csv::is_long(text, record, delimiter, self.columns)
    }
}
