//! Keys without some of their looks.

use std::borrow::Cow;

use serde_json::Value;

pub(super) fn one(text: Option<impl AsRef<[u8]>>) -> Vec<Vec<u8>> {
    text.map(|text| text.as_ref().to_vec()).into_iter().collect()
}

/// The text in <>, if it can be an address.
pub(super) fn address(key: &[u8]) -> Vec<Vec<u8>> {
    let inner = memchr::memrchr(b'<', key).map(|start| &key[start + 1..]);
    let end = inner.and_then(|inner| memchr::memchr(b'>', inner));
    let address = inner.zip(end).map(|(inner, end)| &inner[..end]);
    one(address.filter(|address| address.contains(&b'@')))
}

pub(super) fn json(key: &[u8]) -> Option<Value> {
    serde_json::from_slice(key).ok().filter(|_| matches!(key.first(), Some(b'{' | b'[')))
}

/// The texts and numbers of a JSON value.
pub(super) fn leaves(value: &Value, mut all: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    match value {
        Value::Array(values) => values.iter().fold(all, |all, it| leaves(it, all)),
        Value::Object(members) => members.values().fold(all, |all, it| leaves(it, all)),
        Value::String(text) => {
            all.push(text.as_bytes().to_vec());
            all
        }
        Value::Number(number) => {
            all.push(number.to_string().into_bytes());
            all
        }
        Value::Null | Value::Bool(_) => all,
    }
}

pub(super) fn entities(key: &[u8]) -> Vec<Vec<u8>> {
    const ENTITIES: [(&[u8], &[u8]); 6] = [
        (b"&lt;", b"<"),
        (b"&gt;", b">"),
        (b"&quot;", b"\""),
        (b"&#39;", b"'"),
        (b"&#x27;", b"'"),
        (b"&amp;", b"&"),
    ];
    let replace = |text: Vec<u8>, &(entity, sign): &(&[u8], &[u8])| {
        replaced(&text, entity, sign).pop().unwrap_or(text)
    };
    let text = ENTITIES.iter().fold(key.to_vec(), replace);
    one((text.len() < key.len()).then_some(text))
}

/// Bytes of the longest key whose signs are looked at.
const MOST_SIGNS: usize = 64;

fn text_of(key: &[u8]) -> Cow<'_, str> {
    if key.len() > MOST_SIGNS { "".into() } else { String::from_utf8_lossy(key) }
}

/// Whether a key may have signs around it.
fn is_framed(key: &[u8]) -> bool {
    [key.first(), key.last()].into_iter().flatten().any(|it| !it.is_ascii_alphanumeric())
}

/// A key without signs around it; nothing of a long one.
pub(super) fn unframed(key: &[u8]) -> Option<String> {
    is_framed(key).then(|| text_of(key).trim_matches(|it: char| !it.is_alphanumeric()).to_owned())
}

/// The same without case.
pub(super) fn bare(key: &[u8]) -> Option<String> {
    let has_case = |it: &u8| !it.is_ascii() || it.is_ascii_uppercase();
    let unframed = unframed(key);
    (unframed.is_some() || key.iter().any(has_case))
        .then(|| unframed.unwrap_or_else(|| text_of(key).into_owned()).to_lowercase())
}

/// A key without case, and all signs. Names of hosts and addresses differ in those, and so do short
/// numbers.
pub(super) fn squeezed(key: &[u8]) -> Option<String> {
    let text = text_of(key);
    let squeezed: String = text.chars().filter(|it| it.is_alphanumeric()).collect();
    let is = |is_it: fn(&u8) -> bool| squeezed.bytes().all(|byte| is_it(&byte));
    let is_hardware = squeezed.len() == 12 && is(u8::is_ascii_hexdigit);
    let least = if is(u8::is_ascii_digit) { 8 } else { 4 };
    let is_meant = squeezed.len() >= least && !text.contains(['.', ':', '@']);
    (is_meant || is_hardware).then(|| squeezed.to_lowercase())
}

pub(super) fn replaced(key: &[u8], old: &[u8], new: &[u8]) -> Vec<Vec<u8>> {
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
pub(super) fn pairs(key: &[u8], sign: u8, other: u8) -> Vec<Vec<u8>> {
    let pairs: Vec<&[u8]> = key.split(|&byte| byte == sign).collect();
    let is_pair = |it: &&[u8]| it.len() == 2 && it.iter().all(u8::is_ascii_hexdigit);
    if pairs.len() < 4 || !pairs.iter().all(is_pair) {
        return Vec::new();
    }
    vec![pairs.concat(), pairs.join(&other)]
}

pub(super) fn unescaped(key: &[u8]) -> Vec<Vec<u8>> {
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
pub(super) fn whole(key: &[u8]) -> Option<Vec<u8>> {
    let text = str::from_utf8(key).ok().filter(|text| text.contains(['.', 'e', 'E']))?;
    let number = text.parse::<f64>().ok()?;
    // Larger ones are not exact.
    (number.fract() == 0.0 && number.abs() < 1e15).then(|| format!("{number:.0}").into_bytes())
}

/// A number without what is between groups of three digits.
pub(super) fn in_groups(key: &[u8]) -> Option<Vec<u8>> {
    let groups: Vec<&[u8]> = key.split(|byte| b".,".contains(byte)).collect();
    let (first, rest) = groups.split_first()?;
    let is_number = groups.iter().all(|it| it.iter().all(u8::is_ascii_digit));
    let are_right = (1..=3).contains(&first.len()) && rest.iter().all(|it| it.len() == 3);
    (is_number && are_right && !rest.is_empty()).then(|| groups.concat())
}
