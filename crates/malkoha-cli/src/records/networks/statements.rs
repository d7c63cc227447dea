//! The statements of a line, and what becomes of their networks.

use super::super::Unfit;
use super::super::blocks::{
    At, Line, Verdict, is_count, is_negation, is_of_blocked, name, verdict_of,
};
use super::super::range::range;
use super::super::ranges::words;
use super::forms::plain;
use super::kind::{self, Rule, behind};
use super::rules;
use super::run::{Found, Part, is_broken};
use super::text::{is_row, named_range};
use super::vocabulary::{Kind, key};
use super::{Lines, headers};

impl Lines {
    /// Networks, and whether each is excepted; or what a line has instead.
    pub(super) fn statements(
        &mut self,
        line: &[u8],
        is_object: bool,
        at: At<'_>,
    ) -> Result<Found, Line> {
        // Commands of a shell for when another fails, or does not.
        let is_other =
            |at: &usize| words(&line[*at..]).all(|it| range(it).is_none() || is_count(it));
        let ends = [&b" || "[..], b" && "].map(|sign| memchr::memmem::find(line, sign));
        let end = ends.into_iter().flatten().filter(is_other).min();
        let line = &line[..end.unwrap_or(line.len())];
        if let Some(it) = named_range(line) {
            return self.in_block(None, &[], vec![(it, false)]).map_err(Line::Unfit);
        }
        let (mut found, depth) = (Ok(Found::new()), self.blocks.depth());
        let mut is_command = false;
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
            // Behind the last sign of an end there is a comment, unless it begins with a network, or
            // is another command.
            let is_last = all.as_ptr() != line.as_ptr() && !part.is_ended && !is_command;
            let is_comment = is_last && self.blocks.depth() <= depth;
            if is_comment && words.first().is_some_and(|it| range(it).is_none()) {
                break;
            }
            let rule = if is_object {
                Some((Kind::Options, words.clone()))
            } else {
                kind::rule(&words, text)
            };
            is_command |= rule.is_some();
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
                self.turn_at_brackets(all, &words, verdict, at);
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
        let is_other = |tag| matches!(name(tag), b"masquerade" | b"forward-port" | b"mark");
        let said = match own {
            _ if self.blocks.depth() == 0 => None,
            [_, value, ..] if range(value).is_some() => None,
            [name, value] if value.iter().any(u8::is_ascii_alphanumeric) => {
                headers::said(key(name, false), name, value)
            }
            [name, value, [b'/', end @ ..]] if end == *name => {
                headers::said(key(name, false), name, value)
            }
            [b"then", action, ..] if part.is_ended => Some(verdict_of(action).ok_or(Unfit::Else)),
            [tag, ..] if part.text.ends_with(b"/>") && is_other(tag) => Some(Err(Unfit::Else)),
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
        if words.iter().any(|it| matches!(*it, b"&&" | b"||")) {
            return Err(Line::Unfit(Unfit::Else));
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
        let is_blocked = |it: &&[u8]| verdict_of(it) == Some(false) || is_of_blocked(it);
        if self.is_allowed && found.iter().any(|it| !it.1) {
            self.under = self.blocks.by();
            if words.iter().any(is_blocked) || self.under.is_some() && verdict == Ok(false) {
                return Err(Unfit::Else);
            }
        }
        let is_judged =
            matches!(kind, Some(Kind::Access(_) | Kind::Clients(_) | Kind::Ends | Kind::Judged));
        if is_judged && !matches!(verdict, Err(Unfit::Undone | Unfit::Goes)) || found.is_empty() {
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

/// The verdict of a block on its members whose bracket closes before other words: that which a line
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
