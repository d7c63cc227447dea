//! Blocks over several lines: what their headings and members say of the names in them.

use super::super::networks::Verdict;
use super::Unfit;
use super::rules::asks_elsewhere;

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// `true` for one whose members are about the block around it.
    Bracket(bool),
    /// With a line that has fewer blanks before it, or as many before a key.
    Indent(usize),
    /// With the next section.
    Section,
    /// With `!#endif`.
    Directive,
}

struct Block {
    verdict: Option<Verdict>,
    end: End,
    since: usize,
}

/// Deeper ones are not read, because a verdict is for all that is in its block.
const DEEPEST: usize = 64;

/// The blocks in which a line is.
#[derive(Default)]
pub(super) struct Blocks {
    all: Vec<Block>,
    /// Brackets in the deepest block that are open.
    deeper: usize,
}

impl Blocks {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The verdict on the names in the innermost block, if it has one.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        if self.deeper > 0 {
            return Some(Err(Unfit::Else));
        }
        self.all.last().and_then(|it| it.verdict)
    }

    fn push(&mut self, verdict: Option<Verdict>, end: End, since: usize) {
        if self.all.len() < DEEPEST {
            let verdict = verdict.or(self.verdict());
            self.all.push(Block { verdict, end, since });
        } else if matches!(end, End::Bracket(_)) {
            self.deeper += 1;
        }
    }

    fn close(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else {
            self.all.pop_if(|it| matches!(it.end, End::Bracket(_)));
        }
    }

    /// Begins and ends what is for some programs alone.
    pub(super) fn directive(&mut self, line: &[u8], since: usize) {
        if line.starts_with(b"!#if") {
            self.push(Some(Err(Unfit::Programs)), End::Directive, since);
        } else if line.starts_with(b"!#endif") {
            self.all.pop_if(|it| it.end == End::Directive);
        }
    }

    /// Ends what ends before a line, and begins what a list's item is in.
    pub(super) fn enter(&mut self, all: &[u8], item: &[u8], since: usize) {
        let width = indent(all);
        let is_item = all[width..].starts_with(b"- ");
        if self.is_empty() && !is_item {
            return;
        }
        let is_key = item.ends_with(b":") || member(item).is_some_and(|it| it.2);
        let is_out = |it: &mut Block| match it.end {
            End::Indent(most) => width < most || width == most && is_key && !is_item,
            _ => false,
        };
        while self.all.pop_if(is_out).is_some() {}
        if is_item && is_key {
            self.indented(None, width + 1, since);
        }
    }

    fn indented(&mut self, verdict: Option<Verdict>, width: usize, since: usize) {
        if self.all.last().is_none_or(|it| !matches!(it.end, End::Bracket(_))) {
            self.push(verdict, End::Indent(width), since);
        }
    }

    /// Begins what a heading begins; `false` for other lines.
    pub(super) fn heading(&mut self, all: &[u8], item: &[u8], since: usize) -> bool {
        let verdict = match item {
            [b'[', name @ .., b']'] if is_title(name) => said_by(name),
            // Actions of Privoxy.
            [b'{', name @ .., b'}']
                if !name.contains(&b'"') && is_action(name.trim_ascii_start()) =>
            {
                let has = |action: &[u8]| memchr::memmem::find(name, action).is_some();
                Some(match () {
                    () if has(b"+block") => Ok(false),
                    () if has(b"-block") => Ok(true),
                    () => Err(Unfit::Else),
                })
            }
            // Names are in one section of MikroTik alone.
            [b'/', b'i' | b'q' | b's' | b'r' | b't' | b'u', name @ ..]
                if all.contains(&b' ')
                    && name.iter().all(|it| it.is_ascii_lowercase() || b" -".contains(it)) =>
            {
                let is_dns = memchr::memmem::find(name, b"dns").is_some();
                (!is_dns).then_some(Err(Unfit::Else))
            }
            [name @ .., b':'] if is_key(name) && !name.starts_with(b"local-") => {
                self.indented(said_by(name), indent(all), since);
                return true;
            }
            _ => return false,
        };
        self.all.retain(|it| it.end == End::Directive);
        self.deeper = 0;
        if verdict.is_some() {
            self.push(verdict, End::Section, since);
        }
        true
    }

    /// Closes and opens what the brackets of a line do, except those in quotes; whether it opens
    /// one.
    pub(super) fn brackets(&mut self, item: &[u8], since: usize) -> bool {
        let has = |open, close| memchr::memchr2(open, close, item).is_some();
        if matches!(item, [b'|' | b'@' | b'/' | b'^' | b'$' | b'*' | b'~' | b'&', ..])
            || !has(b'{', b'}') && !has(b'[', b']')
        {
            return false;
        }
        let text = item.split(|&it| it == b'#').next().unwrap_or(item);
        let remark = memchr::memmem::find(text, b"//").or(memchr::memmem::find(text, b" ;"));
        let text = remark.map_or(text, |at| &text[..at]);
        let (mut opened, mut quote) = (0_usize, None);
        for (at, byte) in text.iter().enumerate() {
            match byte {
                b'"' | b'\'' if quote.is_none() => quote = Some(byte),
                _ if quote == Some(byte) => quote = None,
                _ if quote.is_some() => {}
                b'{' | b'[' if opens(&text[..at]) => opened += 1,
                b'}' | b']' if opened > 0 => opened -= 1,
                b'}' | b']' => self.close(),
                _ => {}
            }
        }
        let verdict = if opened > 0 { said_by(item) } else { None };
        let is_action = opened == 1 && member(item).is_some_and(|it| it.0 == b"action");
        (0..opened).for_each(|_| self.push(verdict, End::Bracket(is_action), since));
        opened > 0
    }

    /// What a member of a block says of all of its names, and where these begin.
    pub(super) fn turn(&mut self, item: &[u8], names: usize) -> Option<(usize, Verdict)> {
        let last = self.all.len().checked_sub(1)?;
        let is_action = self.all[last].end == End::Bracket(true);
        let block = &mut self.all[last.saturating_sub(usize::from(is_action))];
        let verdict = if item.starts_with(b"type ") {
            asks_elsewhere(item).then_some(Err(Unfit::Else))?
        } else {
            let (key, value, _) = member(item)?;
            said(key, value)?
        };
        block.verdict = Some(verdict);
        // Each name is judged once by each block.
        Some((std::mem::replace(&mut block.since, names), verdict))
    }
}

