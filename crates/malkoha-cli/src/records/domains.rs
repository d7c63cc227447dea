//! Domains in lines, as people have them: names, URLs, and the syntaxes of resolvers and blockers.

use std::borrow::Cow;
use std::net::IpAddr;

use idna::AsciiDenyList;

use super::words::is_name;

/// What a name of a list stands for, as bits: for itself, for all below it, and what is excepted.
pub(crate) const ITSELF: u8 = 1;
pub(crate) const BELOW: u8 = 2;
pub(crate) const NOT_ITSELF: u8 = 4;
pub(crate) const NOT_BELOW: u8 = 8;
/// Exceptions do not count, except for final ones.
pub(crate) const IMPORTANT: u8 = 16;
/// The exception is important itself.
pub(crate) const FINAL: u8 = 32;
const ALL: u8 = ITSELF | BELOW;

/// The same as an exception.
pub(crate) fn excepted(reach: u8) -> u8 {
    (reach & ALL) << 2 | (reach & IMPORTANT) << 1
}

/// What a line has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Entries, all of which were passed on.
    Entries,
    /// A comment, or what a syntax needs before entries and behind them.
    Nothing,
    /// Something else.
    Unknown,
}

/// A text without what may surround a name.
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    text.strip_suffix(b".").unwrap_or(text)
}

/// A name as it is compared: in lower case, without a final dot, international ones in ASCII.
/// `None` if it is not a name.
pub(crate) fn normal(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let text = trimmed(text);
    let is_one = |text: &[u8]| {
        text.iter().any(u8::is_ascii_alphanumeric) && is_name(text) && !is_address(text)
    };
    if !text.is_ascii() {
        let name = idna::domain_to_ascii_cow(text, AsciiDenyList::URL).ok()?;
        let name = name.trim_end_matches('.').as_bytes();
        return is_one(name).then(|| Cow::Owned(name.to_vec()));
    }
    if !is_one(text) {
        return None;
    }
    let has_upper = text.iter().any(u8::is_ascii_uppercase);
    Some(if has_upper { text.to_ascii_lowercase().into() } else { text.into() })
}

fn is_address(word: &[u8]) -> bool {
    // No name ends with a number.
    word.last().is_some_and(|&last| last.is_ascii_hexdigit() || last == b':')
        && str::from_utf8(word).is_ok_and(|word| word.parse::<IpAddr>().is_ok())
}

/// Calls `each` with the names in a line, and what each stands for.
pub(crate) fn domains(line: &[u8], each: impl FnMut(&[u8], u8)) -> Line {
    domains_in_zone(line, b"", each)
}

/// The zone that a line sets for those that follow, without a final dot.
pub(crate) fn zone_of(line: &[u8]) -> Option<&[u8]> {
    let mut words = words(line);
    let name = match (words.next()?, line[0].is_ascii_whitespace()) {
        (b"$ORIGIN", _) => words.next()?,
        (name, false) if words.take(3).any(|word| word == b"SOA") => name,
        _ => return None,
    };
    name.strip_suffix(b".")
}

/// The same for a line of a response policy zone, whose absolute names have the zone's behind them.
pub(crate) fn domains_in_zone(line: &[u8], zone: &[u8], mut each: impl FnMut(&[u8], u8)) -> Line {
    let mut one = |name: &[u8], reach: u8| {
        let (name, reach) = match name {
            [b'*', b'.', name @ ..] => (name, reach & !ITSELF & !NOT_ITSELF),
            [b'-', b'.', name @ ..] => (name, reach & !BELOW & !NOT_BELOW),
            [b'+', b'.', name @ ..] | [b'.', name @ ..] => (name, reach),
            name => (name, reach),
        };
        let name = normal(name);
        name.iter().for_each(|name| each(name, reach));
        name.is_some()
    };
    let line = line.trim_ascii();
    if is_nothing(line) {
        return Line::Nothing;
    }
    // An item of YAML or JSON.
    let item = line.strip_prefix(b"- ").unwrap_or(line).trim_ascii();
    let item = item.strip_suffix(b",").unwrap_or(item);
    let line = match item {
        [first @ (b'"' | b'\''), inner @ .., last] if first == last => inner,
        item => item,
    };
    let mut all = true;
    let found = match rule(line, zone) {
        Rule::One(name, reach) => one(name, reach),
        Rule::Owned(name, reach) => one(name.as_bytes(), reach),
        Rule::Many(names, reach) => {
            // All of them, even if one is no name.
            names.for_each(|name| all &= one(name, reach));
            all
        }
        Rule::Local => return Line::Nothing,
        Rule::Unknown => false,
    };
    if found { Line::Entries } else { Line::Unknown }
}

