//! Addresses and networks in lines, as people have them: in lists, and in the rules of firewalls.

mod blocks;
mod forms;
mod headers;
mod kind;
mod log;
mod rules;
mod run;
mod vocabulary;

use std::borrow::Cow;
use std::net::Ipv4Addr;

use memchr::memmem;

use blocks::{At, Blocks};
pub(crate) use blocks::{Mark, Place, Verdict};
use forms::plain;
use kind::{Rule, behind};
use rules::Found;
use run::{Part, is_broken};
use vocabulary::{Kind, heading, is_count, is_negation, verdict_of};

use super::Unfit;
use super::domains::Line;
use super::range::{Range, network, number, range, v4};
use super::ranges::{ranges, words};

/// What goes on that began in an earlier line.
enum Over {
    Comment(Place),
    /// A line, until one has no sign that it goes on.
    Line(Place, Vec<u8>),
}

/// Words of a line among which is what it says of the lines behind it.
const NAMES: usize = 64;

/// Reads the lines of a list, and remembers in which blocks they are.
#[derive(Default)]
pub(crate) struct Lines {
    is_allowed: bool,
    blocks: Blocks,
    over: Option<Over>,
    /// How many lines there were.
    number: u64,
    /// The line that decided what the last one says, if it was another one.
    pub(crate) under: Option<Place>,
}

impl Lines {
    /// Of a list that is allowed, or blocked.
    pub(crate) fn new(is_allowed: bool) -> Self {
        Self { is_allowed, ..Self::default() }
    }

    /// What the last line said of all networks of its block, and where these begin.
    pub(crate) fn turned(&mut self) -> Option<(Mark, Verdict)> {
        self.blocks.turned.take()
    }

    /// The line that begins what did not end, though it had to.
    pub(crate) fn unended(&self) -> Option<Place> {
        match &self.over {
            Some(Over::Line(begins, _) | Over::Comment(begins)) => Some(begins.clone()),
            None => self.blocks.unended(),
        }
    }

    /// Calls `each` with the networks of a line whose form is known, and whether they are excepted.
    /// `since` is how many the list has before it.
    pub(crate) fn read(
        &mut self,
        all: &[u8],
        since: Mark,
        mut each: impl FnMut(Range, bool),
    ) -> Line {
        self.number += 1;
        let mut line = all.trim_ascii();
        if self.blocks.depth() == 0
            && self.over.is_none()
            && let Some(it) = network_alone(line)
        {
            each(it, self.is_allowed);
            return Line::Entries;
        }
        self.under = None;
        self.blocks.turned = None;
        let at = At { line: all, number: self.number, since };
        while matches!(self.over, Some(Over::Comment(_))) || line.starts_with(b"/*") {
            let Some(end) = memmem::find(line, b"*/") else {
                self.over.get_or_insert_with(|| Over::Comment(at.place()));
                return Line::Nothing;
            };
            (self.over, line) = (None, line[end + 2..].trim_ascii_start());
        }
        let is_last = line.is_empty() && self.over.is_some();
        match line {
            [b'/', b'/', b'0'..=b'9' | b'[', ..] => return Line::Unfit(Unfit::Slashes),
            line if (is_comment(line) || is_remark(line)) && !is_last => {
                self.blocks.is_apart |= line.is_empty();
                if let Some(passes) = heading(line) {
                    self.blocks.begin_titled(Ok(passes), passes == self.is_allowed, at);
                }
                return Line::Nothing;
            }
            // Chains and tables of iptables.
            [b':', .., b']'] => return Line::Nothing,
            [b'*', table @ ..] if !table.is_empty() && table.iter().all(u8::is_ascii_lowercase) => {
                return Line::Nothing;
            }
            _ => {}
        }
        let (part, over) = (unended(line), self.over.take());
        let (begins, mut text) = match over {
            Some(Over::Line(begins, text)) => (begins, text),
            _ if part.is_none() => return self.whole(line, at, each),
            _ => (at.place(), all[..all.len() - all.trim_ascii_start().len()].to_vec()),
        };
        text.extend_from_slice(part.unwrap_or(line));
        if part.is_some() {
            text.push(b' ');
            self.over = Some(Over::Line(begins, text));
            return Line::Nothing;
        }
        let at = At { line: &text, number: begins.0, since };
        let read = self.whole(text.trim_ascii(), at, each);
        self.under = Some(begins);
        read
    }

