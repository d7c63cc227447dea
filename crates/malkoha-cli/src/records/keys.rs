//! From records to what is compared.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::{Context, Result};
use memchr::memchr_iter;

use super::csv;
use super::digest::Digest;
use super::fields::{Delimiter, Fields, words};
use super::form::{Form, Kind, is_sep};
use super::json;
use super::networks::Place;
use super::spelling::{AS_IT_IS, Case, Spelling};
use super::split::split;
use super::unfit::{Tally, Unfit};

/// What of records is compared.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub(super) form: Form,
    pub(super) pick: Pick,
    pub(super) spelling: Spelling,
    pub(super) digest: Option<Digested>,
    /// Of lists of reads or sequences: names may have the sign with which these begin.
    pub(super) of_reads: bool,
    /// Tabs between the fields of the other side, which what is compared must have.
    pub(super) tabs: usize,
    /// Fields of the header, where columns have names.
    pub(super) columns: usize,
    /// Whether there may be quotes, with which fields of CSV begin.
    pub(super) quotes: bool,
    /// Counts records that cannot be compared.
    pub(super) tally: Option<Arc<Tally>>,
}

#[derive(Clone, Debug)]
pub(super) enum Pick {
    Whole,
    /// All of a line of a list, which would have to be one field of the input.
    Only(Delimiter),
    /// All of a line of a list, for fields of JSON objects.
    NoObject,
    Fields {
        fields: Fields,
        delimiter: Delimiter,
    },
    /// As long as the columns of these names are unknown.
    Named(Vec<String>),
    Json(String),
    /// Of a read or sequence: what lies before the first blank.
    Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digested {
    /// The digest of the picked field.
    Of(Digest),
    /// The digest that the picked field holds.
    Is(Digest),
}

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

    /// Whether each record, in order, can be compared.
    pub(crate) fn fits(&self) -> impl Iterator<Item = bool> {
        let mut unfit = self.unfit.iter().copied().peekable();
        (0..self.len()).map(move |i| unfit.next_if_eq(&i).is_none())
    }

    /// The keys of records that can be compared.
    pub(crate) fn fit_keys(&self) -> impl Iterator<Item = &&[u8]> {
        self.keys.iter().zip(self.fits()).filter(|&(_, fits)| fits).map(|(key, _)| key)
    }

    /// Counts a record that turned out to be unfit.
    pub(crate) fn note(&self, i: usize, why: Unfit) -> Result<()> {
        self.noting.note(self.records[i], why)
    }

    /// Counts a record that is so because of another one before it.
    pub(crate) fn note_under(&self, i: usize, why: Unfit, under: Option<Place>) -> Result<()> {
        self.note(i, why)?;
        if let (Some(tally), Some(under)) = (self.noting.tally, under) {
            tally.note_under(self.file(), why, &under);
        }
        Ok(())
    }

    /// Counts a record among those of other keys.
    pub(crate) fn note_for(&self, keys: &Keys, i: usize, why: Unfit) -> Result<()> {
        Noting { tally: keys.tally(), ..self.noting }.note(self.records[i], why)
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

    /// The line of the file with which a record begins.
    pub(crate) fn line(&self, i: usize) -> u64 {
        self.noting.line(self.records[i])
    }
}

impl Noting<'_> {
    fn line(&self, record: &[u8]) -> u64 {
        let text = self.source.text;
        let before = &text[..(record.as_ptr() as usize - text.as_ptr() as usize).min(text.len())];
        self.source.lines_before + memchr_iter(self.separator, before).count() as u64 + 1
    }

    fn note(&self, record: &[u8], why: Unfit) -> Result<()> {
        let Some(tally) = self.tally else { return Ok(()) };
        let &Source { file, lines_before, .. } = self.source;
        tally.note(file, record, why, lines_before, || self.line(record))
    }
}

/// Whether a record counts where all are counted.
fn is_counted(record: &[u8]) -> bool {
    !record.trim_ascii().is_empty() && record[0] != b'#'
}

