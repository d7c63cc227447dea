//! Lines of logs, whose words strangers choose: which address stands where they cannot write it.

use memchr::{memchr, memmem, memrchr};

use super::super::Unfit;
use super::super::blocks::{Word, is_one_of};
use super::super::range::{Range, range, up_to};
use super::super::ranges::{ranges, words};
use super::run::{are_distant, are_of_blocks, is_broken};
use super::vocabulary::key;

const DAYS: &str = "jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun";
const TIMES: &str = "time|date|ts|timestamp|@timestamp|datetime";
/// Words and keys before the address of whom a line is about.
const VERBS: &str = "from|client|ban|found|banned|banning|blocked|blocking";
const KEYS: &str = "client|clientip|client_ip|rip|rhost|remote_addr|remote_ip|remoteip|c-ip|ip|\
                    ip_address|ipaddress|ioc|indicator|@";
/// Keys before others: one's own, and what strangers say of themselves.
const OTHERS: &str = "lip|host|server|helo|user|username|ruser|sasl_username";

/// Whether a line is of a log: it begins with a time, or has signs of one.
pub(super) fn is_logged(line: &[u8]) -> bool {
    let find = |sign: &[u8]| memmem::find(line, sign);
    // In hosts.allow, an address is between the brackets.
    let is_address = |at: usize| {
        let open = memrchr(b'[', &line[..at]).unwrap_or(at);
        range(&line[open..=at]).is_some()
    };
    memchr(b']', line).is_some()
        && (find(b"] \"").is_some() || find(b"]: ").is_some_and(|at| !is_address(at)))
        || memchr(b'=', line).is_some() && find(b" SRC=").and(find(b" DST=")).is_some()
        || begins_with_time(line)
}

fn begins_with_time(line: &[u8]) -> bool {
    let is_sign = |byte: &u8| b"[({\"'*.: ".contains(byte);
    let text = &line[line.iter().position(|byte| !is_sign(byte)).unwrap_or(line.len())..];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",;\"=]".contains(byte);
    let (word, rest) = text.split_at(text.iter().position(is_end).unwrap_or(text.len()));
    match word {
        // Of syslog.
        [b'<', b'0'..=b'9', ..] => true,
        // Three parts that are no address, or seconds and their fraction.
        [b'0'..=b'9', ..] => {
            let sign = word.iter().find(|byte| b"-/:.".contains(byte));
            let mut parts = word.split(|byte| Some(byte) == sign);
            let is_long = parts.next().is_some_and(|first| first.len() > 3);
            let is_time = match (sign, parts.count()) {
                (Some(b'.'), more) => more == 2 || more == 1 && is_long,
                // A day and its time.
                (Some(b'/'), 1) => matches!(rest, [b' ', _, _, b':', ..]),
                (_, more) => more > 1,
            };
            is_time && range(word).is_none()
        }
        [_, _, _, b'/', ..] => is_day(&word[..3]),
        [_, _, _] if is_day(word) => !rest.is_empty(),
        _ => matches!(rest, [b'=', ..] | [b'"', b':', ..]) && is_one_of(word, TIMES),
    }
}

fn is_day(word: &[u8]) -> bool {
    DAYS.as_bytes().chunks(4).any(|day| day[..3].eq_ignore_ascii_case(word))
}

/// Whether a word is of the time before a line.
fn is_of_time(word: &[u8]) -> bool {
    word.first().is_some_and(u8::is_ascii_digit) && range(word).is_none()
        || word.split(|it| *it == b'/').next().is_some_and(is_day)
}

/// The address that a log's line is about, or the networks of a table's row behind its date.
pub(super) fn logged(line: &[u8]) -> Result<Range, Unfit> {
    let has = |sign: &[u8]| memmem::find(line, sign).is_some();
    if has(b"] Unban ") {
        return Err(Unfit::Undone);
    } else if has(b"] Ignore ") || has(b": Accepted ") {
        return Err(Unfit::Else);
    } else if has(b" IN= ") || has(b" relay=") || has(b" connect to ") || has(b"] said: ") {
        // Packets and mails that leave.
        return Err(Unfit::Goes);
    }
    if let Some(found) = row(line) {
        return found;
    }
    let mut first = words(line);
    let visitor = match (first.next(), first.next(), first.next()) {
        _ if !has(b"] \"") => None,
        (Some(it), next, _) if range(it).is_some() => Some((it, next)),
        // Behind the server and its port.
        (Some(it), Some(next), behind) if memchr(b':', it).is_some() => Some((next, behind)),
        _ => None,
    };
    if let Some((it, next)) = visitor
        && let Some(it) = range(it).filter(|it| it.size() == 0)
    {
        let is_several = next.is_some_and(|it| range(it).is_some());
        return if is_several { Err(Unfit::Scattered) } else { Ok(it) };
    }
    outsider(&without_quotes(line))
}

