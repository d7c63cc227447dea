//! Addresses and networks in lines, as people have them: in lists, and in the rules of firewalls.

mod entries;
mod forms;
mod headers;
mod kind;
mod log;
mod rules;
mod run;
mod statements;
mod table;
mod text;
mod vocabulary;

use run::Found;
use table::Table;
use text::{is_object, is_remark, network_alone, starts_with_network, unended};
use vocabulary::{Kind, NAMES};

use super::Unfit;
use super::blocks::{At, Blocks, End, Line, heading, is_count, is_member, without_texts};
pub(crate) use super::blocks::{Mark, Place, Verdict};
use super::range::{Range, range};
use super::ranges::{ranges, words};

/// Reads the lines of a list, and remembers in which blocks they are.
#[derive(Default)]
pub(crate) struct Lines {
    is_allowed: bool,
    blocks: Blocks,
    table: Table,
    /// A line, until one has no sign that it goes on, and where it begins.
    over: Option<(Place, Vec<u8>)>,
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

    /// The verdict of the last line on all networks of its block, and where these begin.
    pub(crate) fn turned(&mut self) -> Option<(Mark, Verdict)> {
        self.blocks.turned.take()
    }

    /// The line that begins what did not end, though it had to.
    pub(crate) fn unended(&self) -> Option<Place> {
        let over = self.over.as_ref().map(|it| it.0.clone());
        over.or_else(|| self.blocks.unended())
    }

    /// Calls `each` with the networks of a line whose form is known, and whether they are excepted.
    /// `since` is how many the list has before it.
    #[inline]
    pub(crate) fn read(
        &mut self,
        all: &[u8],
        since: Mark,
        mut each: impl FnMut(Range, bool),
    ) -> Line {
        self.number += 1;
        if self.blocks.are_quiet()
            && self.over.is_none()
            && let Some(it) = network_alone(all.trim_ascii())
        {
            each(it, self.is_allowed);
            return Line::Entries;
        }
        self.read_other(all, since, &mut each)
    }

    /// Reads a line that is no network alone.
    fn read_other(&mut self, all: &[u8], since: Mark, each: &mut dyn FnMut(Range, bool)) -> Line {
        self.under = None;
        self.blocks.turned = None;
        let at = At { line: all, number: self.number, since };
        let Some(line) = self.blocks.behind_comment(all.trim_ascii(), at) else {
            return Line::Nothing;
        };
        let is_last = line.is_empty() && self.over.is_some();
        match line {
            [b'/', b'/', b'0'..=b'9' | b'[', ..] => return Line::Unfit(Unfit::Slashes),
            line if (is_comment(line) || is_remark(line)) && !is_last => {
                self.blocks.is_apart |= line.is_empty();
                self.table.learn(line);
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
        let (part, over) = (unended(line, self.over.is_some()), self.over.take());
        let (begins, mut text) = match over {
            Some(it) => it,
            _ if part.is_none() => return self.whole(line, at, each),
            _ => (at.place(), all[..all.len() - all.trim_ascii_start().len()].to_vec()),
        };
        text.extend_from_slice(part.unwrap_or(line));
        if part.is_some() {
            text.push(b' ');
            self.over = Some((begins, text));
            return Line::Nothing;
        }
        let at = At { line: &text, number: begins.0, since };
        let read = self.whole(text.trim_ascii(), at, each);
        self.under = Some(begins);
        read
    }

    fn whole(&mut self, line: &[u8], at: At<'_>, each: &mut dyn FnMut(Range, bool)) -> Line {
        self.blocks.enter(at, starts_with_network(at.line));
        if self.blocks.depth() == 0 && is_member(line) {
            self.blocks.push(None, End::Paragraph, at);
        }
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
            let found = self.statements(text, false, at);
            self.table.judge(line, found)
        };
        let mut signs = line.iter().take_while(|byte| **byte != b'#');
        let is_frame = signs.all(|byte| b"{}[](),;\"' \t".contains(byte));
        let has_none = found.as_ref().map_or(true, Vec::is_empty);
        if has_none {
            self.table.learn(line);
        }
        let mut is_known = is_frame;
        // Most lines begin nothing.
        let is_plain = matches!(&found, Ok(found) if found.iter().any(|it| !it.1));
        let is_plain = is_plain && self.blocks.depth() == depth;
        if !(is_item || is_frame || is_logged || is_plain) {
            is_known = self.begin(line, &found, is_object, depth, at);
        }
        self.blocks.leave(at);
        let turned = self.blocks.turned.filter(|it| it.0 != at.since && it.1 != Ok(false));
        let turned = turned.map(|it| it.1);
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
            Some(Ok(true)) => Line::Reported(Unfit::Excepted),
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
            if !is_judged && !self.blocks.by_this() {
                said.into_iter().for_each(|it| self.blocks.turn(it, at));
                self.blocks.turned = None;
            }
            return !has_network && (self.blocks.by_this() || !is_object && rule.is_some());
        }
        if is_object && !line.ends_with(b":") {
            return false;
        }
        self.begin_block(rule.as_ref(), said, at) && !has_network
    }
}

/// The first network of a record that is looked up. Words behind an address extend it to a network
/// only if the record ends there, because in a log strangers choose these words.
pub(crate) fn subject(line: &[u8]) -> Option<Range> {
    if is_comment(line) {
        return None;
    }
    if log::is_logged(line)
        && let Ok(it) = log::logged(line)
    {
        return Some(it);
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

#[cfg(test)]
mod tests;
