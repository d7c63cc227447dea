//! Lines that are no rules: the forms that they may have.

use super::super::Unfit;
use super::super::blocks::{
    Word, is_count, is_harmless, is_negation, is_of_allowed, is_of_blocked, is_of_others,
    is_one_of, meaning, name, verdict_of,
};
use super::super::range::{Range, network, number, range};
use super::kind::{before, behind};
use super::run::{Found, Part};
use super::vocabulary::unfit;

/// The text before the first networks of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing, or the sign or number of an item: `- `, `1)`, `57 `.
    Item,
    /// The signs of routes: `*>`.
    Star,
    /// Names of the networks that follow: `ip:`, `Banned IP list:`, `login from`, a set's name,
    /// other columns.
    Name,
    /// Anything else, which may say what becomes of the networks.
    Else,
}

/// The text behind them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Nothing,
    /// One word, by which they pass: `OK`, `0;`.
    Pass,
    /// Words or columns that say something about them.
    Text,
    /// Words or columns of which one may say that they are not blocked.
    Else,
    Networks,
}

/// The networks of a line, if what stands around them is known.
pub(super) fn plain<'a>(words: &[&'a [u8]], part: Part<'a>) -> Result<Found, Unfit> {
    let is_first =
        |(at, word): (usize, &&[u8])| range(word).is_some() && !(at == 0 && is_count(word));
    let Some(at) = words.iter().enumerate().position(is_first) else {
        return Ok(delegated(part.text).map(|it| (it, false)).into_iter().collect());
    };
    let (names, mut rest) = (&words[..at], words[at..].iter().copied().peekable());
    let last = names.last().copied().unwrap_or(b"");
    let joint: &[u8] = match last {
        // Destinations of packets follow.
        b"from" if at > 1 || words.len() > at + 3 => b"",
        b"between" => b"and",
        _ => b"to",
    };
    let names_before = Before::of(names, words[at], part.text);
    let mut found = part.networks(&mut rest, last, joint)?;
    let rest: Vec<_> = rest.collect();
    let words_behind = Behind::of(&rest, part);
    let are_apart = found.len() > 1 && !part.is_set && are_ends(&found, words[at], part.text);
    let is_one = found.len() == 1;
    let is_alone = is_one && names.is_empty() && rest.is_empty();
    match (names_before, words_behind) {
        (_, Behind::Networks) => Err(Unfit::Scattered),
        _ if are_apart => Err(Unfit::Scattered),
        (Before::Else, _) => Err(unfit(last).unwrap_or(Unfit::Else)),
        (_, Behind::Else) | (Before::Name, Behind::Pass) => Err(Unfit::Else),
        _ if !is_alone && found.iter().any(|it| it.0.is_every()) => Err(Unfit::Every),
        (Before::Item, Behind::Text) if is_one && is_of_hosts(found[0].0) => Err(Unfit::Hosts),
        (Before::Item | Before::Name, Behind::Nothing) => Ok(found),
        (Before::Star, Behind::Nothing) | (Before::Item | Before::Name, Behind::Text) if is_one => {
            Ok(found)
        }
        (Before::Item, Behind::Pass) => {
            found.iter_mut().for_each(|it| it.1 = true);
            Ok(found)
        }
        _ => Err(Unfit::Scattered),
    }
    .map(|mut found| {
        found.iter_mut().for_each(|it| it.1 |= last == b"!");
        found
    })
}

/// A delegation of a registry: `registry|country|ipv4|start|count`, or a length in its place.
fn delegated(line: &[u8]) -> Option<Range> {
    let mut fields = line.split(|it| *it == b'|').skip(2);
    let (kind, first) = (fields.next()?, range(fields.next()?)?);
    let (first_number, count) = (first.ends().0, number(fields.next()?)?);
    match kind {
        b"ipv4" => {
            let (first, count) = (u32::try_from(first_number).ok()?, count.checked_sub(1)?);
            Some(Range::V4(first, first.checked_add(count)?))
        }
        b"ipv6" => network(first.address(), count),
        _ => None,
    }
}

impl Before {
    fn of(names: &[&[u8]], network: &[u8], text: &[u8]) -> Self {
        let is_said = |it: &&[u8]| is_of_allowed(it) || is_negation(it);
        let is_sign = |it: &&[u8]| is_count(it) || !it.iter().any(u8::is_ascii_alphanumeric);
        let Some(&last) = names.last() else {
            return if is_tagged(network) { Self::Else } else { Self::Item };
        };
        let place = |word: &[u8]| before(text, word).len();
        // Other columns, and the name of a set, might be anything.
        let text_before = before(text, network);
        let cell = text_before.iter().rposition(|it| b",;\t|{".contains(it)).map_or(0, |at| at + 1);
        let is_attribute = text.starts_with(b"<") && behind(text, last).starts_with(b"=");
        let cell = if is_attribute { place(last) } else { cell };
        let own = &names[names.iter().take_while(|it| place(it) < cell).count()..];
        let is_column = |word: &[u8]| {
            let behind = behind(text, word);
            let behind = behind.strip_prefix(b"\"").unwrap_or(behind);
            matches!(behind, [b',' | b';' | b'\t', ..])
        };
        let is_own = || !text_before[place(last)..].iter().any(|it| b",;\"'|".contains(it));
        match own {
            _ if names.iter().any(is_said) => Self::Else,
            _ if last.contains(&b'*') || last.contains(&b'>') => Self::Star,
            _ if names.iter().all(is_sign) => Self::Item,
            _ if is_own() && unfit(last).is_some() => Self::Else,
            _ if text_before.contains(&b'{') && names.iter().any(|it| is_of_others(it)) => {
                Self::Else
            }
            _ if names.iter().any(|it| is_column(it) && unfit(it) == Some(Unfit::Else)) => {
                Self::Else
            }
            // A setting of several values.
            [] if !text_before.contains(&b'{') && text_before.contains(&b'=') => Self::Else,
            [it] if is_attribute && it.eq_ignore_ascii_case(b"address") => Self::Name,
            _ if last == b"from" || own.iter().all(|it| is_sign(it) || is_label(it)) => Self::Name,
            _ => Self::Else,
        }
    }
}

