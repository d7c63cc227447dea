//! Domain names that are in a list or lie below one that is.

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::Range;

use anyhow::Result;
use idna::AsciiDenyList;

use super::{Exact, Matcher, Origin, Suffixes, Unread, read_entries};
use crate::input::List;

/// The names of lists.
pub(crate) struct Domains {
    names: Exact,
    suffixes: Suffixes,
    /// Where each name is listed, if that is asked for.
    origins: Vec<Origin>,
}

/// A name of a line, and where suffixes of it begin that may be listed.
struct Asked<'a> {
    line: usize,
    name: Cow<'a, [u8]>,
    starts: Range<usize>,
}

impl Domains {
    pub(crate) fn new(names: Exact, origins: Vec<Origin>) -> Self {
        let texts = names.texts();
        let all = texts.lists().flat_map(|(_, list)| list.split(|&byte| byte == texts.separator()));
        let suffixes = Suffixes::of(texts.count_lines(), all.filter(|name| !name.is_empty()));
        Self { suffixes, names, origins }
    }
}

impl Matcher for Domains {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        let (mut asked, mut starts) = (Vec::new(), Vec::new());
        for (line, text) in lines.iter().enumerate() {
            let first = starts.len();
            // What is no name is noticed when a suffix of it seems to be listed.
            let name = if is_plain(text) {
                self.suffixes.candidates(text, |start| starts.push(start));
                if starts.len() == first { None } else { normal(text) }
            } else {
                let name = normal(text);
                name.iter().for_each(|name| {
                    self.suffixes.candidates(name, |start| starts.push(start));
                });
                name
            };
            let starts = first..starts.len();
            asked.extend(name.map(|name| Asked { line, name, starts }));
        }
        // One suffix of each name at a time: most often the first is listed.
        loop {
            asked.retain(|asked| !asked.starts.is_empty() && !found[asked.line]);
            if asked.is_empty() {
                return Ok(());
            }
            let suffix = |asked: &'_ Asked<'_>| starts[asked.starts.start];
            let suffixes: Vec<&[u8]> =
                asked.iter().map(|asked| &asked.name[suffix(asked)..]).collect();
            let mut are_in = vec![false; suffixes.len()];
            self.names.find(&suffixes, &mut are_in)?;
            for (asked, is_in) in asked.iter_mut().zip(are_in) {
                asked.starts.start += 1;
                found[asked.line] |= is_in;
            }
        }
    }

    fn origin(&self, line: &[u8]) -> Option<Origin> {
        let name = normal(line)?;
        let mut rest = Some(&*name);
        while let Some(suffix) = rest {
            // Names have lines of their own.
            if let Some(Origin { line, .. }) = self.names.origin(suffix) {
                return self.origins.get(usize::try_from(line).ok()?.checked_sub(1)?).copied();
            }
            rest = memchr::memchr(b'.', suffix).map(|dot| &suffix[dot + 1..]);
        }
        None
    }
}

/// Bytes of names are of class 0, or upper case, or neither.
const CLASSES: [u8; 256] = {
    let (mut classes, mut byte) = ([OTHER; 256], 0_u8);
    loop {
        classes[byte as usize] = match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => 0,
            b'A'..=b'Z' => UPPER,
            _ => OTHER,
        };
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};
const UPPER: u8 = 1;
const OTHER: u8 = 2;

/// Whether a text is as it is compared, but for upper case, if it is a name.
fn is_plain(text: &[u8]) -> bool {
    let ends = [text.first(), text.last()];
    ends.iter().all(|end| end.is_some_and(u8::is_ascii_alphanumeric)) && text.is_ascii()
}

/// A name as it is compared: in lower case, without a final dot, international ones in ASCII.
/// `None` of what is no name.
fn normal(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let text = text.trim_ascii();
    let text = text.strip_suffix(b".").unwrap_or(text);
    if text.is_empty() {
        return None;
    }
    match text.iter().fold(0, |all, &byte| all | CLASSES[usize::from(byte)]) {
        0 => return Some(text.into()),
        UPPER => return Some(text.to_ascii_lowercase().into()),
        _ => {}
    }
    if text.is_ascii() {
        return None;
    }
    let name = idna::domain_to_ascii_cow(text, AsciiDenyList::URL).ok()?;
    Some(name.trim_end_matches('.').as_bytes().to_vec().into())
}

