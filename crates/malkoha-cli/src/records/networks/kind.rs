//! The kind of a statement, by its first words or by the columns of a table.

use super::super::Unfit;
use super::super::blocks::{is_count, look_up, name};
use super::super::range::range;
use super::vocabulary::{Kind, SIGNS, STARTS, chain};

/// How a statement is read that is a rule, and its words from the first one on that matters.
pub(super) type Rule<'a> = (Kind, Vec<&'a [u8]>);

/// The rule that a statement is, if it is one.
pub(super) fn rule<'a>(words: &[&'a [u8]], line: &[u8]) -> Option<Rule<'a>> {
    let by_start = || by_start(words, line).map(|(kind, words)| (kind, words.to_vec()));
    iptables(words).or_else(by_start).or_else(|| ufw(words)).or_else(|| hosts(words, line))
}

fn by_start<'w, 'a>(words: &'w [&'a [u8]], line: &[u8]) -> Option<(Kind, &'w [&'a [u8]])> {
    let (mut rest, mut is_strict) = (words, false);
    loop {
        let (&first, others) = rest.split_first()?;
        let behind = behind(line, first);
        if range(first).is_some() && !is_count(first) {
            // Of a map.
            return behind.starts_with(b" : ").then_some((Kind::Entries, rest));
        }
        let next = others.first().map_or(&b""[..], |it| name(it));
        let (kind, others) = match look_up(&STARTS, &[name(first), next]) {
            Some(kind) => (Some(kind), &others[1..]),
            None => (look_up(&STARTS, &[name(first)]), others),
        };
        // In rows of tables, other columns follow.
        let is_column = matches!(behind, [b',' | b';' | b'"' | b'\'', ..]);
        rest = match kind {
            Some(kind) if is_column && !matches!(kind, Kind::Entries | Kind::Judged) => {
                return None;
            }
            Some(Kind::Behind(names)) => others.get(names..)?,
            Some(Kind::Before(names)) => {
                is_strict = true;
                others.get(names..)?
            }
            kind if is_strict && !matches!(kind, Some(Kind::Access(_))) => {
                return Some((Kind::Unfit(Unfit::Else), rest));
            }
            Some(kind @ (Kind::Options | Kind::Path)) => return Some((kind, rest)),
            Some(kind) => return Some((kind, others)),
            // Options of programs.
            None if first.starts_with(b"-") && rest.len() < words.len() => others,
            None => {
                let is_sign = |it: &&(&[u8], _)| memchr::memmem::find(line, it.0).is_some();
                return SIGNS.iter().find(is_sign).map(|it| (it.1, words));
            }
        };
    }
}

/// The rest of a line behind one of its words; empty for a word that is not part of it.
pub(super) fn behind<'a>(line: &'a [u8], word: &[u8]) -> &'a [u8] {
    let at = (word.as_ptr() as usize).wrapping_sub(line.as_ptr() as usize);
    line.get(at.wrapping_add(word.len())..).unwrap_or(b"")
}

/// A line up to one of its words; empty for a word that is not part of it.
pub(super) fn before<'a>(line: &'a [u8], word: &[u8]) -> &'a [u8] {
    line.get(..(word.as_ptr() as usize).wrapping_sub(line.as_ptr() as usize)).unwrap_or(b"")
}

/// Whether a statement defines what others block or let pass.
pub(super) fn is_definition(words: &[&[u8]]) -> bool {
    matches!(words, [b"acl" | b"object" | b"object-group" | b"edit", ..])
}

/// `[number] [packets bytes] target protocol -- [in out] source destination`
fn iptables<'a>(words: &[&'a [u8]]) -> Option<Rule<'a>> {
    let numbers = words.iter().take(3).take_while(|it| is_count(it)).count();
    let [target, _, b"--" | b"-f" | b"!f", rest @ ..] = words.get(numbers..)? else {
        return None;
    };
    let [source, destination, ..] = rest.get(if numbers > 1 { 2 } else { 0 }..)? else {
        return None;
    };
    Some((
        chain(target).map_or_else(Kind::Unfit, Kind::Access),
        vec![b"from", source, b"to", destination],
    ))
}

/// `to action direction from`
fn ufw<'a>(words: &[&'a [u8]]) -> Option<Rule<'a>> {
    let is_action = |it: &&[u8]| matches!(*it, b"ALLOW" | b"DENY" | b"REJECT" | b"LIMIT");
    let at = words.iter().take(8).position(is_action).filter(|&at| at > 0)?;
    let (way, from) = match words[at + 1..] {
        [way @ (b"IN" | b"OUT" | b"FWD"), from, ..] => (way, from),
        [from, ..] => (b"IN".as_slice(), from),
        [] => return None,
    };
    let to = words[..at].iter().find(|it| range(it).is_some()).copied().unwrap_or(b"any");
    let kind = match words[at] {
        b"LIMIT" => Kind::Unfit(Unfit::Else),
        action => Kind::Access(action == b"ALLOW"),
    };
    let is_row = from == b"Anywhere" || range(from).is_some();
    is_row.then(|| (kind, vec![way, b"from", from, b"to", to]))
}

/// `daemons: clients EXCEPT clients : ALLOW`
fn hosts<'a>(words: &[&'a [u8]], line: &[u8]) -> Option<Rule<'a>> {
    let is_daemon = |it: &&[u8]| it.ends_with(b":") || behind(line, it).starts_with(b" : ");
    let clients =
        &words[words.iter().position(is_daemon).filter(|_| range(words[0]).is_none())? + 1..];
    let last = line[memchr::memrchr(b':', line)? + 1..].trim_ascii();
    let passes = last.eq_ignore_ascii_case(b"allow");
    let is_rule = passes || last.eq_ignore_ascii_case(b"deny") || clients.contains(&&b"EXCEPT"[..]);
    is_rule.then(|| (Kind::Clients(passes), clients.to_vec()))
}
