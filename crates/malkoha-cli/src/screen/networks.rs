//! Addresses that lie in networks of a list.

use std::cmp::Reverse;
use std::net::IpAddr;

use anyhow::Result;

use super::{Matcher, Origin, Unread, read_entries};
use crate::input::{BOM, List};

/// Networks as sorted ranges of addresses that do not overlap.
#[derive(Default)]
pub(crate) struct Networks {
    v4: Ranges<u32>,
    v6: Ranges<u128>,
    /// Where networks are listed, if requested.
    origins: Vec<Origin>,
}

/// First and last address, and the number of the smallest network that has them.
#[derive(Default)]
struct Ranges<T>(Vec<(T, T, u32)>);

impl Matcher for Networks {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        for (line, found) in lines.iter().zip(found) {
            *found |= self.network(line).is_some();
        }
        Ok(())
    }

    fn origin(&self, line: &[u8]) -> Option<Origin> {
        self.origins.get(self.network(line)? as usize).copied()
    }
}

impl Networks {
    /// The networks of lists, each with its number among them.
    pub(crate) fn of(
        lists: &[List],
        separator: u8,
        with_origins: bool,
    ) -> Result<(Self, Vec<Unread>)> {
        let (mut networks, mut unread) = (Self::default(), Vec::new());
        for (list, text) in lists.iter().enumerate() {
            unread.push(read_entries(text, separator, |line, number| {
                if !with_origins {
                    return networks.add(line, 0);
                }
                let owner = u32::try_from(networks.origins.len()).unwrap_or(u32::MAX);
                networks.origins.push(Origin { list, line: number });
                networks.add(line, owner)
            })?);
        }
        networks.v4.part(|last| last.checked_add(1), |first| first.checked_sub(1));
        networks.v6.part(|last| last.checked_add(1), |first| first.checked_sub(1));
        Ok((networks, unread))
    }

    /// The number of the smallest network that has the address in a line.
    fn network(&self, line: &[u8]) -> Option<u32> {
        let line = line.trim_ascii();
        if let Some(address) = v4(line) {
            return self.v4.owner(address);
        }
        match address(line)? {
            IpAddr::V4(address) => self.v4.owner(u32::from(address)),
            IpAddr::V6(address) => self.v6.owner(u128::from(address)),
        }
    }

    /// Adds the network or address that a line begins with. Returns whether it was understood.
    fn add(&mut self, line: &[u8], owner: u32) -> bool {
        let line = line.strip_prefix(BOM).unwrap_or(line).trim_ascii();
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"#;,".contains(byte);
        let Some(entry) = line.split(is_end).next().filter(|entry| !entry.is_empty()) else {
            return true;
        };
        let (start, bits) = match entry.iter().position(|&byte| byte == b'/') {
            Some(at) => (&entry[..at], number(&entry[at + 1..])),
            None => (entry, Some(128)),
        };
        let is_alone = start.len() == entry.len();
        match (parse(start), bits) {
            (Some(IpAddr::V4(address)), Some(bits)) if bits <= 32 || is_alone => {
                let host = u32::MAX.checked_shr(bits).unwrap_or(0);
                let first = u32::from(address) & !host;
                self.v4.0.push((first, first | host, owner));
            }
            (Some(IpAddr::V6(address)), Some(bits)) if bits <= 128 => {
                let host = u128::MAX.checked_shr(bits).unwrap_or(0);
                let first = u128::from(address) & !host;
                match address.to_ipv4_mapped() {
                    // The same addresses in another notation.
                    Some(v4) if bits >= 96 => {
                        let host = u32::MAX.checked_shr(bits - 96).unwrap_or(0);
                        let first = u32::from(v4) & !host;
                        self.v4.0.push((first, first | host, owner));
                    }
                    _ => self.v6.0.push((first, first | host, owner)),
                }
            }
            _ => return false,
        }
        true
    }
}

