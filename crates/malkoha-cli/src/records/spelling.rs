//! Which spellings are the same.

use unicase::UniCase;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spelling {
    pub(super) case: Case,
    pub(super) crlf: bool,
    pub(super) trim: bool,
    /// Whether several fields are compared, with tabs between them, each of which is trimmed.
    pub(super) joined: bool,
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
    Spelling { case: Case::Kept, crlf: false, trim: false, joined: false };

impl Spelling {
    /// A record without a CR that belongs to its end.
    pub(super) fn without_cr(self, record: &[u8]) -> &[u8] {
        if self.crlf { record.strip_suffix(b"\r").unwrap_or(record) } else { record }
    }

    /// Normalises what was added to `text` from `start` on.
    pub(super) fn apply(self, text: &mut Vec<u8>, start: usize) {
        if self.trim && self.joined {
            let fields = text[start..].split(|&byte| byte == b'\t').map(trimmed);
            let joined = fields.collect::<Vec<_>>().join(&b'\t');
            text.truncate(start);
            text.extend_from_slice(&joined);
        } else if self.trim {
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
