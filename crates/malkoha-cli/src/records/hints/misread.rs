//! The apparent form of files by their first records, where they are read in another form.

use anyhow::{Result, bail};

use super::differ::keep_some;
use super::found;
use crate::failure::tell;
use crate::records::batch::Source;
use crate::records::fields::Delimiter;
use crate::records::form::Kind;
use crate::records::keys::{Digested, Keys, Pick};

/// Bytes of a file that are looked at.
const LOOKED: usize = 4096;

/// Bytes of a list of which keys are kept.
const KEPT: usize = 1 << 16;

impl Keys {
    /// Looks at the beginning of a file, once: tells if it has not the form in which it is read.
    ///
    /// # Errors
    ///
    /// If a list has not the records in which it is read.
    pub(crate) fn look_at(&self, source: Source<'_>) -> Result<()> {
        let tally = self.tally().filter(|_| !source.text.is_empty());
        let Some(tally) = tally.filter(|tally| tally.is_new(source.file)) else { return Ok(()) };
        let start = &source.text[..source.text.len().min(LOOKED)];
        let name = tally.name(source.file);
        let misread = self.misread(source.text, start);
        if let Some(what) = misread.filter(|_| tally.of_lists) {
            bail!("{name} seems to {what}");
        }
        if let Some(what) = misread.map(str::to_owned).or_else(|| self.mistaken(source.text, start))
        {
            tell(&format!("malkoha: {name} seems to {what}"));
            tally.keep_no_more(source.file);
            found::is_misread();
            return Ok(());
        }
        let Ok(keys) = self.resolve(source.header) else { return Ok(()) };
        let mut rest = &source.text[..source.text.len().min(KEPT)];
        let is_cut = rest.len() < source.text.len();
        let records = std::iter::from_fn(|| {
            let record = Some(self.form.first(rest)).filter(|_| !rest.is_empty())?;
            rest = rest.get(record.len() + 1..).unwrap_or(b"");
            (!rest.is_empty() || !is_cut).then_some((record, false))
        });
        if tally.of_lists {
            keep_some(tally, &keys, source.file, records);
        }
        Ok(())
    }

    /// The texts that would be digested.
    pub(crate) fn undigested(&self) -> Self {
        let digest = self.digest.filter(|it| matches!(it, Digested::Is(_)));
        Self { digest, ..self.clone() }
    }