/// The network of a row: one that is all that is behind a time, or the only one in columns.
fn row(line: &[u8]) -> Option<Result<Range, Unfit>> {
    let mut rest = words(line).skip_while(|it| is_of_time(it)).peekable();
    let is_text = |it: &[u8]| it.trim_ascii().contains(&b' ');
    let mut cells = line.split(|it| b",;\t|".contains(it));
    let is_time = words(cells.next()?).all(is_of_time);
    let cells: Vec<_> = cells.map(|it| words(it).next().filter(|_| !is_text(it))).collect();
    if !is_time || cells.first().is_none_or(Option::is_none) {
        let (it, is_not) = ranges(&mut rest, b"to").next()?;
        return (!is_not && rest.next().is_none()).then_some(Ok(it));
    }
    let is_first = cells[0].is_some_and(|it| range(it).is_some());
    let mut found = cells.into_iter().map(|it| range(it?)).skip_while(Option::is_none);
    let first = found.next()??;
    let both = found.next().flatten().map(|it| up_to(first, it));
    Some(match both {
        Some(Some(both)) if are_of_blocks(both) => Ok(both),
        Some(Some(both)) if !are_distant(both) => Err(Unfit::Ends),
        None if found.all(|it| it.is_none()) && (is_first || first.size() == 0) => Ok(first),
        _ => Err(Unfit::Scattered),
    })
}

/// A line with blanks in the place of quoted texts of several words, and of addresses of mail.
fn without_quotes(line: &[u8]) -> Vec<u8> {
    let (mut text, mut at) = (line.to_vec(), 0);
    while let Some(open) = memchr(b'"', &line[at..]).map(|it| at + it + 1) {
        let is_end = |end: &usize| line[open + end - 1] != b'\\' || *end == 0;
        let Some(end) = memchr::memchr_iter(b'"', &line[open..]).find(is_end) else { break };
        at = open + end + 1;
        if memchr(b' ', &line[open..open + end]).is_some() {
            text[open..open + end].fill(b' ');
        }
    }
    at = 0;
    while let Some(open) = memmem::find(&line[at..], b"=<").map(|it| at + it + 2) {
        at = memchr(b'>', &line[open..]).map_or(line.len(), |end| open + end);
        text[open..at].fill(b' ');
    }
    text
}

/// Whose an address is in a log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Theirs,
    Own,
    Unknown,
}

/// The only address that has a mark of theirs, if none but one's own is behind it.
fn outsider(line: &[u8]) -> Result<Range, Unfit> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b".:/_-@#%".contains(byte);
    let text_at = memmem::find(line, b": ").map(|at| at + 2);
    // Of Squid.
    let is_epoch = line.get(10) == Some(&b'.');
    let (mut found, mut before, mut end, mut is_time) = (Vec::new(), &b""[..], 0, true);
    for token in line.split(|byte| !is_part(byte)) {
        let start = token.as_ptr() as usize - line.as_ptr() as usize;
        if !token.iter().any(|it| it.is_ascii_alphanumeric() || *it == b'@') {
            continue;
        }
        let gap = &line[end..start];
        let last = std::mem::replace(&mut before, token);
        end = start + token.len();
        let Some(it) = address(token) else {
            is_time &= is_of_time(token);
            continue;
        };
        let whose = match whose(last, gap) {
            // Of the host that logs, if it listens there.
            _ if line[end..].starts_with(b" port ") && last != b"on" || token.contains(&b'#') => {
                Whose::Theirs
            }
            Whose::Unknown if is_time && is_epoch || !is_time && text_at == Some(start) => {
                Whose::Theirs
            }
            whose => whose,
        };
        is_time = false;
        found.extend((whose != Whose::Own).then_some((whose, it)));
    }
    let mut theirs = found.iter().filter(|it| it.0 == Whose::Theirs).map(|it| it.1);
    match (theirs.next(), found.last()) {
        (Some(it), Some(&(whose, last)))
            if (whose == Whose::Theirs || last == it) && theirs.all(|other| other == it) =>
        {
            it.ok_or(Unfit::Else)
        }
        (None, None) => Err(Unfit::NoNetwork),
        (None, _) if found.len() == 1 => Err(Unfit::Else),
        _ => Err(Unfit::Scattered),
    }
}

/// Whose the address behind a word is, by what is between them.
fn whose(word: &[u8], gap: &[u8]) -> Whose {
    let is_key = word.ends_with(b":") || gap.iter().any(|it| b"=:\"".contains(it));
    let word = word.strip_suffix(b":").unwrap_or(word);
    // Users write names with as many blanks as they like.
    if gap.len() > 4 {
        Whose::Unknown
    } else if gap == b"["
        || gap.ends_with(b") [")
        || word == b"@"
        || is_one_of(word, VERBS) && gap.starts_with(b" ")
        || is_key && is_one_of(word, KEYS)
    {
        Whose::Theirs
    } else if !is_key || is_one_of(word, VERBS) {
        Whose::Unknown
    } else if key(word, false) == Some(Word::Source) {
        Whose::Theirs
    } else if gap.ends_with(b" ") {
        Whose::Unknown
    } else if is_one_of(word, OTHERS) || key(word, false) == Some(Word::Destination) {
        Whose::Own
    } else {
        Whose::Unknown
    }
}

/// The address that a part of a line is, with a port perhaps; of a network or what has its form,
/// none.
fn address(token: &[u8]) -> Option<Option<Range>> {
    let word = token.split(|it| *it == b'#').next().unwrap_or(b"");
    let word = word.strip_suffix(b".").unwrap_or(word);
    let count = |sign| word.iter().filter(|it| **it == sign).count();
    if count(b'.') != 3 && count(b':') < 2
        || word.contains(&b'@')
        || memmem::find(word, b"//").is_some()
    {
        return None;
    }
    match range(word).or_else(|| range(word.strip_suffix(b":")?)) {
        Some(it) => Some(Some(it).filter(|it| it.size() == 0)),
        None => is_broken(word).then_some(None),
    }
}