/// Calls `each` with the names of one line of a list, as people have them: names alone, with `*.`
/// or a dot in front, hosts files, `||name^` of ad blockers, and `address=/name/` of dnsmasq.
/// Returns whether the line was understood.
pub(super) fn names(line: &[u8], mut each: impl FnMut(&[u8])) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    // Comments, and the header of ad blockers' lists.
    if line.is_empty() || [b'#', b'!', b';', b'['].contains(&line[0]) {
        // Except rules of ad blockers that hide parts of pages.
        return !line.starts_with(b"##");
    }
    let mut one = |name: &[u8]| {
        let name = name.strip_prefix(b"*.").or(name.strip_prefix(b".")).unwrap_or(name);
        let name = normal(name);
        name.iter().for_each(|name| each(name));
        name.is_some()
    };
    if let Some(rule) = line.strip_prefix(b"||") {
        let end = memchr::memchr(b'^', rule).unwrap_or(rule.len());
        // What follows would restrict the rule to some requests.
        let is_for_all =
            matches!(rule.get(end + 1..), None | Some(b"" | b"|" | b"$important" | b"$all"));
        return is_for_all && one(&rule[..end]);
    }
    if let Some((option, value)) = line.iter().position(|&b| b == b'=').map(|at| line.split_at(at))
    {
        let is_known = [&b"address"[..], b"server", b"local"].contains(&option);
        let names = value[1..].strip_prefix(b"/");
        let Some(names) = names.filter(|_| is_known) else { return false };
        // The last part is the address.
        let mut parts: Vec<&[u8]> = names.split(|&byte| byte == b'/').collect();
        parts.pop();
        return !parts.is_empty() && parts.into_iter().all(one);
    }
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return true };
    let mut words = words.take_while(|word| !word.starts_with(b"#"));
    if is_address(first) {
        // All of them, whether or not one is understood.
        let mut all = true;
        for name in words.filter(|name| !is_local(name)) {
            all &= one(name);
        }
        return all;
    }
    words.next().is_none() && one(first)
}

fn is_address(word: &[u8]) -> bool {
    std::str::from_utf8(word).is_ok_and(|word| word.parse::<IpAddr>().is_ok())
}

/// Names of the machine itself, with which hosts files begin.
fn is_local(name: &[u8]) -> bool {
    let names: [&[u8]; 6] = [
        b"localhost",
        b"localhost.localdomain",
        b"local",
        b"localdomain",
        b"broadcasthost",
        b"0.0.0.0",
    ];
    names.contains(&name) || name.starts_with(b"ip6-")
}

/// The names of lists, each in a line of its own.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) text: Vec<u8>,
    /// Where each is listed, if that is asked for.
    pub(crate) origins: Vec<Origin>,
    pub(crate) unread: Vec<Unread>,
}

impl Names {
    pub(crate) fn of(lists: &[List], separator: u8, with_origins: bool) -> Result<Self> {
        let mut all = Self::default();
        for (list, text) in lists.iter().enumerate() {
            let unread = read_entries(text, separator, |line, number| {
                names(line, |name| {
                    all.text.extend_from_slice(name);
                    all.text.push(b'\n');
                    if with_origins {
                        all.origins.push(Origin { list, line: number });
                    }
                })
            })?;
            all.unread.push(unread);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (bool, Vec<String>) {
        let mut all = Vec::new();
        let understood =
            names(line.as_bytes(), |name| all.push(String::from_utf8(name.to_vec()).unwrap()));
        (understood, all)
    }

    #[test]
    fn lists_as_people_have_them() {
        for line in [
            "ads.example",
            "ADS.Example.",
            "  ads.example\r",
            "*.ads.example",
            ".ads.example",
            "||ads.example^",
            "||ads.example^$important",
            "||ads.example",
            "0.0.0.0 ads.example # why",
            "127.0.0.1\tads.example",
            "::1 localhost ads.example",
            "address=/ads.example/0.0.0.0",
            "server=/ads.example/",
            "local=/ads.example/",
            "ads.example # ads",
            "\u{feff}ads.example",
        ] {
            assert_eq!(read(line), (true, vec!["ads.example".to_owned()]), "{line}");
        }
        assert_eq!(read("0.0.0.0 a.example b.example").1, ["a.example", "b.example"]);
        assert_eq!(read("address=/a.example/b.example/::").1, ["a.example", "b.example"]);
        assert_eq!(read("B\u{fc}cher.example").1, ["xn--bcher-kva.example"]);
        for line in ["", "# x", "! x", "[Adblock Plus]", "; x", "127.0.0.1 localhost"] {
            assert_eq!(read(line), (true, vec![]), "{line}");
        }
        for line in [
            "@@||ads.example^",
            "##.banner",
            "/banner/*",
            "||ads.example^$third-party",
            "a b",
            "conf-dir=/etc",
            "http://ads.example/",
            "a,b",
        ] {
            assert_eq!(read(line), (false, vec![]), "{line}");
        }
    }
}
