//! Domain names that are in a list or lie below one that is.

use std::borrow::Cow;
use std::net::IpAddr;

use anyhow::Result;
use hashbrown::HashTable;
use idna::AsciiDenyList;

use super::suffixes::{Suffix, Suffixes};
use super::words::{is_lowered, is_name};
use super::{Matcher, Origin, Unread, read_entries};
use crate::input::{BOM, List, split};

/// The names of lists.
pub(crate) struct Domains {
    names: Names,
    /// Where each begins, by the hashes that suffixes have.
    table: HashTable<usize>,
    suffixes: Suffixes,
}

impl Domains {
    pub(crate) fn new(names: Names) -> Result<Self> {
        let count = memchr::memchr_iter(END, &names.text).count();
        let mut suffixes = Suffixes::of(count as u64);
        let mut table = HashTable::with_capacity(count);
        let mut place = 0;
        split(&names.text, END, |batch| {
            for name in batch {
                let hash = suffixes.add(name);
                let is_same = |&known: &usize| names.has_at(known, name.len()) == Some(name);
                table.entry(hash, is_same, |&at| suffixes.hash(names.at(at)).0).or_insert(place);
                place += name.len() + 1;
            }
            Ok(())
        })?;
        Ok(Self { names, table, suffixes })
    }

    /// Sets `found[i]` where `texts[i]` is a name that is in or below one that is; returns the
    /// numbers of texts that are not ASCII.
    fn find_ascii(&self, texts: &[&[u8]], found: &mut [bool]) -> Vec<usize> {
        let (mut asked, mut others) = (Vec::with_capacity(2 * texts.len()), Vec::new());
        for (number, text) in texts.iter().enumerate() {
            if !self.suffixes.ask(number, text, &mut asked) {
                others.push(number);
            }
        }
        let mut told = None;
        for suffix in asked {
            let number = suffix.number as usize;
            // Only now it matters whether the rest belongs to a valid name, which is the same for
            // all suffixes.
            if told != Some(number) && self.place(suffix, texts[number]).is_some() {
                found[number] |= is_name(&texts[number][..suffix.start as usize]);
                told = Some(number);
            }
        }
        others
    }

    /// Where a suffix of a name is listed.
    #[inline]
    fn place(&self, Suffix { hash, start, .. }: Suffix, name: &[u8]) -> Option<usize> {
        let suffix = &name[start as usize..];
        let is_it = |&place: &usize| {
            let listed = self.names.has_at(place, suffix.len());
            listed.is_some_and(|listed| is_lowered(suffix, listed))
        };
        self.table.find(hash, is_it).copied()
    }
}

impl Matcher for Domains {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        let texts: Vec<&[u8]> = lines.iter().map(|line| trimmed(line)).collect();
        let others = self.find_ascii(&texts, found);
        if others.is_empty() {
            return Ok(());
        }
        let names: Vec<Vec<u8>> =
            others.iter().map(|&number| international(texts[number]).unwrap_or_default()).collect();
        let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let mut are_in = vec![false; names.len()];
        self.find_ascii(&names, &mut are_in);
        for (number, is_in) in others.into_iter().zip(are_in) {
            // The suffix found before did not belong to a valid name.
            found[number] |= is_in;
        }
        Ok(())
    }

    fn origin(&self, line: &[u8]) -> Option<Origin> {
        let (name, mut asked) = (normal(line)?, Vec::new());
        self.suffixes.ask(0, &name, &mut asked);
        // The longest is the most specific.
        let place = asked.into_iter().rev().find_map(|suffix| self.place(suffix, &name))?;
        let origins = &self.names.origins;
        let i = origins.binary_search_by_key(&place, |&(place, _)| place).ok()?;
        Some(origins[i].1)
    }
}

/// A text without what may surround a name.
fn trimmed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    text.strip_suffix(b".").unwrap_or(text)
}

/// A name as it is compared: in lower case, without a final dot, international ones in ASCII.
/// `None` if it is not a name.
fn normal(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let text = trimmed(text);
    if !text.is_ascii() {
        return international(text).map(Cow::Owned);
    }
    if text.is_empty() || !is_name(text) {
        return None;
    }
    let has_upper = text.iter().any(u8::is_ascii_uppercase);
    Some(if has_upper { text.to_ascii_lowercase().into() } else { text.into() })
}

/// An international name in ASCII.
fn international(text: &[u8]) -> Option<Vec<u8>> {
    let name = idna::domain_to_ascii_cow(text, AsciiDenyList::URL).ok()?;
    let name = name.trim_end_matches('.').as_bytes();
    is_name(name).then(|| name.to_vec())
}

/// Calls `each` with the names of one line of a list, as people have them: plain names, names after
/// `*.` or a dot, hosts files, `||name^` of ad blockers, and `address=/name/` of dnsmasq. Returns
/// whether the line was understood.
pub(super) fn names(line: &[u8], mut each: impl FnMut(&[u8])) -> bool {
    let line = line.strip_prefix(BOM).unwrap_or(line).trim_ascii();
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
        // The rest would restrict the rule to some requests.
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
        // Calls it for all of them, even if one is not understood.
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

/// Ends each of [`Names`].
const END: u8 = b'\n';

/// The names of lists, each in a line of its own.
#[derive(Default)]
pub(crate) struct Names {
    text: Vec<u8>,
    /// Where each begins, and its place in the lists if requested.
    origins: Vec<(usize, Origin)>,
    pub(crate) unread: Vec<Unread>,
}

impl Names {
    pub(crate) fn of(lists: &[List], separator: u8, with_origins: bool) -> Result<Self> {
        let mut all = Self::default();
        for (list, text) in lists.iter().enumerate() {
            let unread = read_entries(text, separator, |line, number| {
                names(line, |name| {
                    if with_origins {
                        all.origins.push((all.text.len(), Origin { list, line: number }));
                    }
                    all.text.extend_from_slice(name);
                    all.text.push(END);
                })
            })?;
            all.unread.push(unread);
        }
        Ok(all)
    }

    /// The name that begins at a place.
    fn at(&self, place: usize) -> &[u8] {
        let rest = &self.text[place..];
        memchr::memchr(END, rest).map_or(rest, |end| &rest[..end])
    }

    /// The name that begins at a place, if it has this many bytes.
    #[inline(always)]
    fn has_at(&self, place: usize, len: usize) -> Option<&[u8]> {
        let (name, rest) = self.text[place..].split_at_checked(len)?;
        (rest.first() == Some(&END)).then_some(name)
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

    /// International ones are names if they are in ASCII.
    #[test]
    fn what_is_a_name() {
        for text in ["a*.example", "\u{e9}*.example", "a;b.example", "a\u{ff1b}b.example", "a b"] {
            assert_eq!(normal(text.as_bytes()), None, "{text}");
        }
        assert_eq!(normal(" \u{ff21}b\u{3002}Example. ".as_bytes()).unwrap(), &b"ab.example"[..]);
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
