//! Addresses and networks in lines, as people have them: in lists, and in the rules of firewalls.

use std::borrow::Cow;
use std::iter::Peekable;
use std::net::IpAddr;

use super::domains::Line;

/// First and last address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    V4(u32, u32),
    V6(u128, u128),
}

/// Calls `each` with the networks that a line begins with, or that follow words which are none, and
/// whether they are excepted.
pub(crate) fn networks(line: &[u8], mut each: impl FnMut(Range, bool)) -> Line {
    let line = line.trim_ascii();
    match line {
        [] | [b'#' | b';', ..] | [b'/', b'/' | b'*', ..] => return Line::Nothing,
        // Tables and chains of iptables.
        [b'*' | b':', letter, ..] if letter.is_ascii_alphabetic() => return Line::Nothing,
        _ => {}
    }
    let line = &*without_comment(line);
    let line = line.split(|&byte| byte == b'#').next().unwrap_or(line);
    let mut found = false;
    for (number, part) in line.split(|&byte| byte == b';').enumerate() {
        let mut words = words(part).peekable();
        let (mut is_excepted, mut most) = (false, usize::MAX);
        let mut before: Option<&[u8]> = None;
        // Behind the first sign of an end there is a comment, unless it begins with a network.
        while let Some(word) = words.next_if(|word| number == 0 && range(word).is_none()) {
            match word {
                b"remark" => return Line::Nothing,
                b"REM" | b"rem" | b"--" if before.is_none() => return Line::Nothing,
                // Of a range whose other end is in another line.
                b"start-ip" | b"end-ip" => return Line::Unknown,
                // A gateway follows.
                b"route" => most = 1,
                b"!" | b"Require" => is_excepted = true,
                b"not" if before == Some(b"Require") => is_excepted = false,
                _ => is_excepted |= lets_pass(word),
            }
            before = Some(word);
        }
        let mut ranges: Vec<_> = ranges(&mut words, before).take(most).collect();
        let has_columns = before.is_none() && words.peek().is_some();
        if let [(first, false), (last, false)] = ranges[..]
            && (before == Some(b"range") || are_ends(first, last, has_columns))
        {
            ranges = up_to(first, last).map(|range| (range, false)).into_iter().collect();
        }
        let mut last = None;
        for behind in words.enumerate() {
            is_excepted |= matches!(behind, (_, b"nomatch" | b"ACCEPT" | b"RETURN"));
            is_excepted |= behind == (0, b"except");
            last = Some(behind);
        }
        is_excepted |= match last {
            // As in tables of Postfix and of nginx.
            Some((0, b"OK")) => true,
            Some((0, b"0")) => line.ends_with(b"0;"),
            last => last.is_some_and(|(_, word)| lets_pass(word)),
        };
        found |= !ranges.is_empty();
        ranges.into_iter().for_each(|(range, is_not)| each(range, is_excepted || is_not));
    }
    let first = words(line).next().unwrap_or(b"");
    match found {
        true => Line::Entries,
        false if matches!(first, b"create" | b"COMMIT" | b"flush" | b"}" | b"{") => Line::Nothing,
        false => Line::Unknown,
    }
}

/// A rule without what it says in quotes for people.
fn without_comment(line: &[u8]) -> Cow<'_, [u8]> {
    for at in memchr::memmem::find_iter(line, b"comment") {
        if let [b' ' | b'=', quote @ (b'"' | b'\''), text @ ..] = &line[at + b"comment".len()..] {
            let is_end = |&end: &usize| end == 0 || text[end - 1] != b'\\';
            let end = memchr::memchr_iter(*quote, text).find(is_end);
            return [&line[..at], end.map_or(b"", |end| &text[end + 1..])].concat().into();
        }
    }
    line.into()
}

/// Whether a rule with this word lets requests pass.
fn lets_pass(word: &[u8]) -> bool {
    let words: [&[u8]; 5] = [b"allow", b"permit", b"pass", b"accept", b"return"];
    words.iter().any(|it| word.eq_ignore_ascii_case(it))
}

