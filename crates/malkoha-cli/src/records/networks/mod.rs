//! Addresses and networks in lines, as people have them: in lists, and in the rules of firewalls.

use std::borrow::Cow;
use std::iter::Peekable;

use super::Unfit;
use super::domains::Line;
use super::range::{Range, network, number, range, up_to, v4};
use super::ranges::{MASKS, STARTS, has_part, is_end, ranges, words};
use super::verbs::{
    self, is_protocol, is_source, leads_to_destination, says_nothing, undoes, verdict,
};

/// Calls `each` with the networks that a line begins with, or that follow words which are none, and
/// whether they are excepted.
pub(crate) fn networks(line: &[u8], mut each: impl FnMut(Range, bool)) -> Line {
    let mut line = line.trim_ascii();
    while let Some(text) = line.strip_prefix(b"/*")
        && let Some(end) = memchr::memmem::find(text, b"*/")
    {
        line = text[end + 2..].trim_ascii_start();
    }
    match line {
        [b'/', b'/', b'0'..=b'9' | b'[', ..] => return Line::Unfit(Unfit::Slashes),
        line if is_comment(line) => return Line::Nothing,
        [b'/', b'/' | b'*', ..] => return Line::Nothing,
        // Chains and tables of iptables.
        [b':', .., b']'] => return Line::Nothing,
        [b'*', table @ ..] if !table.is_empty() && table.iter().all(u8::is_ascii_lowercase) => {
            return Line::Nothing;
        }
        _ => {}
    }
    if let Some(address) = v4(line) {
        each(Range::V4(address, address), false);
        return Line::Entries;
    }
    if is_logged(line) {
        let Some(it) = subject(line) else { return Line::Unfit(Unfit::NoNetwork) };
        each(it, false);
        return Line::Entries;
    }
    let line = &*without_comment(line);
    let line = &*as_row(line.split(|&byte| byte == b'#').next().unwrap_or(line));
    match read(line) {
        Err(line) => return line,
        Ok(found) if !found.is_empty() => {
            found.into_iter().for_each(|(range, is_excepted)| each(range, is_excepted));
        }
        Ok(_) if is_frame(line) => return Line::Nothing,
        Ok(_) => return Line::Unfit(Unfit::NoNetwork),
    }
    Line::Entries
}

/// Networks, and whether each is excepted; or what a line has instead.
fn read(line: &[u8]) -> Result<Vec<(Range, bool)>, Line> {
    if let Some(it) = named_range(line) {
        return Ok(vec![(it, false)]);
    }
    let (mut goes_out, mut found, mut is_skipped) = (false, Vec::new(), false);
    if line.contains(&b' ') {
        let words: Vec<_> = words(line).collect();
        says_nothing(&words).map_or(Ok(()), |why| Err(Line::Unfit(why)))?;
        goes_out = words.into_iter().any(verbs::goes_out);
    }
    let last = memchr::memchr_iter(b';', line).count();
    for (at, part) in line.split(|&byte| byte == b';').enumerate() {
        let mut words = words(part).peekable();
        // Behind the last sign of an end there is a comment, unless it begins with a network.
        let before = if at == 0 || at < last {
            Before::read(&mut words, goes_out)?
        } else {
            Before::default()
        };
        is_skipped |= before.is_skipped;
        found.extend(before.networks(words, line, part).map_err(Line::Unfit)?);
    }
    if found.is_empty() && is_skipped { Err(Line::Unfit(Unfit::Goes)) } else { Ok(found) }
}

/// The words before a network, and what they say of it.
#[derive(Default)]
struct Before<'a> {
    last: Option<&'a [u8]>,
    /// Whether there is one alone.
    is_only: bool,
    passes: Option<bool>,
    is_not: bool,
    /// Whether a gateway follows.
    has_gateway: bool,
    /// Whether there are networks of one's own before.
    is_skipped: bool,
}

impl<'a> Before<'a> {
    fn read(
        words: &mut Peekable<impl Iterator<Item = &'a [u8]> + Clone>,
        goes_out: bool,
    ) -> Result<Self, Line> {
        let (mut all, mut is_destination) = (Self::default(), false);
        let is_list = words.peek().is_some_and(|first| *first == b"access-list");
        while let Some(&word) = words.peek() {
            if range(word).is_some() && !(all.last.is_none() && is_ordinal(word)) {
                let is_own = if goes_out {
                    all.last.is_some_and(is_source) && words.clone().any(verbs::is_destination)
                } else {
                    is_destination
                };
                if !is_own {
                    break;
                }
                all.is_skipped = true;
                words.next();
                continue;
            }
            match word {
                b"remark" | b"description"
                    if is_list
                        || all.last.is_none_or(|last| all.is_only && number(last).is_some()) =>
                {
                    return Err(Line::Nothing);
                }
                b"REM" | b"rem" | b"--" if all.last.is_none() => return Err(Line::Nothing),
                b"no" if all.last.is_none() => return Err(Line::Unfit(Unfit::Undone)),
                b"disabled" => {}
                word if undoes(word) => return Err(Line::Unfit(Unfit::Undone)),
                b"route" => all.has_gateway = true,
                // Before another option, it is about that one.
                b"!" => {
                    let next = words.clone().nth(1);
                    all.is_not |= next.is_some_and(|it| is_source(it) || range(it).is_some());
                }
                b"NOT" | b"EXCEPT" | b"Require" => all.is_not = true,
                b"not" if all.last == Some(b"Require") => all.is_not = false,
                _ => all.passes = all.passes.or(verdict(word)),
            }
            is_destination = leads_to_destination(word, all.last.unwrap_or(b""), is_destination);
            all.is_only = all.last.is_none();
            all.last = Some(word);
            words.next();
        }
        Ok(all)
    }

