//! Addresses and networks in lines, as people have them: in lists, and in the rules of firewalls.

mod kind;
mod log;
mod rules;
mod run;
mod vocabulary;

use std::borrow::Cow;

use memchr::memmem;

use kind::behind;
use rules::Found;
use run::Part;
use vocabulary::{Kind, is_count, is_negation, is_of_allowed, is_program, unfit, verdict_of};

use super::Unfit;
use super::domains::Line;
use super::range::{Range, number, range, v4};
use super::ranges::{ranges, words};

/// Calls `each` with the networks that a line begins with, or that follow words which are none, and
/// whether they are excepted.
pub(crate) fn networks(line: &[u8], mut each: impl FnMut(Range, bool)) -> Line {
    let mut line = line.trim_ascii();
    while let Some(text) = line.strip_prefix(b"/*")
        && let Some(end) = memmem::find(text, b"*/")
    {
        line = text[end + 2..].trim_ascii_start();
    }
    match line {
        [b'/', b'/', b'0'..=b'9' | b'[', ..] => return Line::Unfit(Unfit::Slashes),
        line if is_comment(line) => return Line::Nothing,
        [b'/', b'/' | b'*', ..] | [b'-', b'-', b' ', ..] => return Line::Nothing,
        // Chains and tables of iptables.
        [b':', .., b']'] => return Line::Nothing,
        [b'*', table @ ..] if !table.is_empty() && table.iter().all(u8::is_ascii_lowercase) => {
            return Line::Nothing;
        }
        _ => {}
    }
    let found = if let Some(address) = v4(line) {
        Ok(vec![(Range::V4(address, address), false)])
    } else if log::is_logged(line) {
        log::logged(line).map(|it| vec![(it, false)]).map_err(Line::Unfit)
    } else if is_object(line) {
        read(line, true)
    } else {
        let text = without_texts(line);
        read(text.split(|&byte| byte == b'#').next().unwrap_or(&text), false)
    };
    match found {
        Err(line) => return line,
        // What stands around networks.
        Ok(found) if found.is_empty() => {
            let is_frame = line.iter().all(|byte| b"{}[](),; \t".contains(byte));
            return if is_frame { Line::Nothing } else { Line::Unfit(Unfit::NoNetwork) };
        }
        Ok(found) => found.into_iter().for_each(|(range, is_excepted)| each(range, is_excepted)),
    }
    Line::Entries
}

/// Networks, and whether each is excepted; or what a line has instead.
fn read(line: &[u8], is_object: bool) -> Result<Found, Line> {
    if let Some(it) = named_range(line) {
        return Ok(vec![(it, false)]);
    }
    let (mut found, mut passes, mut depth) = (Found::new(), false, 0);
    let is_set = line.iter().any(|byte| b"{}".contains(byte)) || line.ends_with(b",");
    let is_whole = is_object || is_row(line);
    let mut parts = line.split(|&byte| byte == b';' && !is_whole).peekable();
    while let Some(text) = parts.next() {
        let part = Part { text, is_ended: parts.peek().is_some(), is_set, is_object };
        let words: Vec<_> = words(text).collect();
        // Behind the last sign of an end there is a comment, unless it begins with a network.
        let is_comment = text.as_ptr() != line.as_ptr() && !part.is_ended && depth == 0;
        if is_comment && words.first().is_none_or(|it| range(it).is_none()) {
            break;
        }
        let is_cut = |it: &&[u8]| it.ends_with(b".") && behind(text, it).starts_with(b"{");
        if words.iter().any(|it| is_broken(it) || is_cut(it)) {
            return Err(Line::Unfit(Unfit::NoNetwork));
        }
        let rule =
            if is_object { Some((Kind::Options, words.clone())) } else { kind::rule(&words, text) };
        let mut these = match &rule {
            Some((kind, words)) => rules::read(*kind, words, part)?,
            None => plain(&words, part).map_err(Line::Unfit)?,
        };
        // Of a block.
        if depth == 0 {
            passes = match &rule {
                Some((Kind::Access(passes), _)) => *passes,
                Some((Kind::Path, words)) => words.iter().any(|it| is_of_allowed(it)),
                _ => false,
            };
        } else {
            these.iter_mut().for_each(|it| it.1 ^= passes);
        }
        depth += memchr::memchr_iter(b'{', text).count();
        depth = depth.saturating_sub(memchr::memchr_iter(b'}', text).count());
        found.append(&mut these);
    }
    Ok(found)
}

