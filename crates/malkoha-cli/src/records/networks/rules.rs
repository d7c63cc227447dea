//! Rules of firewalls, resolvers and routers: which networks they are about, and their verdict.

use super::super::Unfit;
use super::super::blocks::{
    Line, Word, is_of_allowed, is_of_blocked, is_of_others, is_one_of, meaning,
};
use super::super::range::{Range, range};
use super::super::ranges::ranges;
use super::entries::{clients, entries};
use super::forms::plain;
use super::headers::{header, said};
use super::kind::{behind, is_definition};
use super::run::{Found, Part};
use super::vocabulary::{Kind, chain, key, unfit};

/// The networks of a rule, whose words from the first one on that matters are these.
pub(super) fn read(kind: Kind, words: &[&[u8]], part: Part<'_>) -> Result<Found, Line> {
    let at = words.iter().position(|it| range(it).is_some()).unwrap_or(words.len());
    let before = &words[..at];
    let found = match kind {
        // Behind the name of a column, perhaps.
        Kind::Nothing if at > 0 || words.is_empty() => return Err(Line::Nothing),
        Kind::Behind(_) | Kind::Before(_) | Kind::Nothing => Err(Unfit::Else),
        Kind::Unfit(why) => Err(why),
        // Of names that lead to addresses.
        Kind::Add if words.contains(&&b"name"[..]) => Err(Unfit::Else),
        Kind::Add if before.first().is_some_and(|it| is_key(it, part)) => options(words, part),
        Kind::Add if at > 1 => Err(Unfit::Scattered),
        Kind::Add => entries(words, part, false).map(|mut found| {
            // Behind a comma there is another member of the same entry.
            let is_member = words.get(at).is_some_and(|it| behind(part.text, it).starts_with(b","));
            found.truncate(if is_member { 1 } else { usize::MAX });
            found
        }),
        Kind::Entries => entries(words, part, false),
        Kind::Judged => entries(words, part, true),
        Kind::Clients(passes) => clients(passes, words),
        Kind::Access(passes) if matches!(words, [b"from", ..]) && !words.contains(&&b"to"[..]) => {
            clients(passes, words)
        }
        Kind::Access(passes) if are_known(before) => packets(Some(passes), words, part),
        // Somebody may have the name of a verdict.
        Kind::Access(true) => Err(Unfit::Else),
        Kind::Access(false) => plain(words, part),
        Kind::Ends => packets(None, words, part),
        Kind::Options => options(words, part),
        Kind::Path
            if before.last().is_some_and(|it| unfit(it).is_some())
                || is_definition(words) && header(None, before, b"") == Some(Err(Unfit::Else)) =>
        {
            Err(Unfit::Else)
        }
        Kind::Path => {
            const LISTS: &str = "prefix-list|route|subnet|iprange|start-ip|end-ip";
            let is_list =
                |it: &&[u8]| it.ends_with(b"-group") || is_one_of(it, LISTS) || is_of_blocked(it);
            let is_listed = words[0] != b"set" || before.iter().any(is_list);
            // The verdict of a rule is in another line, and others have networks of one's own.
            let is_known = |it: &Found| is_listed || it.iter().all(|it| it.1);
            let found = packets(Some(before.iter().any(|it| is_of_allowed(it))), words, part);
            found.and_then(|it| if is_known(&it) { Ok(it) } else { Err(Unfit::Else) })
        }
        Kind::Route if before.contains(&&b"flush"[..]) => Err(Unfit::Undone),
        Kind::Route => match before.iter().find_map(|it| unfit(it)) {
            Some(why) => Err(why),
            // Where packets for it go is not of interest.
            None => Ok(ranges(&mut words[at..].iter().copied().peekable(), b"").take(1).collect()),
        },
    };
    match found {
        Ok(found) if found.iter().any(|(it, _)| it.is_every()) => Err(Line::Unfit(Unfit::Every)),
        found => found.map_err(Line::Unfit),
    }
}

/// The networks of a rule for packets by their role in the rule, and where the packets go.
#[derive(Default)]
struct Ends {
    all: Vec<(Option<Word>, Range, bool)>,
    goes_out: bool,
    is_forward: bool,
}

