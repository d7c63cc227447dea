//! What files look like by their first records, where that keeps them from being equal to others.

use anyhow::{Result, bail};
use parking_lot::Mutex;

use super::fields::Delimiter;
use super::form::Kind;
use super::keys::{Digested, Keys, Pick, Source};
use super::spelling::trimmed;
use crate::failure::tell;

/// Bytes of a file that are looked at.
const LOOKED: usize = 4096;

/// Records of a file that are looked at.
const MOST_RECORDS: usize = 16;

/// Files of each side whose looks are compared.
const MOST_FILES: usize = 8;

/// A property of what is compared, how it is called, and the remedy if one side alone has it.
type Look = (fn(&[u8]) -> bool, &'static str, &'static str);

const LOOKS: [Look; 15] = [
    (|key| key.ends_with(b"\r"), "end with CR", "see --crlf"),
    (|key| trimmed(key).len() < key.len(), "begin or end with blanks", "see --trim"),
    (
        |key| key.starts_with(b"{") && key.ends_with(b"}"),
        "are JSON objects",
        "see --json-field and --list-json-field",
    ),
    (
        |key| matches!(key, [first @ (b'"' | b'\''), .., last] if first == last),
        "are in quotes",
        "see --csv and --list-csv, or cut them out first",
    ),
    (|key| key.ends_with(b"/1"), "end with '/1'", "cut it off first"),
    (|key| key.ends_with(b"/2"), "end with '/2'", "cut it off first"),
    (
        |key| key.ends_with(b">") && key.contains(&b'<') && key.contains(&b'@'),
        "have an address in <>",
        "cut it out first, as by sed 's/.*<//; s/>.*//'",
    ),
    (
        |key| memchr::memchr_iter(b'@', key).nth(1).is_some(),
        "have several addresses",
        "write each in a line first",
    ),
    (
        |key| {
            let has = |is_it: fn(&u8) -> bool| key.iter().any(is_it);
            key.len() > 3 && has(u8::is_ascii_uppercase) && !has(u8::is_ascii_lowercase)
        },
        "are in upper case",
        "see --ignore-case",
    ),
    (
        |key| {
            let digits = key.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            digits >= 32 && key.get(digits) == Some(&b' ')
        },
        "have more than a digest",
        SELECT,
    ),
    (|key| key.contains(&b'\t'), "have tabs", SELECT),
    (|key| key.contains(&b','), "have commas", SELECT),
    (|key| key.contains(&b';'), "have semicolons", SELECT),
    (|key| key.contains(&b'|'), "have '|'", SELECT),
    (|key| key.contains(&b':'), "have colons", SELECT),
];

const SELECT: &str = "see -k with -t, and -K with --list-delimiter";

/// The look of a file.
struct Seen {
    of_lists: bool,
    name: String,
    /// How many records were looked at.
    count: usize,
    /// Which of [`LOOKS`] all have, apart from the first of several, which may be a header.
    all: u16,
    /// Which of [`LOOKS`] any of these has.
    any: u16,
    /// What of these is compared, without case, and signs around it.
    bare: Vec<String>,
}

static SEEN: Mutex<Vec<Seen>> = Mutex::new(Vec::new());

/// Tells how lists and inputs of which nothing was equal differ, if that is why.
pub(crate) fn tell_difference() {
    let seen = SEEN.lock();
    for (i, (_, what, remedy)) in LOOKS.iter().enumerate() {
        // A sign in a single record says little.
        let least = if *remedy == SELECT { 2 } else { 1 };
        // Lists have addresses with and without names.
        let is_any = what.contains("address");
        let has = |it: &&Seen| {
            let bits = if is_any { it.any } else { it.all };
            bits >> i & 1 == 1 && it.count >= least
        };
        let lacks = |it: &&Seen| it.any >> i & 1 == 0;
        for of_lists in [true, false] {
            let side = |of_lists| seen.iter().filter(move |it| it.of_lists == of_lists);
            if let (Some(Seen { name: with, .. }), Some(Seen { name: without, .. })) =
                (side(of_lists).find(has), side(!of_lists).find(lacks))
            {
                tell(&format!(
                    "malkoha: nothing is equal: records of {with} {what}, unlike those of \
                     {without}: {remedy}"
                ));
                return;
            }
        }
    }
    let side = |of_lists| seen.iter().filter(move |it| it.of_lists == of_lists);
    for (list, input) in side(true).flat_map(|list| side(false).map(move |input| (list, input))) {
        if let Some(bare) = list.bare.iter().find(|it| input.bare.contains(it)) {
            tell(&format!(
                "malkoha: nothing is equal: '{}' in {} and {} differs in case, or in signs around \
                 it: see --ignore-case and --ignore-unicode-case, or cut these off first",
                bare.as_bytes().escape_ascii(),
                list.name,
                input.name
            ));
            return;
        }
    }
}

