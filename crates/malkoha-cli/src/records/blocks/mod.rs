//! Blocks over several lines, of lists of domains and of networks alike: where they begin and end,
//! and which verdict holds in them.

mod begin;
mod said;
mod text;
mod words;

use std::rc::Rc;

use super::Unfit;
pub(super) use said::{heading, is_harmless, is_one_of, is_state, said};
pub(super) use text::{has_words, indent, is_member, open_quote, without_signs, without_texts};
pub(super) use words::{
    Word, Words, begins_with_one, is_count, is_negation, is_of_allowed, is_of_blocked,
    is_of_others, look_up, meaning, name, parts, table, verdict_of,
};

/// Whether entries pass; an error if they are not to be listed at all.
pub(crate) type Verdict = Result<bool, Unfit>;

/// How many entries a list had before a block.
pub(crate) type Mark = [usize; 4];

/// The number of a line, and how it begins.
pub(crate) type Place = Rc<(u64, Box<[u8]>)>;

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Entries, all of which were passed on.
    Entries,
    /// Entries, with something to tell.
    Reported(Unfit),
    /// A comment, or what a syntax needs before entries and behind them.
    Nothing,
    Unfit(Unfit),
}

impl Line {
    pub(crate) fn unfit(self) -> Option<Unfit> {
        if let Self::Unfit(why) = self { Some(why) } else { None }
    }
}

/// Bytes of a line that are kept.
const KEPT: usize = 512;

/// Deeper blocks are not read, because a verdict is for all that is in its block.
const DEEPEST: usize = 64;

/// A line, its number, and how many entries the list had before it.
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
pub(super) enum End {
    /// With a bracket or tag; `true` for one whose members are about the block around it.
    Bracket(bool),
    /// With a line that has this quote.
    Quote(u8),
    /// With a line that has no more blanks before it; if `true`, entries may have as many.
    Indent(usize, bool),
    /// With a blank line.
    Paragraph,
    /// With the next section.
    Section,
    /// With `!#endif`.
    Directive,
    /// With this sign.
    Comment(&'static [u8]),
}

struct Block {
    /// `None` if it says nothing, nor do those around it.
    verdict: Option<Verdict>,
    end: End,
    since: Mark,
    begins: Place,
    /// The line that gave it its verdict.
    by: Option<Place>,
    /// Whether a member of it did.
    is_turned: bool,
}

/// The blocks in which a line is.
#[derive(Default)]
pub(super) struct Blocks {
    all: Vec<Block>,
    /// Brackets in the deepest block that are open.
    deeper: usize,
    /// A blank line was before this one.
    pub(super) is_apart: bool,
    /// The verdict of the last line on all entries of its block, and where these begin.
    pub(super) turned: Option<(Mark, Verdict)>,
    /// The line itself, if it begins a block.
    here: Option<Place>,
}

impl Blocks {
    pub(super) fn depth(&self) -> usize {
        self.all.len()
    }

    /// Whether there is nothing that an entry alone in a line could end or be judged by.
    #[inline]
    pub(super) fn are_quiet(&self) -> bool {
        let is_quiet = |it: &Block| it.end == End::Section && it.verdict.is_none();
        self.all.is_empty() || self.all.iter().all(is_quiet)
    }

    pub(super) fn verdict(&self) -> Option<Verdict> {
        if self.deeper > 0 { Some(Err(Unfit::Else)) } else { self.all.last()?.verdict }
    }

    /// The line that gave the innermost block its verdict.
    pub(super) fn by(&self) -> Option<Place> {
        self.all.last()?.by.clone()
    }

    /// Whether this line gave it.
    pub(super) fn by_this(&self) -> bool {
        self.here.is_some() && self.by() == self.here
    }

    /// The line that begins what has a verdict, and did not end though it had to.
    pub(super) fn unended(&self) -> Option<Place> {
        let is_open = |it: &&Block| match it.end {
            End::Bracket(_) | End::Quote(_) => it.by.is_some(),
            end => matches!(end, End::Comment(_)),
        };
        Some(self.all.iter().find(is_open)?.begins.clone())
    }

    pub(super) fn is_in_brackets(&self) -> bool {
        self.all.last().is_some_and(|it| matches!(it.end, End::Bracket(_)))
    }

    /// The line that begins the innermost block, if it is one in brackets or indented.
    pub(super) fn begins(&self) -> &[u8] {
        self.all.last().map_or(b"", |it| &it.begins.1)
    }

    pub(super) fn push(&mut self, verdict: Option<Verdict>, end: End, at: At<'_>) {
        if self.all.len() == DEEPEST {
            self.deeper += usize::from(matches!(end, End::Bracket(_)));
            return;
        }
        let begins = self.here.get_or_insert_with(|| at.place()).clone();
        let by = if verdict.is_some() { Some(begins.clone()) } else { self.by() };
        let verdict = verdict.or(self.verdict());
        self.all.push(Block { verdict, end, since: at.since, begins, by, is_turned: false });
    }

    /// The line that begins the innermost block in brackets. Ends what is in it.
    pub(super) fn bracket(&mut self) -> Option<Place> {
        let last = self.all.iter().rposition(|it| !matches!(it.end, End::Indent(..)))?;
        if self.deeper > 0 || !matches!(self.all[last].end, End::Bracket(_)) {
            return None;
        }
        self.all.truncate(last + 1);
        Some(self.all[last].begins.clone())
    }

    pub(super) fn close(&mut self) {
        if self.bracket().is_some() {
            self.all.pop();
        }
        self.deeper = self.deeper.saturating_sub(1);
    }

    /// Whether the members of the innermost block are about the one around it.
    pub(super) fn is_about(&self) -> bool {
        self.all.last().is_some_and(|it| {
            let name = it.begins.1.trim_ascii_start();
            it.end == End::Bracket(true)
                || name.strip_prefix(b"\"").unwrap_or(name).starts_with(b"metadata")
        })
    }

    /// Gives the innermost block a verdict. Those that it blocks though its name lets them pass are
    /// not known. Each entry is judged once by each block.
    pub(super) fn turn(&mut self, verdict: Verdict, at: At<'_>) {
        let Some(last) = self.depth().checked_sub(1) else { return };
        let is_about = self.is_about();
        let block = &mut self.all[last.saturating_sub(usize::from(is_about))];
        // Another member says that they are not to be listed at all.
        if block.is_turned && matches!((block.verdict, verdict), (Some(Err(_)), Ok(_))) {
            return;
        }
        block.is_turned = true;
        if block.verdict != Some(verdict) {
            let is_other = (block.verdict, verdict) == (Some(Ok(true)), Ok(false));
            self.turned = Some((block.since, if is_other { Err(Unfit::Else) } else { verdict }));
            if is_other || verdict != Ok(false) {
                block.since = at.since;
            }
        }
        let here = self.here.get_or_insert_with(|| at.place());
        (block.verdict, block.by) = (Some(verdict), Some(here.clone()));
    }
}
