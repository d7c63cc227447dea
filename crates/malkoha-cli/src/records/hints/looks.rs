//! Properties of keys that may keep them from being equal, and the remedy for each.

use serde_json::Value;
use unicase::UniCase;
use unicode_normalization::UnicodeNormalization as _;

use super::fields::FIELDS;
use super::without::{
    address, bare, entities, in_groups, json, leaves, one, pairs, replaced, squeezed, unescaped,
    unframed, whole,
};
use crate::records::spelling::trimmed;

/// A key with a look.
type With = fn(&[u8]) -> Vec<u8>;

/// A property of a key.
pub(super) struct Look {
    /// Keys that have it have one of these signs; all keys may have it if there are none.
    pub(super) signs: u128,
    /// A key without it; nothing if the key lacks it.
    pub(super) without: fn(&[u8]) -> Vec<Vec<u8>>,
    /// A key with it, if that is one text.
    pub(super) with: Option<With>,
    /// Keys of both sides may have it, and be the same without it.
    pub(super) folds: bool,
    pub(super) what: &'static str,
    /// The remedy if one side alone has it.
    pub(super) remedy: &'static str,
}

impl Look {
    /// The description of keys that have it.
    const fn with(self, with: With) -> Self {
        Self { with: Some(with), ..self }
    }

    const fn folding(self) -> Self {
        Self { folds: true, ..self }
    }

    /// Whether keys without it are fields of those with it.
    pub(super) fn is_field(&self) -> bool {
        FIELDS.iter().any(|it| it.what == self.what)
    }

    /// Whether it is reported if nothing else is.
    pub(super) fn is_weak(&self) -> bool {
        WEAK.iter().any(|it| it.what == self.what)
    }

    /// Whether a key with these signs may have it.
    pub(super) fn may_have(&self, signs: u128) -> bool {
        self.signs == 0 || self.signs & signs != 0
    }
}

/// The sign of all bytes that are not ASCII.
const HIGH: u8 = 0;

/// The signs of a text, by their numbers.
pub(super) const fn signs(text: &[u8]) -> u128 {
    let (mut signs, mut i) = (0, 0);
    while i < text.len() {
        signs |= 1 << if text[i] < 128 { text[i] } else { HIGH };
        i += 1;
    }
    signs
}

const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(super) const CUT_OFF: &str = "cut it off first";
const TAKE_OUT: &str = "write all the same first, as by sed 's/[:-]//g'";