/// Whether a line is a comment, or what stands before and behind the entries of a file.
fn is_nothing(line: &[u8]) -> bool {
    let Some(first) = line.first() else { return true };
    if let Some(text) = line.strip_prefix(b"//") {
        // Except URLs without a scheme.
        return !text.contains(&b'.') || text.iter().any(u8::is_ascii_whitespace);
    }
    if b"#!;$".contains(first) {
        return !hides(line);
    }
    if let [b'[', second, ..] = line {
        // The name of a format or section.
        return second.is_ascii_alphabetic();
    }
    let mut words = words(line);
    let first = words.next().unwrap_or(b"");
    let is_of_zone = |word: &[u8]| matches!(word, b"SOA" | b"NS");
    let frame: [&[u8]; 8] =
        [b"server:", b"payload:", b"rules:", b"---", b"@", b"IN", b"NS", b"local"];
    frame.contains(&first)
        || words.take(3).any(is_of_zone)
        || line.iter().all(|byte| b"{}[](); \t,0123456789".contains(byte))
}

/// Whether a line is the rule of an ad blocker that hides parts of pages.
fn hides(line: &[u8]) -> bool {
    let Some((names, rest)) = split(line, b'#') else { return false };
    let signs: [&[u8]; 5] = [b"#", b"@#", b"?#", b"$#", b"%#"];
    let selector = signs.iter().find_map(|it| rest.strip_prefix(*it)).unwrap_or(b"");
    let name = selector.strip_prefix(b"#").unwrap_or(selector);
    // Others are headings.
    !names.iter().any(u8::is_ascii_whitespace)
        && name.first().is_some_and(|first| !first.is_ascii_whitespace() && !b"#=-".contains(first))
}

enum Rule<'a> {
    One(&'a [u8], u8),
    Owned(String, u8),
    Many(Box<dyn Iterator<Item = &'a [u8]> + 'a>, u8),
    /// Names of the machine itself.
    Local,
    Unknown,
}