    fn whole(&mut self, line: &[u8], at: At<'_>, mut each: impl FnMut(Range, bool)) -> Line {
        self.blocks.enter(at);
        let depth = self.blocks.depth();
        let is_item = line.starts_with(b"- ") && line.contains(&b':') && !line.ends_with(b":");
        if is_item {
            self.blocks.begin_item(at);
        }
        let is_logged = log::is_logged(line);
        let is_object = is_object(line);
        let found = if is_logged {
            log::logged(line).map(|it| vec![(it, false)]).map_err(Line::Unfit)
        } else if is_object {
            self.statements(line, true, at)
        } else {
            let text = without_texts(line);
            let text = text.split(|&byte| byte == b'#').next().unwrap_or(&text);
            self.statements(text, false, at)
        };
        let mut signs = line.iter().take_while(|byte| **byte != b'#');
        let is_frame = signs.all(|byte| b"{}[](),;\"' \t".contains(byte));
        let has_none = found.as_ref().map_or(true, Vec::is_empty);
        let mut is_known = is_frame;
        // Most lines begin nothing.
        let is_plain = matches!(&found, Ok(found) if found.iter().any(|it| !it.1));
        let is_plain = is_plain && self.blocks.depth() == depth;
        if !(is_item || is_frame || is_logged || is_plain) {
            is_known = self.begin(line, &found, is_object, depth, at);
        }
        self.blocks.leave(at);
        let turned = self.blocks.turned.filter(|it| it.0 != at.since).map(|it| it.1);
        match found {
            _ if matches!(turned, Some(Err(_))) => {}
            Err(Line::Unfit(_)) | Ok(_) if has_none && is_known && turned.is_none() => {
                return Line::Nothing;
            }
            Err(line) if turned.is_none() => return line,
            Ok(found) if found.is_empty() && turned.is_none() => {
                return Line::Unfit(Unfit::NoNetwork);
            }
            // An allowed network with an exception would take both out.
            Ok(found) if self.is_allowed && found.iter().any(|it| it.1 != found[0].1) => {
                return Line::Unfit(Unfit::Else);
            }
            found => found.into_iter().flatten().for_each(|(range, not)| each(range, not)),
        }
        match turned {
            Some(Ok(true)) => Line::Told(Unfit::Excepted),
            Some(Err(why)) => Line::Unfit(why),
            _ => Line::Entries,
        }
    }

    /// Begins what goes on in the lines behind this one. Returns whether it is known as what begins
    /// a block, and no more.
    fn begin(
        &mut self,
        line: &[u8],
        found: &Result<Found, Line>,
        is_object: bool,
        depth: usize,
        at: At<'_>,
    ) -> bool {
        let words: Vec<_> = words(line).take(NAMES).collect();
        let has_network = words.iter().any(|it| range(it).is_some() && !is_count(it));
        let rule = kind::rule(&words, line);
        let said = match found {
            Err(Line::Unfit(why @ (Unfit::Else | Unfit::Undone | Unfit::Goes))) if has_network => {
                Some(Err(*why))
            }
            Ok(found) if !found.is_empty() => {
                let is_named = words.first().is_some_and(|it| range(it).is_none());
                let passes = is_named && found.iter().all(|it| it.1);
                if !passes && self.blocks.depth() == depth {
                    return false;
                }
                passes.then_some(Ok(true))
            }
            _ => None,
        };
        if self.blocks.depth() > depth {
            // The verdict of others is behind each network, or behind the bracket.
            let is_judged = matches!(rule, Some((Kind::Ends | Kind::Entries, _))) || is_object;
            if !is_judged && !self.blocks.by_this(at) {
                said.into_iter().for_each(|it| self.blocks.turn(it, at));
                self.blocks.turned = None;
            }
            return !has_network && (self.blocks.by_this(at) || !is_object && rule.is_some());
        }
        if is_object && !line.ends_with(b":") {
            return false;
        }
        self.blocks.begin(rule.as_ref(), said, at) && !has_network
    }

    /// Networks, and whether each is excepted; or what a line has instead.
    fn statements(&mut self, line: &[u8], is_object: bool, at: At<'_>) -> Result<Found, Line> {
        if let Some(it) = named_range(line) {
            return self.in_block(None, &[], vec![(it, false)]).map_err(Line::Unfit);
        }
        let (mut found, depth) = (Ok(Found::new()), self.blocks.depth());
        let has = |open, close| memchr::memchr2(open, close, line).is_some();
        let is_set = has(b'{', b'}') || line.ends_with(b",");
        let has_brackets = is_set || has(b'[', b']') || has(b'(', b')');
        let is_whole = is_object || is_row(line);
        let mut parts = line.split(|&byte| byte == b';' && !is_whole).peekable();
        while let Some(all) = parts.next() {
            let tail = if is_set && !is_object { headers::tail(all) } else { None };
            let text = tail.map_or(all, |it| it.0);
            let part = Part { text, is_ended: parts.peek().is_some(), is_set, is_object };
            let words: Vec<_> = words(text).collect();
            // Behind the last sign of an end there is a comment, unless it begins with a network.
            let is_last = all.as_ptr() != line.as_ptr() && !part.is_ended;
            let is_comment = is_last && self.blocks.depth() <= depth;
            if is_comment && words.first().is_some_and(|it| range(it).is_none()) {
                break;
            }
            let rule = if is_object {
                Some((Kind::Options, words.clone()))
            } else {
                kind::rule(&words, text)
            };
            if let Ok(found_before) = &mut found {
                match self.statement(rule.as_ref(), &words, part, at) {
                    Ok(mut more) => found_before.append(&mut more),
                    Err(why) => found = Err(why),
                }
            }
            if let Some((_, tail)) = tail
                && let Some(begins) = self.blocks.bracket()
            {
                let verdict = verdict_behind(&begins.1, tail);
                self.blocks.turn(verdict, at);
                match (&mut found, verdict) {
                    (_, Err(why)) => found = Err(Line::Unfit(why)),
                    (Ok(all), Ok(_)) if all.is_empty() => found = Err(Line::Nothing),
                    (Ok(all), Ok(passes)) => all.iter_mut().for_each(|it| it.1 = passes),
                    _ => {}
                }
            }
            if has_brackets {
                let verdict = || headers::header(rule.as_ref(), &words, text);
                self.blocks.turn_at_brackets(all, &words, verdict, at);
            }
        }
        found
    }

