//! Blocks over several lines: where they begin and end, and which verdict holds in them.

use std::rc::Rc;

use super::super::Unfit;
use super::super::range::range;
use super::super::ranges::words;
use super::NAMES;
use super::headers::{
    end_of_text, has_words, header, indent, is_member, open_quote, starts_with_network,
    without_signs,
};
use super::kind::{Rule, before, is_definition};
use super::vocabulary::heading;

/// Whether networks pass; an error if they are not to be listed at all.
pub(crate) type Verdict = Result<bool, Unfit>;

/// How many networks a list had before a block.
pub(crate) type Mark = [usize; 4];

/// The number of a line, and how it begins.
pub(crate) type Place = Rc<(u64, Box<[u8]>)>;

/// Bytes of a line that are kept.
const KEPT: usize = 512;

/// A line, its number, and how many networks the list had before it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) line: &'a [u8],
    pub(super) number: u64,
    pub(super) since: Mark,
}

impl At<'_> {
    pub(super) fn place(self) -> Place {
        let text = self.line.trim_ascii();
        Rc::new((self.number, text[..text.len().min(KEPT)].into()))
    }
}

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// With a bracket or tag; `true` for one whose members are about the block around it.
    Bracket(bool),
    /// With a line that has this quote.
    Quote(u8),
    /// With a line that has no more blanks before it; if `true`, networks may have as many.
    Indent(usize, bool),
    /// With a blank line.
    Paragraph,
    /// With the next section.
    Section,
}

struct Block {
    verdict: Verdict,
    end: End,
    since: Mark,
    begins: Place,
    /// The line that gave it its verdict.
    by: Option<Place>,
}

/// The blocks in which a line is.
#[derive(Default)]
pub(super) struct Blocks {
    all: Vec<Block>,
    /// A blank line was before this one.
    pub(super) is_apart: bool,
    /// What the last line said of all networks of its block, and where these begin.
    pub(super) turned: Option<(Mark, Verdict)>,
    /// The line itself, if it begins a block.
    here: Option<Place>,
}

impl Blocks {
    pub(super) fn depth(&self) -> usize {
        self.all.len()
    }

    pub(super) fn verdict(&self) -> Option<Verdict> {
        self.all.last().map(|it| it.verdict)
    }

    /// The line that gave the innermost block its verdict.
    pub(super) fn by(&self) -> Option<Place> {
        self.all.last()?.by.clone()
    }

    /// Whether this line gave it.
    pub(super) fn by_this(&self, at: At<'_>) -> bool {
        self.by().is_some_and(|it| it.0 == at.number)
    }

    /// The line that begins what has a verdict, and did not end though it had to.
    pub(super) fn unended(&self) -> Option<Place> {
        let is_open = |it: &&Block| matches!(it.end, End::Bracket(_) | End::Quote(_));
        Some(self.all.iter().filter(|it| it.by.is_some()).find(is_open)?.begins.clone())
    }

    fn push(&mut self, verdict: Option<Verdict>, end: End, at: At<'_>) {
        // Of a firewall's rule, whose networks are elsewhere in it.
        let letters = at.line.iter().filter(|it| it.is_ascii_alphabetic());
        if verdict.is_some() && at.line.len() < NAMES && letters.eq(b"allowed") {
            self.turn(Ok(true), at);
        }
        let begins = self.here.get_or_insert_with(|| at.place()).clone();
        let by = if verdict.is_some() { Some(begins.clone()) } else { self.by() };
        let verdict = verdict.or(self.verdict()).unwrap_or(Ok(false));
        self.all.push(Block { verdict, end, since: at.since, begins, by });
    }

    /// The line that begins the innermost block in brackets. Ends what is in it.
    pub(super) fn bracket(&mut self) -> Option<Place> {
        let last = self.all.iter().rposition(|it| !matches!(it.end, End::Indent(..)))?;
        let begins = match &self.all[last] {
            Block { end: End::Bracket(_), begins, .. } => begins.clone(),
            _ => return None,
        };
        self.all.truncate(last + 1);
        Some(begins)
    }

    fn close(&mut self) {
        self.bracket().into_iter().for_each(|_| _ = self.all.pop());
    }

    /// Ends what ends before a line.
    pub(super) fn enter(&mut self, at: At<'_>) {
        let (indent, text) = (indent(at.line), at.line.trim_ascii_start());
        self.here = None;
        let is_in = |is_heading| match text {
            [b'{', ..] if !has_words(text) => true,
            [b'-', ..] => is_heading,
            _ => is_heading && (starts_with_network(text) || !has_words(text)),
        };
        let is_out = |it: &Block| match it.end {
            End::Indent(most, is_heading) => indent < most || indent == most && !is_in(is_heading),
            _ => false,
        };
        while self.all.pop_if(|it| is_out(it)).is_some() {}
        let is_apart = self.is_apart && self.all.pop_if(|it| it.end == End::Paragraph).is_some();
        self.is_apart &= !is_apart && self.depth() > 0;
        if self.depth() == 0 && is_member(text) {
            self.push(None, End::Paragraph, at);
        }
    }

    /// Ends the quote that ends with a line.
    pub(super) fn leave(&mut self, at: At<'_>) {
        let is_last = |it: &Block| match it.end {
            End::Quote(quote) => it.begins.0 < at.number && at.line.contains(&quote),
            _ => false,
        };
        let last = self.all.iter().rposition(|it| !matches!(it.end, End::Indent(..)));
        last.filter(|at| is_last(&self.all[*at])).into_iter().for_each(|at| self.all.truncate(at));
    }

