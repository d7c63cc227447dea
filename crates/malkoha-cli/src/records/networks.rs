//! Addresses and networks in lines, as people have them: in lists, and in the rules of firewalls.

use std::borrow::Cow;
use std::iter::Peekable;
use std::net::IpAddr;

use super::Unfit;
use super::domains::Line;
use super::range::{DASH, Range, mask, network, number, range, up_to, v4};

/// Calls `each` with the networks that a line begins with, or that follow words which are none, and
/// whether they are excepted.
pub(crate) fn networks(line: &[u8], mut each: impl FnMut(Range, bool)) -> Line {
    let line = line.trim_ascii();
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
    let line = &*without_comment(line);
    let line = line.split(|&byte| byte == b'#').next().unwrap_or(line);
    if let Some(it) = named_range(line) {
        each(it, false);
        return Line::Entries;
    }
    let mut found = Vec::new();
    for (at, part) in line.split(|&byte| byte == b';').enumerate() {
        let mut words = words(part).peekable();
        let (mut is_excepted, mut most) = (false, usize::MAX);
        let mut before: Option<&[u8]> = None;
        // Behind the first sign of an end there is a comment, unless it begins with a network.
        while let Some(&word) = words.peek()
            && at == 0
            && (range(word).is_none() || before.is_none() && is_ordinal(word))
        {
            match word {
                b"remark" | b"description" => return Line::Nothing,
                b"REM" | b"rem" | b"--" if before.is_none() => return Line::Nothing,
                // Of a range whose other end is in another line.
                b"start-ip" | b"end-ip" => return Line::Unfit(Unfit::NoNetwork),
                b"no" if before.is_none() => return Line::Unfit(Unfit::Undone),
                word if UNDO.contains(&word) => return Line::Unfit(Unfit::Undone),
                // A gateway follows.
                b"route" => most = 1,
                b"!" | b"Require" => is_excepted = true,
                b"not" if before == Some(b"Require") => is_excepted = false,
                _ => is_excepted |= lets_pass(word),
            }
            before = Some(word);
            words.next();
        }
        let is_column = before.is_none() || words.peek().is_some_and(|it| is_column(part, it));
        let mut ranges: Vec<_> = ranges(&mut words, before).take(most).collect();
        if let [(first, false), (last, false)] = ranges[..]
            && first.is_v4() == last.is_v4()
            && [first, last].iter().all(|it| it.size() == 0)
        {
            let is_range = before == Some(b"range") || are_of_blocks(first, last);
            let is_set = line.iter().any(|byte| b"{}".contains(byte)) || line.ends_with(b",");
            match up_to(first, last) {
                Some(both) if is_range || both.size() == 0 => ranges = vec![(both, false)],
                Some(_) if is_column && !is_set => return Line::Unfit(Unfit::Ends),
                None if is_range => return Line::Unfit(Unfit::NoNetwork),
                _ => {}
            }
        }
        words.next_if(|word| *word == b"/");
        let mut ahead = words.clone();
        let next = ahead.next().unwrap_or(b"");
        let behind = ahead.next();
        let mut is_apart = !ranges.is_empty() && (before.is_none() || is_odd(next));
        if is_apart && next == b"-" && behind.and_then(number).is_some_and(|last| last < 256) {
            return Line::Unfit(Unfit::Ends);
        }
        if let ([(it, is_not)], Some(bits @ 8..)) = (&ranges[..], number(next))
            && it.size() == 0
            && let Some(network) = network(it.address(), bits)
        {
            // If the address is not the network's first one, the number might be a count.
            if network.address() != it.address() {
                return Line::Unfit(Unfit::Length);
            }
            (ranges, is_apart) = (vec![(network, *is_not)], true);
        }
        if is_apart && behind.and_then(range).is_some() {
            return Line::Unfit(Unfit::Scattered);
        }
        let is_json = matches!(line, [b'{' | b'[', ..]) && !ranges.is_empty();
        let mut last = None;
        for behind in words.enumerate() {
            if is_json && range(behind.1).is_some() {
                return Line::Unfit(Unfit::Scattered);
            }
            is_excepted |= matches!(behind, (_, b"nomatch" | b"ACCEPT" | b"RETURN"));
            is_excepted |= behind == (0, b"except");
            if behind.1 == b"disabled" {
                return Line::Unfit(Unfit::Undone);
            }
            last = Some(behind);
        }
        is_excepted |= match last {
            // As in tables of Postfix and of nginx.
            Some((0, b"OK")) => true,
            Some((0, b"0")) => line.ends_with(b"0;"),
            last => last.is_some_and(|(_, word)| lets_pass(word)),
        };
        found.extend(ranges.into_iter().map(|(it, is_not)| (it, is_excepted || is_not)));
    }
    let first = words(line).next().unwrap_or(b"");
    let is_frame = matches!(first, b"create" | b"COMMIT" | b"flush")
        || line.iter().all(|byte| b"{}[](),; \t".contains(byte));
    match found.is_empty() {
        false => found.into_iter().for_each(|(range, is_excepted)| each(range, is_excepted)),
        true if is_frame => return Line::Nothing,
        true => return Line::Unfit(Unfit::NoNetwork),
    }
    Line::Entries
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
    let (it, is_not) = ranges(&mut words, None).next()?;
    let is_all = before.is_none() && !is_not && words.next().is_none();
    Some(if is_all { it } else { first })
}

