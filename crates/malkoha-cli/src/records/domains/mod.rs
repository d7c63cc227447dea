//! Domains in lines, as people have them: names, URLs, and the syntaxes of resolvers and blockers.

mod blockers;
mod headers;
mod lines;
mod reach;
mod rules;
mod text;
mod zone;

use std::borrow::Cow;

use idna::AsciiDenyList;

use super::Unfit;
pub(crate) use super::blocks::Line;
use super::words::is_name;
use blockers::hides;
pub(crate) use lines::Lines;
use reach::{ALL, Rule};
pub(crate) use reach::{FINAL, IMPORTANT, Reach, is_listed};
use rules::rule;
pub(crate) use text::trimmed;
use text::words;
use zone::Zone;

/// A name as it is compared: in lower case, without a final dot, international ones in ASCII.
/// `None` if it is not a name.
pub(crate) fn normal(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let text = trimmed(text);
    let is_one = |text: &[u8]| {
        let is_label = |label: &[u8]| matches!(label.len(), 1..=63);
        let mut labels = text.rsplit(|&byte| byte == b'.').peekable();
        // No name ends with a number.
        text.iter().any(u8::is_ascii_alphanumeric)
            && text.len() <= 253
            && is_name(text)
            && !labels.peek().is_some_and(|last| last.iter().all(u8::is_ascii_digit))
            && labels.all(is_label)
    };
    if !text.is_ascii() {
        // Quotes and dashes of word processors. They are letters to the standard.
        if str::from_utf8(text).is_ok_and(|it| it.contains(is_punctuation)) {
            return None;
        }
        let name = idna::domain_to_ascii_cow(text, AsciiDenyList::URL).ok()?;
        let name = name.trim_end_matches('.').as_bytes();
        return is_one(name).then(|| Cow::Owned(name.to_vec()));
    }
    if !is_one(text) {
        return None;
    }
    let has_upper = text.iter().any(u8::is_ascii_uppercase);
    Some(if has_upper { text.to_ascii_lowercase().into() } else { text.into() })
}

fn is_punctuation(it: char) -> bool {
    matches!(it, '\u{ab}' | '\u{bb}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}')
}

/// Calls `each` with the names in a line, and what each stands for.
pub(crate) fn domains(line: &[u8], each: impl FnMut(&[u8], Reach)) -> Line {
    domains_in_zone(line, &Zone::default(), each)
}

/// The same for a line in a zone.
fn domains_in_zone(line: &[u8], zone: &Zone, mut each: impl FnMut(&[u8], Reach)) -> Line {
    let mut one = |name: &[u8], reach: Reach| {
        let (name, reach) = match name {
            // Even of a rule for a name alone.
            [b'*', b'.', name @ ..] => (name, Reach { itself: 0, below: reach.itself }),
            [b'-', b'.', name @ ..] => (name, Reach { below: 0, ..reach }),
            [b'+', b'.', name @ ..] | [b'.', name @ ..] => (name, reach),
            name => (name, reach),
        };
        let name = normal(name);
        name.iter().for_each(|name| each(name, reach));
        name.is_some()
    };
    let line = line.trim_ascii();
    if is_nothing(line) {
        return Line::Nothing;
    }
    if line.strip_prefix(b"//").is_some_and(|it| !it.contains(&b'/')) {
        return Line::Unfit(Unfit::Slashes);
    }
    let line = item_of(line);
    let (mut all, mut any) = (true, false);
    let found = match rule(line, zone) {
        Rule::One(name, reach) => one(name, reach),
        Rule::Part(name) if has_parent(name) && one(name, ALL) => {
            return Line::Reported(Unfit::Narrower);
        }
        Rule::Owned(name, reach) => one(name.as_bytes(), reach),
        Rule::Many(names, reach) => {
            // All of them, even if one is no name.
            names.for_each(|name| {
                let is_name = one(name, reach);
                (all, any) = (all & is_name, any | is_name);
            });
            all
        }
        Rule::Nothing => return Line::Nothing,
        Rule::Part(_) => false,
        Rule::Unfit(why) => return Line::Unfit(why),
    };
    match found {
        true => Line::Entries,
        false if any => Line::Reported(Unfit::Partly),
        false => Line::Unfit(Unfit::NoDomain),
    }
}

/// The content of an item of YAML or JSON, or all of another line.
fn item_of(line: &[u8]) -> &[u8] {
    let item = line.strip_prefix(b"- ").unwrap_or(line).trim_ascii();
    let item = item.strip_suffix(b",").unwrap_or(item);
    match item {
        // The last one before the end of its list, perhaps.
        [first @ (b'"' | b'\''), inner @ .., last]
        | [first @ (b'"' | b'\''), inner @ .., last, b']']
            if first == last =>
        {
            inner
        }
        item => item,
    }
}

/// Whether a name is not a top-level domain.
fn has_parent(name: &[u8]) -> bool {
    name.strip_prefix(b".").unwrap_or(name).contains(&b'.')
}

/// Whether a line is a comment, or what stands before and behind the entries of a file.
fn is_nothing(line: &[u8]) -> bool {
    let Some(first) = line.first() else { return true };
    if let Some(text) = line.strip_prefix(b"//") {
        // Except URLs without a scheme.
        return !text.contains(&b'.') || text.iter().any(u8::is_ascii_whitespace);
    }
    if b"#!;".contains(first) {
        return !hides(line) && !line.starts_with(b"!#i");
    }
    match line {
        // The name of a format or section, and what is said of a zone.
        [b'[', second, rest @ .., b']'] if second.is_ascii_alphabetic() => {
            let is_named = !rest.contains(&b'.') || rest.iter().any(u8::is_ascii_whitespace);
            return is_named && !rest.contains(&b',');
        }
        [b'$', second, ..] => return matches!(second, b'O' | b'T'),
        // The name of a list, in YAML.
        [name @ .., b':'] if !line.starts_with(b"local-") => {
            return name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'-');
        }
        b"---" => return true,
        _ => {}
    }
    let mut words = words(line);
    let first = words.next().unwrap_or(b"");
    let is_of_zone = |word: &[u8]| matches!(word, b"SOA" | b"NS");
    let (is_ns, mut behind) = (first == b"NS", words.take(3));
    // Of the zone itself.
    first == b"@" || is_ns && line.ends_with(b".") || behind.any(is_of_zone) || is_frame(line)
}

/// Whether a line, apart from its comment, has but brackets, and numbers and times of a zone.
fn is_frame(line: &[u8]) -> bool {
    let text = line.split(|&byte| byte == b';').next().unwrap_or(line);
    let is_sign = |byte: &u8| {
        matches!(
            byte,
            b'{' | b'}' | b'[' | b']' | b'(' | b')' | b' ' | b'\t' | b',' | b'"' | b'\'' | b'='
        )
    };
    let mut words = text.split(is_sign);
    let is_time = |word: &[u8]| {
        let is_part = |byte: &u8| {
            byte.is_ascii_digit() || matches!(byte | 0x20, b's' | b'm' | b'h' | b'd' | b'w')
        };
        word.iter().all(is_part) && word.first().is_none_or(u8::is_ascii_digit)
    };
    words.all(is_time) && !line.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests;
