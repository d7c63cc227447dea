//! The syntaxes of resolvers and proxies, each a function that reads lines with its first words.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::super::Unfit;
use super::super::blocks::{Words, table, without_texts};
use super::blockers::{blocker, exception, hides, regex};
use super::reach::{ALL, ITSELF, Rule};
use super::text::{
    is_address, is_encoded, is_host, is_local, is_nowhere, is_type, second, split, value, words,
};
use super::zone::{Zone, record};

type Read = for<'a> fn(&'a [u8]) -> Rule<'a>;

/// Those that begin with a word, or with the name of an option and `=`.
static PROGRAMS: Words<Read> = LazyLock::new(|| {
    table::<Read>(&[
        (unbound_zone, "local-zone:"),
        (unbound_data, "local-data:"),
        (bind_zone, "zone"),
        (bind_setting, "type file forward forwarders masters primaries notify"),
        (|line| paths(second(line), false, None), "address"),
        (|line| paths(second(line), true, None), "nameserver"),
        (smartdns_rules, "domain-rules"),
        (mikrotik, "add /ip"),
        (|line| paths(value(line), false, None), "address="),
        (|line| paths(value(line), true, None), "server= local="),
        // Routes for what a name leads to.
        (|_| Rule::Unfit(Unfit::Else), "ipset= nftset= cname="),
        (elsewhere, "conf-file= conf-dir= addn-hosts= servers-file= include: include"),
        (elsewhere, "$INCLUDE $GENERATE !#include"),
        (|_| Rule::Unfit(Unfit::Programs), "!#if"),
    ])
});

pub(super) fn rule<'a>(line: &'a [u8], zone: &Zone) -> Rule<'a> {
    if hides(line) {
        return Rule::Unfit(Unfit::NoDomain);
    }
    match line {
        [b'@', b'@', rest @ ..] => return exception(rest),
        [b'|', ..] => return blocker(line),
        [b'=', name @ ..] => return Rule::One(name, ITSELF),
        // A part of URLs.
        [b'.', middle @ .., b'.'] if !middle.contains(&b'.') => {
            return Rule::Unfit(Unfit::NoDomain);
        }
        _ => {}
    }
    let pattern = line.strip_prefix(b"/").and_then(|it| it.strip_suffix(b"/")).unwrap_or(line);
    if let Some(pattern) =
        pattern.strip_suffix(b"$").filter(|it| matches!(it[..], [b'^' | b'(', ..]))
    {
        return regex(pattern);
    }
    if let Some(url) = line.strip_prefix(b"//") {
        return host(url);
    }
    // Others only mention a URL.
    let is_scheme =
        |text: &[u8]| text.iter().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(it));
    if let Some(at) = memchr::memmem::find(line, b"://").filter(|&at| is_scheme(&line[..at])) {
        return host(&line[at + 3..]);
    }
    let first = words(line).next().unwrap_or(b"");
    // Addresses of interfaces have a name behind them.
    let bare = first.split(|&byte| byte == b'%').next().unwrap_or(first);
    if first == b"0" || is_address(bare) {
        return hosts(line, bare);
    }
    let option = memchr::memchr(b'=', first).map(|at| &first[..=at]);
    if let Some(read) = PROGRAMS.get(option.unwrap_or(first)) {
        return read(line);
    }
    if option.is_some() {
        return Rule::Unfit(Unfit::NoDomain);
    }
    if let Some((kind, rest)) = split(line, b',').filter(|it| !it.0.contains(&b' ')) {
        return proxy(kind, rest);
    }
    match split(first, b':') {
        Some((b"include", _)) => return elsewhere(line),
        Some((kind @ (b"domain" | b"full"), name)) => {
            let name = split(name, b':').map_or(name, |(name, _)| name);
            return Rule::One(name, if kind == b"full" { ITSELF } else { ALL });
        }
        _ => {}
    }
    let is_comment = |word: &[u8]| b"#;".contains(&word[0]) || word.starts_with(b"//");
    if words(line).nth(1).is_none_or(is_comment) {
        if is_encoded(first) {
            return Rule::Unfit(Unfit::Encoded);
        }
        // Behind these signs are attributes.
        let end = memchr::memmem::find(first, b":@").unwrap_or(first.len());
        return host(first[..end].strip_suffix(b"^").unwrap_or(&first[..end]));
    }
    record(line, zone)
}

