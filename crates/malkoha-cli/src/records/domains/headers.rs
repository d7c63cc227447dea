//! The verdicts of headings, and of the members of blocks, on the names in these.

use super::super::Unfit;
use super::super::blocks::{
    At, End, Verdict, Word, begins_with_one, heading, is_harmless, is_of_allowed, is_of_blocked,
    is_of_others, is_one_of, meaning, open_quote, parts, said, verdict_of, without_signs,
};
use super::lines::Lines;
use super::rules::asks_elsewhere;

impl Lines {
    /// Ends what ends before a line, and begins what a list's item is in.
    pub(super) fn enter(&mut self, item: &[u8], at: At<'_>) {
        let is_item = at.line.trim_ascii_start().starts_with(b"- ");
        let is_member = member(item).is_some_and(|it| it.2);
        self.blocks.enter(at, !is_member && !item.ends_with(b":"));
        if is_item && is_member {
            self.blocks.begin_item(at);
        }
    }

    /// Begins what a heading begins; `false` for other lines.
    pub(super) fn begin_block(&mut self, item: &[u8], at: At<'_>) -> bool {
        let end = memchr::memchr(b'#', item).filter(|&at| item[..at].ends_with(b" "));
        let text = item[..end.unwrap_or(item.len())].trim_ascii_end();
        let section = text.strip_suffix(b":").filter(|it| it.ends_with(b"]")).unwrap_or(text);
        // Lists of ad blockers have no sections.
        if item.starts_with(b"[Adblock") {
            return true;
        }
        if self.blocks.section(section, said_by, "dns", at) {
            return true;
        }
        let name = without_signs(text);
        let key = name.strip_suffix(b":").or(name.strip_suffix(b"=")).filter(|it| {
            is_key(it) || memchr::memchr2(b'/', b'=', it).is_none() && said_by(it) == Some(Ok(true))
        });
        match text {
            // Actions of Privoxy.
            [b'{', name @ .., b'}'] if is_action(name.trim_ascii_start()) => {
                let has = |action: &[u8]| memchr::memmem::find(name, action).is_some();
                let verdict = match () {
                    () if has(b"+block") => Ok(false),
                    () if has(b"-block") => Ok(true),
                    () => Err(Unfit::Else),
                };
                self.blocks.begin_section(Some(verdict), at);
            }
            _ if key.is_some_and(|it| !it.starts_with(b"local-")) => {
                self.blocks.begin(said_by(name), name.ends_with(b":"), at);
            }
            _ if open_quote(text).is_some() => self.blocks.begin(said_by(item), false, at),
            _ => {
                let is_sign = |it: &u8| b" *-=_:()!".contains(it);
                let is_title = text.iter().all(|it| it.is_ascii_alphabetic() || is_sign(it))
                    && text.iter().any(is_sign);
                return is_title && heading(text).is_some_and(|it| self.begin_titled(it, at));
            }
        }
        key.is_some() || self.blocks.by_this()
    }

    /// Begins what a line is the heading of, and no more.
    pub(super) fn begin_titled(&mut self, passes: bool, at: At<'_>) -> bool {
        self.blocks.begin_titled(Ok(passes), passes == self.is_allowed, at);
        true
    }

    /// Closes and opens what the brackets of a line do, except those in quotes; whether it opens
    /// one.
    pub(super) fn brackets(&mut self, item: &[u8], at: At<'_>) -> bool {
        let has = |open, close| memchr::memchr2(open, close, item).is_some();
        if matches!(item, [b'|' | b'@' | b'/' | b'^' | b'$' | b'*' | b'~' | b'&', ..])
            || !has(b'{', b'}') && !has(b'[', b']') && !has(b'(', b')')
        {
            return false;
        }
        let text = item.split(|&it| it == b'#').next().unwrap_or(item);
        let remark = memchr::memmem::find(text, b"//").or(memchr::memmem::find(text, b" ;"));
        let text = remark.map_or(text, |at| &text[..at]).trim_ascii_end();
        let opened = self.blocks.brackets(text, b"\"'", |at, _| match text[at] {
            b'{' | b'[' if at + 1 == text.len() => at == 0 || text.contains(&b' '),
            b'{' | b'[' => opens(&text[..at]),
            b'(' => at + 1 == text.len() && text.contains(&b'='),
            b')' => at == 0,
            _ => true,
        });
        // Keys of JSON might be names of companies, or domains.
        let is_name = item.starts_with(b"\"")
            && memchr::memchr(b':', item)
                .is_some_and(|at| item[..at].iter().any(|it| b" .".contains(it)));
        let verdict = match opened {
            0 => None,
            _ if is_name => heading(item).map(Ok),
            _ => said_by(item),
        };
        let is_action = opened == 1 && member(item).is_some_and(|it| it.0 == b"action");
        (0..opened).for_each(|_| self.blocks.push(verdict, End::Bracket(is_action), at));
        opened > 0
    }

