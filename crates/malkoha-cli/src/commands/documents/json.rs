//! The text of a JSON object, and where it stands.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Why a record has no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    NoJson,
    Lacks,
    Null,
    NoText,
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoJson => "is no JSON object",
            Self::Lacks => "lacks the field of the text",
            Self::Null => "has null in the field of the text",
            Self::NoText => "has no text in the field, but another value or half a surrogate pair",
        })
    }
}

/// The names that lead to a field: `text`, or `/meta/body` for one within an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Field {
    name: String,
    path: Vec<String>,
}

impl Field {
    pub(crate) fn parse(name: &str) -> Self {
        // As in RFC 6901.
        let unescape = |name: &str| name.replace("~1", "/").replace("~0", "~");
        let path = match name.strip_prefix('/') {
            Some(path) => path.split('/').map(unescape).collect(),
            None => vec![name.to_owned()],
        };
        Self { name: name.to_owned(), path }
    }

    #[cfg(feature = "parquet")]
    pub(super) fn path(&self) -> &[String] {
        &self.path
    }

    /// Why a record is bad, with the names of the fields that it has.
    pub(super) fn complaint(&self, bad: Bad, fields: impl FnOnce() -> Vec<String>) -> String {
        match bad {
            Bad::Lacks => {
                let fields = match &fields()[..] {
                    [] => "it has none".to_owned(),
                    fields => format!("its fields: {}", fields.join(", ")),
                };
                format!("lacks the field '{}'; {fields}", self.name)
            }
            bad => bad.to_string(),
        }
    }

    /// Puts the text of a record into `text`.
    pub(crate) fn read(&self, record: &[u8], text: &mut String) -> Result<(), Bad> {
        let mut reader = serde_json::Deserializer::from_slice(record);
        let taken = Take(&self.path, text).deserialize(&mut reader);
        match taken {
            Ok(found) if reader.end().is_ok() => found.then_some(()).ok_or(Bad::Lacks),
            // This way tells one error from another.
            _ => unquote(&record[self.place(record)?], text),
        }
    }

    /// The text of a record, or those of a list of them.
    pub(super) fn read_texts(&self, record: &[u8]) -> Result<Vec<String>, Bad> {
        let value = &record[self.place(record)?];
        let one = serde_json::from_slice(value).map(|text| vec![text]);
        one.or_else(|_| serde_json::from_slice(value)).map_err(|_| Bad::NoText)
    }

    /// The place of the text's JSON string in a record.
    pub(super) fn place(&self, record: &[u8]) -> Result<Range<usize>, Bad> {
        let mut reader = serde_json::Deserializer::from_slice(record);
        let found = Seek(&self.path).deserialize(&mut reader).map_err(|_| Bad::NoJson)?;
        reader.end().map_err(|_| Bad::NoJson)?;
        let raw = found.ok_or(Bad::Lacks)?.get();
        if raw == "null" {
            return Err(Bad::Null);
        }
        let start = raw.as_ptr().addr() - record.as_ptr().addr();
        Ok(start..start + raw.len())
    }
}

/// Why a record is no JSON object, and what to do.
pub(super) fn why_no_object(record: &[u8]) -> String {
    let read = serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(record);
    let why = read.err().map(|error| error.to_string()).unwrap_or_default();
    let remedy = match record.trim_ascii() {
        [b'[', ..] | b"{" => "; write one a line first, as by jq -c '.[]' or jq -c .",
        _ => "",
    };
    format!(" ({}{remedy})", why.replace(" line 1", ""))
}

/// The names of a record's fields.
pub(super) fn fields(record: &[u8]) -> Vec<String> {
    let fields = serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(record);
    fields.unwrap_or_default().into_keys().collect()
}

/// Puts the text of a JSON string into `text`.
pub(super) fn unquote(string: &[u8], text: &mut String) -> Result<(), Bad> {
    let mut reader = serde_json::Deserializer::from_slice(string);
    Text(text).deserialize(&mut reader).map_err(|_| Bad::NoText)
}

/// The name of a member, which is only copied if it has escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Puts the text at the end of a path through objects into a string; the last one of several.
struct Take<'a>(&'a [String], &'a mut String);

impl<'de> DeserializeSeed<'de> for Take<'_> {
    /// Whether there is one.
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<bool, D::Error> {
        value.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Take<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(Name(name)) = map.next_key()? {
            found = match &self.0[1..] {
                _ if name != self.0[0] => {
                    map.next_value::<IgnoredAny>()?;
                    found
                }
                [] => map.next_value_seed(Text(self.1)).map(|()| true)?,
                rest => map.next_value_seed(Take(rest, self.1))?,
            };
        }
        Ok(found)
    }
}

/// Finds the JSON of the value at the end of a path through objects; the last one of several.
struct Seek<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Self::Value, D::Error> {
        value.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(Name(name)) = map.next_key()? {
            if name != self.0[0] {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let raw: &RawValue = map.next_value()?;
            found = match &self.0[1..] {
                [] => Some(raw),
                rest => Seek(rest).deserialize(raw).unwrap_or(None),
            };
        }
        Ok(found)
    }
}

/// Puts a string into another one, whose memory is used again.
struct Text<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_str(self)
    }
}

impl Visitor<'_> for Text<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.clear();
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_and_its_place_are_found() {
        let text = |field: &str, record: &str| {
            let mut text = String::new();
            let field = Field::parse(field);
            field.read(record.as_bytes(), &mut text)?;
            Ok((text, record[field.place(record.as_bytes())?].to_owned()))
        };
        let found = |text: &str, raw: &str| Ok((text.to_owned(), raw.to_owned()));
        let record = r#" {"id":1,"text" : "a\n\u00e9\"","m":{"x/y":{"t":"deep"},"n":[1]}} "#;
        assert_eq!(text("text", record), found("a\né\"", r#""a\n\u00e9\"""#));
        assert_eq!(text("/m/x~1y/t", record), found("deep", r#""deep""#));
        assert_eq!(text("te\u{78}t", r#"{"te\u0078t":"x"}"#), found("x", r#""x""#));
        assert_eq!(text("t", r#"{"t":1,"t":"last"}"#), found("last", r#""last""#));
        assert_eq!(text("t", r#"{"t":"first","t":"last"}"#), found("last", r#""last""#));
        assert_eq!(text("/a/t", r#"{"a":1,"a":{"t":"x"}}"#), found("x", r#""x""#));
        for (field, record, bad) in [
            ("text", "", Bad::NoJson),
            ("text", "[1]", Bad::NoJson),
            ("text", r#"{"text":"x""#, Bad::NoJson),
            ("text", r#"{"text":"x"} x"#, Bad::NoJson),
            ("text", "{\"text\":\"\u{1}\"}", Bad::NoJson),
            ("text", r#"{"Text":"x"}"#, Bad::Lacks),
            ("text", r#"{"text":null}"#, Bad::Null),
            ("text", r#"{"text":["x"]}"#, Bad::NoText),
            ("text", r#"{"text":"first","text":"\ud800"}"#, Bad::NoText),
            ("text", r#"{"text":"first","text":null}"#, Bad::Null),
            ("/a/b", r#"{"a":{"b":"x"},"a":{}}"#, Bad::Lacks),
            ("/a/b", r#"{"a":"b"}"#, Bad::Lacks),
        ] {
            assert_eq!(text(field, record), Err(bad), "{field} of {record}");
        }
    }
}