/// Whether two addresses are more likely the ends of a range: of whole blocks of 256, or in columns
/// of a table, within one.
fn are_ends(first: Range, last: Range, has_columns: bool) -> bool {
    let (first, last) = match (first, last) {
        (Range::V4(a, b), Range::V4(c, d)) if (a, c) == (b, d) => (a.into(), c.into()),
        (Range::V6(a, b), Range::V6(c, d)) if (a, c) == (b, d) => (a, c),
        _ => return false,
    };
    let are_whole = first & 0xff == 0 && last & 0xff == 0xff;
    first < last && (are_whole || has_columns && first >> 8 == last >> 8)
}

/// The ranges of words that follow each other, with masks and ends in words of their own, and
/// whether `!` is before each.
fn ranges<'a>(
    words: &mut Peekable<impl Iterator<Item = &'a [u8]>>,
    before: Option<&[u8]>,
) -> impl Iterator<Item = (Range, bool)> {
    std::iter::from_fn(move || {
        let word = *words.peek()?;
        let mut it = range(word)?;
        words.next();
        words.next_if(|word| matches!(*word, b"mask" | b"netmask"));
        // Behind "from", what follows "to" is where packets go.
        let is_to = |word: &&[u8]| *word == b"to" && before != Some(b"from");
        let is_sign = |word: &&[u8]| matches!(*word, b"-" | b".." | DASH) || is_to(word);
        if words.next_if(is_sign).is_some() {
            if let Some(last) = words.peek().and_then(|word| range(word)) {
                words.next();
                it = up_to(it, last)?;
            }
        } else if let (Range::V4(first, last), Some(word)) = (it, words.peek())
            && first == last
            && let Some(bits) = match word.strip_prefix(b"/") {
                Some(bits) => number(bits),
                None => v4(word).and_then(|word| mask(word, first)),
            }
        {
            words.next();
            it = network(IpAddr::V4(first.into()), bits)?;
        }
        // What nftables says of an element of a set.
        while let Some(word) = words.next_if(|word| SAID.contains(word)) {
            words.next_if(|_| word != b"counter");
        }
        Some((it, word.starts_with(b"!")))
    })
}

/// The dash that word processors write.
const DASH: &[u8] = "–".as_bytes();

/// Words of elements of sets; all but the first have a value behind them.
const SAID: [&[u8]; 5] = [b"counter", b"packets", b"bytes", b"timeout", b"expires"];

/// What lies between blanks, commas, brackets of sets and quotes.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = line.split(|byte| byte.is_ascii_whitespace() || b",{}\"'=".contains(byte));
    words.filter(|word| !word.is_empty())
}

/// The range of one word.
fn range(word: &[u8]) -> Option<Range> {
    if let Some(address) = v4(word) {
        return Some(Range::V4(address, address));
    }
    let word = word.strip_prefix(b"!").unwrap_or(word);
    if let Some(at) = memchr::memmem::find(word, b"://") {
        return range(word[at + 3..].split(|byte| b"/?#".contains(byte)).next()?);
    }
    if let Some(at) = memchr::memchr(b'/', word) {
        let (address, bits) = (address(&word[..at])?, &word[at + 1..]);
        let mask = |bits| match address {
            IpAddr::V4(address) => mask(bits, address.into()),
            IpAddr::V6(_) => None,
        };
        let bits = number(bits).or_else(|| v4(bits).and_then(mask))?;
        return network(address, bits);
    }
    if let Some(address) = address(word) {
        return network(address, if address.is_ipv4() { 32 } else { 128 });
    }
    for sign in [&b"-"[..], b"..", DASH] {
        if let Some(at) = memchr::memmem::find(word, sign) {
            let (first, end) = (end_of_range(&word[..at])?, &word[at + sign.len()..]);
            return match (first, number(end)) {
                // The last part of the other end.
                (Range::V4(first, _), Some(last @ ..256)) if first & 0xff <= last => {
                    Some(Range::V4(first, first & !0xff | last))
                }
                _ => up_to(first, end_of_range(end)?),
            };
        }
    }
    range_without_sign(word)
}