    /// The apparent form of a file that begins so and has no records of this form, and the remedy.
    fn misread(&self, text: &[u8], start: &[u8]) -> Option<&'static str> {
        let separator = self.form.separator;
        let has_separator = memchr::memchr(separator, text).is_some();
        let has = |byte: u8| start.contains(&byte);
        // Of text in Latin letters, every other byte is NUL.
        let is_utf16 = |at: usize| {
            let is_text = |byte: u8| byte >= b' ' || byte.is_ascii_whitespace();
            let (units, _) = start.as_chunks::<2>();
            has(b'\n') && units.iter().all(|unit| unit[at] == 0 && is_text(unit[1 - at]))
        };
        let is_page = |sign: &[u8]| {
            let start = start.trim_ascii_start();
            start.len() >= sign.len() && start[..sign.len()].eq_ignore_ascii_case(sign)
        };
        let is_text = separator != 0 && start.len() > 3;
        Some(if is_text && is_utf16(0) {
            "be UTF-16 without its mark: convert it first, as by iconv -f UTF-16BE -t UTF-8"
        } else if is_text && is_utf16(1) {
            "be UTF-16 without its mark: convert it first, as by iconv -f UTF-16LE -t UTF-8"
        } else if !has_separator && separator == 0 && start.trim_ascii_end().contains(&b'\n') {
            "have lines, and no records that end with NUL: leave --null (-0) away"
        } else if is_text && start.starts_with(b"ORC") && has(0) {
            "be ORC, which has no lines: write it as CSV first"
        } else if start.get(12..16) == Some(&[0; 4])
            && matches!(start, [3 | 0x30..=0x32 | 0x83 | 0x8b | 0xf5, _, 1..=12, 1..=31, ..])
        {
            "be a table of dBASE (.dbf): save it as CSV first"
        } else if start.get(257..262) == Some(b"ustar") {
            "be a tar archive: unpack it first"
        } else if !has_separator && memchr::memchr_iter(b'\r', start).nth(1).is_some() {
            // One alone is in a line.
            r"have lines that end with CR: convert it first, as by tr '\r' '\n'"
        } else if !has_separator && separator != 0 && has(0) {
            "have records that end with NUL: --null (-0) reads these"
        } else if is_page(b"<!doctype html") || is_page(b"<html") {
            "be a web page: is it the file that is meant?"
        } else {
            return None;
        })
    }

    /// The apparent form of a file that begins so and is read otherwise, and the remedy.
    fn mistaken(&self, text: &[u8], start: &[u8]) -> Option<String> {
        let mut lines = start.split(|&byte| byte == self.form.separator);
        let [first, second, third, fourth] = std::array::from_fn(|_| lines.next().unwrap_or(b""));
        let is_sequence = second.len() >= 10
            && second.trim_ascii_end().iter().all(|&byte| byte.is_ascii_alphabetic());
        // Without fields, or with those between blanks, lists of reads are read rightly.
        let is_field = matches!(self.pick, Pick::Fields { delimiter: Delimiter::Byte(_), .. });
        let is_line = self.form.is_line() && (is_field || !self.of_reads);
        Some(match (first.first()?, third.first()) {
            (b'@', Some(b'+'))
                if is_line
                    && second.len() == fourth.len()
                    && (third.trim_ascii_end() == b"+" || third[1..] == first[1..]) =>
            {
                self.sequences("fastq")
            }
            (b'>', _) if is_line && is_sequence => self.sequences("fasta"),
            _ if self.is_digest(first) && (second.is_empty() || self.is_digest(second)) => {
                "have digests already: leave --digest away to compare these".into()
            }
            _ => return self.parted(start, first).or_else(|| self.in_one_line(text, start)),
        })
    }

    /// Whether what would be digested is one already.
    fn is_digest(&self, record: &[u8]) -> bool {
        let Some(Digested::Of(digest)) = self.digest else { return false };
        let mut key = Vec::new();
        let is_read = Self { digest: None, ..self.clone() }.key_of(record, &mut key).is_ok();
        is_read && digest.is_one(key.trim_ascii())
    }

    /// Whether fields seem to have something else between them.
    fn parted(&self, start: &[u8], first: &[u8]) -> Option<String> {
        let Pick::Fields { delimiter: Delimiter::Byte(delimiter), .. } = self.pick else {
            return None;
        };
        if self.form.is_line() && first.starts_with(b"\"") && first[1..].contains(&b'"') {
            return Some("be CSV: --csv and --list-csv read its quotes".into());
        }
        let lines = start.split(|&byte| byte == self.form.separator);
        let lines: Vec<_> = lines.filter(|line| !line.trim_ascii().is_empty()).take(16).collect();
        let is_csv = matches!(self.form.kind, Kind::Csv { .. });
        let others = if is_csv { &b"\t;,|"[..] } else { b"\t;,| " };
        let counts = |byte| lines.iter().map(move |line| memchr::memchr_iter(byte, line).count());
        let is_alike = |byte| counts(byte).all(|count| Some(count) == counts(byte).next());
        let has_any = |byte| counts(byte).any(|count| count > 0);
        // Numbers may have commas in them.
        let is_between = |byte| {
            lines.len() > 2
                && counts(byte).all(|count| count > 0)
                && is_alike(byte)
                && (!is_alike(delimiter) && !has_any(b'"') || self.are_in_keys(byte, &lines))
                && b"\t;|".contains(&byte)
        };
        let first = &lines[..lines.len().min(4)];
        let are_parted = first.iter().any(|line| line.contains(&delimiter));
        let is_other = |byte| !are_parted && first.iter().all(|line| line.contains(&byte));
        let mut others = others.iter().copied().filter(|&byte| byte != delimiter);
        let other = others.find(|&byte| has_any(byte) && (is_other(byte) || is_between(byte)))?;
        Some(format!(
            "have fields between '{}': -t and --list-delimiter say so",
            other.escape_ascii()
        ))
    }

    /// The remedy if many short records seem to be in one line.
    fn in_one_line(&self, text: &[u8], start: &[u8]) -> Option<String> {
        let are_short = |sign: u8| {
            let mut parts = start.split(|&byte| byte == sign);
            parts.clone().nth(LOOKED / 64).is_some() && parts.all(|part| part.len() < 64)
        };
        let is_one = start.len() == LOOKED
            && self.form.is_line()
            && !text[..text.len() - 1].contains(&self.form.separator);
        let sign = [b'\t', b',', b';', b'|'].into_iter().find(|&sign| is_one && are_short(sign))?;
        let remedy = match start.trim_ascii_start().first()? {
            b'{' => return None,
            b'[' => "jq -c '.[]'".into(),
            _ => format!(r"tr '{}' '\n'", sign.escape_ascii()),
        };
        Some(format!("have many records in one line: write each in a line first, as by {remedy}"))
    }

    /// Whether the keys of all these records have a sign.
    fn are_in_keys(&self, sign: u8, records: &[&[u8]]) -> bool {
        let mut key = Vec::new();
        records.iter().all(|record| {
            key.clear();
            self.uncounted().key_of(record, &mut key).is_ok() && key.contains(&sign)
        })
    }

    fn sequences(&self, format: &str) -> String {
        let remedy = if self.of_reads {
            "leave --list-key (-K) away to compare".into()
        } else {
            format!("--{format} compares")
        };
        format!(
            "be {}, and is compared line by line: {remedy} the names of its records",
            format.to_ascii_uppercase()
        )
    }
}
