//! Lines of logs, whose words strangers choose.

use super::super::Unfit;
use super::super::range::{Range, range, up_to};
use super::super::ranges::words;
use super::run::{are_distant, are_of_blocks};
use super::subject;

const DAYS: &str = "jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun";
const NAMES: &str = "time date ts timestamp @timestamp datetime";

/// Whether a line is of a log: it begins with a time, or has signs of one.
pub(super) fn is_logged(line: &[u8]) -> bool {
    let find = |sign: &[u8]| memchr::memmem::find(line, sign);
    // In hosts.allow, an address is between the brackets.
    let is_address = |at: usize| {
        let open = memchr::memrchr(b'[', &line[..at]).unwrap_or(at);
        range(&line[open..=at]).is_some()
    };
    memchr::memchr(b']', line).is_some()
        && (find(b"] \"").is_some() || find(b"]: ").is_some_and(|at| !is_address(at)))
        || memchr::memchr(b'=', line).is_some() && find(b" SRC=").and(find(b" DST=")).is_some()
        || begins_with_time(line)
}

fn begins_with_time(line: &[u8]) -> bool {
    let is_sign = |byte: &u8| b"[({\"'*.: ".contains(byte);
    let text = &line[line.iter().position(|byte| !is_sign(byte)).unwrap_or(line.len())..];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",;\"=]".contains(byte);
    let (word, rest) = text.split_at(text.iter().position(is_end).unwrap_or(text.len()));
    let is_one_of = |words: &str, word: &[u8]| {
        words.split(' ').any(|it| it.as_bytes().eq_ignore_ascii_case(word))
    };
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
        [_, _, _, b'/', ..] => is_one_of(DAYS, &word[..3]),
        [_, _, _] if is_one_of(DAYS, word) => !rest.is_empty(),
        _ => matches!(rest, [b'=', ..] | [b'"', b':', ..]) && is_one_of(NAMES, word),
    }
}

/// The first address of a log's line, or the range behind the date of a table's row.
pub(super) fn logged(line: &[u8]) -> Result<Range, Unfit> {
    let first = subject(line).ok_or(Unfit::NoNetwork)?;
    // Of fail2ban.
    if memchr::memmem::find(line, b"] Unban ").is_some() {
        return Err(Unfit::Undone);
    }
    if memchr::memchr(b',', line).is_none() {
        return Ok(first);
    }
    let ranges = line.split(|byte| *byte == b',').map(|field| range(words(field).next()?));
    let last = ranges.skip_while(|it| *it != Some(first)).nth(1).flatten();
    match last.and_then(|last| up_to(first, last)) {
        Some(both) if are_of_blocks(both) => Ok(both),
        Some(both) if !are_distant(both) => Err(Unfit::Ends),
        _ => Ok(first),
    }
}