/// What stands before or behind the sign of a range: never another one, of whatever depth.
fn end_of_range(word: &[u8]) -> Option<Range> {
    match address(word) {
        Some(address) => network(address, if address.is_ipv4() { 32 } else { 128 }),
        None => range_without_sign(word),
    }
}

/// The first parts of an address, or one with a port or a name.
fn range_without_sign(word: &[u8]) -> Option<Range> {
    let text = str::from_utf8(word).ok()?;
    if let Some(start) = text.strip_suffix(".*").or_else(|| text.strip_suffix('.')) {
        let start = start.trim_end_matches(".*");
        let parts: Vec<u8> =
            start.split('.').map(|part| part.parse::<u8>().ok()).collect::<Option<Vec<u8>>>()?;
        let bits = 8 * u32::try_from(parts.len()).ok().filter(|parts| (1..4).contains(parts))?;
        let address = parts.iter().fold(0, |all, &part| all << 8 | u32::from(part)) << (32 - bits);
        return network(IpAddr::V4(address.into()), bits);
    }
    // A port, or a name before a range.
    let (before, behind) = text.rsplit_once(':')?;
    match v4(before.as_bytes()) {
        Some(address) if behind.parse::<u16>().is_ok() => Some(Range::V4(address, address)),
        Some(first) if v4(behind.as_bytes()).is_some() => {
            up_to(Range::V4(first, first), end_of_range(behind.as_bytes())?)
        }
        _ if before.starts_with('[') && before.ends_with(']') => {
            behind.parse::<u16>().ok()?;
            end_of_range(before.as_bytes())
        }
        _ => end_of_range(behind.as_bytes())
            .filter(|it| matches!(it, Range::V4(..)) && behind.contains('.')),
    }
}

fn up_to(first: Range, last: Range) -> Option<Range> {
    match (first, last) {
        (Range::V4(first, _), Range::V4(_, last)) if first <= last => Some(Range::V4(first, last)),
        (Range::V6(first, _), Range::V6(_, last)) if first <= last => Some(Range::V6(first, last)),
        _ => None,
    }
}

/// The network that has an address. One of IPv4 in IPv6's notation is what it is.
fn network(address: IpAddr, bits: u32) -> Option<Range> {
    match address {
        IpAddr::V4(address) if bits <= 32 => {
            let host = u32::MAX.checked_shr(bits).unwrap_or(0);
            let first = u32::from(address) & !host;
            Some(Range::V4(first, first | host))
        }
        IpAddr::V6(address) if bits <= 128 => match address.to_ipv4_mapped() {
            Some(v4) if bits >= 96 => network(v4.into(), bits - 96),
            _ => {
                let host = u128::MAX.checked_shr(bits).unwrap_or(0);
                let first = u128::from(address) & !host;
                Some(Range::V6(first, first | host))
            }
        },
        _ => None,
    }
}

/// The bits of a network that has this mask behind its first address, or the opposite of a mask, as
/// in access lists of routers. There, `0.0.0.0` is for one address.
fn mask(mask: u32, first: u32) -> Option<u32> {
    let mask = if mask.leading_ones() > 0 || first | mask == 0 { mask } else { !mask };
    let bits = mask.leading_ones();
    (u32::MAX.checked_shl(32 - bits).unwrap_or(0) == mask).then_some(bits)
}

fn number(digits: &[u8]) -> Option<u32> {
    let text = str::from_utf8(digits).ok()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// An address, perhaps in brackets.
fn address(text: &[u8]) -> Option<IpAddr> {
    let inner = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]"));
    let text = inner.unwrap_or(text);
    if !text.contains(&b':') {
        return v4(text).map(|address| IpAddr::V4(address.into()));
    }
    // Without the interface.
    let text = text.split(|&byte| byte == b'%').next()?;
    str::from_utf8(text).ok()?.parse().ok()
}