    /// The networks that follow, and whether each is excepted.
    fn networks(
        self,
        mut words: Peekable<impl Iterator<Item = &'a [u8]> + Clone>,
        line: &[u8],
        part: &[u8],
    ) -> Result<Vec<(Range, bool)>, Unfit> {
        let is_column = self.last.is_none() || words.peek().is_some_and(|it| is_column(part, it));
        let joint: &[u8] = match self.last {
            // What follows is where packets go.
            Some(b"from") if !self.is_only => b"",
            Some(b"between") => b"and",
            _ => b"to",
        };
        let mut ranges: Vec<_> = ranges(&mut words, joint).collect();
        if self.has_gateway {
            ranges.truncate(1);
        }
        let is_one = |it: &(Range, bool)| it.0.size() == 0;
        if let [(first, false), (last, false)] = ranges[..]
            && first.is_v4() == last.is_v4()
            && ranges.iter().all(is_one)
        {
            let is_said = self.last.is_some_and(|word| word.ends_with(b"range"));
            let is_range = is_said || are_of_blocks(first, last);
            let is_set = line.iter().any(|byte| b"{}".contains(byte)) || line.ends_with(b",");
            match up_to(first, last) {
                Some(both) if is_range || both.size() == 0 => ranges = vec![(both, false)],
                Some(_) if is_column && !is_set => return Err(Unfit::Ends),
                None if is_range => return Err(Unfit::NoNetwork),
                _ => {}
            }
        }
        let is_no_host = |it: &(Range, bool)| {
            it.0.is_v4() && is_one(it) && matches!(it.0.ends().0 >> 24, 0 | 255)
        };
        let is_half =
            |word: &[u8]| is_end(word) || has_part(word, &STARTS) || has_part(word, &MASKS);
        if ranges.iter().skip(1).any(is_no_host)
            || matches!(&ranges[..], [it] if is_one(it)) && self.last.is_some_and(is_half)
        {
            // A mask that is none or of nothing, or an end of a range whose other end is elsewhere.
            return Err(Unfit::NoNetwork);
        }
        words.next_if(|word| *word == b"/");
        let mut ahead = words.clone();
        let next = ahead.next().unwrap_or(b"");
        let behind = ahead.next();
        if !ranges.is_empty() && next.starts_with(b"255.") {
            return Err(Unfit::NoNetwork);
        }
        let mut is_apart = !ranges.is_empty() && (self.last.is_none() || is_odd(next));
        let is_part = |word: &[u8]| {
            number(word.strip_prefix(b"/").unwrap_or(word)).is_some_and(|last| last < 256)
        };
        if is_apart && next == b"-" && behind.is_some_and(is_part) {
            return Err(Unfit::Ends);
        }
        if let ([(it, is_not)], Some(bits @ 8..)) = (&ranges[..], number(next))
            && it.size() == 0
            && let Some(network) = network(it.address(), bits)
        {
            // If the address is not the network's first one, the number might be a count.
            if network.address() != it.address() {
                return Err(Unfit::Length);
            }
            (ranges, is_apart) = (vec![(network, *is_not)], true);
        }
        let is_json = matches!(line, [b'{' | b'[', ..]) && !ranges.is_empty();
        if is_apart && behind.and_then(range).is_some()
            || is_json && words.clone().any(|word| range(word).is_some())
        {
            return Err(Unfit::Scattered);
        }
        // Sources of packets and their destinations: one of both may be everything.
        if let [(first, _), (second, _)] = ranges[..]
            && first.is_v4() == second.is_v4()
        {
            match (first.is_every(), second.is_every()) {
                (false, true) => ranges.truncate(1),
                (true, false) => return Err(Unfit::Goes),
                _ if self.last.is_some_and(is_protocol) => ranges.truncate(1),
                _ => {}
            }
        }
        let is_rule = self.last.is_some() || !next.is_empty();
        if ranges.iter().any(|it| it.0.is_every()) && (is_rule || ranges.len() > 1) {
            return Err(Unfit::Every);
        }
        let (mut passes, mut is_not, mut last) = (self.passes, self.is_not, None);
        for (at, word) in words.enumerate() {
            match word {
                b"nomatch" => is_not = true,
                b"except" | b"DIRECT" if at == 0 => is_not = true,
                b"ACCEPT" | b"RETURN" | b"DROP" | b"REJECT" => passes = passes.or(verdict(word)),
                _ => {}
            }
            last = Some((at, word));
        }
        match last {
            // As in tables of Postfix and of nginx.
            Some((0, b"OK")) => is_not = true,
            Some((0, b"0")) if line.ends_with(b"0;") => is_not = true,
            Some((_, word)) => passes = passes.or(verdict(word)),
            None => {}
        }
        is_not |= passes == Some(true);
        Ok(ranges.into_iter().map(|(it, not)| (it, is_not || not)).collect())
    }
}

