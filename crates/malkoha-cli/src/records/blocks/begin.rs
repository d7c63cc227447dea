//! Where blocks begin and end.

use super::super::Unfit;
use super::text::{has_words, indent, open_quote};
use super::{At, Block, Blocks, End, Verdict};

impl Blocks {
    /// Ends what ends before a line.
    pub(crate) fn enter(&mut self, at: At<'_>, is_entry: bool) {
        let (indent, text) = (indent(at.line), at.line.trim_ascii_start());
        self.here = None;
        // Another document of YAML.
        if matches!(at.line.trim_ascii_end(), b"---" | b"...") {
            self.all.clear();
        }
        let is_in = |is_heading| match text {
            [b'{' | b'[' | b'(', ..] if !has_words(text) => true,
            [b'-', ..] => is_heading,
            _ => is_heading && (is_entry || !has_words(text)),
        };
        let is_out = |it: &mut Block| match it.end {
            End::Indent(most, is_heading) => indent < most || indent == most && !is_in(is_heading),
            _ => false,
        };
        while self.all.pop_if(is_out).is_some() {}
        let is_apart = self.is_apart && self.all.pop_if(|it| it.end == End::Paragraph).is_some();
        self.is_apart &= !is_apart && self.depth() > 0;
    }

    /// Ends the quote that ends with a line.
    pub(crate) fn leave(&mut self, at: At<'_>) {
        let is_last = |it: &Block| match it.end {
            End::Quote(quote) => self.here.is_none() && at.line.contains(&quote),
            _ => false,
        };
        let last = self.all.iter().rposition(|it| !matches!(it.end, End::Indent(..)));
        last.filter(|at| is_last(&self.all[*at])).into_iter().for_each(|at| self.all.truncate(at));
    }

    /// Begins what the heading of lines or a setting does.
    pub(crate) fn begin(&mut self, verdict: Option<Verdict>, is_heading: bool, at: At<'_>) {
        let text = at.line.trim_ascii();
        if let Some(quote) = open_quote(text) {
            verdict.into_iter().for_each(|it| self.push(Some(it), End::Quote(quote), at));
        } else if verdict.is_some() || is_heading && !self.is_in_brackets() {
            let most = indent(at.line) + usize::from(text.starts_with(b"- "));
            self.push(verdict, End::Indent(most, is_heading), at);
        }
    }

    /// Begins an item of a list of YAML.
    pub(crate) fn begin_item(&mut self, at: At<'_>) {
        if !self.is_in_brackets() {
            self.push(None, End::Indent(indent(at.line) + 1, false), at);
        }
    }

    /// Begins a section: `[allow]`, or `/ip address` of MikroTik, of which but some parts have
    /// entries; or an element of XML. `false` for other lines. `said` is what a name says.
    pub(crate) fn section(
        &mut self,
        text: &[u8],
        said: impl FnOnce(&[u8]) -> Option<Verdict>,
        parts: &str,
        at: At<'_>,
    ) -> bool {
        match text {
            [b'[', b'[', name @ .., b']', b']'] | [b'[', name @ .., b']']
                if !name.iter().any(|it| b"[\"',".contains(it)) =>
            {
                self.begin_section(said(name), at);
            }
            // Programs have folders, and patterns paths.
            [b'/', name @ .., b'a'..=b'z']
                if name.iter().all(|it| it.is_ascii_lowercase() || b" -/6".contains(it))
                    && (name.starts_with(b"ip") || name.contains(&b' ')) =>
            {
                let mut own = parts.split(' ').map(str::as_bytes);
                let is_own =
                    own.any(|part| name.split(|it| b" /".contains(it)).any(|it| it == part));
                self.begin_section((!is_own).then_some(Err(Unfit::Else)), at);
            }
            [b'<', b'/', ..] => self.close(),
            [b'<', b'a'..=b'z' | b'A'..=b'Z', .., last, b'>']
                if *last != b'/' && !text[1..].contains(&b'<') =>
            {
                self.push(said(text), End::Bracket(false), at);
            }
            _ => return false,
        }
        true
    }

    pub(crate) fn begin_section(&mut self, verdict: Option<Verdict>, at: At<'_>) {
        self.all.retain(|it| it.end == End::Directive);
        self.deeper = 0;
        self.push(verdict, End::Section, at);
    }

    /// Begins what a comment is the heading of, in lists that have no other blocks.
    pub(crate) fn begin_titled(&mut self, verdict: Verdict, is_default: bool, at: At<'_>) {
        if !self.all.iter().any(|it| matches!(it.end, End::Bracket(_) | End::Quote(_))) {
            self.all.retain(|it| it.end == End::Directive);
            self.here = None;
            if !is_default {
                self.push(Some(verdict), End::Section, at);
            }
        }
    }

    /// Closes and opens what brackets do that a text does not open and close itself, except those in
    /// quotes. `counts` tells of which signs it does, by their place and whether one is open.
    /// Returns how many it opens.
    pub(crate) fn brackets(
        &mut self,
        text: &[u8],
        quotes: &[u8],
        counts: impl Fn(usize, bool) -> bool,
    ) -> usize {
        let (mut opened, mut quote) = (0_usize, None);
        for (at, byte) in text.iter().enumerate() {
            match byte {
                _ if quote.is_some() => quote = quote.filter(|it| it != byte),
                _ if quotes.contains(byte) => quote = Some(*byte),
                b'{' | b'[' | b'(' => opened += usize::from(counts(at, opened > 0)),
                b'}' | b']' | b')' if !counts(at, opened > 0) => {}
                b'}' | b']' | b')' if opened > 0 => opened -= 1,
                b'}' | b']' | b')' => self.close(),
                _ => {}
            }
        }
        opened
    }

    /// A line without the comments that it has between signs, `None` in such a one.
    pub(crate) fn behind_comment<'a>(
        &mut self,
        mut line: &'a [u8],
        at: At<'_>,
    ) -> Option<&'a [u8]> {
        loop {
            let (end, skipped): (&[u8], _) = match (self.all.last().map(|it| it.end), line) {
                (Some(End::Comment(end)), _) => (end, 0),
                // Others are patterns.
                (_, [b'/', b'*'] | [b'/', b'*', b' ' | b'*' | b'\t', ..]) => (b"*/", 2),
                (_, [b'/', b'*', b'0'..=b'9', rest @ ..])
                    if memchr::memmem::find(rest, b"*/").is_some() =>
                {
                    (b"*/", 2)
                }
                (_, [b'<', b'!', b'-', b'-', ..]) => (b"-->", 4),
                _ => return Some(line),
            };
            let Some(at_end) = memchr::memmem::find(&line[skipped..], end) else {
                if skipped > 0 {
                    self.here = None;
                    self.push(None, End::Comment(end), at);
                }
                return None;
            };
            self.all.pop_if(|it| it.end == End::Comment(end));
            line = line[skipped + at_end + end.len()..].trim_ascii_start();
        }
    }

    /// Begins and ends what is for some programs alone.
    pub(crate) fn directive(&mut self, at: At<'_>) {
        if at.line.starts_with(b"!#if") {
            self.push(Some(Err(Unfit::Programs)), End::Directive, at);
        } else if at.line.starts_with(b"!#endif") {
            self.all.pop_if(|it| it.end == End::Directive);
        }
    }
}
