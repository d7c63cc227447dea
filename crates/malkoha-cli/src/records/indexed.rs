//! The keys of an index, as a text of its own, whose hash is in the header of the index.

use std::fmt::{self, Write as _};

use anyhow::Result;

use super::digest::Digest;
use super::fields::{Delimiter, Fields};
use super::form::{Form, Kind};
use super::keys::{Digested, Keys, Pick};
use super::spelling::{AS_IT_IS, Case, Joined, Spelling};

/// Which bytes a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes([bool; 256]);

impl Bytes {
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut has = [false; 256];
        text.iter().for_each(|&byte| has[usize::from(byte)] = true);
        Self(has)
    }

    /// A bit for each, the lowest of each byte first.
    pub(crate) fn to_bits(self) -> [u8; 32] {
        let bits =
            |eight: &[bool; 8]| eight.iter().rev().fold(0, |all, &it| all << 1 | u8::from(it));
        let mut all = [0; 32];
        all.iter_mut().zip(self.0.as_chunks().0).for_each(|(byte, eight)| *byte = bits(eight));
        all
    }

    pub(crate) fn of_bits(bits: &[u8; 32]) -> Self {
        Self(std::array::from_fn(|byte| bits[byte / 8] >> (byte % 8) & 1 == 1))
    }

    fn lack(&self, signs: &[u8]) -> bool {
        !signs.iter().any(|&sign| self.0[usize::from(sign)])
    }

    fn lack_all(&self, mut signs: std::ops::RangeInclusive<u8>) -> bool {
        !signs.any(|sign| self.0[usize::from(sign)])
    }
}

impl Keys {
    /// Distinguishes indexes of different keys; empty for whole lines.
    pub(crate) fn description(&self) -> String {
        if self.are_plain() {
            return String::new();
        }
        let Self { form, pick, spelling, digest, of_reads, .. } = self;
        let mut text = String::new();
        let written = match form.kind {
            Kind::Line => write!(text, "lines"),
            Kind::Csv { delimiter } => write!(text, "csv {delimiter}"),
            Kind::Fastq => write!(text, "fastq"),
            Kind::Fasta => write!(text, "fasta"),
        };
        let written = written.and_then(|()| match pick {
            Pick::Whole => write!(text, " whole"),
            Pick::Only(delimiter) => write!(text, " only {delimiter}"),
            Pick::NoObject => write!(text, " no object"),
            Pick::Fields { fields, delimiter } => write!(text, " fields {fields} {delimiter}"),
            Pick::Named(names) => write!(text, " named {names:?}"),
            Pick::Json(name) => write!(text, " json {name:?}"),
            Pick::Name => write!(text, " name"),
        });
        written.expect("writing to memory does not fail");
        text += match spelling.case {
            _ if digest.is_some() => "",
            Case::Kept => "",
            Case::Ascii => " ignore-case",
            Case::Unicode => " ignore-unicode-case",
        };
        let digest = digest.map(|(Digested::Of(it) | Digested::Is(it))| match it {
            Digest::Md5 => " md5",
            Digest::Sha1 => " sha1",
            Digest::Sha256 => " sha256",
            Digest::Ntlm => " ntlm",
        });
        text += digest.unwrap_or("");
        text += if spelling.crlf { " crlf" } else { "" };
        text += if spelling.trim { " trim" } else { "" };
        text += match spelling.joined {
            Joined::Nothing => "",
            Joined::Tab => " valued",
            Joined::Tabs => " joined",
        };
        text += if *of_reads { " reads" } else { "" };
        text
    }

    /// Whether keys are whole lines, unless these have several fields.
    pub(crate) fn are_whole(&self) -> bool {
        matches!(self.pick, Pick::Whole | Pick::Only(_) | Pick::NoObject)
    }

    /// The same keys of whole lines, if these are the keys of all lines of lists that have no other
    /// bytes; and those of the lines as they are, if they are the same.
    pub(crate) fn of_lines(&self, bytes: &Bytes) -> Vec<Self> {
        let has_none = match self.pick {
            Pick::Whole => self.form.is_line(),
            Pick::Only(Delimiter::Byte(byte)) => bytes.lack(&[byte, b'"', b'\r']),
            Pick::Only(Delimiter::Blanks) => bytes.lack(b" \t"),
            Pick::NoObject => bytes.lack(b"{"),
            _ => false,
        };
        if !has_none || self.of_reads && !bytes.lack(b"@>") {
            return Vec::new();
        }
        let form = Form::lines(self.form.separator);
        let whole = Self { form, pick: Pick::Whole, of_reads: false, ..self.clone() };
        let Spelling { case, crlf, trim, .. } = self.spelling;
        let is_ascii = bytes.lack_all(128..=255);
        let is_lower = bytes.lack_all(b'A'..=b'Z');
        let is_spelled = (case == Case::Kept || is_lower && (case == Case::Ascii || is_ascii))
            && (!crlf || bytes.lack(b"\r"))
            && (!trim || is_ascii && bytes.lack(b" \t\r\x0c\x0b"))
            && (self.digest.is_none() || is_lower && bytes.lack(b"$\\x"));
        let plain = Self { spelling: AS_IT_IS, digest: None, ..whole.clone() };
        [Some(whole), is_spelled.then_some(plain)].into_iter().flatten().collect()
    }

    /// Counts the records of a list that is not read, `unfit` of which cannot be compared. `first`
    /// is the first of these and its line.
    pub(crate) fn note_unread(&self, records: u64, unfit: u64, first: (&[u8], u64)) -> Result<()> {
        let (record, line) = first;
        let Some(tally) = self.tally() else { return Ok(()) };
        tally.add(0, records);
        match self.key_of(record, &mut Vec::new()) {
            Err(why) if unfit > 0 => {
                tally.note(0, record, why, (0, 0), || line)?;
                tally.add_unfit(0, unfit - 1);
            }
            _ => {}
        }
        Ok(())
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, &(first, last)) in self.0.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            match last {
                usize::MAX => write!(f, "{comma}{}-", first + 1)?,
                last => write!(f, "{comma}{}-{}", first + 1, last + 1)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte(byte) => write!(f, "{byte}"),
            Self::Blanks => f.write_str("blank"),
        }
    }
}
