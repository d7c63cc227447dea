//! Addresses, networks and ranges of single words.

use std::net::IpAddr;

/// First and last address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    V4(u32, u32),
    V6(u128, u128),
}

impl Range {
    pub(super) fn is_v4(self) -> bool {
        matches!(self, Self::V4(..))
    }

    /// Its first and last address, as numbers.
    pub(super) fn ends(self) -> (u128, u128) {
        match self {
            Self::V4(first, last) => (first.into(), last.into()),
            Self::V6(first, last) => (first, last),
        }
    }

    /// How many addresses it has, less one.
    pub(super) fn size(self) -> u128 {
        self.ends().1 - self.ends().0
    }

    /// Whether it has every address.
    pub(super) fn is_every(self) -> bool {
        self.size() == if self.is_v4() { u32::MAX.into() } else { u128::MAX }
    }

    /// Its first address.
    pub(super) fn address(self) -> IpAddr {
        match self {
            Self::V4(first, _) => IpAddr::V4(first.into()),
            Self::V6(first, _) => IpAddr::V6(first.into()),
        }
    }
}

/// The dash that word processors write.
pub(super) const DASH: &[u8] = "–".as_bytes();

/// The range of one word.
pub(super) fn range(word: &[u8]) -> Option<Range> {
    if let Some(address) = v4(word) {
        return Some(Range::V4(address, address));
    }
    let word = unnamed(word.strip_prefix(b"!").unwrap_or(word));
    if let Some(at) = memchr::memmem::find(word, b"://") {
        return range(word[at + 3..].split(|byte| b"/?#".contains(byte)).next()?);
    }
    if let Some(at) = memchr::memchr(b'/', word) {
        let (start, bits) = (&word[..at], &word[at + 1..]);
        let Some(address) = address(start) else {
            // As in "10.1/16".
            let (start, most) = parts(str::from_utf8(start).ok()?)?;
            let bits = number(bits).filter(|bits| (8..=most).contains(bits))?;
            // One part is that of a date as often.
            return network(start, bits).filter(|_| most > 8);
        };
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

/// Without a name before it, as in `ip4:192.0.2.0/24`.
fn unnamed(word: &[u8]) -> &[u8] {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_+~?".contains(byte);
    let end = word.iter().position(|byte| !is_of_name(byte)).unwrap_or(word.len());
    match (&word[..end], &word[end..]) {
        (_, [b':', b'/', ..]) => word,
        (name, [b':', rest @ ..]) if !name.iter().all(u8::is_ascii_hexdigit) => rest,
        _ => word,
    }
}

/// The text before or behind the sign of a range: never another range, of whatever depth.
fn end_of_range(word: &[u8]) -> Option<Range> {
    match address(word) {
        Some(address) => network(address, if address.is_ipv4() { 32 } else { 128 }),
        // A port is no part of a range.
        None => range_without_sign(word).filter(|_| {
            let last = memchr::memrchr(b':', word).map_or(0, |at| at + 1);
            word[last..].contains(&b'.')
        }),
    }
}

/// The first parts of an address, or one with a port or a name.
fn range_without_sign(word: &[u8]) -> Option<Range> {
    let text = str::from_utf8(word).ok()?;
    if let Some(start) = text.strip_suffix(".*").or_else(|| text.strip_suffix('.')) {
        let start = start.trim_end_matches(".*");
        let (start, bits) = parts(start)?;
        return network(start, bits);
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

fn octet(text: &str) -> Option<u8> {
    text.parse().ok().filter(|_| text.len() == 1 || !text.starts_with(['0', '+']))
}

/// One to three parts of an address, as one with zeros behind them, and how many bits they have.
fn parts(text: &str) -> Option<(IpAddr, u32)> {
    let parts: Option<Vec<u8>> = text.split('.').map(octet).collect();
    let parts = parts.filter(|parts| parts.len() < 4)?;
    let mut all = [0; 4];
    all[..parts.len()].copy_from_slice(&parts);
    Some((IpAddr::V4(all.into()), 8 * u32::try_from(parts.len()).ok()?))
}

/// The network of which a word is one to three parts of the first address.
pub(super) fn partial(word: &[u8]) -> Option<Range> {
    let (start, bits) = parts(str::from_utf8(word).ok()?)?;
    network(start, bits)
}

/// The range from one to another.
pub(super) fn up_to(first: Range, last: Range) -> Option<Range> {
    match (first, last) {
        (Range::V4(first, _), Range::V4(_, last)) if first <= last => Some(Range::V4(first, last)),
        (Range::V6(first, _), Range::V6(_, last)) if first <= last => Some(Range::V6(first, last)),
        _ => None,
    }
}

/// The network that has an address. One of IPv4 in IPv6's notation is what it is.
pub(super) fn network(address: IpAddr, bits: u32) -> Option<Range> {
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
pub(super) fn mask(mask: u32, first: u32) -> Option<u32> {
    let mask = if mask.leading_ones() > 0 || first | mask == 0 { mask } else { !mask };
    // Of a mask it would be one address, and of its opposite all.
    if first == 0 && mask == u32::MAX {
        return None;
    }
    let bits = mask.leading_ones();
    (u32::MAX.checked_shl(32 - bits).unwrap_or(0) == mask).then_some(bits)
}

/// The value of digits.
pub(super) fn number(digits: &[u8]) -> Option<u32> {
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
    use std::net::Ipv4Addr;

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
}