    fn statement(
        &mut self,
        rule: Option<&Rule<'_>>,
        words: &[&[u8]],
        part: Part<'_>,
        at: At<'_>,
    ) -> Result<Found, Line> {
        let own = match words {
            [b"-" | b"option" | b"set", own @ ..] => own,
            own => own,
        };
        let said = match own {
            _ if self.blocks.depth() == 0 => None,
            [_, value, ..] if range(value).is_some() => None,
            [name, value] if value.iter().any(u8::is_ascii_alphanumeric) => {
                headers::said(rules::key(name, false), name, value)
            }
            [name, value, [b'/', end @ ..]] if end == *name => {
                headers::said(rules::key(name, false), name, value)
            }
            [word] if part.is_ended || part.text.ends_with(b"/>") => verdict_of(word).map(Ok),
            _ => None,
        };
        if let Some(verdict) = said {
            self.blocks.turn(verdict, at);
            return Err(Line::Nothing);
        }
        let is_cut = |it: &&[u8]| it.ends_with(b".") && behind(part.text, it).starts_with(b"{");
        if words.iter().any(|it| is_broken(it) || is_cut(it)) {
            return Err(Line::Unfit(Unfit::NoNetwork));
        }
        let found = match rule {
            Some((kind, words)) => rules::read(*kind, words, part)?,
            None => plain(words, part).map_err(Line::Unfit)?,
        };
        self.in_block(rule.map(|it| it.0), words, found).map_err(Line::Unfit)
    }

    /// Networks as the block says in which they are, unless they have a verdict of their own.
    fn in_block(
        &mut self,
        kind: Option<Kind>,
        words: &[&[u8]],
        mut found: Found,
    ) -> Result<Found, Unfit> {
        let verdict = self.blocks.verdict().unwrap_or(Ok(self.is_allowed));
        let is_judged = matches!(kind, Some(Kind::Access(_) | Kind::Clients(_) | Kind::Ends));
        if is_judged && verdict != Err(Unfit::Undone) || found.is_empty() {
            return Ok(found);
        }
        self.under = self.blocks.by();
        if verdict? {
            let is_out =
                |it: &&[u8]| matches!(*it, [b'!', ..] | b"0" | b"nomatch") || is_negation(it);
            // An exception from an allowed list is neither allowed nor blocked.
            if found.iter().any(|it| it.1) && words.iter().any(is_out) {
                return Err(Unfit::Else);
            }
            found.iter_mut().for_each(|it| it.1 = true);
        }
        Ok(found)
    }
}

/// A line without the sign that it goes on in the next one, and without a comment before it.
fn unended(line: &[u8]) -> Option<&[u8]> {
    let text = match line {
        [text @ .., b'\\'] | [text @ .., b' ', b'`' | b'^'] => text,
        _ => return None,
    };
    let comment = memmem::rfind(text, b" #").filter(|at| !text[*at..].contains(&b'"'));
    Some(comment.map_or(text, |at| &text[..at]))
}

/// What a block says of its members whose bracket closes before other words: that which a line
/// says that has all of it.
fn verdict_behind(begins: &[u8], tail: &[u8]) -> Verdict {
    let begins = begins.rsplit(|byte| *byte == b';').next().unwrap_or(begins);
    let text = [begins, b" 192.0.2.1 } ", tail].concat();
    let (words, part) =
        (words(&text).collect::<Vec<_>>(), Part { text: &text, is_set: true, ..Part::default() });
    let found = match kind::rule(&words, &text) {
        Some((kind, words)) => rules::read(kind, &words, part),
        None => plain(&words, part).map_err(Line::Unfit),
    };
    match found {
        Ok(found) if found.iter().all(|it| it.1 == found[0].1) && !found.is_empty() => {
            Ok(found[0].1)
        }
        Err(Line::Unfit(why)) => Err(why),
        _ => Err(Unfit::Else),
    }
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

/// The network of IPv4 that a line is, as most lists have them.
#[inline]
fn network_alone(line: &[u8]) -> Option<Range> {
    if let Some(address) = v4(line) {
        return Some(Range::V4(address, address));
    }
    let at = memchr::memchr(b'/', line)?;
    network(Ipv4Addr::from(v4(&line[..at])?).into(), number(&line[at + 1..])?)
}

/// Whether a line has a comment of another syntax.
fn is_remark(line: &[u8]) -> bool {
    matches!(line, [b'/', b'/' | b'*', ..] | [b'-', b'-', b' ', ..])
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
    let line = line.strip_prefix(b"- ").unwrap_or(line);
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