/// Actions of Postfix and Sendmail that do not block.
const ACTIONS: [&[u8]; 9] =
    [b"PREPEND", b"WARN", b"INFO", b"BCC", b"HOLD", b"FILTER", b"REDIRECT", b"LOG", b"FRIEND"];

impl Behind {
    fn of(rest: &[&[u8]], part: Part<'_>) -> Self {
        let mut words = rest.iter().filter(|it| it.iter().any(u8::is_ascii_alphanumeric));
        // A network that has a block of its own is described in it.
        let has_block = part.text.trim_ascii_end().ends_with(b"{");
        let Some(&first) = words.next() else {
            return if has_block { Self::Else } else { Self::Nothing };
        };
        let is_row = part.text.iter().any(|byte| b",;".contains(byte));
        let is_only = words.next().is_none() && !is_row;
        let passes = |word: &[u8]| verdict_of(word) == Some(true);
        let is_cell = |word: &[u8]| {
            let (before, after) = (before(part.text, word), behind(part.text, word));
            let is_sign = |it: &&u8| !b" \"'".contains(it);
            let is_end = |it: &u8| b",;\t|".contains(it);
            let last = before.iter().rev().find(is_sign);
            last.is_some_and(|it| b"=:".contains(it))
                || last.is_some_and(is_end) && after.iter().find(is_sign).is_none_or(is_end)
        };
        let cells =
            part.text[before(part.text, rest[0]).len()..].split(|it| b",;\t|<>".contains(it));
        let mut cells = cells.map(|it| it.trim_ascii());
        // Rows of routers' tables, and levels of P2P programs.
        let is_table = !is_row && rest.iter().take_while(|it| is_count(it)).count() > 4;
        let is_level = || {
            let has_level = memchr::memmem::find(part.text, b" , ").is_some();
            has_level && number(first).is_some_and(|it| it > 127) && rest.len() > 1
        };
        // Where packets go.
        if first != b"dev" && rest.iter().any(|it| range(it).is_some() && !is_count(it)) {
            Self::Networks
        } else if rest[0].starts_with(b"//") {
            // A comment.
            Self::Text
        } else if first == b"nomatch"
            || is_only
                && (passes(first)
                    || first.starts_with(b"permit_")
                    || first == b"except"
                    || first == b"0" && part.is_ended)
        {
            Self::Pass
        } else if has_block
            || is_only && first == b"0"
            || is_table
            || is_level()
            || cells.any(is_harmless)
            || !is_row && (is_let_out(first) || ACTIONS.contains(&first))
            || is_cell(first) && passes(first)
            || rest.iter().any(|it| is_cell(it) && is_let_out(it) || *it == b"subnetted")
        {
            Self::Else
        } else {
            Self::Text
        }
    }
}

/// Whether networks that follow each other are ends of a connection, a route and its gateway, or a
/// name and its value.
fn are_ends(found: &Found, first: &[u8], text: &[u8]) -> bool {
    let has_port =
        || memchr::memrchr(b':', first).is_some_and(|at| number(&first[at + 1..]).is_some());
    found[0].0.is_v4() && has_port()
        || found[0].0.size() > 0 && found[1].0.size() == 0 && !found[1].1
        || behind(text, first).trim_ascii_start().starts_with(b"=")
}

/// Whether an address has names behind it in files of hosts that block by names.
fn is_of_hosts(range: Range) -> bool {
    let (first, last) = range.ends();
    first == last && matches!((range.is_v4(), first), (true, 0 | 0x7f00_0001) | (false, 0 | 1))
}

/// Whether a word only says that a network follows.
fn is_label(word: &[u8]) -> bool {
    let is_named = [&b"network:"[..], b"address:"].iter().any(|it| word.eq_ignore_ascii_case(it));
    let word = name(word);
    let is_one = |part: &[u8]| {
        let words = ["ip", "ipv4", "ipv6", "all", "list"];
        matches!(meaning(part), Some(Word::Label | Word::Source | Word::Either))
            || words.iter().any(|it| part.eq_ignore_ascii_case(it.as_bytes()))
    };
    is_named
        || is_one(word)
        || is_of_blocked(word)
        || word.split(|byte| b"-_:/".contains(byte)).all(|it| it.is_empty() || is_one(it))
}

/// Whether an address has a tag of which it is not known what it says: `GreetPause:1.2.3.4`.
fn is_tagged(network: &[u8]) -> bool {
    const KNOWN: &str = "ip4|ip6|connect|tcp|udp|http|https|hxxp|hxxps|ftp";
    let Some(at) = memchr::memchr(b':', network) else { return false };
    let tag = network[..at].strip_prefix(b"!").unwrap_or(&network[..at]);
    let is_name = tag.iter().all(u8::is_ascii_alphabetic) && !tag.iter().all(u8::is_ascii_hexdigit);
    is_name && !is_label(tag) && !is_one_of(tag, KNOWN)
}

/// Whether a word takes out what it is said of, wherever it is.
fn is_let_out(word: &[u8]) -> bool {
    matches!(meaning(word), Some(Word::Allowed | Word::Disabled))
        || ["permit", "accept", "pass"].iter().any(|it| word.eq_ignore_ascii_case(it.as_bytes()))
}