    /// The verdict of a member of a block on all of its names.
    pub(super) fn said_of_all(&self, item: &[u8]) -> Option<Verdict> {
        if item.starts_with(b"type ") || item.starts_with(b"in-view ") {
            return asks_elsewhere(item).then_some(Err(Unfit::Else));
        }
        let (key, value, _) = member(item)?;
        if key.eq_ignore_ascii_case(b"server") || begins_with_one(key, "outbound balancer") {
            return said_by(value).or((!value.is_empty()).then_some(Err(Unfit::Else)));
        }
        let is_action = self.blocks.is_about() && key == b"type";
        let key = if is_action { b"action" } else { key };
        // Names and paths say nothing.
        said(meaning(key), key, value).filter(|_| !value.iter().any(|it| b"./".contains(it)))
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

fn is_key(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|it| it.is_ascii_alphanumeric() || b"-_ \"'".contains(it))
}

fn is_action(name: &[u8]) -> bool {
    let is_one = |name: &[u8]| name.first().is_some_and(u8::is_ascii_alphabetic);
    let text = name.strip_prefix(b"+").or(name.strip_prefix(b"-")).unwrap_or(name);
    is_one(text) && (text.len() < name.len() || !name.iter().any(|it| b"\"',;:=".contains(it)))
}

/// A key, its value, and whether it is one of YAML.
fn member(item: &[u8]) -> Option<(&[u8], &[u8], bool)> {
    let at = memchr::memchr2(b':', b'=', item)?;
    let (key, value) = (item[..at].trim_ascii(), &item[at + 1..]);
    let of_yaml = item[at] == b':' && value.starts_with(b" ");
    let value = memchr::memmem::find(value, b" #").map_or(value, |end| &value[..end]);
    // An object in the same line: `{"type": "block"}`.
    let value = memchr::memmem::rfind(value, b"\":").map_or(value, |at| &value[at + 2..]);
    is_key(key).then(|| (inner(key), inner(value), of_yaml))
}

/// A text from its first letter or digit to its last.
fn inner(text: &[u8]) -> &[u8] {
    let start = text.iter().position(u8::is_ascii_alphanumeric).unwrap_or(text.len());
    let end = text.iter().rposition(u8::is_ascii_alphanumeric).map_or(start, |at| at + 1);
    &text[start..end]
}

/// The verdict of a heading or value on names.
fn said_by(text: &[u8]) -> Option<Verdict> {
    let has = |is_one: fn(&[u8]) -> bool| parts(text).any(|it| !it.is_empty() && is_one(it));
    let is_verdict = |of: bool| parts(text).any(|it| verdict_of(it) == Some(of));
    if inner(text).eq_ignore_ascii_case(b"server") {
        // The main section of Unbound.
        None
    } else if has(|it| begins_with_one(it, "keyword regex pattern")) {
        Some(Err(Unfit::NoDomain))
    } else if has(|it| is_one_of(it, "url|urls")) {
        Some(Err(Unfit::Elsewhere))
    } else if is_of_others(text)
        || has(|it| {
            begins_with_one(it, "client")
                || is_one_of(it, "if|no|don|dont|real|general|mitm|panel|ssid")
                || meaning(it) == Some(Word::Not)
        })
    {
        Some(Err(Unfit::Else))
    } else if is_of_allowed(text)
        || is_verdict(true)
        || has(|it| it.eq_ignore_ascii_case(b"good"))
        || is_harmless(inner(text))
        || has(|it| meaning(it) == Some(Word::Except))
    {
        Some(Ok(true))
    } else {
        (is_of_blocked(text) || is_verdict(false)).then_some(Ok(false))
    }
}
