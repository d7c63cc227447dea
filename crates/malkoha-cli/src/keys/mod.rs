//! Which part of a line is compared: all of it or some fields, and in which spelling. Lines are
//! printed unchanged.

mod csv;
mod fields;
mod json;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Error, Result, bail};
use clap::Args;
use malkoha::KeyHasher;
use unicase::UniCase;

use self::csv::Records;
use self::fields::{Called, Fields};
use crate::failure::tell;
use crate::input::{Block, Inputs, List, split};

/// Options that all commands share which read lines.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What is compared")]
pub(crate) struct KeyArgs {
    /// Compare these fields instead of the whole line: 2, or 1,3-5. The first is 1; several are
    /// joined by tabs. With --csv also column names: the first line of each file is then its
    /// header, and the first header is printed before all lines
    #[arg(short = 'k', long = "key", value_name = "FIELDS", value_parser = fields::called)]
    key: Option<Called>,

    /// Character between fields [default: tab, or comma with --csv]
    #[arg(short = 't', long, value_name = "CHAR", value_parser = fields::delimiter)]
    #[arg(requires = "key")]
    delimiter: Option<u8>,

    /// Fields may be quoted, as in CSV; each record is one line
    #[arg(long, requires = "key")]
    csv: bool,

    /// Lines are JSON objects: compare the value of this field; /a/b is b of a
    #[arg(long, value_name = "NAME", conflicts_with = "key")]
    json_field: Option<String>,

    /// Ignore the case of ASCII letters
    #[arg(short, long)]
    ignore_case: bool,

    /// Ignore the case of all letters, by Unicode's case folding
    #[arg(long, conflicts_with = "ignore_case")]
    ignore_unicode_case: bool,

    /// Treat a CR before the end of a line as part of the end
    #[arg(long)]
    crlf: bool,

    /// Ignore white space before and after what is compared
    #[arg(long)]
    trim: bool,
}

impl KeyArgs {
    pub(crate) fn keys(&self) -> Result<Keys> {
        let comma = self.delimiter.unwrap_or(b',');
        let pick = match (&self.key, &self.json_field) {
            (Some(called), _) if self.csv => Pick::csv(called.clone(), comma),
            (Some(Called::Numbers(fields)), _) => {
                Pick::Fields { fields: fields.clone(), delimiter: self.delimiter.unwrap_or(b'\t') }
            }
            (Some(Called::Names(names)), _) => bail!(
                "-k {}: columns have names with --csv alone; write numbers of fields, from 1, as 2 \
                 or 1,3 or 2-4 or 3-",
                names.join(",")
            ),
            (None, Some(name)) => Pick::Json(name.clone()),
            (None, None) => Pick::Line,
        };
        let case = match self {
            Self { ignore_case: true, .. } => Case::Ascii,
            Self { ignore_unicode_case: true, .. } => Case::Unicode,
            _ => Case::Kept,
        };
        let &Self { crlf, trim, .. } = self;
        Ok(Keys { pick, spelling: Spelling { case, crlf, trim }, counted: true })
    }

    /// The inputs, with headers if columns have names.
    pub(crate) fn of(&self, inputs: Inputs) -> Inputs {
        inputs.headed(matches!(self.key, Some(Called::Names(_))))
    }

    /// Another field of the same lines: a number, or a name where lines are JSON.
    pub(crate) fn field(&self, field: &str) -> Result<Keys> {
        let number = || fields::parse(field).map_err(Error::msg);
        let pick = match self.keys()?.pick {
            Pick::Json(_) => Pick::Json(field.to_owned()),
            Pick::Named { delimiter, .. } => {
                Pick::csv(fields::called(field).map_err(Error::msg)?, delimiter)
            }
            Pick::Csv { delimiter, .. } => Pick::Csv { fields: number()?, delimiter },
            Pick::Fields { delimiter, .. } => Pick::Fields { fields: number()?, delimiter },
            Pick::Line => Pick::Fields { fields: number()?, delimiter: b'\t' },
        };
        let spelling = Spelling { crlf: self.crlf, trim: true, ..AS_IT_IS };
        Ok(Keys { pick, spelling, counted: false })
    }
}

/// How to get from lines to the compared keys.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pick: Pick,
    spelling: Spelling,
    /// Lines that lack a field are counted.
    counted: bool,
}