/// Whether a record says nothing.
pub(crate) fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii(), [] | [b'#' | b';', ..])
}

/// Words of commands that take out what they name.
const UNDO: [&[u8]; 7] =
    [b"del", b"delete", b"-D", b"--delete", b"Unban", b"disabled", b"inactive:"];

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

/// Whether a rule with this word lets requests pass.
fn lets_pass(word: &[u8]) -> bool {
    let words: [&[u8]; 7] =
        [b"allow", b"permit", b"pass", b"accept", b"return", b"direct", b"dunno"];
    words.iter().any(|it| word.eq_ignore_ascii_case(it))
}

/// Whether two addresses are first and last of a network, or of whole blocks of 256.
fn are_of_blocks(first: Range, last: Range) -> bool {
    let (first, last) = (first.ends().0, last.ends().1);
    // Few neighbours are as likely themselves.
    let host = (first ^ last).max(7);
    host & host.wrapping_add(1) == 0 && first & host == 0 && last & host == host
        || first & 0xff == 0 && last & 0xff == 0xff
}

/// The ranges of words that follow each other, with masks and ends in words of their own, and
/// whether `!` is before each.
fn ranges<'a>(
    words: &mut Peekable<impl Iterator<Item = &'a [u8]> + Clone>,
    before: Option<&[u8]>,
) -> impl Iterator<Item = (Range, bool)> {
    std::iter::from_fn(move || {
        let word = *words.peek()?;
        let mut it = range(word)?;
        words.next();
        let is_mask = |word: &&[u8]| {
            word.eq_ignore_ascii_case(b"mask") || word.eq_ignore_ascii_case(b"netmask")
        };
        words.next_if(is_mask);
        // Behind "from", what follows "to" is where packets go.
        let is_to = |word: &&[u8]| *word == b"to" && before != Some(b"from");
        let is_sign = |word: &&[u8]| matches!(*word, b"-" | b".." | DASH) || is_to(word);
        let mut ahead = words.clone();
        if let Some(last) = ahead.next_if(is_sign).and_then(|_| range(ahead.next()?)) {
            it = up_to(it, last)?;
            *words = ahead;
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

/// Words of elements of sets; all but the first have a value behind them.
const SAID: [&[u8]; 5] = [b"counter", b"packets", b"bytes", b"timeout", b"expires"];

/// What lies between blanks, commas, brackets of sets and quotes.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let words = line.split(|byte| byte.is_ascii_whitespace() || b",{}\"'=".contains(byte));
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    /// One case in each line: networks, and lines of lists that have them.
    const CASES: &str = r#"
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
172.16.0.0-172.31.255.255 | 172.16.0.0 12 | 172.16.0.0,12,US | source 172.16.0.0 12
172.16.0.0-172.31.255.255 | 172.16.0.0 / 12 | 172.16/12 | 172.16.0.0 - 172.31.255.255
172.16.0.0-172.31.255.255 | A, B 1.2.3.4 of C:172.16.0.0-172.31.255.255
172.16.0.0-172.31.255.255 | -A I -m comment --comment 1.2.3.4 -s 172.16.0.0/12 -j DROP
172.16.0.0-172.31.255.255 | :do { add comment=1.2.3.4 address=172.16.0.0/12 list=x } on-error={}
172.16.0.0-172.31.255.255 | x,172.16.0.0,172.31.255.255 | 172.16.0.0,172.31.255.255
172.16.0.0-172.31.255.255 | 172.16.0.0 to 172.31.255.255
172.16.0.0-172.31.255.255 | 172.16.0.0–172.31.255.255 | 172.16.0.0..172.31.255.255
172.16.0.0-172.31.255.255 | 172.16.0.0 /12 | 172.16.0.0:172.31.255.255
172.16.0.0-172.31.255.255 | Require not ip 172.16.0.0/12
172.16.0.0-172.31.255.255 | add comment="allow 1.2.3.4" address=172.16.0.0/12 list=x
172.16.0.0-172.31.255.255 | add x 172.16.0.0/12 comment "do not return"
172.16.0.0-172.31.255.255 | add comment="a #5 \" 1.2.3.4" address=172.16.0.0/12
172.16.0.0-172.31.255.255 | -A I -m comment --comment "not 1.2.3.4" -s 172.16.0.0/12 -j DROP
172.16.0.0-172.31.255.255 | 172.16.0.0/12,200,OK | 172.16.0.0/12 all except ours
172.16.0.0-172.31.255.255 | "172.16.0.0","172.31.255.255","2886729728","x"
1.2.3.4-1.2.3.4 | 1.2.3.4:80 | ALL: 1.2.3.4 | http://1.2.3.4:80/x | deny ip 1.2.3.4 0.0.0.0 any
1.2.3.4-1.2.3.4 | 1.2.3.4 7 | 1.2.3.4	100 | 1. 1.2.3.4 | 1.2.3.4 32 | 1.2.3.4,1.2.3.4,US
1.2.3.8-1.2.3.15 | 1.2.3.8,1.2.3.15,US | 1.2.3.8-15
0.0.0.0-255.255.255.255 | 0.0.0.0/0 | 0.0.0.0 0.0.0.0
2001:db8::1-2001:db8::1 | [2001:db8::1]:80 | 2001:db8::1 | 2001:db8::1%eth0
2001:db8::-2001:db8::1 | 2001:db8::/127 | 2001:db8::-2001:db8::1
10.1.0.0-10.1.255.255 | ALL: 10.1. | 10.1.*.*
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 | deny from 1.2.3.4 5.6.7.8 | { 1.2.3.4, 5.6.7.8 }
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 | 1.2.3.4; 5.6.7.8; | 1.2.3.4, 5.6.7.8,
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 | ["1.2.3.4","5.6.7.8"] | ALL: 1.2.3.4, 5.6.7.8
5.6.7.8-5.6.7.8 1.2.3.4-1.2.3.4 | 5.6.7.8 1.2.3.4 | x,5.6.7.8,1.2.3.4
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 9.0.0.0-9.0.0.0 | 1.2.3.4 5.6.7.8 9.0.0.0 8
1.2.3.0-1.2.3.255 5.6.7.0-5.6.7.255 | 1.2.3.0/24 5.6.7.0/24
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 | 1.2.3.4 timeout 1h counter packets 0 bytes 0, 5.6.7.8 expires 1s }
1.2.3.4-1.2.3.4 !5.6.7.8-5.6.7.8 | acl x { 1.2.3.4; !5.6.7.8; }; | <x> { 1.2.3.4, !5.6.7.8 }
172.16.0.0-172.31.255.255 | route ADD 172.16.0.0 MASK 255.240.0.0 10.0.0.1
!1.2.3.4-1.2.3.4 | IP-CIDR,1.2.3.4/32,DIRECT | 1.2.3.4 DUNNO
!1.2.3.4-1.2.3.4 | allow 1.2.3.4; | add x 1.2.3.4 nomatch | -A I -s 1.2.3.4/32 -j ACCEPT
!1.2.3.4-1.2.3.4 | Require ip 1.2.3.4 | 1.2.3.4 except; | 1.2.3.4/32 0; | 1.2.3.4 OK
!1.2.3.4-1.2.3.4 | pass in from 1.2.3.4 | !1.2.3.4 | sshd: 1.2.3.4 : ALLOW | -s 1.2.3.4 -j RETURN
Nothing | // 1.2.3.4 | /* 1.2.3.4 */ | -- 1.2.3.4 | REM 1.2.3.4 | access-list 10 remark 1.2.3.4
Nothing | # 1.2.3.4 | ; x | *filter | :INPUT DROP [0:0] | COMMIT | create x hash:net
NoNetwork | *.2.3.4 | 1.2.3.4/0.255.0.255 | x | 0.0.0.0/33 | ads.example | - | 1.2.3.4.5
NoNetwork | 5.6.7.8-1.2.3.4 | 1.2.3:80 | 10/8 | 172.016/12
1.2.3.4-1.2.3.4 | 12/8 03:11:02 sshd: 1.2.3.4 | Dec 12/8 1.2.3.4 | 3/8,1.2.3.4
Ends | 1.2.3.4 5.6.7.8 | 1.2.3.4 5.6.7.8 x | "1.2.3.4","1.2.3.9","US" | US,1.2.3.4,1.2.3.9
Ends | 1.2.3.4, 5.6.7.8 | 1.2.3.4	1.2.3.5 | 10.0.0.4 10.0.0.7 | 2001:db8::1 2001:db8::9
Ends | 1.2.3.0 - 24
Length | 1.2.3.4 8 | 1.2.3.4,24 | source 10.1.2.3 24 x | 2001:db8::1 64
Scattered | 1.2.3.4, x.example, 5.6.7.8 | 1.2.3.4 and 5.6.7.8 | 1.2.3.4 1/2 5.6.7.8
Scattered | 1.2.3.0 24 5.6.7.0 24 | 1.2.3.4 + 5.6.7.8 | {"a":"1.2.3.4","b":"5.6.7.8"}
Slashes | //1.2.3.4 | //[::1]/x
Undone | ipset del x 1.2.3.4 | -D I -s 1.2.3.4 -j DROP | no ip route 1.2.3.4 255.255.255.255
Nothing | { | ], | [
Undone | inactive: 1.2.3.4/32; | sshd: Unban 1.2.3.4
Undone | add address=1.2.3.4 disabled=yes | add disabled=yes address=1.2.3.4
NoNetwork | 1.2.3.4:22-33 | 10. | range 5.6.7.8 1.2.3.4
NoNetwork | set start-ip 1.2.3.4 | set end-ip 1.2.3.4 | 1.2.3.4-256
"#;

    #[test]
    fn many_signs_in_a_word_are_no_range() {
        for sign in ["-", "..", "–", ":", "://"] {
            let line = format!("1.1.1.1{sign}").repeat(100_000);
            assert_eq!(
                networks(line.as_bytes(), |_, _| {}),
                Line::Unfit(Unfit::NoNetwork),
                "{sign}"
            );
        }
    }

    #[test]
    fn the_first_network_is_the_subject() {
        let first = Some(Range::V4(0x0a01_0203, 0x0a01_0203));
        for line in [
            "10.1.2.3 5.6.7.8 GET",
            "10.1.2.3 - 255.255.255.255 [x]",
            "10.1.2.3 - 24 [x]",
            "10.1.2.3 - - [x] \"ua ; 8.8.8.8\"",
            "sshd: user description from 10.1.2.3 port 22",
            "del no disabled remark: 10.1.2.3 > 1.1.1.1",
            r#"{"ua":"remark 7. -D","ip":"10.1.2.3","x":"1.1.1.1"}"#,
        ] {
            assert_eq!(subject(line.as_bytes()), first, "{line}");
        }
        let all = Some(Range::V4(0x0a00_0000, 0x0aff_ffff));
        for line in ["10.0.0.0 - 10.255.255.255", "10.0.0.0 255.0.0.0", "10.0.0.0/8 GET", "10.*"] {
            assert_eq!(subject(line.as_bytes()), all, "{line}");
        }
        for line in ["", "# 10.1.2.3", "x", "12/8 03:11:02"] {
            assert_eq!(subject(line.as_bytes()), None, "{line}");
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
                let found = match read {
                    Line::Entries => all.join(" "),
                    Line::Nothing => "Nothing".to_owned(),
                    Line::Unfit(why) => format!("{why:?}"),
                };
                assert_eq!(found, expected, "{line}");
            }
        }
    }
}