impl Ends {
    /// Adds networks; an error if there are others of this kind that are not joined with them.
    fn add(&mut self, end: Option<Word>, found: Found, is_joined: bool) -> Result<(), Unfit> {
        if !is_joined && self.all.iter().any(|it| it.0 == end) {
            return Err(Unfit::Scattered);
        }
        self.all.extend(found.into_iter().map(|(it, not)| (end, it, not)));
        Ok(())
    }

    fn turn(&mut self, way: Option<Word>) {
        self.goes_out |= way == Some(Word::Out);
        self.is_forward |= way == Some(Word::Forward);
    }

    /// The networks that are not one's own.
    fn foreign(mut self, passes: bool) -> Result<Found, Unfit> {
        let (mut theirs, mut own) = (Some(Word::Source), Some(Word::Destination));
        if self.goes_out {
            (theirs, own) = (own, theirs);
        }
        let has = |end| self.all.iter().any(|it| it.0 == end && !it.1.is_every());
        if has(own) && (self.is_forward || !has(theirs) && !has(None)) {
            return Err(Unfit::Goes);
        }
        self.all.retain(|it| it.0 == theirs || it.0.is_none());
        Ok(self.all.into_iter().map(|it| (it.1, it.2 ^ passes)).collect())
    }
}

/// Whether words between a verdict and a network are those of rules.
fn are_known(words: &[&[u8]]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match meaning(word) {
            Some(Word::Named | Word::Group) => _ = words.next(),
            Some(_) => {}
            None => return false,
        }
    }
    true
}

/// Ends of packets, by names or places, and the verdict, which might be behind them.
fn packets(mut verdict: Option<bool>, words: &[&[u8]], part: Part<'_>) -> Result<Found, Unfit> {
    let (can_have_places, mut has_places) = (verdict.is_some(), false);
    let (mut ends, mut end, mut is_not, mut is_input) = (Ends::default(), None, false, false);
    let (mut last, mut words) = (&b":"[..], words.iter().copied().peekable());
    while let Some(&word) = words.peek() {
        if range(word).is_some() {
            let mut found = part.networks(&mut words, last, b"")?;
            let is_list = behind(part.text, word).starts_with(b",");
            found.truncate(if has_places && !is_list { 1 } else { usize::MAX });
            found.iter_mut().for_each(|it| it.1 ^= is_not);
            ends.add(end, found, last == b"or")?;
            is_not = false;
            end = if has_places { Some(Word::Destination) } else { end };
            last = word;
            continue;
        }
        words.next();
        match meaning(word) {
            it @ Some(Word::Source | Word::Destination) => {
                (end, has_places) = (it, false);
                ends.is_forward |= word == b"daddr";
            }
            Some(Word::Protocol) if can_have_places && end.is_none() && ends.all.is_empty() => {
                (end, has_places) = (Some(Word::Source), true);
            }
            it @ Some(Word::Any | Word::Group) => {
                words.next_if(|_| it == Some(Word::Group));
                end = if has_places { Some(Word::Destination) } else { end };
            }
            it @ Some(Word::Named) if words.peek().is_some_and(|it| range(it).is_some()) => {
                end = it
            }
            Some(Word::Named) => _ = words.next(),
            Some(Word::Not) => is_not = true,
            Some(Word::In) => is_input = true,
            Some(Word::Except) => ends.all.last_mut().into_iter().for_each(|it| it.2 ^= true),
            Some(Word::Action) if !ends.all.is_empty() => {
                let target = words.next().unwrap_or(b"");
                verdict = Some(verdict.map_or_else(|| chain(target), Ok)?);
            }
            Some(Word::Disabled) => return Err(Unfit::Undone),
            Some(Word::Verdict(passes)) if !ends.all.is_empty() => verdict = verdict.or(passes),
            way => ends.turn(way),
        }
        last = word;
    }
    if is_not {
        return Err(Unfit::Else);
    }
    ends.is_forward &= !is_input;
    ends.foreign(verdict.ok_or(Unfit::Else)?)
}