#[derive(Clone, Debug)]
enum Pick {
    Line,
    Fields {
        fields: Fields,
        delimiter: u8,
    },
    Csv {
        fields: Fields,
        delimiter: u8,
    },
    /// As long as the columns of these names are unknown.
    Named {
        names: Vec<String>,
        delimiter: u8,
    },
    Json(String),
}

impl Pick {
    fn csv(called: Called, delimiter: u8) -> Self {
        match called {
            Called::Numbers(fields) => Self::Csv { fields, delimiter },
            Called::Names(names) => Self::Named { names, delimiter },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spelling {
    case: Case,
    crlf: bool,
    trim: bool,
}

/// As it is.
const AS_IT_IS: Spelling = Spelling { case: Case::Kept, crlf: false, trim: false };

/// Which upper and lower case are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Kept,
    Ascii,
    Unicode,
}

/// Lines that lack a field, of all inputs.
static WITHOUT_FIELD: AtomicU64 = AtomicU64::new(0);

/// Reports lines without such a field, if there were any.
pub(crate) fn tell_of_missing() {
    let lines = WITHOUT_FIELD.load(Ordering::Relaxed);
    if lines > 0 {
        let lines = if lines == 1 { "1 line lacks".into() } else { format!("{lines} lines lack") };
        tell(&format!("malkoha: {lines} the field that is compared: it was taken as empty"));
    }
}

impl Keys {
    /// Whether keys are the lines themselves.
    pub(crate) fn are_lines(&self) -> bool {
        matches!(self.pick, Pick::Line) && self.spelling == AS_IT_IS
    }

    /// The keys of the lines of a block, whose header tells which columns have which names.
    pub(crate) fn of_block(&self, block: &Block) -> Result<Cow<'_, Self>> {
        let Pick::Named { names, delimiter } = &self.pick else { return Ok(Cow::Borrowed(self)) };
        let fields = Records::new(*delimiter).columns(block.header().unwrap_or(b""), names)?;
        let pick = Pick::Csv { fields, delimiter: *delimiter };
        Ok(Cow::Owned(Self { pick, ..*self }))
    }

    /// Whether keys depend on the header of the file.
    pub(crate) fn are_named(&self) -> bool {
        matches!(self.pick, Pick::Named { .. })
    }

    /// Calls `each` with the keys of lines.
    pub(crate) fn with<R>(
        &self,
        lines: &[&[u8]],
        each: impl FnOnce(&[&[u8]]) -> Result<R>,
    ) -> Result<R> {
        if self.are_lines() {
            return each(lines);
        }
        let mut text = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
        let mut ends = Vec::with_capacity(lines.len());
        let mut records = match &self.pick {
            Pick::Csv { delimiter, .. } => Some(Records::new(*delimiter)),
            Pick::Named { .. } => bail!("columns have no names here: write their numbers"),
            _ => None,
        };
        for line in lines {
            let start = text.len();
            let line =
                if self.spelling.crlf { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
            let is_whole = match (&self.pick, &mut records) {
                (Pick::Csv { fields, .. }, Some(records)) => {
                    records.push(line, fields, &mut text)?
                }
                (Pick::Fields { fields, delimiter }, _) => fields.push(line, *delimiter, &mut text),
                (Pick::Json(name), _) => json::push(line, name, &mut text),
                _ => {
                    text.extend_from_slice(line);
                    true
                }
            };
            if !is_whole && self.counted {
                WITHOUT_FIELD.fetch_add(1, Ordering::Relaxed);
            }
            self.spelling.apply(&mut text, start);
            ends.push(text.len());
        }
        let mut start = 0;
        let keys: Vec<&[u8]> = ends
            .into_iter()
            .map(|end| {
                let key = &text[start..end];
                start = end;
                key
            })
            .collect();
        each(&keys)
    }

    /// The hashes of the keys of lines.
    pub(crate) fn hashes(&self, lines: &[&[u8]], hasher: KeyHasher) -> Result<Vec<u64>> {
        self.with(lines, |keys| Ok(keys.iter().map(|key| hasher.hash_bytes(key)).collect()))
    }

    /// Whole lines as they are.
    pub(crate) fn lines() -> Self {
        Self { pick: Pick::Line, spelling: AS_IT_IS, counted: false }
    }

    /// Others report lines that lack a field.
    pub(crate) fn uncounted(self) -> Self {
        Self { counted: false, ..self }
    }

    /// The keys of lists: whole lines, spelled alike.
    pub(crate) fn of_lists(&self) -> Self {
        Self { pick: Pick::Line, ..self.clone() }
    }

    /// A list whose lines are keys, spelled as keys are.
    pub(crate) fn spell(&self, list: List, separator: u8) -> Result<List> {
        let spelling = self.of_lists();
        if spelling.are_lines() {
            return Ok(list);
        }
        let mut text = Vec::with_capacity(list.len());
        split(&list, separator, |lines| {
            spelling.with(lines, |keys| {
                for key in keys {
                    text.extend_from_slice(key);
                    text.push(separator);
                }
                Ok(())
            })
        })?;
        Ok(List::Read(text))
    }
}

impl Spelling {
    /// Normalises what was added to `text` from `start` on.
    fn apply(self, text: &mut Vec<u8>, start: usize) {
        if self.trim {
            let trimmed = text[start..].trim_ascii();
            let len = trimmed.len();
            let before = text[start..].len() - text[start..].trim_ascii_start().len();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(pick: Pick, spelling: Spelling, lines: &[&str]) -> Vec<String> {
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let text = |keys: &[&[u8]]| {
            Ok(keys.iter().map(|key| String::from_utf8(key.to_vec()).unwrap()).collect())
        };
        Keys { pick, spelling, counted: false }.with(&lines, text).unwrap()
    }

    #[test]
    fn fields_are_cut_and_joined_by_tabs() {
        let pick =
            |text: &str| Pick::Fields { fields: fields::parse(text).unwrap(), delimiter: b';' };
        let lines = ["a;b;c;d", "a", "", ";;x"];
        assert_eq!(keys_of(pick("2"), AS_IT_IS, &lines), ["b", "", "", ""]);
        assert_eq!(keys_of(pick("3,1-2"), AS_IT_IS, &lines), ["c\ta\tb", "\ta\t", "\t\t", "x\t\t"]);
        assert_eq!(keys_of(pick("3-"), AS_IT_IS, &lines), ["c\td", "", "", "x"]);
    }

    #[test]
    fn csv_fields_are_unquoted() {
        let pick = Pick::Csv { fields: fields::parse("2").unwrap(), delimiter: b',' };
        let lines = ["a,\"b,\"\"c\"\"\",d", "a,b\r", "a", ""];
        assert_eq!(keys_of(pick.clone(), AS_IT_IS, &lines), ["b,\"c\"", "b", "", ""]);
        let keys = Keys { pick, spelling: AS_IT_IS, counted: false };
        let error = keys.with(&[b"a,\"b"], |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("a quote is not closed"), "{error}");
    }

    #[test]
    fn json_values_are_text() {
        let pick = |name: &str| Pick::Json(name.to_owned());
        let lines =
            [r#"{"a":"x\u00e9","b":{"c":[1, 2]}}"#, r#"{"a":12.50,"b":{"c":true}}"#, "{}", "x"];
        assert_eq!(keys_of(pick("a"), AS_IT_IS, &lines), ["x\u{e9}", "12.50", "", ""]);
        assert_eq!(keys_of(pick("/b/c"), AS_IT_IS, &lines), ["[1,2]", "true", "", ""]);
        // Numbers that are equal as doubles.
        let numbers = ["123456789012345678901", "123456789012345678902", "1e400"];
        let lines = numbers.map(|number| format!(r#"{{"id":{number}}}"#));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let exact = [numbers[0], numbers[1], "1e+400"];
        assert_eq!(keys_of(pick("id"), AS_IT_IS, &lines), exact);
    }

    #[test]
    fn spellings() {
        let spelling = Spelling { case: Case::Ascii, crlf: true, trim: true };
        let lines = [" A b \r", "\u{c9}x", "", "  "];
        assert_eq!(keys_of(Pick::Line, spelling, &lines), ["a b", "\u{c9}x", "", ""]);
        let unicode = Spelling { case: Case::Unicode, ..AS_IT_IS };
        let lines = ["STRA\u{1e9e}E", "stra\u{df}e", "\u{c9}x", "\u{39f}\u{3a3}", "Ab"];
        let folded = ["strasse", "strasse", "\u{e9}x", "\u{3bf}\u{3c3}", "ab"];
        assert_eq!(keys_of(Pick::Line, unicode, &lines), folded);
        let mut text = b"A\xff\xc3\x89".to_vec();
        unicode.apply(&mut text, 1);
        assert_eq!(text, b"A\xff\xc3\xa9");
        let spelling = Spelling { crlf: true, ..AS_IT_IS };
        assert_eq!(keys_of(Pick::Line, spelling, &["a\r\r", "\r"]), ["a\r", ""]);
    }
}
