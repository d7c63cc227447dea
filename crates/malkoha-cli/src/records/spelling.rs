//! Which spellings are the same.

use std::borrow::Cow;

use memchr::memchr2;
use unicase::UniCase;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spelling {
    pub(super) case: Case,
    pub(super) crlf: bool,
    pub(super) trim: bool,
    pub(super) joined: Joined,
}

/// The separator between the fields of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// There is one.
    Nothing,
    /// A tab between a key and its value, which lookups do not have.
    Tab,
    /// Tabs. Those in fields are escaped, so that no keys of different fields are equal.
    Tabs,
}

/// Which upper and lower case are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Kept,
    Ascii,
    Unicode,
}

/// As it is.
pub(super) const AS_IT_IS: Spelling =
    Spelling { case: Case::Kept, crlf: false, trim: false, joined: Joined::Nothing };

impl Spelling {
    /// A record without a CR that belongs to its end.
    pub(super) fn without_cr(self, record: &[u8]) -> &[u8] {
        if self.crlf { record.strip_suffix(b"\r").unwrap_or(record) } else { record }
    }

    /// A field as it is among others. Newlines escape tabs, because few fields have any.
    #[inline]
    pub(super) fn among_others<'a>(self, field: impl Into<Cow<'a, [u8]>>) -> Cow<'a, [u8]> {
        let field = match field.into() {
            field if !self.trim => field,
            Cow::Borrowed(field) => trimmed(field).into(),
            Cow::Owned(field) => trimmed(&field).to_vec().into(),
        };
        if self.joined == Joined::Tab || memchr2(b'\t', b'\n', &field).is_none() {
            return field;
        }
        let mut escaped = Vec::with_capacity(field.len() + 1);
        for &byte in &*field {
            match byte {
                b'\t' => escaped.extend_from_slice(b"\nt"),
                b'\n' => escaped.extend_from_slice(b"\nn"),
                _ => escaped.push(byte),
            }
        }
        escaped.into()
    }

    /// The same for each field of a line that has tabs between them, from `start` on.
    pub(super) fn join(self, text: &mut Vec<u8>, start: usize) {
        let fields = text[start..].split(|&byte| byte == b'\t').map(|it| self.among_others(it));
        let joined = fields.collect::<Vec<_>>().join(&b'\t');
        text.truncate(start);
        text.extend_from_slice(&joined);
    }

    /// Normalises what was added to `text` from `start` on.
    pub(super) fn apply(self, text: &mut Vec<u8>, start: usize) {
        if self.trim && self.joined == Joined::Nothing {
            let all = &text[start..];
            let kept = trimmed(all);
            let (before, len) = (kept.as_ptr() as usize - all.as_ptr() as usize, kept.len());
            text.copy_within(start + before..start + before + len, start);
            text.truncate(start + len);
        }
        match self.case {
            Case::Kept => {}
            Case::Unicode if !text[start..].is_ascii() => fold(text, start),
            _ => text[start..].make_ascii_lowercase(),
        }
    }
}

/// A text without white space around it, nor signs that have no width.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    if text.first().is_none_or(u8::is_ascii) && text.last().is_none_or(u8::is_ascii) {
        return text;
    }
    let is_blank =
        |it: char| it.is_whitespace() || matches!(it, '\u{200b}'..='\u{200d}' | '\u{feff}');
    str::from_utf8(text).map_or(text, |text| text.trim_matches(is_blank).as_bytes())
}

/// Folds the case of UTF-8, and keeps other bytes.
fn fold(text: &mut Vec<u8>, start: usize) {
    let mut folded = Vec::with_capacity(text.len() - start);
    for chunk in text[start..].utf8_chunks() {
        folded.extend(UniCase::unicode(chunk.valid()).to_folded_case().bytes());
        folded.extend(chunk.invalid());
    }
    text.truncate(start);
    text.append(&mut folded);
}