fn rule<'a>(line: &'a [u8], zone: &[u8]) -> Rule<'a> {
    if hides(line) {
        return Rule::Unknown;
    }
    match line {
        [b'@', b'@', rest @ ..] => {
            return match blocker(rest) {
                Rule::One(name, reach) => Rule::One(name, excepted(reach)),
                other => other,
            };
        }
        [b'|', ..] => return blocker(line),
        [b'=', name @ ..] => return Rule::One(name, ITSELF),
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
    if let Some(at) = memchr::memmem::find(line, b"://") {
        return host(&line[at + 3..]);
    }
    let mut words = words(line);
    let Some(first) = words.next() else { return Rule::Unknown };
    let second = words.next();
    // Addresses of interfaces have a name behind them.
    if first == b"0" || is_address(first.split(|&byte| byte == b'%').next().unwrap_or(first)) {
        let names = second.into_iter().chain(words).take_while(|word| !word.starts_with(b"#"));
        let mut names = names.peekable();
        if names.peek().is_none() {
            return Rule::Unknown;
        }
        let mut names = names.filter(|name| !is_local(name)).peekable();
        return match names.peek() {
            Some(_) => Rule::Many(Box::new(names), ALL),
            None => Rule::Local,
        };
    }
    match (first, second) {
        (b"local-zone:", Some(name)) => {
            let is_open = words.next().is_some_and(|it| it.ends_with(b"transparent"));
            return Rule::One(name, if is_open { excepted(ALL) } else { ALL });
        }
        (b"local-data:" | b"zone", Some(name)) => return Rule::One(name, ALL),
        (b"address" | b"nameserver" | b"domain-rules", Some(rest)) => return paths(rest, b'-'),
        (b"add" | b"/ip", _) => {
            let mut words = self::words(line).skip_while(|&word| word != b"add").peekable();
            if words.peek().is_none() {
                return Rule::Local;
            }
            let name = words.find_map(|word| word.strip_prefix(b"name="));
            // In quotes, it is a word of its own.
            let name = name.and_then(|it| if it.is_empty() { words.next() } else { Some(it) });
            return name.map_or(Rule::Unknown, |name| Rule::One(name, ALL));
        }
        _ => {}
    }
    if let Some(at) = memchr::memchr(b'=', first) {
        let (option, rest) = (&first[..at], &first[at + 1..]);
        return match option {
            b"address" | b"local" | b"ipset" | b"nftset" => paths(rest, b'\0'),
            b"server" => paths(rest, b'#'),
            _ => Rule::Unknown,
        };
    }
    if let Some((kind, rest)) = split(line, b',') {
        let name = split(rest, b',').map_or(rest, |(name, _)| name).trim_ascii();
        return match kind.to_ascii_uppercase().as_slice() {
            b"DOMAIN-SUFFIX" | b"HOST-SUFFIX" => Rule::One(name, ALL),
            b"DOMAIN" | b"HOST" => Rule::One(name, ITSELF),
            _ => Rule::Unknown,
        };
    }
    if let Some((kind @ (b"domain" | b"full"), name)) = split(first, b':') {
        let name = split(name, b':').map_or(name, |(name, _)| name);
        return Rule::One(name, if kind == b"full" { ITSELF } else { ALL });
    }
    // A record of a zone: a name, perhaps a time and a class, a type, and what it leads to.
    let mut rest = second.into_iter().chain(words);
    let is_comment = |word: &&[u8]| b"#;".contains(&word[0]) || word.starts_with(b"//");
    let Some(second) = rest.next().filter(|word| !is_comment(word)) else {
        return host(first.strip_suffix(b"^").unwrap_or(first));
    };
    let mut rest = [second].into_iter().chain(rest);
    let types: [&[u8]; 3] = [b"CNAME", b"A", b"AAAA"];
    let is_type = |word: &&[u8]| types.iter().any(|it| it.eq_ignore_ascii_case(word));
    match rest.by_ref().take(3).find(is_type) {
        Some(_) => {
            let to = rest.next().unwrap_or(b"");
            let has_policy = matches!(to, b"." | b"*.") || to.starts_with(b"rpz-");
            let before_zone = first.strip_suffix(b".").and_then(|it| it.strip_suffix(zone));
            let name = before_zone.filter(|_| has_policy && !zone.is_empty()).unwrap_or(first);
            if is_trigger(trimmed(name)) {
                // For addresses, and servers of names.
                return Rule::Unknown;
            }
            let passes = to.starts_with(b"rpz-passthru");
            Rule::One(name, if passes { excepted(ALL) } else { ALL })
        }
        None => Rule::Unknown,
    }
}

/// A rule of an ad blocker, if it is for all requests to a name.
fn blocker(rule: &[u8]) -> Rule<'_> {
    let (name, reach) = match rule {
        [b'|', b'|', name @ ..] => (name, ALL),
        [b'|', name @ ..] if memchr::memmem::find(name, b"://").is_none() => (name, ITSELF),
        rule => (rule.strip_prefix(b"|").unwrap_or(rule), ALL),
    };
    if let Some(at) = memchr::memmem::find(name, b"://") {
        return host(name[at + 3..].strip_suffix(b"^").unwrap_or(&name[at + 3..]));
    }
    let end = memchr::memchr2(b'^', b'$', name).unwrap_or(name.len());
    let rest = name[end..].strip_prefix(b"^").unwrap_or(&name[end..]);
    let Some(options) = rest.strip_prefix(b"$") else {
        return if matches!(rest, b"" | b"|") {
            Rule::One(&name[..end], reach)
        } else {
            Rule::Unknown
        };
    };
    let mut reach = reach;
    for option in options.split(|&byte| byte == b',') {
        match option {
            b"all" => {}
            b"important" => reach |= IMPORTANT,
            _ => return Rule::Unknown,
        }
    }
    Rule::One(&name[..end], reach)
}

