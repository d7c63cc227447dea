//! Words in lines, and what they are.

use std::net::IpAddr;

pub(super) fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = memchr::memchr(at, text)?;
    Some((&text[..place], &text[place + 1..]))
}

/// Whether a word is the type of a record that a request for a name gets.
pub(super) fn is_type(word: &[u8]) -> bool {
    let types: [&[u8]; 3] = [b"CNAME", b"A", b"AAAA"];
    types.iter().any(|it| it.eq_ignore_ascii_case(word))
}

pub(super) fn is_address(word: &[u8]) -> bool {
    word.last().is_some_and(|&last| last.is_ascii_hexdigit() || last == b':')
        && str::from_utf8(word).is_ok_and(|word| word.parse::<IpAddr>().is_ok())
}

/// Whether a word is an address that a request may lead to, unlike those of blocked names.
pub(super) fn is_host(word: &[u8]) -> bool {
    let address = str::from_utf8(word).ok().and_then(|word| word.parse::<IpAddr>().ok());
    address.is_some_and(|it| !it.is_unspecified() && !it.is_loopback())
}

/// Whether a word is a line of Base64, as GFWList is written in.
pub(super) fn is_encoded(word: &[u8]) -> bool {
    word.len() >= 64
        && word.iter().all(|it| it.is_ascii_alphanumeric() || b"+/=".contains(it))
        && word.iter().any(u8::is_ascii_uppercase)
}

/// The words of a line, without quotes around them.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = line.split(|byte| byte.is_ascii_whitespace() || b"\"'".contains(byte));
    words.filter(|word| !word.is_empty())
}

pub(super) fn second(line: &[u8]) -> &[u8] {
    words(line).nth(1).unwrap_or(b"")
}

/// The value of the option with which a line begins.
pub(super) fn value(line: &[u8]) -> &[u8] {
    words(line).next().and_then(|it| split(it, b'=')).map_or(b"", |it| it.1)
}

/// Whether a word is an address that leads nowhere.
pub(super) fn is_nowhere(word: &[u8]) -> bool {
    is_address(word) && !is_host(word)
}

/// Names of the machine itself, with which hosts files begin.
pub(super) fn is_local(name: &[u8]) -> bool {
    const NAMES: &str = "localhost localhost4 localhost6 local localdomain loopback broadcasthost \
                         localhost.localdomain localhost4.localdomain4 localhost6.localdomain6 \
                         0.0.0.0 ip6-localhost ip6-loopback ip6-localnet ip6-mcastprefix \
                         ip6-allnodes ip6-allrouters ip6-allhosts";
    // Most names begin otherwise, or are longer.
    let may_be = name.len() < 24 && matches!(name, [b'l' | b'L' | b'b' | b'0' | b'i', ..]);
    may_be && NAMES.split(' ').any(|it| name.eq_ignore_ascii_case(it.as_bytes()))
        || name.ends_with(b".docker.internal")
}

/// A text without blanks around it and the final dot of a name.
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    text.strip_suffix(b".").unwrap_or(text)
}
