//! Properties of keys that may keep them from being equal, and the remedy for each.

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization as _;

use crate::records::spelling::trimmed;

/// A property of a key.
pub(super) struct Look {
    /// What a key would be without it; nothing if the key lacks it.
    pub(super) without: fn(&[u8]) -> Vec<Vec<u8>>,
    pub(super) what: &'static str,
    /// What to do if one side alone has it.
    pub(super) remedy: &'static str,
}

pub(super) const SELECT: &str = "see -k with -t, and -K with --list-delimiter";
pub(super) const CUT_OFF: &str = "cut it off first";
const TAKE_OUT: &str = "write all the same first, as by sed 's/[:-]//g'";

/// Looks that nothing equal to other keys has by chance.
pub(super) const SURE: [Look; 9] = [
    look(|key| one(key.strip_suffix(b"\r")), "end with CR", "see --crlf"),
    look(
        |key| one(Some(trimmed(key)).filter(|it| it.len() < key.len())),
        "begin or end with blanks",
        "see --trim",
    ),
    look(
        |key| one((key.starts_with(b"{") && key.ends_with(b"}")).then_some(b"")),
        "are JSON objects",
        "see --json-field and --list-json-field",
    ),
    look(
        |key| match key {
            [first @ (b'"' | b'\''), inner @ .., last] if first == last => one(Some(inner)),
            _ => Vec::new(),
        },
        "are in quotes",
        "see --csv and --list-csv, or cut them out first",
    ),
    look(|key| one(key.strip_suffix(b"/1")), "end with '/1'", CUT_OFF),
    look(|key| one(key.strip_suffix(b"/2")), "end with '/2'", CUT_OFF),
    look(
        |key| {
            let inner = key.strip_suffix(b">").and_then(|key| {
                let start = memchr::memrchr(b'<', key)?;
                Some(&key[start + 1..])
            });
            one(inner.filter(|_| key.contains(&b'@')))
        },
        ADDRESS,
        "cut it out first, as by sed 's/.*<//; s/>.*//'",
    ),
    look(
        |key| one(memchr::memchr_iter(b'@', key).nth(1).map(|_| b"")),
        "have several addresses",
        "write each in a line first",
    ),
    look(
        |key| {
            let is_mark = |it: char| ('\u{300}'..='\u{36f}').contains(&it);
            let text = str::from_utf8(key).ok().filter(|text| text.contains(is_mark));
            one(text.map(|text| text.nfc().collect::<String>()))
        },
        "have accents apart from their letters",
        "compose them first, as by uconv -x NFC",
    ),
];

/// Looks that many keys have, and which tell something if keys without them would be equal.
pub(super) const LIKELY: [Look; 10] = [
    look(|key| pairs(key, b':', b'-'), "have ':' between hex digits", TAKE_OUT),
    look(|key| pairs(key, b'-', b':'), "have '-' between hex digits", TAKE_OUT),
    look(
        |key| {
            let latin = || key.iter().map(|&byte| char::from(byte)).collect::<String>();
            one(str::from_utf8(key).is_err().then(latin))
        },
        "are no UTF-8",
        "convert them first, as by iconv -f LATIN1 -t UTF-8",
    ),
    look(unescaped, "have signs written as '%' and hex digits", "decode them first"),
    look(|key| replaced(key, b"\\", b"/"), "have backslashes", r"write '/' first, as by tr '\\' /"),
    look(
        |key| replaced(key, "\u{a0}".as_bytes(), b" "),
        "have blanks that do not break",
        "write plain blanks first",
    ),
    look(
        |key| one(key.strip_prefix(b"http:").map(|rest| [b"https:", rest].concat())),
        "begin with 'http:'",
        "write all the same first, as by sed 's/^http:/https:/'",
    ),
    look(
        |key| {
            let is_number = key.starts_with(b"0") && key.iter().all(u8::is_ascii_digit);
            let zeros = key.iter().take_while(|&&digit| digit == b'0').count();
            one((is_number && zeros < key.len()).then(|| &key[zeros..]))
        },
        "begin with zeros",
        "cut them off first, as by sed 's/^0*//'",
    ),
    look(
        |key| one(whole(key)),
        "are whole numbers with a point or an exponent",
        "write all the same first",
    ),
    look(
        |key| one(memchr::memmem::find(key, b" #").map(|at| key[..at].trim_ascii_end())),
        "have comments",
        "cut them off first, as by sed 's/ *#.*//'",
    ),
];

