//! From records to what is compared.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::{Result, bail};
use memchr::memchr_iter;

use super::csv;
use super::digest::Digest;
use super::fields::{Delimiter, Fields, words};
use super::form::{Form, Kind, is_sep};
use super::json;
use super::spelling::{AS_IT_IS, Joined, Spelling};
use super::tally::Tally;
use super::unfit::Unfit;

/// The compared part of records.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub(crate) form: Form,
    pub(super) pick: Pick,
    pub(super) spelling: Spelling,
    pub(super) digest: Option<Digested>,
    /// Of lists of reads or sequences: names may have the sign with which these begin.
    pub(super) of_reads: bool,
    /// Tabs between the fields of the other side, which what is compared must have, at least and at
    /// most.
    pub(super) tabs: (usize, usize),
    /// Fields of the header, where columns have names.
    pub(super) columns: usize,
    /// Whether there might be quotes, with which fields of CSV begin.
    pub(super) quotes: bool,
    /// Counts records that cannot be compared.
    pub(super) tally: Option<Arc<Tally>>,
}

/// However many tabs.
pub(super) const ANY: (usize, usize) = (0, usize::MAX);

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

impl Keys {
    /// Of these records, as they are.
    pub(super) fn of(form: Form, pick: Pick) -> Self {
        Self {
            form,
            pick,
            spelling: AS_IT_IS,
            digest: None,
            of_reads: false,
            tabs: ANY,
            columns: 0,
            quotes: true,
            tally: None,
        }
    }

    /// Whole lines as they are.
    #[cfg(test)]
    pub(crate) fn lines(separator: u8) -> Self {
        Self::of(Form::lines(separator), Pick::Whole)
    }

    /// Whether keys are the lines themselves.
    pub(crate) fn are_lines(&self) -> bool {
        self.are_plain() && self.tabs == ANY
    }

    /// Whether keys are lines, whatever these must have.
    pub(super) fn are_plain(&self) -> bool {
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
            Pick::Name => Some("name".to_owned()),
            _ => None,
        };
        Self { tally: Some(Tally::new(names, of_lists, strict, field)), ..self }
    }

    /// The same for a key and its value, which is the last field.
    pub(crate) fn with_value(&self) -> Self {
        let count = match &self.pick {
            Pick::Fields { fields, .. } => *fields.count().end(),
            Pick::Named(names) => names.len(),
            _ => 0,
        };
        let joined = if count == 2 { Joined::Tab } else { self.spelling.joined };
        Self { spelling: Spelling { joined, ..self.spelling }, ..self.clone() }
    }

    /// Counts nothing: others do.
    pub(crate) fn uncounted(&self) -> Self {
        Self { tally: None, ..self.clone() }
    }

    pub(crate) fn tally(&self) -> Option<&Tally> {
        self.tally.as_deref()
    }

    /// The same, with numbers of columns instead of names.
    pub(crate) fn resolve(&self, header: Option<&[u8]>) -> Result<Cow<'_, Self>> {
        let (Pick::Named(names), Kind::Csv { delimiter }) = (&self.pick, self.form.kind) else {
            return Ok(Cow::Borrowed(self));
        };
        // An empty file has none, and no records.
        let Some(header) = header else { return Ok(Cow::Borrowed(self)) };
        let header = header.strip_suffix(b"\r").unwrap_or(header);
        if !header.contains(&b'"') && header.windows(2).any(|it| it[0] == b'\r' && it[1] != b'\n') {
            bail!("has a header with CR in it: if its lines end with CR, see tr '\\r' '\\n'");
        }
        let (fields, columns) = csv::columns(self.form.without_sep(header).1, delimiter, names)?;
        let pick = Pick::Fields { fields, delimiter: Delimiter::Byte(delimiter) };
        Ok(Cow::Owned(Self { pick, columns, ..self.clone() }))
    }

    fn has_sign(&self, text: &[u8]) -> bool {
        self.of_reads && matches!(text.first(), Some(b'@' | b'>'))
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
        if self.spelling.joined != Joined::Nothing && !matches!(self.pick, Pick::Fields { .. }) {
            self.spelling.join(text, start);
        }
        if self.tabs != ANY {
            let tabs = memchr_iter(b'\t', &text[start..]).count();
            if tabs < self.tabs.0 {
                return Err(Unfit::Lacks);
            } else if tabs > self.tabs.1 {
                return Err(Unfit::Several);
            }
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
        let is_joined = !is_counted && self.spelling.joined != Joined::Nothing;
        let joined = |field| self.spelling.among_others(field);
        let Some(quoted) = quoted else {
            let count = if is_counted { delimiter.count(record) } else { 1 };
            let has_all = if is_joined {
                fields.push(record, delimiter, joined, text)
            } else {
                fields.push(record, delimiter, Cow::Borrowed, text)
            };
            return Ok((has_all, count));
        };
        if !self.form.is_right(record) {
            return Err(Unfit::NoCsv);
        }
        let parts = || csv::parts(record, quoted);
        let count = if is_counted { parts().take(2).count() } else { 1 };
        let has_all = if is_joined {
            let joined = |field| self.spelling.among_others(csv::unquoted(field));
            fields.take(parts(), joined, text)
        } else {
            fields.take(parts(), csv::unquoted, text)
        };
        Ok((has_all, count))
    }
}
