//! Records of response policy zones, and the names that they are for.

use std::borrow::Cow;

use super::super::Unfit;
use super::reach::{ALL, Reach, Rule};
use super::text::{is_host, is_nowhere, is_type, trimmed, words};

/// The zone that lines are in.
#[derive(Default)]
pub(super) struct Zone {
    /// Its name. Names of records are below it.
    apex: Vec<u8>,
    /// Whether a record says its name, which is guessed otherwise.
    is_sure: bool,
    /// The end that relative names leave out; it can be empty.
    origin: Option<Vec<u8>>,
}

impl Zone {
    /// Takes what a line says of the lines behind it.
    pub(super) fn note(&mut self, line: &[u8]) {
        let mut words = words(line);
        let name = match (words.next(), line.first().is_some_and(u8::is_ascii_whitespace)) {
            (Some(b"$ORIGIN"), _) => {
                let Some(name) = words.next().and_then(|it| it.strip_suffix(b".")) else { return };
                self.origin = Some(name.to_vec());
                name
            }
            (Some(name), false) if words.take(3).any(|word| word == b"SOA") => {
                self.is_sure = true;
                self.apex = match (name, &self.origin) {
                    (b"@", origin) => origin.clone().unwrap_or_default(),
                    ([name @ .., b'.'], _) => name.to_vec(),
                    (name, Some(origin)) if !origin.is_empty() => [name, origin].join(&b'.'),
                    (name, _) => name.to_vec(),
                };
                return;
            }
            _ => return,
        };
        if self.apex.is_empty() {
            self.apex = name.to_vec();
        }
    }

    /// The name of a record without the zone's, if it is known.
    fn name<'a>(&self, name: &'a [u8], has_policy: bool) -> Option<Cow<'a, [u8]>> {
        let below = |name: &'a [u8]| {
            let before = name.strip_suffix(&*self.apex).filter(|_| has_policy);
            before.and_then(|it| it.strip_suffix(b".")).unwrap_or(name).into()
        };
        let origin = match (name, &self.origin) {
            ([name @ .., b'.'], _) => return Some(below(name)),
            (name, None) if !self.is_sure => return Some(name.into()),
            (name, None) => return Some(below(name)),
            (name, Some(origin)) if origin.is_empty() => return Some(below(name)),
            (_, Some(origin)) => origin,
        };
        match origin.strip_suffix(&*self.apex) {
            // Of a zone whose name is not known, the origin might be a part of the name.
            Some(b"") if self.is_sure || name.contains(&b'.') => Some(name.into()),
            Some([before @ .., b'.']) if self.is_sure => Some([name, before].join(&b'.').into()),
            _ => None,
        }
    }
}

/// `name [time] [class] type data`.
pub(super) fn record<'a>(line: &'a [u8], zone: &Zone) -> Rule<'a> {
    let mut words = words(line);
    let first = words.next().unwrap_or(b"");
    if !words.by_ref().take(3).any(is_type) {
        return Rule::Unfit(Unfit::NoDomain);
    }
    let to = words.next().unwrap_or(b"");
    if is_host(to) {
        return Rule::Unfit(Unfit::Else);
    }
    let has_policy = matches!(to, b"." | b"*.") || to.starts_with(b"rpz-");
    let Some(name) = zone.name(first, has_policy) else { return Rule::Unfit(Unfit::NoDomain) };
    if is_trigger(trimmed(&name)) {
        // For addresses, and servers of names.
        return Rule::Unfit(Unfit::NoDomain);
    }
    let policy = trimmed(to).to_ascii_lowercase();
    match policy.as_slice() {
        b"rpz-passthru" => one(name, ALL.excepted()),
        // How it was written before.
        _ if trimmed(to).eq_ignore_ascii_case(trimmed(&name)) => one(name, ALL.excepted()),
        b"rpz-tcp-only" => Rule::Unfit(Unfit::NoDomain),
        _ if to.is_empty() || has_policy || is_nowhere(to) => one(name, ALL),
        // Requests are answered as for another name.
        _ => Rule::Unfit(Unfit::Else),
    }
}

fn one(name: Cow<'_, [u8]>, reach: Reach) -> Rule<'_> {
    match name {
        Cow::Borrowed(name) => Rule::One(name, reach),
        Cow::Owned(name) => Rule::Owned(String::from_utf8_lossy(&name).into_owned(), reach),
    }
}

/// Whether a name is for something else than requests for a name.
fn is_trigger(name: &[u8]) -> bool {
    let last = name.rsplit(|&byte| byte == b'.').next().unwrap_or(name);
    last.starts_with(b"rpz-")
}
