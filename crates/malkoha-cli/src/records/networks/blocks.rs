//! Blocks over several lines: what their headers and members say of the networks in them.

use super::super::Unfit;
use super::super::range::{number, range};
use super::super::ranges::{is_mask, words};
use super::kind::Rule;
use super::rules::key;
use super::vocabulary::{
    Kind, Word, is_negation, is_no, is_of_allowed, is_of_blocked, meaning, unfit, verdict_of,
};

/// Whether networks pass; an error if they are not to be listed at all.
pub(crate) type Verdict = Result<bool, Unfit>;

/// How many networks a list had before a block.
pub(crate) type Mark = [usize; 4];

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Bracket,
    /// With a line that has no more blanks before it.
    Indent(usize),
    /// With the next section.
    Section,
}

struct Block {
    verdict: Verdict,
    end: End,
    since: Mark,
}

/// The blocks in which a line is.
#[derive(Default)]
pub(super) struct Blocks(Vec<Block>);

impl Blocks {
    pub(super) fn depth(&self) -> usize {
        self.0.len()
    }

    pub(super) fn verdict(&self) -> Option<Verdict> {
        self.0.last().map(|it| it.verdict)
    }

    fn push(&mut self, verdict: Option<Verdict>, end: End, since: Mark) {
        let verdict = verdict.or(self.verdict()).unwrap_or(Ok(false));
        self.0.push(Block { verdict, end, since });
    }

    /// Ends what ends before a line.
    pub(super) fn enter(&mut self, line: &[u8]) {
        let is_item = line.trim_ascii_start().starts_with(b"-");
        let is_out = |it: &mut Block| match it.end {
            End::Indent(most) => indent(line) < most || indent(line) == most && !is_item,
            _ => false,
        };
        while self.0.pop_if(is_out).is_some() {}
    }

    /// Begins what a line without networks does that has no bracket: a section, `[allow]` or `/ip
    /// address`, or what lines with more blanks, or `-`, are in.
    pub(super) fn begin(&mut self, line: &[u8], rule: Option<&Rule<'_>>, since: Mark) {
        let text = line.trim_ascii();
        let is_section = matches!(text, [b'[', .., b']'] | [b'/', b'a'..=b'z', ..]);
        if is_section && !text.iter().any(|it| b"\",".contains(it)) {
            let name = text.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]"));
            let words: Vec<_> = words(name.unwrap_or(text)).collect();
            // MikroTik has other addresses in most.
            let is_list = |it: &&[u8]| matches!(*it, b"firewall" | b"route");
            let is_other = name.is_none() && !words.iter().any(is_list);
            self.0.clear();
            let verdict = if is_other { Some(Err(Unfit::Else)) } else { header(None, &words, b"") };
            self.push(verdict, End::Section, since);
        } else if text.ends_with(b":") {
            let words: Vec<_> = words(text).collect();
            self.indent(header(rule, &words, text), line, since);
        }
    }

    /// Begins an item of a list of YAML, or what is below a name.
    pub(super) fn indent(&mut self, verdict: Option<Verdict>, line: &[u8], since: Mark) {
        if self.0.last().is_none_or(|it| it.end != End::Bracket) {
            let is_item = line.trim_ascii_start().starts_with(b"- ");
            self.push(verdict, End::Indent(indent(line) + usize::from(is_item)), since);
        }
    }

    /// Closes and opens what a statement does not open and close itself.
    pub(super) fn turn_at_brackets(
        &mut self,
        text: &[u8],
        verdict: impl FnOnce() -> Option<Verdict>,
        since: Mark,
    ) {
        let mut opened = 0_usize;
        for byte in text {
            match byte {
                b'{' | b'[' | b'(' => opened += 1,
                b'}' | b']' | b')' if opened > 0 => opened -= 1,
                b'}' | b']' | b')' => _ = self.0.pop_if(|it| it.end == End::Bracket),
                _ => {}
            }
        }
        let verdict = if opened > 0 { verdict() } else { None };
        (0..opened).for_each(|_| self.push(verdict, End::Bracket, since));
    }

    /// Gives the innermost block a verdict, and returns where it began.
    pub(super) fn turn(&mut self, verdict: Verdict) -> Option<(Mark, Verdict)> {
        let block = self.0.last_mut()?;
        block.verdict = verdict;
        Some((block.since, verdict))
    }
}

fn indent(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

/// What the header of a block says of its members.
pub(super) fn header(rule: Option<&Rule<'_>>, words: &[&[u8]], text: &[u8]) -> Option<Verdict> {
    let is_network = |it: &&[u8]| range(it).is_some();
    match rule {
        // It describes a network.
        _ if text.trim_ascii_end().ends_with(b"{") && words.iter().any(is_network) => {
            Some(Err(Unfit::Else))
        }
        Some((Kind::Unfit(why), _)) => Some(Err(*why)),
        Some((Kind::Access(true), _)) => Some(Ok(true)),
        _ if words.iter().any(|it| is_negation(it) || *it != b"match" && unfit(it).is_some()) => {
            Some(Err(Unfit::Else))
        }
        _ if words.iter().any(|it| key(it, false) == Some(Word::Destination)) => {
            Some(Err(Unfit::Goes))
        }
        _ if words.iter().any(|it| is_of_allowed(it)) => Some(Ok(true)),
        _ => words.iter().any(|it| is_of_blocked(it)).then_some(Ok(false)),
    }
}

/// What a name and its value say.
pub(super) fn said(key: Option<Word>, name: &[u8], value: &[u8]) -> Option<Verdict> {
    let is_true = value.eq_ignore_ascii_case(b"true");
    match key {
        // Those of chains are for what no rule is about.
        _ if name == b"policy" => None,
        Some(Word::Disabled) if !is_no(value) => Some(Err(Unfit::Undone)),
        Some(Word::Enabled) if is_no(value) => Some(Err(Unfit::Undone)),
        Some(Word::Allowed) if is_true || is_no(value) => Some(Ok(is_true)),
        Some(Word::Not) if is_true => Some(Err(Unfit::Else)),
        Some(Word::Action | Word::Allowed) if meaning(value) == Some(Word::Verdict(None)) => {
            Some(Err(Unfit::Else))
        }
        Some(Word::Action | Word::Allowed) => {
            verdict_of(value).or_else(|| is_of_blocked(value).then_some(false)).map(Ok)
        }
        None | Some(Word::Label | Word::Either) if number(value).is_some() => {
            let is_length = is_mask(name) || matches!(name, b"cidr" | b"subnet");
            is_length.then_some(Err(Unfit::Length))
        }
        _ => None,
    }
}