/// The names between slashes, as in `/a.example/b.example/#`; they are excepted if `open` follows.
fn paths(text: &[u8], open: u8) -> Rule<'_> {
    let Some(rest) = text.strip_prefix(b"/") else { return Rule::Unknown };
    let Some(end) = memchr::memrchr(b'/', rest) else { return Rule::Unknown };
    let reach = if rest[end + 1..] == [open] { excepted(ALL) } else { ALL };
    Rule::Many(Box::new(rest[..end].split(|&byte| byte == b'/')), reach)
}

/// The host of a URL without its scheme, or a name with a port.
fn host(text: &[u8]) -> Rule<'_> {
    let end = text.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(text.len());
    let text = &text[..end];
    let text = memchr::memrchr(b'@', text).map_or(text, |at| &text[at + 1..]);
    let name = match split(text, b':') {
        Some((name, port)) if !port.is_empty() && port.iter().all(u8::is_ascii_digit) => name,
        _ => text,
    };
    Rule::One(name, ALL)
}

/// A pattern for a name and those below it, or for a name, without its last `$`.
fn regex(pattern: &[u8]) -> Rule<'_> {
    let below: [&[u8]; 6] =
        [br"(\.|^)", br"(^|\.)", br"(?:^|\.)", br"(?:\.|^)", br"^(.+\.)?", br"^(.*\.)?"];
    let (name, reach) = match below.iter().find_map(|it| pattern.strip_prefix(*it)) {
        Some(name) => (name, ALL),
        None => (pattern.strip_prefix(b"^").unwrap_or(b"*"), ITSELF),
    };
    let name = str::from_utf8(name).unwrap_or("*").replace(r"\.", "\0");
    // A dot that is not escaped is any character, and so are other signs.
    if name.contains('.') { Rule::Unknown } else { Rule::Owned(name.replace('\0', "."), reach) }
}

fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = memchr::memchr(at, text)?;
    Some((&text[..place], &text[place + 1..]))
}

/// Whether a name of a response policy zone is for something else than requests for a name.
fn is_trigger(name: &[u8]) -> bool {
    let last = name.rsplit(|&byte| byte == b'.').next().unwrap_or(name);
    last.starts_with(b"rpz-")
}

/// The words of a line, without quotes around them.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = line.split(|byte| byte.is_ascii_whitespace() || b"\"'".contains(byte));
    words.filter(|word| !word.is_empty())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One case in each line: names and what they stand for, and lines of lists that have them.
    const CASES: &str = r#"
