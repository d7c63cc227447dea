//! Addresses and networks in lines, as people have them: in lists, and in the rules of firewalls.

mod blocks;
mod forms;
mod kind;
mod log;
mod rules;
mod run;
mod vocabulary;

use std::borrow::Cow;

use memchr::memmem;

use blocks::Blocks;
pub(crate) use blocks::{Mark, Verdict};
use forms::plain;
use kind::{Rule, behind};
use rules::Found;
use run::{Part, is_broken};
use vocabulary::{Kind, is_count, is_negation, verdict_of};

use super::Unfit;
use super::domains::Line;
use super::range::{Range, range, v4};
use super::ranges::{ranges, words};

/// Reads the lines of a list, and remembers in which blocks they are.
#[derive(Default)]
pub(crate) struct Lines {
    is_allowed: bool,
    blocks: Blocks,
    /// Whether a comment goes on that began in an earlier line.
    is_comment: bool,
    /// What the last line said of all networks of its block, and where these begin.
    pub(crate) turned: Option<(Mark, Verdict)>,
}

impl Lines {
    /// Of a list that is allowed, or blocked.
    pub(crate) fn new(is_allowed: bool) -> Self {
        Self { is_allowed, ..Self::default() }
    }

    /// Calls `each` with the networks of a line whose form is known, and whether they are excepted.
    /// `since` is how many the list has before it.
    pub(crate) fn read(
        &mut self,
        all: &[u8],
        since: Mark,
        mut each: impl FnMut(Range, bool),
    ) -> Line {
        let mut line = all.trim_ascii();
        if self.blocks.depth() == 0
            && !self.is_comment
            && let Some(address) = v4(line)
        {
            each(Range::V4(address, address), self.is_allowed);
            return Line::Entries;
        }
        while self.is_comment || line.starts_with(b"/*") {
            let end = memmem::find(line, b"*/");
            self.is_comment = end.is_none();
            let Some(end) = end else { return Line::Nothing };
            line = line[end + 2..].trim_ascii_start();
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
        self.blocks.enter(all);
        let is_item = line.starts_with(b"- ") && line.contains(&b':') && !line.ends_with(b":");
        if is_item {
            self.blocks.indent(None, all, since);
        }
        let found = if log::is_logged(line) {
            log::logged(line).map(|it| vec![(it, false)]).map_err(Line::Unfit)
        } else if is_object(line) {
            self.statements(line, true, since)
        } else {
            let text = without_texts(line);
            let text = text.split(|&byte| byte == b'#').next().unwrap_or(&text);
            self.statements(text, false, since)
        };
        let is_frame = line.iter().all(|byte| b"{}[](),; \t".contains(byte));
        if !is_item && found.as_ref().map_or(true, Vec::is_empty) && !is_frame {
            let words: Vec<_> = words(line).collect();
            self.blocks.begin(all, kind::rule(&words, line).as_ref(), since);
        }
        match found {
            Err(line) => return line,
            // What stands around networks.
            Ok(_) if is_frame => return Line::Nothing,
            Ok(found) if found.is_empty() => return Line::Unfit(Unfit::NoNetwork),
            // An allowed network with an exception would take both out.
            Ok(found) if self.is_allowed && found.iter().any(|it| it.1 != found[0].1) => {
                return Line::Unfit(Unfit::Else);
            }
            Ok(found) => found.into_iter().for_each(|(range, not)| each(range, not)),
        }
        Line::Entries
    }

    /// Networks, and whether each is excepted; or what a line has instead.
    fn statements(&mut self, line: &[u8], is_object: bool, since: Mark) -> Result<Found, Line> {
        if let Some(it) = named_range(line) {
            return self.in_block(None, &[], vec![(it, false)]).map_err(Line::Unfit);
        }
        let (mut found, depth) = (Ok(Found::new()), self.blocks.depth());
        let has = |open, close| memchr::memchr2(open, close, line).is_some();
        let is_set = has(b'{', b'}') || line.ends_with(b",");
        let has_brackets = is_set || has(b'[', b']') || has(b'(', b')');
        let is_whole = is_object || is_row(line);
        let mut parts = line.split(|&byte| byte == b';' && !is_whole).peekable();
        while let Some(text) = parts.next() {
            let part = Part { text, is_ended: parts.peek().is_some(), is_set, is_object };
            let words: Vec<_> = words(text).collect();
            // Behind the last sign of an end there is a comment, unless it begins with a network.
            let is_last = text.as_ptr() != line.as_ptr() && !part.is_ended;
            let is_comment = is_last && self.blocks.depth() <= depth;
            if is_comment && words.first().is_some_and(|it| range(it).is_none()) {
                break;
            }
            let rule = if is_object {
                Some((Kind::Options, words.clone()))
            } else {
                kind::rule(&words, text)
            };
            if let Ok(all) = &mut found {
                match self.statement(rule.as_ref(), &words, part) {
                    Ok(mut more) => all.append(&mut more),
                    Err(why) => found = Err(why),
                }
            }
            if has_brackets {
                // Of a firewall's rule, whose networks are elsewhere in it.
                if is_object && matches!(words[..], [b"allowed"] | [b"allowed", b"["]) {
                    self.turned = self.blocks.turn(Ok(true));
                }
                let verdict = || blocks::header(rule.as_ref(), &words, text);
                self.blocks.turn_at_brackets(text, &words, verdict, since);
            }
        }
        found
    }

    fn statement(
        &mut self,
        rule: Option<&Rule<'_>>,
        words: &[&[u8]],
        part: Part<'_>,
    ) -> Result<Found, Line> {
        let said = match words.strip_prefix(&[b"-".as_slice()]).unwrap_or(words) {
            _ if self.blocks.depth() == 0 => None,
            [name, value] if value.iter().any(u8::is_ascii_alphanumeric) => {
                blocks::said(rules::key(name, false), name, value)
            }
            [word] if part.is_ended || part.text.ends_with(b"/>") => verdict_of(word).map(Ok),
            _ => None,
        };
        if let Some(verdict) = said {
            self.turned = self.blocks.turn(verdict);
            return Err(match verdict {
                Ok(false) => Line::Nothing,
                Ok(true) => Line::Told(Unfit::Excepted),
                Err(why) => Line::Unfit(why),
            });
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
        &self,
        kind: Option<Kind>,
        words: &[&[u8]],
        mut found: Found,
    ) -> Result<Found, Unfit> {
        let is_judged = matches!(kind, Some(Kind::Access(_) | Kind::Clients(_) | Kind::Ends));
        if is_judged || found.is_empty() {
            return Ok(found);
        }
        if self.blocks.verdict().unwrap_or(Ok(self.is_allowed))? {
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