/// Spellings that keys have by chance, and which tell something if keys in another one are equal.
pub(super) const SPELLED: [Look; 4] = [
    look(|key| one(key.strip_prefix(b"mailto:")), "begin with 'mailto:'", CUT_OFF),
    look(|key| one(key.strip_prefix(b"www.")), "begin with 'www.'", CUT_OFF),
    look(
        |key| one(key.iter().any(u8::is_ascii_uppercase).then(|| key.to_ascii_lowercase())),
        CASE,
        "see --ignore-case",
    ),
    look(
        |key| {
            let text = str::from_utf8(key).ok().filter(|text| !text.is_ascii());
            one(text.map(|text| UniCase::unicode(text).to_folded_case()))
        },
        CASE,
        "see --ignore-unicode-case",
    ),
];

/// Looks that many keys have, and which tell something if nothing else is equal.
pub(super) const SIGNS: [Look; 7] = [
    look(
        |key| {
            let has = |is_it: fn(&u8) -> bool| key.iter().any(is_it);
            let is_upper = has(u8::is_ascii_uppercase) && !has(u8::is_ascii_lowercase);
            one((key.len() > 3 && is_upper).then(|| key.to_ascii_lowercase()))
        },
        "are in upper case",
        "see --ignore-case",
    ),
    look(
        |key| {
            let is_digest = |it: &&[u8]| it.len() >= 32 && it.iter().all(u8::is_ascii_hexdigit);
            let mut words = key.split(|&byte| byte == b' ');
            one(words.find(is_digest).filter(|word| word.len() < key.len()))
        },
        "have more than a digest",
        SELECT,
    ),
    look(|key| parts(key, b'\t'), "have tabs", SELECT),
    look(|key| parts(key, b','), "have commas", SELECT),
    look(|key| parts(key, b';'), "have semicolons", SELECT),
    look(|key| parts(key, b'|'), "have '|'", SELECT),
    look(|key| parts(key, b':'), "have colons", SELECT),
];

pub(super) const CASE: &str = "differ in case";

/// Lists have addresses with and without names.
pub(super) const ADDRESS: &str = "have an address in <>";

const fn look(
    without: fn(&[u8]) -> Vec<Vec<u8>>,
    what: &'static str,
    remedy: &'static str,
) -> Look {
    Look { without, what, remedy }
}

fn one(text: Option<impl AsRef<[u8]>>) -> Vec<Vec<u8>> {
    text.map(|text| text.as_ref().to_vec()).into_iter().collect()
}

fn replaced(key: &[u8], old: &[u8], new: &[u8]) -> Vec<Vec<u8>> {
    let (mut text, mut rest) = (Vec::new(), key);
    while let Some(at) = memchr::memmem::find(rest, old) {
        text.extend_from_slice(&rest[..at]);
        text.extend_from_slice(new);
        rest = &rest[at + old.len()..];
    }
    text.extend_from_slice(rest);
    one((rest.len() < key.len()).then_some(&text))
}

/// Pairs of hex digits without what lies between them, and with another sign.
fn pairs(key: &[u8], sign: u8, other: u8) -> Vec<Vec<u8>> {
    let pairs: Vec<&[u8]> = key.split(|&byte| byte == sign).collect();
    let is_pair = |it: &&[u8]| it.len() == 2 && it.iter().all(u8::is_ascii_hexdigit);
    if pairs.len() < 4 || !pairs.iter().all(is_pair) {
        return Vec::new();
    }
    vec![pairs.concat(), pairs.join(&other)]
}

fn unescaped(key: &[u8]) -> Vec<Vec<u8>> {
    let (mut text, mut rest) = (Vec::new(), key);
    while let Some(at) = memchr::memchr(b'%', rest) {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let digits = after.first_chunk::<2>().and_then(|it| str::from_utf8(it).ok());
        let Some(byte) = digits.and_then(|it| u8::from_str_radix(it, 16).ok()) else { break };
        text.extend_from_slice(before);
        text.push(byte);
        rest = &after[2..];
    }
    text.extend_from_slice(rest);
    one((text.len() < key.len()).then_some(&text))
}

/// A whole number without its point and exponent, if it has any.
fn whole(key: &[u8]) -> Option<String> {
    let text = str::from_utf8(key).ok().filter(|text| text.contains(['.', 'e', 'E']))?;
    let number = text.parse::<f64>().ok()?;
    // Larger ones are not exact.
    (number.fract() == 0.0 && number.abs() < 1e15).then(|| format!("{number:.0}"))
}

fn parts(key: &[u8], sign: u8) -> Vec<Vec<u8>> {
    let has_sign = key.contains(&sign);
    let fields = key.split(|&byte| byte == sign).filter(|_| has_sign);
    fields.map(|field| trimmed(field).to_vec()).collect()
}
