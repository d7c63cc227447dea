//! The verdict of the header of a block on the networks in it, and those of its members.

use super::super::Unfit;
use super::super::blocks::{
    At, End, Verdict, Word, has_words, heading, is_negation, is_of_allowed, is_of_blocked,
    is_of_others, meaning, open_quote, parts, verdict_of, without_signs,
};
use super::super::range::{number, range};
use super::super::ranges::{is_mask, words};
use super::Lines;
use super::kind::{Rule, before, is_definition};
use super::vocabulary::{Kind, NAMES, key, unfit};

impl Lines {
    /// Begins what a line without open brackets does. `said` is what became of its networks, if it
    /// has some. Returns whether it is known as what begins a block.
    pub(super) fn begin_block(
        &mut self,
        rule: Option<&Rule<'_>>,
        verdict: Option<Verdict>,
        at: At<'_>,
    ) -> bool {
        let text = at.line.split(|it| *it == b'#').next().unwrap_or(at.line).trim_ascii();
        let words: Vec<_> = words(text).take(NAMES).collect();
        let of_section =
            |name: &[u8]| header(rule, &super::words(name).take(NAMES).collect::<Vec<_>>(), name);
        if verdict.is_none() && self.blocks.section(text, of_section, "firewall route", at) {
            return text.starts_with(b"</") || self.blocks.by_this();
        }
        if text.starts_with(b"Chain ") {
            self.blocks.begin_section(header(None, &words, text), at);
            return true;
        }
        let title = heading(text).filter(|_| !text.ends_with(b";"));
        let is_heading = verdict.is_none()
            && (without_signs(text).ends_with(b":") && has_words(text)
                || title.is_some()
                || memchr::memmem::find(text, b"<<").is_some()
                || matches!(words[..], [b"object" | b"object-group" | b"edit" | b"config", ..]));
        let is_setting = is_heading || text.ends_with(b"=") || open_quote(text).is_some();
        // Of sentences, only what lets pass is of interest.
        let of_header = || {
            let it = header(rule, &words, text).or(title.map(Ok));
            it.filter(|it| it.is_ok() || is_setting || is_definition(&words))
        };
        let verdict = verdict.or_else(of_header);
        self.turn_by_name(verdict, at);
        self.blocks.begin(verdict, is_heading, at);
        verdict.is_some() && is_setting
    }

    /// Closes and opens what a statement does not open and close itself. Brackets in texts, which
    /// are in quotes or behind a network, are none, nor are round ones before words.
    pub(super) fn turn_at_brackets(
        &mut self,
        text: &[u8],
        words: &[&[u8]],
        verdict: impl FnOnce() -> Option<Verdict>,
        at: At<'_>,
    ) {
        let network = words.iter().find(|it| range(it).is_some());
        let network = network.map_or(text.len(), |it| before(text, it).len());
        // The next word begins a block: its first network, or the next line.
        let (first, mut last) = (end_of_text(&text[..network]), end_of_text(text));
        if text[network..].contains(&b',') && !text[..network].contains(&b'{') {
            // In columns.
            last = text.len();
        }
        let start = text.iter().position(|it| !b"{[()]} \t,".contains(it)).unwrap_or(text.len());
        let is_round = self.blocks.begins().contains(&b'(');
        let end = text.trim_ascii_end().len();
        let opened = self.blocks.brackets(text, b"\"", |i, is_open| match text[i] {
            b'{' | b'[' => i < network || i <= start || i >= last,
            b'(' => i <= start || i >= last || (first..network).contains(&i),
            b')' => is_open || i <= start || is_round && i + 1 == end,
            _ => true,
        });
        let verdict = if opened > 0 { verdict() } else { None };
        let is_then = text.trim_ascii_start().starts_with(b"then");
        if opened > 0 {
            self.turn_by_name(verdict, at);
        }
        (0..opened).for_each(|_| self.blocks.push(verdict, End::Bracket(is_then), at));
    }

    /// Turns what is around `allowed`, of a firewall's rule whose networks are elsewhere in it.
    fn turn_by_name(&mut self, verdict: Option<Verdict>, at: At<'_>) {
        let letters = at.line.iter().filter(|it| it.is_ascii_alphabetic());
        if verdict.is_some() && at.line.len() < NAMES && letters.eq(b"allowed") {
            self.blocks.turn(Ok(true), at);
        } else if at.line.trim_ascii() == b"allow {" {
            // Of Terraform, whose networks stand next to it.
            self.blocks.turn(Err(Unfit::Else), at);
        }
    }
}

/// The texts behind and before a closing bracket that the text does not open.
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

/// The end of a text without the signs before its next word.
pub(super) fn end_of_text(text: &[u8]) -> usize {
    text.iter().rposition(|it| !b"{[( !\"\t".contains(it)).map_or(0, |at| at + 1)
}

/// The verdict of the header of a block on its members.
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
        _ if words.windows(2).any(|it| {
            it[0].eq_ignore_ascii_case(b"chain") && meaning(it[1]) == Some(Word::Out)
        }) =>
        {
            Some(Err(Unfit::Goes))
        }
        _ if words.iter().any(|it| {
            is_negation(it)
                || parts(it).any(is_negation)
                || !matches!(*it, b"match" | b">") && unfit(it).is_some()
        }) =>
        {
            Some(Err(Unfit::Else))
        }
        _ if words.iter().any(|it| key(it, false) == Some(Word::Destination)) => {
            Some(Err(Unfit::Goes))
        }
        _ if is_named(is_of_allowed) => Some(Ok(true)),
        _ if is_named(is_of_blocked) => Some(Ok(false)),
        _ if is_named(is_of_others) => Some(Err(Unfit::Else)),
        _ => is_definition(words).then_some(Err(Unfit::Else)),
    }
}

/// The verdict of a name and its value.
pub(super) fn said(key: Option<Word>, name: &[u8], value: &[u8]) -> Option<Verdict> {
    let name = name.strip_suffix(b":").unwrap_or(name);
    match key {
        // Those of chains are for what no rule is about.
        _ if name == b"policy" => None,
        Some(Word::Way) => (meaning(value) == Some(Word::Out)).then_some(Err(Unfit::Goes)),
        None | Some(Word::Label | Word::Either) if number(value).is_some() => {
            let is_length = is_mask(name) || matches!(name, b"cidr" | b"subnet");
            is_length.then_some(Err(Unfit::Length))
        }
        _ => super::super::blocks::said(key, name, value),
    }
}
