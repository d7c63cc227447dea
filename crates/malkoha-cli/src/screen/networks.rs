//! Addresses that lie in networks of a list.

use std::net::IpAddr;

use anyhow::Result;

use super::{Matcher, Unread, read_entries};
use crate::input::List;

/// Networks as ranges of addresses, sorted, of which none overlaps or touches another.
#[derive(Default)]
pub(crate) struct Networks {
    v4: Ranges<u32>,
    v6: Ranges<u128>,
}

#[derive(Default)]
struct Ranges<T>(Vec<(T, T)>);

impl Matcher for Networks {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        for (line, found) in lines.iter().zip(found) {
            *found = match address(line.trim_ascii()) {
                Some(IpAddr::V4(address)) => self.v4.contain(u32::from(address)),
                Some(IpAddr::V6(address)) => self.v6.contain(u128::from(address)),
                None => false,
            };
        }
        Ok(())
    }
}

impl Networks {
    pub(crate) fn of(list: &List, separator: u8) -> Result<(Self, Unread)> {
        let mut networks = Self::default();
        let unread = read_entries(list, separator, |line| networks.add(line))?;
        networks.v4.merge(|last| last.checked_add(1));
        networks.v6.merge(|last| last.checked_add(1));
        Ok((networks, unread))
    }

    /// Adds the network or address that a line begins with. Returns whether it was understood.
    fn add(&mut self, line: &[u8]) -> bool {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
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
                self.v4.0.push((first, first | host));
            }
            (Some(IpAddr::V6(address)), Some(bits)) if bits <= 128 => {
                let host = u128::MAX.checked_shr(bits).unwrap_or(0);
                let first = u128::from(address) & !host;
                match address.to_ipv4_mapped() {
                    // The same addresses in another notation.
                    Some(v4) if bits >= 96 => {
                        let host = u32::MAX.checked_shr(bits - 96).unwrap_or(0);
                        let first = u32::from(v4) & !host;
                        self.v4.0.push((first, first | host));
                    }
                    _ => self.v6.0.push((first, first | host)),
                }
            }
            _ => return false,
        }
        true
    }
}

impl<T: Copy + Ord> Ranges<T> {
    fn merge(&mut self, after: impl Fn(T) -> Option<T>) {
        self.0.sort_unstable();
        let mut merged: Vec<(T, T)> = Vec::new();
        for &(first, last) in &self.0 {
            match merged.last_mut() {
                Some(before) if after(before.1).is_none_or(|after| first <= after) => {
                    before.1 = before.1.max(last);
                }
                _ => merged.push((first, last)),
            }
        }
        self.0 = merged;
    }

    fn contain(&self, address: T) -> bool {
        let after = self.0.partition_point(|&(first, _)| first <= address);
        after.checked_sub(1).is_some_and(|i| self.0[i].1 >= address)
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(digits).ok()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn parse(text: &[u8]) -> Option<IpAddr> {
    std::str::from_utf8(text).ok()?.parse().ok()
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
        let (networks, unread) = Networks::of(&List::Read(list.into()), b'\n').unwrap();
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
        let (all, _) =
            Networks::of(&List::Read(b"0.0.0.0/0\n::/0\n1.2.3.4".to_vec()), b'\n').unwrap();
        assert_eq!((all.v4.0.len(), all.v6.0.len()), (1, 1));
    }
}