impl Keys {
    /// Whole lines as they are.
    #[cfg(test)]
    pub(crate) fn lines(separator: u8) -> Self {
        let form = Form::lines(separator);
        let (pick, spelling) = (Pick::Whole, AS_IT_IS);
        Self {
            form,
            pick,
            spelling,
            digest: None,
            of_reads: false,
            tabs: 0,
            columns: 0,
            quotes: true,
            tally: None,
        }
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Whether keys are the lines themselves.
    pub(crate) fn are_lines(&self) -> bool {
        self.are_plain() && self.tabs == 0
    }

    /// Whether keys are lines, whatever these must have.
    fn are_plain(&self) -> bool {
        matches!(self.pick, Pick::Whole)
            && self.form.is_line()
            && self.spelling == AS_IT_IS
            && self.digest.is_none()
    }

    /// Whether keys are records as they are written, except for quotes and line ends.
    pub(crate) fn are_written(&self) -> bool {
        matches!(self.pick, Pick::Whole | Pick::Only(Delimiter::Byte(_)) | Pick::NoObject)
            && self.spelling == AS_IT_IS
            && self.digest.is_none()
    }

    /// Whether columns have names, in the header of each file.
    pub(crate) fn are_named(&self) -> bool {
        matches!(self.pick, Pick::Named(_))
    }

    /// Counts records of files with these names.
    pub(crate) fn naming(self, names: Vec<String>, of_lists: bool, strict: bool) -> Self {
        let field = match &self.pick {
            Pick::Fields { .. } => Some("key".to_owned()),
            Pick::Named(names) => Some(format!("'{}'", names.join(","))),
            Pick::Json(name) => Some(format!("'{name}'")),
            _ => None,
        };
        Self { tally: Some(Tally::new(names, of_lists, strict, field)), ..self }
    }

    /// Counts nothing: others do.
    pub(crate) fn uncounted(&self) -> Self {
        Self { tally: None, ..self.clone() }
    }

    pub(crate) fn tally(&self) -> Option<&Tally> {
        self.tally.as_deref()
    }

    /// What tells indexes of different keys apart; empty for whole lines.
    pub(crate) fn description(&self) -> String {
        let Self { form, pick, mut spelling, .. } = self.clone();
        if self.are_plain() {
            return String::new();
        }
        if self.digest.is_some() {
            spelling.case = Case::Ascii;
        }
        let of_reads = if self.of_reads { " of reads" } else { "" };
        format!("{:?} {pick:?} {spelling:?}{of_reads}", form.kind)
    }

    /// The same, with numbers of columns instead of names.
    pub(crate) fn resolve(&self, header: Option<&[u8]>) -> Result<Cow<'_, Self>> {
        let (Pick::Named(names), Kind::Csv { delimiter }) = (&self.pick, self.form.kind) else {
            return Ok(Cow::Borrowed(self));
        };
        let header = header.unwrap_or(b"");
        let header = header.strip_suffix(b"\r").unwrap_or(header);
        let (fields, columns) = csv::columns(self.form.without_sep(header).1, delimiter, names)?;
        let pick = Pick::Fields { fields, delimiter: Delimiter::Byte(delimiter) };
        Ok(Cow::Owned(Self { pick, columns, ..self.clone() }))
    }

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
        if !self.form.is_line() && memchr::memchr(b'"', source.text).is_none() {
            keys.to_mut().quotes = false;
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
                    if keys.is_long(source.text, record) {
                        noting.note(record, Unfit::Long)?;
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

    fn has_sign(&self, text: &[u8]) -> bool {
        self.of_reads && matches!(text.first(), Some(b'@' | b'>'))
    }

    /// The key of an empty field.
    fn nothing(&self) -> Vec<u8> {
        let mut nothing = Vec::new();
        if let Some(Digested::Of(digest)) = self.digest {
            digest.apply(&mut nothing, 0);
        }
        nothing
    }

    /// Whether a key is that of empty fields.
    #[inline]
    fn is_nothing(&self, key: &[u8], nothing: &[u8]) -> bool {
        let is_one =
            || !matches!(&self.pick, Pick::Fields { fields, .. } if fields.one().is_none());
        key == nothing || key.iter().all(|&byte| byte == b'\t') && !is_one()
    }

    /// Whether a record has more fields than its header.
    #[inline]
    fn is_long(&self, text: &[u8], record: &[u8]) -> bool {
        match self.form.kind {
            Kind::Csv { delimiter } if self.columns > 0 => {
                csv::is_long(text, record, delimiter, self.columns)
            }
            _ => false,
        }
    }

    /// Appends the key of a record. Columns must be known by their numbers.
    pub(crate) fn key_of(&self, record: &[u8], text: &mut Vec<u8>) -> Result<(), Unfit> {
        let start = text.len();
        let record = self.spelling.without_cr(record);
        match &self.pick {
            Pick::Whole => text.extend_from_slice(record),
            Pick::Only(_) if self.has_sign(record) => {
                text.extend_from_slice(words(record).next().unwrap_or(b""));
            }
            Pick::Only(delimiter) => {
                let fields = Fields::first();
                if self.push(record, &fields, *delimiter, text)?.1 > 1 {
                    return Err(Unfit::Several);
                }
            }
            Pick::NoObject if record.starts_with(b"{") && json::is_object(record) => {
                return Err(Unfit::Object);
            }
            Pick::NoObject => text.extend_from_slice(record),
            // This line names the delimiter for spreadsheets, and has no fields.
            Pick::Fields { .. } if is_sep(record) => return Err(Unfit::Lacks),
            Pick::Fields { fields, delimiter } => {
                if !self.push(record, fields, *delimiter, text)?.0 {
                    return Err(Unfit::Lacks);
                }
            }
            Pick::Named(_) => return Err(Unfit::Lacks),
            Pick::Json(name) => json::push(record, name, text)?,
            Pick::Name => {
                if !self.form.is_right(record) || record.is_empty() {
                    return Err(Unfit::NoRead);
                }
                let line = self.form.first_line(&record[1..]);
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                text.extend_from_slice(words(line).next().unwrap_or(b""));
            }
        }
        if self.has_sign(&text[start..]) {
            text.remove(start);
        }
        if memchr_iter(b'\t', &text[start..]).count() < self.tabs {
            return Err(Unfit::Lacks);
        }
        self.spelling.apply(text, start);
        match self.digest {
            None => {}
            Some(Digested::Of(digest)) => digest.apply(text, start),
            Some(Digested::Is(digest)) => {
                text[start..].make_ascii_lowercase();
                // Signs of crackers and databases.
                let signs = [&b"$nt$"[..], b"0x", br"\x"];
                let sign = signs.into_iter().find(|sign| text[start..].starts_with(sign));
                text.drain(start..start + sign.map_or(0, <[u8]>::len));
                if !digest.is_one(&text[start..]) {
                    return Err(Unfit::NoDigest(digest.digits()));
                }
            }
        }
        Ok(())
    }

    /// Appends fields of a record. Returns whether it has them all, and the number of its fields,
    /// or 2 for more than one.
    fn push(
        &self,
        record: &[u8],
        fields: &Fields,
        delimiter: Delimiter,
        text: &mut Vec<u8>,
    ) -> Result<(bool, usize), Unfit> {
        let (record, quoted) = match self.form.kind {
            Kind::Csv { delimiter } => {
                let record = record.strip_suffix(b"\r").unwrap_or(record);
                let has_quotes = self.quotes && memchr::memchr(b'"', record).is_some();
                (record, has_quotes.then_some(delimiter))
            }
            _ => (record, None),
        };
        let is_counted = matches!(self.pick, Pick::Only(_));
        let Some(quoted) = quoted else {
            let count = if is_counted { delimiter.count(record) } else { 1 };
            return Ok((fields.push(record, delimiter, text), count));
        };
        if !self.form.is_right(record) {
            return Err(Unfit::NoCsv);
        }
        let parts = || csv::parts(record, quoted);
        let count = if is_counted { parts().take(2).count() } else { 1 };
        Ok((fields.take(parts(), csv::unquoted, text), count))
    }
}