ads.example 3 ¦ ads.example ¦ ADS.Example. ¦ .ads.example ¦ +.ads.example ¦   - '+.ads.example'
ads.example 3 ¦ "ads.example", ¦ ||ads.example^$all ¦ ads.example^ ¦ 0.0.0.0 ads.example # why
ads.example 3 ¦ 127.0.0.1    ads.example ¦ ::1 localhost ads.example ¦ address=/ads.example/0.0.0.0
ads.example 3 ¦ server=/ads.example/ ¦ local=/ads.example/ ¦ address /ads.example/#
ads.example 3 ¦ local-zone: "ads.example." static ¦ local-data: 'ads.example A 0.0.0.0'
ads.example 3 ¦ :: ads.example ¦ 0 ads.example ¦ ads.example ; x ¦ ads.example. in cname .
ads.example 3 ¦ ads.example. 300 IN CNAME . ¦ ads.example A 0.0.0.0 ¦ domain:ads.example:@ads
ads.example 3 ¦ - DOMAIN-SUFFIX,ads.example,REJECT ¦ host-suffix, ads.example, reject
ads.example 3 ¦ zone "ads.example" IN {type primary;}; ¦ add name=ads.example type=NXDOMAIN
ads.example 3 ¦ /ip dns static add name="ads.example" ¦ //ads.example/x ¦ ||ads.example^$all
ads.example 3 ¦ ^(.+\.)?ads\.example$ ¦ /(?:^|\.)ads\.example$/ ¦ ads.example#why
ads.example 3 ¦ (^|\.)ads\.example$ ¦ https://ads.example/path?x ¦ http://u:w@ads.example:8080
ads.example 3 ¦ ads.example:443 ¦ |https://ads.example^ ¦ ads.example # ads ¦ ||ads.example
ads.example 2 ¦ *.ads.example ¦ ||*.ads.example^ ¦ *.ads.example CNAME .
ads.example 1 ¦ full:ads.example ¦ DOMAIN,ads.example,REJECT ¦ =ads.example ¦ |ads.example^
ads.example 1 ¦ ^ads\.example$ ¦ address /-.ads.example/#
ads.example 19 ¦ ||ads.example^$important ¦ ||ads.example^$important,all
ads.example 44 ¦ @@||ads.example^$important
ads.example 12 ¦ @@||ads.example^ ¦ @@ads.example ¦ server=/ads.example/# ¦ address /ads.example/-
ads.example 12 ¦ local-zone: ads.example always_transparent ¦ ads.example CNAME rpz-passthru.
ads.example 4 ¦ @@|ads.example^|
a.example,b.example 3 ¦ 0.0.0.0 a.example b.example ¦ address=/a.example/b.example/::
xn--bcher-kva.example 3 ¦ Bücher.example
ab.example 3 ¦ Ａb。Example.
Nothing ¦ // x ¦ //x ¦ ## x ¦ ### x ¦ ######## ¦ ##===== ¦ ##
Nothing ¦ # x ¦ ! x ¦ [Adblock Plus] ¦ ; x ¦ 127.0.0.1 localhost ¦ server: ¦ payload: ¦ }; ¦ 
Nothing ¦ fe80::1%lo0 localhost ¦ /ip dns static ¦ [Rule]
Nothing ¦ $TTL 60 ¦ @ SOA a. b. 1 2 3 4 5 ¦ @ IN NS localhost. ¦   NS localhost.
Unknown ¦ ads.example##.banner ¦ ads.example#@#.banner ¦ ads.example,b.example#?#div ¦ add list=x
Unknown ¦ /ip firewall address-list add address=ads.example ¦ ||ads.example^$important,third-party
Unknown ¦ 。 ¦ １９２.0.2.7 ¦ ###banner
Unknown ¦ ##.banner ¦ /banner/* ¦ ||ads.example^$third-party ¦ ||ads.example/path ¦ a b ¦ a,b
Unknown ¦ conf-dir=/etc ¦ 0.0.0.0 ¦ 192.0.2.7 ¦ http://192.0.2.7/ ¦ keyword:ads ¦ ^ads.example$
Unknown ¦ 32.7.2.0.192.rpz-ip CNAME . ¦ ["ads.example"]
Unknown ¦ DOMAIN-KEYWORD,ads ¦ a*.example ¦ é*.example ¦ a;b.example ¦ - ¦ local-zone:
"#;

    #[test]
    fn lines_as_people_have_them() {
        for case in CASES.lines().filter(|case| !case.is_empty()) {
            let (expected, lines) = case.split_once(" ¦ ").unwrap();
            for line in lines.split(" ¦ ") {
                let (mut names, mut reaches) = (Vec::new(), Vec::new());
                let read = domains(line.as_bytes(), |name, reach| {
                    names.push(String::from_utf8(name.to_vec()).unwrap());
                    reaches.push(reach);
                });
                let found = match read {
                    Line::Entries => format!("{} {}", names.join(","), reaches[0]),
                    other => format!("{other:?}"),
                };
                assert_eq!(found, expected, "{line}");
            }
        }
    }
}
