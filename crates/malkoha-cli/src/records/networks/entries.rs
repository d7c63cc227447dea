//! Clients, and members of sets: networks that follow each other, of which words say whether they
//! pass.

use super::super::Unfit;
use super::super::blocks::{is_count, is_of_allowed, is_of_blocked, verdict_of};
use super::super::range::{partial, range};
use super::super::ranges::ranges;
use super::kind::{before, behind};
use super::run::{Found, Part};
use super::vocabulary::unfit;

/// Clients of hosts.allow and Apache, where addresses may have fewer parts.
pub(super) fn clients(passes: bool, words: &[&[u8]]) -> Result<Found, Unfit> {
    let (mut found, mut is_excepted, mut is_client) = (Found::new(), passes, true);
    let mut words = words.iter().copied().peekable();
    while let Some(&word) = words.peek() {
        if let Some((it, is_not)) = ranges(&mut words, b"").next() {
            found.push((it, is_not ^ is_excepted));
        } else {
            words.next();
            let part = partial(word).filter(|_| is_client);
            // A name.
            if is_client && part.is_none() && memchr::memchr(b'.', word).is_some() {
                return Err(Unfit::NoNetwork);
            }
            found.extend(part.map(|it| (it, is_excepted)));
            let turns = word.eq_ignore_ascii_case(b"except");
            is_excepted ^= turns;
            is_client = part.is_some() || turns || matches!(word, b"from" | b"ip");
        }
    }
    Ok(found)
}

/// Networks, each perhaps with its verdict behind it: elements of sets and maps, and rules of
/// resolvers and proxies, whose other actions are no verdicts.
pub(super) fn entries(words: &[&[u8]], part: Part<'_>, is_rule: bool) -> Result<Found, Unfit> {
    let (mut found, mut judged, mut is_allowed, mut is_said) = (Found::new(), 0, false, false);
    let (mut last, mut words) = (&b":"[..], words.iter().copied().peekable());
    while let Some(&word) = words.peek() {
        if range(word).is_some() {
            let is_mapped = behind(part.text, word).starts_with(b" : ");
            let target = words.clone().nth(1).and_then(verdict_of);
            if before(part.text, word).ends_with(b" : ") || is_mapped && target.is_none() {
                return Err(Unfit::Else);
            }
            found.append(&mut part.networks(&mut words, last, b"")?);
        } else {
            words.next();
            if matches!(word, [b'0'..=b'9', .., b'0'..=b'9']) && word.contains(&b'/') {
                // Of fewer parts, perhaps.
                return Err(Unfit::NoNetwork);
            } else if found.is_empty() && is_count(last) && unfit(word) == Some(Unfit::Undone) {
                return Err(Unfit::Undone);
            } else if found.is_empty() {
                is_allowed |= is_of_allowed(word) || word.starts_with(b"!@");
            } else if let Some(passes) =
                verdict_of(word).or((is_rule && is_of_blocked(word)).then_some(false))
            {
                found[judged..].iter_mut().for_each(|it| it.1 ^= passes);
                judged = found.len();
            } else {
                is_said |= word != b"no-resolve";
            }
        }
        last = word;
    }
    if is_rule && is_said && judged < found.len() {
        return Err(Unfit::Else);
    }
    found.iter_mut().for_each(|it| it.1 ^= is_allowed);
    Ok(found)
}