/// An address of IPv4 as the standard library takes it, in a third of the time: four numbers up to
/// 255, without zeros in front, or with three digits each.
#[inline]
pub(crate) fn v4(text: &[u8]) -> Option<u32> {
    let (mut address, mut number, mut digits, mut dots) = (0_u32, 0_u32, 0, 0);
    let is_padded = text.len() == 15;
    for &byte in text {
        let digit = u32::from(byte.wrapping_sub(b'0'));
        if digit < 10 && (digits == 0 || number > 0 || is_padded) {
            number = number * 10 + digit;
            digits += 1;
        } else if byte == b'.' && digits > 0 {
            address = address << 8 | number;
            (number, digits, dots) = (0, 0, dots + 1);
        } else {
            return None;
        }
        if number > 255 || dots > 3 {
            return None;
        }
    }
    (dots == 3 && digits > 0).then_some(address << 8 | number)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    /// Texts that are one byte away from an address, and others, compared with the standard
    /// library's parser.
    #[test]
    fn addresses_of_ipv4() {
        let texts =
            ["0.0.0.0", "255.255.255.255", "192.0.2.10", "1.2.3", "", "1..2.3", "300.1.1.1"];
        for text in texts.map(str::as_bytes) {
            for at in 0..=text.len() {
                for byte in b"0159.:/ -a\xff" {
                    let (before, after) = text.split_at(at);
                    let longer = [before, &[*byte], after].concat();
                    let other = [before, &[*byte], after.get(1..).unwrap_or(b"")].concat();
                    for text in [text, &longer, &other] {
                        if text.len() == 15
                            && text.split(|&it| it == b'.').any(|it| it.starts_with(b"0"))
                        {
                            continue;
                        }
                        let parsed = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
                        assert_eq!(v4(text), parsed.map(Ipv4Addr::into), "{}", text.escape_ascii());
                    }
                }
            }
        }
    }

    /// One case in each line: networks, and lines of lists that have them.
    const CASES: &str = "
172.16.0.0-172.31.255.255 | 172.16.0.0/12 | 172.16.0.0/255.240.0.0 | 172.16.0.0 255.240.0.0
172.16.0.0-172.31.255.255 | 172.16.0.0-172.31.255.255 | 172.016.000.000 - 172.031.255.255 , 000 , x
172.16.0.0-172.31.255.255 | Some range:172.16.0.0-172.31.255.255 | deny 172.16.0.0/12;
172.16.0.0-172.31.255.255 | Deny from 172.16.0.0/12 | Require not ip 172.16.0.0/12
172.16.0.0-172.31.255.255 | add x 172.16.0.0/12 timeout 300 | add address=172.16.0.0/12 list=x
172.16.0.0-172.31.255.255 | -A INPUT -s 172.16.0.0/12 -d 10.0.0.1 -j DROP | ::ffff:172.16.0.0/108
172.16.0.0-172.31.255.255 | 172.16.0.0/12 ; SBL 10.0.0.1 | 172.20.1.2/12,US,somebody
172.16.0.0-172.31.255.255 | access-list 10 deny 172.16.0.0 0.15.255.255 | 172.16.0.0/0.15.255.255
172.16.0.0-172.31.255.255 | route add 172.16.0.0 mask 255.240.0.0 10.0.0.1
172.16.0.0-172.31.255.255 | range 172.16.0.0 172.31.255.255 | 172.16.0.0,172.31.255.255,US
172.16.0.0-172.31.255.255 | 172.16.0.0,172.31.255.255 | 172.16.0.0 to 172.31.255.255
172.16.0.0-172.31.255.255 | 172.16.0.0–172.31.255.255 | 172.16.0.0..172.31.255.255
172.16.0.0-172.31.255.255 | 172.16.0.0 /12 | 172.16.0.0:172.31.255.255
172.16.0.0-172.31.255.255 | Require not ip 172.16.0.0/12
172.16.0.0-172.31.255.255 | add comment=\"allow 1.2.3.4\" address=172.16.0.0/12 list=x
172.16.0.0-172.31.255.255 | add x 172.16.0.0/12 comment \"do not return\"
172.16.0.0-172.31.255.255 | add comment=\"a #5 \\\" 1.2.3.4\" address=172.16.0.0/12
172.16.0.0-172.31.255.255 | -A I -m comment --comment \"not 1.2.3.4\" -s 172.16.0.0/12 -j DROP
172.16.0.0-172.31.255.255 | 172.16.0.0/12,200,OK | 172.16.0.0/12 all except ours
172.16.0.0-172.31.255.255 | \"172.16.0.0\",\"172.31.255.255\",\"2886729728\",\"x\"
1.2.3.4-1.2.3.4 | 1.2.3.4:80 | ALL: 1.2.3.4 | http://1.2.3.4:80/x | deny ip 1.2.3.4 0.0.0.0 any
1.2.3.8-1.2.3.15 | 1.2.3.8,1.2.3.15,US | 1.2.3.8-15
0.0.0.0-255.255.255.255 | 0.0.0.0/0 | 0.0.0.0 0.0.0.0
2001:db8::1-2001:db8::1 | [2001:db8::1]:80 | 2001:db8::1 | 2001:db8::1%eth0
2001:db8::-2001:db8::1 | 2001:db8::/127 | 2001:db8::-2001:db8::1
10.1.0.0-10.1.255.255 | ALL: 10.1. | 10.1.*.*
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 | deny from 1.2.3.4 5.6.7.8 | { 1.2.3.4, 5.6.7.8 }
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 | 1.2.3.4; 5.6.7.8; | 1.2.3.4 5.6.7.8 x
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 | 1.2.3.4 timeout 1h counter packets 0 bytes 0, 5.6.7.8 expires 1s }
1.2.3.4-1.2.3.4 !5.6.7.8-5.6.7.8 | acl x { 1.2.3.4; !5.6.7.8; }; | <x> { 1.2.3.4, !5.6.7.8 }
!1.2.3.4-1.2.3.4 | allow 1.2.3.4; | add x 1.2.3.4 nomatch | -A I -s 1.2.3.4/32 -j ACCEPT
!1.2.3.4-1.2.3.4 | Require ip 1.2.3.4 | 1.2.3.4 except; | 1.2.3.4/32 0; | 1.2.3.4 OK
!1.2.3.4-1.2.3.4 | pass in from 1.2.3.4 | !1.2.3.4 | sshd: 1.2.3.4 : ALLOW | -s 1.2.3.4 -j RETURN
Nothing | // 1.2.3.4 | /* 1.2.3.4 */ | -- 1.2.3.4 | REM 1.2.3.4 | access-list 10 remark 1.2.3.4
Nothing | # 1.2.3.4 | ; x | *filter | :INPUT DROP [0:0] | COMMIT | create x hash:net
Unknown | *.2.3.4 | 1.2.3.4/0.255.0.255 | x | 0.0.0.0/33 | ads.example | - | 1.2.3.4.5 | 5.6.7.8-1.2.3.4 | 1.2.3:80
Unknown | set start-ip 1.2.3.4 | set end-ip 1.2.3.4 | 1.2.3.4-256
";

    #[test]
    fn many_signs_in_a_word_are_no_range() {
        for sign in ["-", "..", "–", ":", "://"] {
            let line = format!("1.1.1.1{sign}").repeat(100_000);
            assert_eq!(networks(line.as_bytes(), |_, _| {}), Line::Unknown, "{sign}");
        }
    }

    #[test]
    fn lines_as_people_have_them() {
        for case in CASES.lines().filter(|case| !case.is_empty()) {
            let (expected, lines) = case.split_once(" | ").unwrap();
            for line in lines.split(" | ") {
                let mut all = Vec::new();
                let read = networks(line.as_bytes(), |range, is_excepted| {
                    let text = match range {
                        Range::V4(a, b) => format!("{}-{}", Ipv4Addr::from(a), Ipv4Addr::from(b)),
                        Range::V6(a, b) => format!("{}-{}", Ipv6Addr::from(a), Ipv6Addr::from(b)),
                    };
                    all.push(if is_excepted { format!("!{text}") } else { text });
                });
                let found = if read == Line::Entries { all.join(" ") } else { format!("{read:?}") };
                assert_eq!(found, expected, "{line}");
            }
        }
    }
}