/// Whether a word is the name of a member, whose value follows.
fn is_key(word: &[u8], part: Part<'_>) -> bool {
    matches!(behind(part.text, word), [b'=', ..] | [b'"', b':', ..] | [b'"', b' ', b':', ..])
        || word.len() > 1 && word.ends_with(b":")
}

/// Options of programs, members of objects, attributes of tags. Values say nothing but behind the
/// names that are known.
pub(super) fn options(words: &[&[u8]], part: Part<'_>) -> Result<Found, Unfit> {
    let (mut ends, mut verdict, mut is_allowed, mut is_not) = (Ends::default(), None, false, false);
    let (mut is_rule, mut is_from, mut is_member) = (false, false, false);
    // Rules of Windows let pass if they do not say what they do.
    let is_windows =
        words.first().is_some_and(|it| it.to_ascii_lowercase().ends_with(b"-netfirewallrule"));
    // Before the first name there are those of programs, and what they do.
    let (mut name, mut key) = (&b":"[..], Some(Word::Known));
    let (mut last, mut words) = (&b""[..], words.iter().copied().peekable());
    while let Some(&word) = words.peek() {
        if range(word).is_some() || is_key(word, part) {
            is_allowed |= std::mem::take(&mut is_member);
        }
        if range(word).is_some() {
            let joint: &[u8] = if name.ends_with(b"range") { b"to" } else { b"" };
            let mut found = part.networks(&mut words, name, joint)?;
            if part.is_object {
                // Of a range, or of a connection.
                if is_from && name == b"to" {
                    return Err(Unfit::Ends);
                }
                is_from = name == b"from";
                unfit(name).map_or(Ok(()), Err)?;
                if is_of_others(name) {
                    return Err(Unfit::Else);
                }
            }
            found.iter_mut().for_each(|it| it.1 ^= is_not || last == b"!");
            // The name of a set is before it.
            is_allowed |= key == Some(Word::Way) && is_of_allowed(last);
            let is_end = matches!(key, Some(Word::Source | Word::Destination | Word::Named));
            ends.add(key.filter(|_| is_end), found, false)?;
            (is_not, last) = (false, word);
            continue;
        }
        words.next();
        let value = word.strip_prefix(b":").unwrap_or(word);
        let is_option = matches!(word, [b'-', _, ..]) && !part.is_object;
        let is_undone = || unfit(value) == Some(Unfit::Undone);
        if is_option || is_key(word, part) {
            // Of MikroTik's pools, interfaces and rules of routes.
            if !part.is_object
                && matches!(word, b"ranges" | b"interface" | b"mac-address" | b"table")
            {
                return Err(Unfit::Else);
            }
            (name, key) = (word, self::key(word, is_option));
            is_not = is_not && !is_option || last == b"!" || key == Some(Word::Not);
            let is_of_it = key == Some(Word::Allowed) || part.is_object && is_of_allowed(word);
            // In objects, the value tells whether it holds.
            is_allowed |= is_of_it && !part.is_object;
            is_member = is_of_it && part.is_object;
            is_rule |= (is_option || word == b"chain") && key == Some(Word::Way)
                || matches!(word, b"-j" | b"--jump" | b"jump-target");
        } else {
            if value.iter().any(u8::is_ascii_alphanumeric) {
                is_allowed |= std::mem::take(&mut is_member) && is_one_of(value, "true|yes|on|1");
            }
            match key {
                Some(Word::Known | Word::Action) if is_undone() => return Err(Unfit::Undone),
                Some(Word::Known) => is_allowed |= meaning(word) == Some(Word::Allowed),
                Some(Word::Way) => ends.turn(meaning(word)),
                Some(Word::List) => {
                    is_allowed |= is_of_allowed(word);
                    said(key, name, value).filter(Result::is_err).transpose()?;
                }
                _ => {
                    let passes = said(key, name, value).transpose()?;
                    verdict = verdict.or(passes);
                }
            }
        }
        last = word;
    }
    // A rule without a target counts, or lets pass, and chains may do anything.
    if is_rule && verdict.is_none() && ends.all.iter().any(|it| it.0.is_some())
        || is_windows && verdict.is_none()
    {
        return Err(Unfit::Else);
    }
    ends.foreign(verdict.unwrap_or(is_allowed))
}
