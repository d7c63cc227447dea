//! What the header of a block says of the networks in it, and what its members say.

use super::super::Unfit;
use super::super::range::{number, range};
use super::super::ranges::{is_mask, words};
use super::blocks::Verdict;
use super::kind::{Rule, is_definition};
use super::rules::key;
use super::vocabulary::{
    Kind, Word, is_harmless, is_negation, is_no, is_of_allowed, is_of_blocked, meaning, unfit,
    verdict_of,
};

/// What is behind a closing bracket that the text does not open, and the text before it.
pub(super) fn tail(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut opened, mut is_quoted) = (0_usize, false);
    let end = text.iter().position(|byte| {
        is_quoted ^= *byte == b'"';
        let is_end = !is_quoted && opened == 0 && *byte == b'}';
        match byte {
            b'{' if !is_quoted => opened += 1,
            b'}' if !is_quoted => opened = opened.saturating_sub(1),
            _ => {}
        }
        is_end
    })?;
    let tail = &text[end + 1..];
    let count = |sign| tail.iter().filter(|it| **it == sign).count();
    let is_one = has_words(tail) && count(b'{') == count(b'}') && !tail.starts_with(b" //");
    is_one.then_some((&text[..end], tail))
}

/// Whether a line has a name, and behind a colon perhaps its value.
pub(super) fn is_member(text: &[u8]) -> bool {
    let is_name = |it: &u8| it.is_ascii_alphanumeric() || b" _-".contains(it);
    let is_end = |at: usize| matches!(text[at..], [b':'] | [b':', b' ' | b'\t', ..]);
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.iter().position(|it| !is_name(it)).is_some_and(is_end)
}

/// A line without what YAML has behind names: `|`, `>-`, `&anchor`, `!!seq`.
pub(super) fn without_signs(text: &[u8]) -> &[u8] {
    let start = text.iter().rposition(|it| it.is_ascii_whitespace()).map_or(0, |at| at + 1);
    match text[start..] {
        [b'|' | b'>' | b'&' | b'!', ..] if start > 0 => text[..start].trim_ascii_end(),
        _ => text,
    }
}

/// The quote that is behind the name of a setting, and not closed.
pub(super) fn open_quote(text: &[u8]) -> Option<u8> {
    let (name, value) = text.split_at(memchr::memchr2(b'=', b':', text)?);
    let quote = *value[1..].trim_ascii_start().first().filter(|it| b"\"'".contains(it))?;
    let quotes = value.windows(2).filter(|it| it[1] == quote && it[0] != b'\\').count();
    (quotes % 2 == 1 && !name.contains(&quote)).then_some(quote)
}

pub(super) fn has_words(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_alphanumeric)
}

/// The end of a text without the signs before its next word.
pub(super) fn end_of_text(text: &[u8]) -> usize {
    text.iter().rposition(|it| !b"{[( !\"\t".contains(it)).map_or(0, |at| at + 1)
}

pub(super) fn starts_with_network(line: &[u8]) -> bool {
    words(line).find(|it| has_words(it)).is_some_and(|it| range(it).is_some())
}

pub(super) fn indent(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

/// What the header of a block says of its members.
pub(super) fn header(rule: Option<&Rule<'_>>, words: &[&[u8]], text: &[u8]) -> Option<Verdict> {
    let is_network = |it: &&[u8]| range(it).is_some();
    let is_named = |is_it: fn(&[u8]) -> bool| words.iter().any(|it| is_it(it));
    match rule {
        // Of firewalld. Others are for what no rule is about.
        _ if text.starts_with(b"<zone") => {
            let target = words
                .get(2)
                .and_then(|it| verdict_of(it).or_else(|| is_of_blocked(it).then_some(false)));
            Some(target.ok_or(Unfit::Else))
        }
        _ if text.starts_with(b"<rule") => Some(Ok(false)),
        _ if text.starts_with(b"<RequireNone") => Some(Err(Unfit::Undone)),
        // It describes a network.
        _ if text.trim_ascii_end().ends_with(b"{") && words.iter().any(is_network) => {
            Some(Err(Unfit::Else))
        }
        Some((Kind::Unfit(why), _)) => Some(Err(*why)),
        Some((Kind::Access(true), _)) => Some(Ok(true)),
        _ if words.iter().any(|it| {
            is_negation(it) || !matches!(*it, b"match" | b">") && unfit(it).is_some()
        }) =>
        {
            Some(Err(Unfit::Else))
        }
        _ if words.iter().any(|it| key(it, false) == Some(Word::Destination)) => {
            Some(Err(Unfit::Goes))
        }
        _ if is_named(is_of_allowed) => Some(Ok(true)),
        _ if is_named(is_of_blocked) => Some(Ok(false)),
        _ => is_definition(words).then_some(Err(Unfit::Else)),
    }
}

/// What a name and its value say.
pub(super) fn said(key: Option<Word>, name: &[u8], value: &[u8]) -> Option<Verdict> {
    let is_true = value.eq_ignore_ascii_case(b"true");
    let name = name.strip_suffix(b":").unwrap_or(name);
    let is_state = matches!(name, b"state" | b"status" | b"ensure" | b"classification");
    match key {
        // Those of chains are for what no rule is about.
        _ if name == b"policy" => None,
        Some(Word::Disabled) if !is_no(value) => Some(Err(Unfit::Undone)),
        Some(Word::Enabled) if is_no(value) => Some(Err(Unfit::Undone)),
        _ if is_state && meaning(value) == Some(Word::Disabled) => Some(Err(Unfit::Undone)),
        _ if is_state && is_of_allowed(value) => Some(Ok(true)),
        Some(Word::List) if is_of_allowed(value) => Some(Ok(true)),
        Some(Word::Allowed) if is_true || is_no(value) => Some(Ok(is_true)),
        None if is_true && is_of_allowed(name) => Some(Ok(true)),
        _ if is_true && (key == Some(Word::Not) || is_harmless(name)) => Some(Err(Unfit::Else)),
        Some(Word::Action | Word::Allowed)
            if meaning(value) == Some(Word::Verdict(None)) || is_harmless(value) =>
        {
            Some(Err(Unfit::Else))
        }
        Some(Word::Action | Word::Allowed) => {
            let is_blocked = || is_of_blocked(value) || value.eq_ignore_ascii_case(b"block");
            verdict_of(value).or_else(|| is_blocked().then_some(false)).map(Ok)
        }
        _ if is_state && is_harmless(value) => Some(Err(Unfit::Else)),
        None | Some(Word::Label | Word::Either) if number(value).is_some() => {
            let is_length = is_mask(name) || matches!(name, b"cidr" | b"subnet");
            is_length.then_some(Err(Unfit::Length))
        }
        _ => None,
    }
}