/// Whether a line has nothing but what stands around networks.
fn is_frame(line: &[u8]) -> bool {
    let first = words(line).next().unwrap_or(b"");
    matches!(first, b"create" | b"COMMIT" | b"flush")
        || line.iter().all(|byte| b"{}[](),; \t".contains(byte))
}

/// The first network of a record that is looked up. Words behind an address extend it to a network
/// only if the record ends there, because in a log strangers choose these words.
pub(crate) fn subject(line: &[u8]) -> Option<Range> {
    if is_comment(line) {
        return None;
    }
    let mut words = words(line).peekable();
    let mut before = None;
    while let Some(word) = words.next_if(|word| range(word).is_none() || is_ordinal(word)) {
        before = Some(word);
    }
    let first = range(words.peek()?)?;
    let (it, is_not) = ranges(&mut words, b"to").next()?;
    let is_all = before.is_none() && !is_not && words.next().is_none();
    Some(if is_all { it } else { first })
}

/// Whether a line is of a log of requests or of the system: strangers choose its words.
fn is_logged(line: &[u8]) -> bool {
    [&b"] \""[..], b"]: "].iter().any(|sign| memchr::memmem::find(line, sign).is_some())
}

/// Whether a record says nothing.
pub(crate) fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii(), [] | [b'#' | b';', ..])
}

/// A range behind a name, as in lists of P2P programs.
fn named_range(line: &[u8]) -> Option<Range> {
    let range_at = memchr::memrchr(b':', line)? + 1;
    let is_range = memchr::memchr(b'-', &line[range_at..]).is_some();
    let first = words(line).next().filter(|_| is_range)?;
    range(&line[range_at..]).filter(|_| range(first).is_none() || first.len() == line.len())
}

/// Whether a word is a sign, or may be a host or network that was not understood.
fn is_odd(word: &[u8]) -> bool {
    !word.iter().any(u8::is_ascii_alphanumeric) || word.iter().any(|byte| b"./".contains(byte))
}

/// Whether a word is the number of an item.
fn is_ordinal(word: &[u8]) -> bool {
    word.strip_suffix(b".").and_then(number).is_some()
}

/// Whether what is before a word says that it is in a column of a table.
fn is_column(line: &[u8], word: &[u8]) -> bool {
    let before = &line[..word.as_ptr() as usize - line.as_ptr() as usize];
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    before.last().is_some_and(|last| b",\t".contains(last))
}

/// A rule without what it says for people.
fn without_comment(line: &[u8]) -> Cow<'_, [u8]> {
    for at in memchr::memmem::find_iter(line, b"comment") {
        let is_end = |text: &[u8], end: usize| end == 0 || text[end - 1] != b'\\';
        let (end, text) = match &line[at + b"comment".len()..] {
            [b' ' | b'=', quote @ (b'"' | b'\''), text @ ..] => {
                (memchr::memchr_iter(*quote, text).find(|&end| is_end(text, end)), text)
            }
            [b' ' | b'=', text @ ..] if !text.starts_with(b"--comment") => {
                (memchr::memchr(b' ', text), text)
            }
            _ => continue,
        };
        return [&line[..at], end.map_or(b"", |end| &text[end + 1..])].concat().into();
    }
    line.into()
}

/// A line of fields between semicolons, with commas in their place: behind others, statements and
/// comments begin.
fn as_row(line: &[u8]) -> Cow<'_, [u8]> {
    let is_row = memchr::memchr(b';', line).is_some_and(|at| {
        let is_apart = line.get(at + 1).is_none_or(u8::is_ascii_whitespace);
        !is_apart && !line[..at].trim_ascii().contains(&b' ')
    });
    if !is_row {
        return line.into();
    }
    line.iter().map(|&byte| if byte == b';' { b',' } else { byte }).collect()
}

/// Whether two addresses are first and last of a network, or of whole blocks of 256.
fn are_of_blocks(first: Range, last: Range) -> bool {
    let (first, last) = (first.ends().0, last.ends().1);
    // Few neighbours are as likely themselves.
    let host = (first ^ last).max(7);
    host & host.wrapping_add(1) == 0 && first & host == 0 && last & host == host
        || first & 0xff == 0 && last & 0xff == 0xff
}

#[cfg(test)]
mod tests;