/// The networks of a line that is no rule: those that it begins with, or that follow words which
/// are none.
fn plain<'a>(words: &[&'a [u8]], part: Part<'a>) -> Result<Found, Unfit> {
    let is_first =
        |(at, word): (usize, &&[u8])| range(word).is_some() && !(at == 0 && is_count(word));
    let Some(at) = words.iter().enumerate().position(is_first) else { return Ok(vec![]) };
    let (before, mut rest) = (&words[..at], words[at..].iter().copied().peekable());
    let last = before.last().copied().unwrap_or(b"");
    let joint: &[u8] = match last {
        // What follows is where packets go.
        b"from" if at > 1 || words.len() > at + 3 => b"",
        b"between" => b"and",
        _ => b"to",
    };
    // A rule, a list that is allowed, an exception or a URL whose network is somewhere in it.
    let is_said = |it: &&[u8]| {
        is_program(it) || is_of_allowed(it) || is_negation(it) || memmem::find(it, b"://").is_some()
    };
    if before.iter().any(is_said) {
        return Err(Unfit::Else);
    }
    let mut found = part.networks(&mut rest, last, joint)?;
    let is_name = |it: &&[u8]| number(it).is_none() && !is_count(it) && **it != b"!"[..];
    let is_more = rest.clone().any(|it| range(it).is_some());
    let next = rest.next().unwrap_or(b"");
    let is_told = next.iter().any(u8::is_ascii_alphanumeric);
    if is_more && (is_negation(next) || rest.clone().any(is_negation)) {
        return Err(Unfit::Scattered);
    }
    // Of connections.
    let are_ends = found.len() > 1 && words[at].contains(&b':') && found[0].0.is_v4();
    // Of routes, where a letter may be before the network, and the gateway follows.
    let is_hop = before.iter().any(|it| range(&it[1..]).is_some())
        || is_told && (found.len() > 1 || matches!(before, [b"*", ..]));
    // Words before the only network may be about anything.
    if !part.is_set && (before.iter().any(is_name) && (is_more || are_ends) || is_hop) {
        return Err(Unfit::Scattered);
    }
    // What becomes of something else.
    if let Some(why) = unfit(last).filter(|_| behind(part.text, last).starts_with(b" ")) {
        return Err(why);
    }
    if found.iter().any(|it| it.0.is_every())
        && (!last.is_empty() || !next.is_empty() || found.len() > 1)
    {
        return Err(Unfit::Every);
    }
    // Of tables that lead from a network to what becomes of it.
    let is_row = part.text.iter().any(|byte| b",;".contains(byte));
    let is_map = last.is_empty() && !is_row && rest.next().is_none();
    let passes = match next {
        b"nomatch" => true,
        b"0" => is_map && part.is_ended,
        next => is_map && (verdict_of(next) == Some(true) || next == b"except"),
    };
    found.iter_mut().for_each(|it| it.1 |= passes || last == b"!");
    Ok(found)
}

/// Whether a word has the parts of an address, or of two, and is none: `1.2.3.300`,
/// `1.2.3.4/40000`, `1.2.3.4-1.2.3.`.
fn is_broken(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"!").unwrap_or(word);
    let is_name = |name: &[u8]| name.iter().all(u8::is_ascii_alphabetic);
    let address = match memchr::memchr(b':', word) {
        Some(at) if is_name(&word[..at]) => &word[at + 1..],
        _ => word,
    };
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"./".contains(byte);
    if let [b'0'..=b'9', middle @ .., b'.'] = address
        && middle.contains(&b'-')
        && middle.iter().all(|it| is_part(it) || *it == b'-')
    {
        return true;
    }
    address.first().is_some_and(u8::is_ascii_digit)
        && address.iter().filter(|it| **it == b'.').count() == 3
        && address.iter().all(is_part)
        && range(address).is_none()
}

/// The first network of a record that is looked up. Words behind an address extend it to a network
/// only if the record ends there, because in a log strangers choose these words.
pub(crate) fn subject(line: &[u8]) -> Option<Range> {
    if is_comment(line) {
        return None;
    }
    let mut words = words(line).peekable();
    let mut is_said = false;
    while let Some(word) = words.next_if(|word| range(word).is_none() || is_count(word)) {
        // A time is no word.
        is_said |= word.iter().any(|it| it.is_ascii_alphabetic() && !b"TZ".contains(it));
    }
    let first = range(words.peek()?)?;
    let (it, is_not) = ranges(&mut words, b"to").next()?;
    let is_all = !is_said && !is_not && words.next().is_none();
    Some(if is_all { it } else { first })
}

/// Whether a record says nothing.
pub(crate) fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii(), [] | [b'#' | b';', ..])
}

/// A range behind a name, as in lists of P2P programs.
fn named_range(line: &[u8]) -> Option<Range> {
    let range_at = memchr::memrchr(b':', line)? + 1;
    let is_range = memchr::memchr(b'-', &line[range_at..]).is_some();
    let first = words(line).next().filter(|_| is_range)?;
    range(&line[range_at..]).filter(|_| range(first).is_none() || first.len() == line.len())
}

/// Whether a line has members of objects of JSON.
fn is_object(line: &[u8]) -> bool {
    let is_key = |word: &[u8]| word.len() > 1 && word.ends_with(b":");
    matches!(line, [b'{' | b'[' | b'"', ..]) && memmem::find(line, b"\":").is_some()
        || line.starts_with(b"{") && words(line).next().is_some_and(is_key)
}

/// A rule without what it says for people.
fn without_texts(line: &[u8]) -> Cow<'_, [u8]> {
    let mut line = Cow::Borrowed(line);
    let is_quoted = memchr::memchr2(b'"', b'\'', &line).is_some();
    if !is_quoted && memmem::find(&line, b"comment").is_none() {
        return line;
    }
    for name in [&b"--comment"[..], b"comment", b"prefix", b"label", b"description"] {
        let Some(at) = memmem::find(&line, name).map(|at| at + name.len()) else {
            continue;
        };
        let is_end = |end: &usize| line[at + 1 + end] != b'\\';
        let end = match &line[at..] {
            [b' ' | b'=', quote @ (b'"' | b'\''), text @ ..] => {
                memchr::memchr_iter(*quote, text).find(is_end).map(|end| end + 3)
            }
            [b' ' | b'=', first, ..] if *first != b'-' && name.ends_with(b"comment") => {
                memchr::memchr(b' ', &line[at + 1..]).map(|end| end + 1)
            }
            _ => continue,
        };
        let rest = end.map_or(&b""[..], |end| &line[at + end..]);
        line = [&line[..at - name.len()], b" ", rest].concat().into();
    }
    line
}

/// Whether semicolons are between fields. Behind others, statements and comments begin.
fn is_row(line: &[u8]) -> bool {
    memchr::memchr(b';', line).is_some_and(|at| {
        let is_apart = line.get(at + 1).is_none_or(u8::is_ascii_whitespace);
        !is_apart && !line[..at].trim_ascii().contains(&b' ')
    })
}

#[cfg(test)]
mod tests;
