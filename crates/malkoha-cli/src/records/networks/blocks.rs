//! Blocks over several lines: what their headers and members say of the networks in them.

use super::super::Unfit;
use super::super::range::{number, range};
use super::super::ranges::{is_mask, words};
use super::kind::{Rule, before};
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
    /// With a bracket or tag; `true` for one whose members are about the block around it.
    Bracket(bool),
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
        let is_in = || line.trim_ascii_start().starts_with(b"-") || starts_with_network(line);
        let is_out = |it: &mut Block| match it.end {
            End::Indent(most) => indent(line) < most || indent(line) == most && !is_in(),
            _ => false,
        };
        while self.0.pop_if(is_out).is_some() {}
    }

    /// Begins what a line without networks does that has no bracket: a section, `[allow]` or `/ip
    /// address`, an element of XML, or what lines with more blanks, or `-`, are in.
    pub(super) fn begin(&mut self, line: &[u8], rule: Option<&Rule<'_>>, since: Mark) {
        let text = line.split(|it| *it == b'#').next().unwrap_or(line).trim_ascii();
        let words: Vec<_> = words(text).collect();
        match text {
            [b'[', b'[', name @ .., b']', b']'] | [b'[', name @ .., b']']
                if !name.iter().any(|it| b"[\",".contains(it)) =>
            {
                self.0.clear();
                self.push(header(None, &[name], b""), End::Section, since);
            }
            // MikroTik has other addresses in most sections, and programs have folders.
            [b'/', name @ .., b'a'..=b'z'] if name.starts_with(b"ip") || !name.contains(&b'/') => {
                let is_list = |part: &[u8]| matches!(part, b"firewall" | b"route");
                let is_other = !name.split(|it| b" /".contains(it)).any(is_list);
                self.0.clear();
                self.push(is_other.then_some(Err(Unfit::Else)), End::Section, since);
            }
            [b'<', b'/', ..] => _ = self.0.pop_if(|it| matches!(it.end, End::Bracket(_))),
            [b'<', b'a'..=b'z' | b'A'..=b'Z', .., last, b'>']
                if *last != b'/' && memchr::memmem::find(text, b"</").is_none() =>
            {
                self.push(header(rule, &words, text), End::Bracket(false), since);
            }
            _ if text.ends_with(b":")
                || matches!(words[..], [b"object" | b"object-group" | b"edit", ..]) =>
            {
                self.indent(header(rule, &words, text), line, since);
            }
            _ => {}
        }
    }

    /// Begins an item of a list of YAML, or what is below a name.
    pub(super) fn indent(&mut self, verdict: Option<Verdict>, line: &[u8], since: Mark) {
        if self.0.last().is_none_or(|it| !matches!(it.end, End::Bracket(_))) {
            let is_item = line.trim_ascii_start().starts_with(b"- ");
            self.push(verdict, End::Indent(indent(line) + usize::from(is_item)), since);
        }
    }

    /// Closes and opens what a statement does not open and close itself. Brackets in texts, which
    /// are in quotes or behind a network, are none, nor are round ones before words.
    pub(super) fn turn_at_brackets(
        &mut self,
        text: &[u8],
        words: &[&[u8]],
        verdict: impl FnOnce() -> Option<Verdict>,
        since: Mark,
    ) {
        let network = words.iter().find(|it| range(it).is_some());
        let network = network.map_or(text.len(), |it| before(text, it).len());
        // What directly follows begins a block: its first network, or the next line.
        let (first, last) = (end_of_text(&text[..network]), end_of_text(text));
        let is_then = text.trim_ascii_start().starts_with(b"then");
        let (mut opened, mut is_quoted, mut is_first) = (0_usize, false, true);
        for (at, byte) in text.iter().enumerate() {
            match byte {
                b'"' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                b'{' | b'[' if at < network => opened += 1,
                b'{' | b'[' | b'(' if is_first || at >= last => opened += 1,
                b'(' if (first..network).contains(&at) => opened += 1,
                b'}' | b']' | b')' if opened > 0 => opened -= 1,
                b'}' | b']' | b')' if is_first || *byte != b')' => {
                    self.0.pop_if(|it| matches!(it.end, End::Bracket(_)));
                }
                _ => {}
            }
            is_first &= b"{[()]} \t,".contains(byte);
        }
        let verdict = if opened > 0 { verdict() } else { None };
        (0..opened).for_each(|_| self.push(verdict, End::Bracket(is_then), since));
    }

    /// Gives the innermost block a verdict, and returns where it began.
    pub(super) fn turn(&mut self, verdict: Verdict) -> Option<(Mark, Verdict)> {
        let last = self.0.len().checked_sub(1)?;
        let is_then = self.0[last].end == End::Bracket(true);
        let block = &mut self.0[last.saturating_sub(usize::from(is_then))];
        block.verdict = verdict;
        Some((block.since, verdict))
    }
}

/// The end of a text without the signs before its next word.
fn end_of_text(text: &[u8]) -> usize {
    text.iter().rposition(|it| !b"{[( !\"\t".contains(it)).map_or(0, |at| at + 1)
}

fn starts_with_network(line: &[u8]) -> bool {
    words(line).next().is_some_and(|it| range(it).is_some())
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
        _ if words.iter().any(|it| {
            is_negation(it) || !matches!(*it, b"match" | b">") && unfit(it).is_some()
        }) =>
        {
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