/// Whether a bracket behind this text begins a block, and is no part of a path or pattern.
fn opens(before: &[u8]) -> bool {
    match before {
        [] | [.., b' ' | b'\t' | b',' | b'[' | b'{' | b'('] => true,
        [name @ .., b':' | b'='] => is_key(name),
        _ => false,
    }
}

fn indent(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

fn is_key(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|it| it.is_ascii_alphanumeric() || b"-_ \"'".contains(it))
}

fn is_action(name: &[u8]) -> bool {
    matches!(name, [b'+' | b'-', b'a'..=b'z', ..]) || is_title(name)
}

/// Whether this is the title of a section, and no pattern or JSON.
fn is_title(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && !name.iter().any(|it| b"\"',;:=".contains(it))
        && (!name.contains(&b'.') || name.iter().any(u8::is_ascii_whitespace))
}

/// A key, its value, and whether it is one of YAML.
fn member(item: &[u8]) -> Option<(&[u8], &[u8], bool)> {
    let at = memchr::memchr2(b':', b'=', item)?;
    let (key, value) = (item[..at].trim_ascii(), &item[at + 1..]);
    let of_yaml = item[at] == b':' && value.starts_with(b" ");
    is_key(key).then(|| (inner(key), inner(value), of_yaml))
}

/// A text from its first letter or digit to its last.
fn inner(text: &[u8]) -> &[u8] {
    let start = text.iter().position(u8::is_ascii_alphanumeric).unwrap_or(text.len());
    let end = text.iter().rposition(u8::is_ascii_alphanumeric).map_or(start, |at| at + 1);
    &text[start..end]
}

/// What a key and its value say.
fn said(key: &[u8], value: &[u8]) -> Option<Verdict> {
    let is = |words: [&str; 2]| words.iter().any(|it| value.eq_ignore_ascii_case(it.as_bytes()));
    let (is_true, is_false) = (is(["true", "yes"]), is(["false", "no"]));
    match key.to_ascii_lowercase().as_slice() {
        b"enabled" | b"enable" | b"active" if is_false => Some(Err(Unfit::Undone)),
        b"disabled" | b"inactive" if is_true => Some(Err(Unfit::Undone)),
        b"allow" | b"allowed" if is_true || is_false => Some(Ok(is_true)),
        b"action" | b"policy" | b"outbound" | b"verdict" | b"decision" | b"server" => {
            said_by(value).or((!value.is_empty()).then_some(Err(Unfit::Else)))
        }
        b"type" | b"kind" => said_by(value).filter(Result::is_ok),
        _ => None,
    }
}

/// What words say, by how they begin, and by all of their letters.
const SAID: [(Verdict, &str, &str); 4] = [
    (Err(Unfit::NoDomain), "keyword regex", "pattern patterns"),
    (
        Err(Unfit::Else),
        "nameserver upstream fallback bootstrap resolver server prox forward client fake sniff \
         skip rewrite customdns mapping redirect unless initiator",
        "if real general",
    ),
    (
        Ok(true),
        "allow white except exclu unblock permit trust bypass ignor passthr safelist",
        "pass direct",
    ),
    (Ok(false), "block deny denied black reject sinkhole refuse nxdomain", "ban banned drop null"),
];

/// What the words of a heading or value say of names.
fn said_by(text: &[u8]) -> Option<Verdict> {
    let text = text.to_ascii_lowercase();
    match inner(&text) {
        // The main section of Unbound.
        b"server" => return None,
        b"dns" => return Some(Err(Unfit::Else)),
        _ => {}
    }
    let words = text.split(|it| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let has = |starts: &str, all: &str| {
        words.clone().any(|word| {
            starts.split(' ').any(|it| word.starts_with(it.as_bytes()))
                || all.split(' ').any(|it| word == it.as_bytes())
        })
    };
    SAID.iter().find(|(_, starts, all)| has(starts, all)).map(|it| it.0)
}
