//! The lines of a list, of which one may say what others mean.

use super::super::Unfit;
use super::super::blocks::{At, Blocks, Line, Place, Verdict, heading, indent};
use super::reach::{ALL, Reach};
use super::text::{is_local, is_nowhere, words};
use super::zone::Zone;
use super::{domains_in_zone, item_of, normal};
use crate::records::words::is_name;

/// Reads the lines of a list, and remembers in which blocks they are.
#[derive(Default)]
pub(crate) struct Lines {
    pub(super) is_allowed: bool,
    zone: Zone,
    pub(super) blocks: Blocks,
    /// A line that goes on in the next one, and where it begins.
    begun: Option<(Place, Vec<u8>)>,
    /// Where the names of the last line are put, if it is of a zone whose bracket may follow.
    of_zone: Option<usize>,
    /// How many lines there were.
    number: u64,
    /// The line that decided what the last one says, if it was another one.
    pub(crate) under: Option<Place>,
    /// The verdict of the last line on all names of its block, and where these begin.
    pub(crate) turned: Option<(usize, Verdict)>,
    /// Whether the last line was a name of one label, and nothing else.
    pub(crate) is_label: bool,
}

impl Lines {
    /// Of a list that is allowed, or blocked.
    pub(crate) fn new(is_allowed: bool) -> Self {
        Self { is_allowed, ..Self::default() }
    }

    /// The line that begins what did not end, though it had to.
    pub(crate) fn unended(&self) -> Option<Place> {
        let begun = self.begun.as_ref().map(|it| it.0.clone());
        begun.or_else(|| self.blocks.unended())
    }

    /// Calls `each` with the names of a line, and what each stands for. `since` is where the list's
    /// next names are put.
    #[inline]
    pub(crate) fn read(
        &mut self,
        all: &[u8],
        since: usize,
        mut each: impl FnMut(&[u8], Reach),
    ) -> Line {
        self.number += 1;
        if self.blocks.are_quiet()
            && self.begun.is_none()
            && let Some((name, is_label)) = plain(all)
            && let Some(name) = normal(name)
        {
            each(&name, ALL);
            self.is_label = is_label;
            return Line::Entries;
        }
        self.read_other(all, since, &mut each)
    }

    /// Reads a line of another form.
    fn read_other(&mut self, all: &[u8], since: usize, each: &mut dyn FnMut(&[u8], Reach)) -> Line {
        (self.is_label, self.under) = (false, None);
        let at = At { line: all, number: self.number, since: [since, 0, 0, 0] };
        let Some(line) = self.blocks.behind_comment(all.trim_ascii(), at) else {
            return Line::Nothing;
        };
        if matches!(line, [] | [b'#' | b'!' | b';', ..]) {
            self.blocks.directive(at);
            // Rules of blockers say themselves what they do.
            if let Some(passes) = heading(line).filter(|_| !line.starts_with(b"!")) {
                self.begin_titled(passes, at);
            }
            return domains_in_zone(line, &self.zone, |_, _| {});
        }
        // As in exports of MikroTik, and actions of Privoxy.
        let is_begun = self.begun.is_some()
            || [&b"add "[..], b"/ip ", b"{"].iter().any(|it| line.starts_with(it));
        let part = line.strip_suffix(b"\\").filter(|_| is_begun);
        let (begins, mut text) = match self.begun.take() {
            Some(it) => it,
            None if part.is_none() => return self.whole(line, at, each),
            // The blanks before the first part tell in which block it is.
            None => (at.place(), all[..indent(all)].to_vec()),
        };
        text.extend_from_slice(part.unwrap_or(line));
        if part.is_some() {
            self.begun = Some((begins, text));
            return Line::Nothing;
        }
        self.whole(text.trim_ascii(), At { line: &text, number: begins.0, ..at }, each)
    }

    /// Reads a line that does not go on.
    fn whole(&mut self, line: &[u8], mut at: At<'_>, each: &mut dyn FnMut(&[u8], Reach)) -> Line {
        let item = item_of(line);
        let since = at.since[0];
        let of_zone =
            std::mem::replace(&mut self.of_zone, item.starts_with(b"zone").then_some(since));
        at.since[0] = of_zone.filter(|_| item == b"{").unwrap_or(since);
        self.enter(item, at);
        if self.blocks.depth() > 0
            && let Some(verdict) = self.said_of_all(item)
        {
            self.blocks.turn(verdict, at);
            self.brackets(line, at);
            let turned = self.blocks.turned.take();
            self.turned = turned.map(|(since, verdict)| (since[0], self.judged(verdict)));
            return match self.turned {
                Some((_, Ok(true))) if !self.is_allowed => Line::Reported(Unfit::Excepted),
                Some((_, Err(why))) => Line::Unfit(why),
                _ => Line::Nothing,
            };
        }
        let is_heading = self.begin_block(item, at);
        if is_heading && !(item.starts_with(b"[") && item.contains(&b'.')) {
            return Line::Nothing;
        }
        // A rule that blocks by its form ends the block that a comment began.
        if self.blocks.verdict() == Some(Ok(true))
            && matches!(self.blocks.begins(), [b'#' | b';', ..])
            && words(line).next().is_some_and(is_nowhere)
        {
            self.begin_titled(false, at);
        }
        let verdict = self.blocks.verdict().map_or(Ok(false), |it| self.judged(it));
        self.under = self.blocks.by();
        let read = domains_in_zone(line, &self.zone, |name, reach| {
            if verdict.is_ok() {
                each(name, reach.judged(verdict));
            }
        });
        let opens = !is_heading && self.brackets(line, at);
        self.blocks.leave(at);
        match (read, verdict) {
            (Line::Entries | Line::Reported(_), Err(why)) => return Line::Unfit(why),
            (Line::Entries | Line::Reported(_), Ok(true)) if !self.is_allowed => {
                return Line::Reported(Unfit::Excepted);
            }
            // The name of a list.
            (Line::Unfit(Unfit::NoDomain), _) if opens && !item.contains(&b'.') => {
                return Line::Nothing;
            }
            (Line::Nothing, _) => self.zone.note(at.line),
            _ => {}
        }
        self.is_label = read == Line::Entries && is_name(item) && is_label(item);
        read
    }

    /// The verdict on names of this list: those that are blocked are not allowed.
    fn judged(&self, verdict: Verdict) -> Verdict {
        if self.is_allowed && verdict == Ok(false) { Err(Unfit::Else) } else { verdict }
    }
}

/// The name in a line of the most frequent forms, and whether it is one label and nothing else.
#[inline(always)]
fn plain(all: &[u8]) -> Option<(&[u8], bool)> {
    let line = all.trim_ascii();
    let address = line.strip_prefix(b"0.0.0.0").or_else(|| line.strip_prefix(b"127.0.0.1"));
    let (name, is_alone) = match address {
        Some(rest) if rest.first()?.is_ascii_whitespace() => (rest.trim_ascii_start(), false),
        Some(_) => return None,
        None => match line.strip_prefix(b"||") {
            Some(rule) => (rule.strip_suffix(b"^")?, false),
            None => (line, true),
        },
    };
    // A line of digits might be a time.
    let is_first = |it: &u8| it.is_ascii_alphabetic() || !is_alone && it.is_ascii_digit();
    let is_one = is_first(name.first()?) && is_name(name) && (address.is_none() || !is_local(name));
    is_one.then(|| (name, is_alone && is_label(name)))
}

fn is_label(name: &[u8]) -> bool {
    memchr::memchr(b'.', name.strip_suffix(b".").unwrap_or(name)).is_none()
}