impl<T: Copy + Ord> Ranges<T> {
    /// Splits networks into ranges. Two networks are either disjoint or one contains the other.
    /// Each address gets one range: that of the smallest network that has it, or of the first of
    /// equal ones.
    fn part(&mut self, after: impl Fn(T) -> Option<T>, before: impl Fn(T) -> Option<T>) {
        // Larger ones come before those in them.
        self.0.sort_unstable_by_key(|&(first, last, owner)| (first, Reverse(last), owner));
        self.0.dedup_by_key(|&mut (first, last, _)| (first, last));
        let mut parts: Vec<(T, T, u32)> = Vec::new();
        let mut push = |first: T, last: T, owner: u32| match parts.last_mut() {
            Some(part) if part.2 == owner && after(part.1) == Some(first) => part.1 = last,
            _ => parts.push((first, last, owner)),
        };
        // Networks that have not ended yet, with the first address of each that is not in a range.
        let mut open: Vec<(Option<T>, T, u32)> = Vec::new();
        let close = |open: &mut Vec<(Option<T>, T, u32)>, push: &mut dyn FnMut(T, T, u32)| {
            let Some((rest, last, owner)) = open.pop() else { return };
            if let Some(first) = rest.filter(|&first| first <= last) {
                push(first, last, owner);
            }
            if let Some(outer) = open.last_mut() {
                outer.0 = after(last);
            }
        };
        for &(first, last, owner) in &self.0 {
            while open.last().is_some_and(|&(_, end, _)| end < first) {
                close(&mut open, &mut push);
            }
            if let Some((Some(start), _, outer)) = open.last().copied()
                && start < first
                && let Some(end) = before(first)
            {
                push(start, end, outer);
            }
            open.push((Some(first), last, owner));
        }
        while !open.is_empty() {
            close(&mut open, &mut push);
        }
        self.0 = parts;
    }

    fn owner(&self, address: T) -> Option<u32> {
        let after = self.0.partition_point(|&(first, ..)| first <= address);
        let &(_, last, owner) = self.0.get(after.checked_sub(1)?)?;
        (last >= address).then_some(owner)
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(digits).ok()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn parse(text: &[u8]) -> Option<IpAddr> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// An address of IPv4 as [`parse`] takes it, in a third of the time: four numbers up to 255,
/// without zeros in front.
fn v4(text: &[u8]) -> Option<u32> {
    let (mut address, mut number, mut digits, mut dots) = (0_u32, 0_u32, 0, 0);
    for &byte in text {
        let digit = u32::from(byte.wrapping_sub(b'0'));
        if digit < 10 && (digits == 0 || number > 0) {
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

/// An address, one of IPv4 in IPv6's notation as what it is.
fn address(text: &[u8]) -> Option<IpAddr> {
    parse(text).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_addresses() {
        let list = "# x\n10.0.0.0/8\n192.0.2.7\n192.0.2.8/30 ; SBL\n2001:db8::/32\n0.0.0.0/33\nx\n\
                    ::ffff:198.51.100.0/120\n255.255.255.255/32\n::1";
        let lists = [List::Read(list.into())];
        let (networks, mut unread) = Networks::of(&lists, b'\n', false).unwrap();
        let unread = unread.remove(0);
        assert_eq!((unread.lines, unread.first.unwrap().0), (2, 6));
        let lines: [&[u8]; 12] = [
            b"10.255.0.1",
            b"11.0.0.0",
            b"192.0.2.7",
            b"192.0.2.6",
            b"192.0.2.11",
            b"192.0.2.12",
            b"2001:DB8:1::",
            b"2001:db9::",
            b"::ffff:10.1.2.3",
            b"198.51.100.99",
            b" ::1 ",
            b"nothing",
        ];
        let mut found = [false; 12];
        networks.find(&lines, &mut found).unwrap();
        assert_eq!(found.map(u8::from), [1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0]);
        let all = [List::Read(b"0.0.0.0/0\n::/0\n1.2.3.4".to_vec())];
        let (all, _) = Networks::of(&all, b'\n', false).unwrap();
        assert_eq!((all.v4.0.len(), all.v6.0.len()), (1, 1));
    }

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
                        let expected = match parse(text) {
                            Some(IpAddr::V4(address)) => Some(u32::from(address)),
                            _ => None,
                        };
                        assert_eq!(v4(text), expected, "{}", text.escape_ascii());
                    }
                }
            }
        }
    }

    #[test]
    fn the_smallest_network_is_named() {
        let lists = [
            &b"#\n10.0.0.0/8\n10.1.0.0/16\n0.0.0.0/0\n"[..],
            b"10.1.2.3\n10.1.0.0/16\n10.255.255.255",
        ]
        .map(|list| List::Read(list.into()));
        let (networks, _) = Networks::of(&lists, b'\n', true).unwrap();
        let origin =
            |line: &str| networks.origin(line.as_bytes()).map(|origin| (origin.list, origin.line));
        for (line, list_and_line) in [
            ("0.0.0.0", (0, 4)),
            ("9.255.255.255", (0, 4)),
            ("10.0.0.0", (0, 2)),
            ("10.0.255.255", (0, 2)),
            ("10.1.0.0", (0, 3)),
            ("10.1.2.2", (0, 3)),
            ("10.1.2.3", (1, 1)),
            ("10.1.2.4", (0, 3)),
            ("10.2.0.0", (0, 2)),
            ("10.255.255.255", (1, 3)),
            ("11.0.0.0", (0, 4)),
            ("255.255.255.255", (0, 4)),
        ] {
            assert_eq!(origin(line), Some(list_and_line), "{line}");
        }
        assert_eq!(origin("::1"), None);
    }
}