/// `address name ...`
fn hosts<'a>(line: &'a [u8], address: &[u8]) -> Rule<'a> {
    let line = line.split(|it| *it == b'#').next().unwrap_or(line);
    let names = || words(line).skip(1);
    if names().next().is_none() {
        return Rule::Unfit(Unfit::NoDomain);
    }
    let has_local = names().any(is_local);
    let mut names = names().filter(|name| !is_local(name)).peekable();
    match names.peek() {
        None => Rule::Nothing,
        // Other names of the machine itself. Debian gives it 127.0.1.1.
        Some(_) if has_local || address == b"127.0.1.1" => Rule::Unfit(Unfit::Own),
        Some(_) if is_host(address) => Rule::Unfit(Unfit::Else),
        Some(_) => Rule::Many(Box::new(names), ALL),
    }
}

fn unbound_zone(line: &[u8]) -> Rule<'_> {
    let mut words = words(line).skip(1);
    let Some(name) = words.next() else { return Rule::Unfit(Unfit::NoDomain) };
    match words.next().unwrap_or(b"") {
        b"static" | b"deny" | b"refuse" | b"inform_deny" | b"always_deny" | b"always_refuse"
        | b"always_nxdomain" | b"always_nodata" | b"always_null" => Rule::One(name, ALL),
        it if it.ends_with(b"transparent") => Rule::One(name, ALL.excepted()),
        // Its data decide.
        b"redirect" | b"inform_redirect" => Rule::Nothing,
        _ => Rule::Unfit(Unfit::Else),
    }
}

fn unbound_data(line: &[u8]) -> Rule<'_> {
    let mut words = words(line).skip(1);
    let Some(name) = words.next() else { return Rule::Unfit(Unfit::NoDomain) };
    let mut said = words.skip_while(|word| !is_type(word));
    match (said.next(), said.next()) {
        (Some(_), Some(to)) if is_nowhere(to) || to == b"." => Rule::One(name, ALL),
        _ => Rule::Unfit(Unfit::Else),
    }
}

/// A zone of BIND, whose type is perhaps in another line.
fn bind_zone(line: &[u8]) -> Rule<'_> {
    let Some(name) = words(line).nth(1) else { return Rule::Unfit(Unfit::NoDomain) };
    if asks_elsewhere(line) { Rule::Unfit(Unfit::Else) } else { Rule::One(name, ALL) }
}

/// Whether a line has a type of zones that are asked for elsewhere, or an unknown one.
pub(super) fn asks_elsewhere(line: &[u8]) -> bool {
    let text = line.split(|byte| byte.is_ascii_whitespace() || b"{};".contains(byte));
    let mut words = text.filter(|it| !it.is_empty());
    match words.find(|it| matches!(*it, b"type" | b"in-view")) {
        Some(b"type") => words.next().is_some_and(|it| !matches!(it, b"master" | b"primary")),
        said => said.is_some(),
    }
}

fn bind_setting(line: &[u8]) -> Rule<'_> {
    let is_one = matches!(line, [.., b';' | b'{']);
    if is_one { Rule::Nothing } else { Rule::Unfit(Unfit::NoDomain) }
}

fn smartdns_rules(line: &[u8]) -> Rule<'_> {
    let mut said = words(line).skip_while(|&word| !matches!(word, b"-a" | b"-address"));
    match said.nth(1) {
        Some(to @ (b"#" | b"-")) => paths(second(line), false, Some(to)),
        _ => Rule::Unfit(Unfit::Else),
    }
}

/// Static records of MikroTik.
fn mikrotik(line: &[u8]) -> Rule<'_> {
    match without_texts(line) {
        Cow::Borrowed(line) => static_record(line),
        Cow::Owned(text) => match static_record(&text) {
            Rule::One(name, reach) => Rule::Owned(String::from_utf8_lossy(name).into(), reach),
            Rule::Unfit(why) => Rule::Unfit(why),
            _ => Rule::Nothing,
        },
    }
}