/// Looks that nothing equal to other keys has by chance.
pub(super) const SURE: [Look; 9] = [
    look(b"\r", |key| one(key.strip_suffix(b"\r")), "end with CR", "see --crlf")
        .with(|key| [key, b"\r"].concat()),
    look(
        b" \t\n\x0c\r\0",
        |key| one(Some(trimmed(key)).filter(|it| it.len() < key.len())),
        "begin or end with blanks",
        "see --trim",
    )
    .with(|key| [key, b" "].concat()),
    look(
        b"{",
        |key| match json(key) {
            Some(object @ Value::Object(_)) => leaves(&object, Vec::new()),
            _ => Vec::new(),
        },
        "are JSON objects",
        "see --json-field and --list-json-field",
    ),
    look(
        b"\"'",
        |key| match key {
            [first @ (b'"' | b'\''), inner @ .., last] if first == last => {
                vec![inner.to_vec(), trimmed(inner).to_vec()]
            }
            _ => Vec::new(),
        },
        "are in quotes",
        "see --csv and --list-csv, or cut them out first",
    )
    .with(|key| [b"\"", key, b"\""].concat()),
    look(b"/", |key| one(key.strip_suffix(b"/1")), "end with '/1'", CUT_OFF),
    look(b"/", |key| one(key.strip_suffix(b"/2")), "end with '/2'", CUT_OFF),
    look(b"<", address, ADDRESS, "cut it out first, as by sed 's/.*<//; s/>.*//'")
        .with(|key| [b"<", key, b">"].concat()),
    look(
        b"@",
        |key| match memchr::memchr_iter(b'@', key).nth(1) {
            Some(_) => key.split(|byte| b" ,;|\t".contains(byte)).map(<[u8]>::to_vec).collect(),
            None => Vec::new(),
        },
        "have several addresses",
        "write each in a line first",
    ),
    look(
        b"\0",
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
pub(super) const LIKELY: [Look; 14] = [
    look(b":", |key| pairs(key, b':', b'-'), "have ':' between hex digits", TAKE_OUT),
    look(b"-", |key| pairs(key, b'-', b':'), "have '-' between hex digits", TAKE_OUT),
    look(
        b"\0",
        |key| {
            let latin = || key.iter().map(|&byte| char::from(byte)).collect::<String>();
            one(str::from_utf8(key).is_err().then(latin))
        },
        "are no UTF-8",
        "convert them first, as by iconv -f LATIN1 -t UTF-8",
    ),
    look(
        b"\0",
        |key| {
            let text = str::from_utf8(key).ok().filter(|text| !text.is_ascii());
            let bytes = text.map(|text| text.chars().map(|it| u8::try_from(u32::from(it))));
            let bytes = bytes.and_then(|bytes| bytes.collect::<Result<Vec<u8>, _>>().ok());
            one(bytes.filter(|bytes| str::from_utf8(bytes).is_ok()))
        },
        "are UTF-8 that was taken for Latin letters",
        "convert them back first, as by iconv -f UTF-8 -t LATIN1",
    ),
    look(b"%", unescaped, "have signs written as '%' and hex digits", "decode them first"),
    look(b"&", entities, "have signs written as '&amp;'", "decode them first"),
    look(
        b"\\",
        |key| replaced(key, b"\\", b"/"),
        "have backslashes",
        r"write '/' first, as by tr '\\' /",
    ),
    look(
        b"\\",
        |key| replaced(key, b"\\", b""),
        "have backslashes in front of signs",
        r"take them out first, as by tr -d '\\'",
    ),
    look(
        b"\0",
        |key| replaced(key, "\u{a0}".as_bytes(), b" "),
        "have blanks that do not break",
        "write plain blanks first",
    ),
    look(
        b":",
        |key| one(key.strip_prefix(b"http:").map(|rest| [b"https:", rest].concat())),
        "begin with 'http:'",
        "write all the same first, as by sed 's/^http:/https:/'",
    ),
    look(
        b"0",
        |key| {
            let is_number = key.starts_with(b"0") && key.iter().all(u8::is_ascii_digit);
            let zeros = key.iter().take_while(|&&digit| digit == b'0').count();
            one((is_number && zeros < key.len()).then(|| &key[zeros..]))
        },
        "begin with zeros",
        "cut them off first, as by sed 's/^0*//'",
    ),
    look(
        b".,eE",
        |key| whole(key).into_iter().chain(in_groups(key)).collect(),
        "are whole numbers with points or an exponent",
        "write all the same first",
    ),
    look(
        b"#",
        |key| one(memchr::memmem::find(key, b" #").map(|at| key[..at].trim_ascii_end())),
        "have comments",
        "cut them off first, as by sed 's/ *#.*//'",
    ),
    look(
        b"<",
        |key| {
            let text = |part: &[u8]| part.rsplit(|&byte| byte == b'>').next().map(<[u8]>::to_vec);
            let parts = || key.split(|&byte| byte == b'<').filter_map(text);
            if key.starts_with(b"<") && key.ends_with(b">") {
                parts().collect()
            } else {
                Vec::new()
            }
        },
        "have tags",
        "take these out first, as by sed 's/<[^>]*>//g'",
    ),
];

/// Spellings that keys have by chance, and which tell something if keys in another one are equal.
pub(super) const SPELLED: [Look; 5] = [
    look(b":", |key| one(key.strip_prefix(b"mailto:")), "begin with 'mailto:'", CUT_OFF)
        .with(|key| [b"mailto:", key].concat()),
    look(b".", |key| one(key.strip_prefix(b"www.")), "begin with 'www.'", CUT_OFF)
        .with(|key| [b"www.", key].concat()),
    look(
        UPPER,
        |key| one(key.iter().any(u8::is_ascii_uppercase).then(|| key.to_ascii_lowercase())),
        CASE,
        "see --ignore-case",
    )
    .with(<[u8]>::to_ascii_uppercase)
    .folding(),
    look(
        b"\0",
        |key| {
            let text = str::from_utf8(key).ok().filter(|text| !text.is_ascii());
            one(text.map(|text| UniCase::unicode(text).to_folded_case()))
        },
        CASE,
        "see --ignore-unicode-case",
    )
    .folding(),
    look(
        b"{[",
        |key| one(json(key).filter(|it| it.is_array() || it.is_object()).map(|it| it.to_string())),
        "are JSON in other words",
        "write all the same first, as by jq -cS .",
    )
    .folding(),
];

/// Signs that keys can lack. They are reported if nothing else is.
pub(super) const WEAK: [Look; 3] = [
    look(b"", |key| one(unframed(key)), "have signs around them", "cut these off first").folding(),
    look(b"", |key| one(bare(key)), SIGNS, "").folding(),
    look(b"", |key| one(squeezed(key)), SIGNS, "").folding(),
];

pub(super) const CASE: &str = "differ in case";

/// In case too.
pub(super) const SIGNS: &str = "differ in signs";

/// Lists have addresses with and without names.
pub(super) const ADDRESS: &str = "have an address in <>";

/// The number of the look without all signs.
pub(super) const SQUEEZED: usize = SURE.len() + LIKELY.len() + SPELLED.len() + WEAK.len() - 1;

/// How many looks there are.
pub(super) const LOOKS: usize = SQUEEZED + 1 + FIELDS.len();

/// All looks that can be proved. Their numbers are those of forms.
pub(super) fn looks() -> impl Iterator<Item = &'static Look> {
    SURE.iter().chain(&LIKELY).chain(&SPELLED).chain(&WEAK).chain(&FIELDS)
}

pub(super) const fn look(
    of: &[u8],
    without: fn(&[u8]) -> Vec<Vec<u8>>,
    what: &'static str,
    remedy: &'static str,
) -> Look {
    Look { signs: signs(of), without, with: None, folds: false, what, remedy }
}