    /// Begins what a line without open brackets does. `said` is what became of its networks, if it
    /// has some. Returns whether it is known as what begins a block.
    pub(super) fn begin(
        &mut self,
        rule: Option<&Rule<'_>>,
        said: Option<Verdict>,
        at: At<'_>,
    ) -> bool {
        let text = at.line.split(|it| *it == b'#').next().unwrap_or(at.line).trim_ascii();
        let words: Vec<_> = words(text).take(NAMES).collect();
        if said.is_none() && self.begin_section(rule, &words, text, at) {
            return text.starts_with(b"</") || self.by_this(at);
        }
        let title = heading(text).filter(|_| !text.ends_with(b";"));
        let is_heading = said.is_none()
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
        let verdict = said.or_else(of_header);
        let is_in_brackets = self.all.last().is_some_and(|it| matches!(it.end, End::Bracket(_)));
        if let Some(quote) = open_quote(text) {
            verdict.into_iter().for_each(|it| self.push(Some(it), End::Quote(quote), at));
        } else if verdict.is_some() || is_heading && !is_in_brackets {
            let most = indent(at.line) + usize::from(text.starts_with(b"- "));
            self.push(verdict, End::Indent(most, is_heading), at);
        }
        verdict.is_some() && is_setting
    }

    /// A section, `[allow]` or `/ip address`, or an element of XML.
    fn begin_section(
        &mut self,
        rule: Option<&Rule<'_>>,
        words: &[&[u8]],
        text: &[u8],
        at: At<'_>,
    ) -> bool {
        match text {
            [b'[', b'[', name @ .., b']', b']'] | [b'[', name @ .., b']']
                if !name.iter().any(|it| b"[\",".contains(it)) =>
            {
                self.all.clear();
                self.push(header(None, &[name], b""), End::Section, at);
            }
            // MikroTik has other addresses in most sections, and programs have folders.
            [b'/', name @ .., b'a'..=b'z'] if name.starts_with(b"ip") || !name.contains(&b'/') => {
                let is_list = |part: &[u8]| matches!(part, b"firewall" | b"route");
                let is_other = !name.split(|it| b" /".contains(it)).any(is_list);
                self.all.clear();
                self.push(is_other.then_some(Err(Unfit::Else)), End::Section, at);
            }
            [b'<', b'/', ..] => self.close(),
            [b'<', b'a'..=b'z' | b'A'..=b'Z', .., last, b'>']
                if *last != b'/' && memchr::memmem::find(text, b"</").is_none() =>
            {
                self.push(header(rule, words, text), End::Bracket(false), at);
            }
            _ => return false,
        }
        true
    }

    /// Begins what a comment is the heading of, in lists that have no other blocks.
    pub(super) fn begin_titled(&mut self, verdict: Verdict, is_default: bool, at: At<'_>) {
        if !self.all.iter().any(|it| matches!(it.end, End::Bracket(_) | End::Quote(_))) {
            self.all.clear();
            if !is_default {
                self.push(Some(verdict), End::Section, at);
            }
        }
    }

    /// Begins an item of a list of YAML.
    pub(super) fn begin_item(&mut self, at: At<'_>) {
        if self.all.last().is_none_or(|it| !matches!(it.end, End::Bracket(_))) {
            self.push(None, End::Indent(indent(at.line) + 1, false), at);
        }
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
        // What directly follows begins a block: its first network, or the next line.
        let (first, last) = (end_of_text(&text[..network]), end_of_text(text));
        let is_then = text.trim_ascii_start().starts_with(b"then");
        let is_round = self.all.last().is_some_and(|it| it.begins.1.contains(&b'('));
        let (mut opened, mut is_quoted, mut is_first) = (0_usize, false, true);
        for (i, byte) in text.iter().enumerate() {
            match byte {
                b'"' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                b'{' | b'[' if i < network => opened += 1,
                b'{' | b'[' | b'(' if is_first || i >= last => opened += 1,
                b'(' if (first..network).contains(&i) => opened += 1,
                b'}' | b']' | b')' if opened > 0 => opened -= 1,
                b'}' | b']' => self.close(),
                b')' if is_first || is_round && i + 1 == text.trim_ascii_end().len() => {
                    self.close()
                }
                _ => {}
            }
            is_first &= b"{[()]} \t,".contains(byte);
        }
        let verdict = if opened > 0 { verdict() } else { None };
        (0..opened).for_each(|_| self.push(verdict, End::Bracket(is_then), at));
    }

    /// Gives the innermost block a verdict. Those that it blocks though its name lets them pass are
    /// not known.
    pub(super) fn turn(&mut self, verdict: Verdict, at: At<'_>) {
        let Some(last) = self.depth().checked_sub(1) else { return };
        let is_then = self.all[last].end == End::Bracket(true);
        let block = &mut self.all[last.saturating_sub(usize::from(is_then))];
        let is_other = (block.verdict, verdict) == (Ok(true), Ok(false));
        if block.verdict != verdict {
            self.turned = Some((block.since, if is_other { Err(Unfit::Else) } else { verdict }));
        }
        (block.verdict, block.by) = (verdict, Some(at.place()));
    }
}