fn static_record(line: &[u8]) -> Rule<'_> {
    let has = |wanted: &[u8]| words(line).any(|word| word == wanted);
    if has(b"disabled=yes") || has(b"remove") || has(b"disable") {
        return Rule::Unfit(Unfit::Undone);
    }
    let mut added = words(line).skip_while(|&word| word != b"add").peekable();
    if added.peek().is_none() {
        return Rule::Nothing;
    }
    // Other sections have names of something else, and other records lead somewhere.
    let leads = |word: &[u8]| match split(word, b'=') {
        Some((b"type", kind)) => !matches!(kind, b"NXDOMAIN" | b"A" | b"AAAA"),
        Some((b"cname" | b"regexp" | b"forward-to", _)) => true,
        Some((_, value)) => is_host(value),
        None => false,
    };
    if line.starts_with(b"/") && !has(b"dns") || words(line).any(leads) {
        return Rule::Unfit(Unfit::Else);
    }
    let name = added.find_map(|word| word.strip_prefix(b"name="));
    // In quotes, it is a word of its own.
    let name = name.and_then(|it| if it.is_empty() { added.next() } else { Some(it) });
    name.map_or(Rule::Unfit(Unfit::NoDomain), |name| Rule::One(name, ALL))
}

/// `kind,name,policy`, of Clash, Surge and Quantumult.
fn proxy<'a>(kind: &[u8], rest: &'a [u8]) -> Rule<'a> {
    let (name, policy) = split(rest, b',').unwrap_or((rest, b""));
    let reach = match kind.to_ascii_uppercase().as_slice() {
        b"DOMAIN-SUFFIX" | b"HOST-SUFFIX" => ALL,
        b"DOMAIN" | b"HOST" => ITSELF,
        _ => return Rule::Unfit(Unfit::NoDomain),
    };
    let end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
    let policy = policy.trim_ascii_start().split(end).next().unwrap_or(policy);
    let reach = match policy.to_ascii_uppercase().as_slice() {
        b"" | b"NO-RESOLVE" | b"EXTENDED-MATCHING" | b"PRE-MATCHING" => reach,
        b"DIRECT" => reach.excepted(),
        it if it.starts_with(b"REJECT") => reach,
        // Requests go another way.
        _ => return Rule::Unfit(Unfit::Else),
    };
    let name = name.trim_ascii();
    // Names of columns begin so too.
    let is_one = reach.below > 0 || name.contains(&b'.');
    if is_one { Rule::One(name, reach) } else { Rule::Unfit(Unfit::NoDomain) }
}

/// A line that stands for entries of another file, or for many names.
fn elsewhere(_: &[u8]) -> Rule<'_> {
    Rule::Unfit(Unfit::Elsewhere)
}

/// The names between slashes, and where requests for them go: as in `/a.example/b.example/#`, or as
/// options behind such a word say.
fn paths<'a>(text: &'a [u8], forwards: bool, said: Option<&[u8]>) -> Rule<'a> {
    let Some(rest) = text.strip_prefix(b"/") else { return Rule::Unfit(Unfit::NoDomain) };
    let Some(end) = memchr::memrchr(b'/', rest) else { return Rule::Unfit(Unfit::NoDomain) };
    let reach = match (said.unwrap_or(&rest[end + 1..]), forwards) {
        (b"-", _) | (b"#", true) => ALL.excepted(),
        // For one kind of addresses.
        ([b'-' | b'#', b'4' | b'6'], false) => return Rule::Unfit(Unfit::Conditional),
        (b"", _) | (b"#", false) => ALL,
        (to, false) if to.split(|it| *it == b',').all(is_nowhere) => ALL,
        _ => return Rule::Unfit(Unfit::Else),
    };
    Rule::Many(Box::new(rest[..end].split(|&byte| byte == b'/')), reach)
}

/// The host of a URL without its scheme, or a name with a port.
pub(super) fn host(text: &[u8]) -> Rule<'_> {
    // Browsers take a backslash for a slash.
    let end = text.iter().position(|byte| br"/\?#".contains(byte)).unwrap_or(text.len());
    let (text, path) = text.split_at(end);
    let mailbox = memchr::memrchr(b'@', text);
    let text = mailbox.map_or(text, |at| &text[at + 1..]);
    let name = match split(text, b':') {
        Some((name, port)) if !port.is_empty() && port.iter().all(u8::is_ascii_digit) => name,
        _ => text,
    };
    let is_all = matches!(path, [] | [b'/' | b'\\'] | [b'#', ..]) && mailbox.is_none();
    if is_all { Rule::One(name, ALL) } else { Rule::Part(name) }
}