/// A key without case, and signs around it; nothing of a long one.
fn bare(key: &[u8]) -> String {
    let text = if key.len() > 256 { "".into() } else { String::from_utf8_lossy(key) };
    text.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase()
}

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
        if let Some(what) = misread.map(str::to_owned).or_else(|| self.mistaken(start)) {
            tell(&format!("malkoha: {name} seems to {what}"));
            return Ok(());
        }
        let mut seen = SEEN.lock();
        if seen.iter().filter(|it| it.of_lists == tally.of_lists).count() == MOST_FILES {
            return Ok(());
        }
        let Ok(keys) = self.resolve(source.header) else { return Ok(()) };
        // The look of what is digested, and not of its digest.
        let digest = keys.digest.filter(|it| matches!(it, Digested::Is(_)));
        let keys = Self { digest, ..keys.into_owned() };
        let is_picked = self.digest.is_some()
            || !matches!(self.pick, Pick::Whole | Pick::Only(_) | Pick::NoObject);
        let (mut count, mut all, mut any, mut bares) = (0, 0, 0, Vec::new());
        let mut rest = start;
        while count < MOST_RECORDS && !rest.is_empty() {
            let record = self.form.first(rest);
            rest = rest.get(record.len() + 1..).unwrap_or(b"");
            if rest.is_empty() && start.len() < source.text.len() {
                // It may be cut.
                break;
            }
            let mut key = Vec::new();
            if !record.starts_with(b"#") && keys.key_of(record, &mut key).is_ok() && !key.is_empty()
            {
                let has = |it: &Look| it.0(&key) && !(is_picked && it.2 == SELECT);
                let bits = LOOKS.iter().rev().fold(0, |bits, it| bits << 1 | u16::from(has(it)));
                (all, any) = if count < 2 { (bits, bits) } else { (all & bits, any | bits) };
                count += 1;
                bares.push(bare(&key));
            }
        }
        bares.retain(|it| !it.is_empty());
        if count > 0 {
            let (of_lists, name) = (tally.of_lists, name.to_owned());
            seen.push(Seen { of_lists, name, count, all, any, bare: bares });
        }
        Ok(())
    }

    /// What a file that begins so seems to be, if it has no records of this form, and the remedy.
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

    /// What a file that begins so seems to be, although it is read otherwise, and the remedy.
    fn mistaken(&self, start: &[u8]) -> Option<String> {
        let mut lines = start.split(|&byte| byte == self.form.separator);
        let [first, second, third, fourth] = std::array::from_fn(|_| lines.next().unwrap_or(b""));
        let is_sequence = second.len() >= 10
            && second.trim_ascii_end().iter().all(|&byte| byte.is_ascii_alphabetic());
        let is_line = self.form.is_line() && self.sign.is_none();
        Some(match (first.first()?, third.first()) {
            (b'@', Some(b'+'))
                if is_line
                    && second.len() == fourth.len()
                    && (third.trim_ascii_end() == b"+" || third[1..] == first[1..]) =>
            {
                sequences("fastq")
            }
            (b'>', _) if is_line && is_sequence => sequences("fasta"),
            _ if self.is_digest(first) && (second.is_empty() || self.is_digest(second)) => {
                "have digests already: leave --digest away to compare these".into()
            }
            _ => return self.parted(start, first),
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
        let lines: Vec<_> = lines.filter(|line| !line.trim_ascii().is_empty()).take(4).collect();
        let is_csv = matches!(self.form.kind, Kind::Csv { .. });
        let others = if is_csv { &b"\t;,|"[..] } else { b"\t;,| " };
        let other = others.iter().find(|&byte| lines.iter().all(|line| line.contains(byte)))?;
        let are_parted = lines.iter().any(|line| line.contains(&delimiter));
        (!lines.is_empty() && !are_parted).then(|| {
            format!(
                "have fields between '{}': -t and --list-delimiter say so",
                other.escape_ascii()
            )
        })
    }
}

fn sequences(format: &str) -> String {
    format!(
        "be {}, and is compared line by line: --{format} compares the names of its records",
        format.to_ascii_uppercase()
    )
}
