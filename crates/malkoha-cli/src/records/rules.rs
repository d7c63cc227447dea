//! The syntaxes of resolvers and blockers.

use std::net::IpAddr;

use super::domains::{ALL, IMPORTANT, ITSELF, Reach, trimmed};

/// Whether a line is the rule of an ad blocker that hides parts of pages.
pub(super) fn hides(line: &[u8]) -> bool {
    let Some((names, rest)) = split(line, b'#') else { return false };
    let signs: [&[u8]; 5] = [b"#", b"@#", b"?#", b"$#", b"%#"];
    let selector = signs.iter().find_map(|it| rest.strip_prefix(*it)).unwrap_or(b"");
    let name = selector.strip_prefix(b"#").unwrap_or(selector);
    // Others are headings.
    !names.iter().any(u8::is_ascii_whitespace)
        && name.first().is_some_and(|first| !first.is_ascii_whitespace() && !b"#=-".contains(first))
}

/// What a line says.
pub(super) enum Rule<'a> {
    One(&'a [u8], Reach),
    /// The host of a page, or of a mailbox.
    Part(&'a [u8]),
    Owned(String, Reach),
    Many(Box<dyn Iterator<Item = &'a [u8]> + 'a>, Reach),
    /// Names of the machine itself.
    Local,
    Disabled,
    /// Forwards or logs requests.
    Else,
    /// Holds for some requests alone.
    Conditional,
    /// A setting of a block.
    Setting,
    Unknown,
}

pub(super) fn rule<'a>(line: &'a [u8], zone: &'a [u8]) -> Rule<'a> {
    if hides(line) {
        return Rule::Unknown;
    }
    match line {
        [b'@', b'@', rest @ ..] => {
            return match blocker(rest) {
                Rule::One(name, reach) => Rule::One(name, reach.excepted()),
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
    // Others only mention a URL.
    let is_scheme =
        |text: &[u8]| text.iter().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(it));
    if let Some(at) = memchr::memmem::find(line, b"://").filter(|&at| is_scheme(&line[..at])) {
        return host(&line[at + 3..]);
    }
    let mut words = words(line);
    let Some(first) = words.next() else { return Rule::Unknown };
    let second = words.next();
    // Addresses of interfaces have a name behind them.
    let bare = first.split(|&byte| byte == b'%').next().unwrap_or(first);
    if first == b"0" || is_address(bare) {
        let names = second.into_iter().chain(words).take_while(|word| !word.starts_with(b"#"));
        let mut names = names.peekable();
        if names.peek().is_none() {
            return Rule::Unknown;
        }
        let mut names = names.filter(|name| !is_local(name)).peekable();
        return match names.peek() {
            Some(_) if is_host(bare) => Rule::Else,
            Some(_) => Rule::Many(Box::new(names), ALL),
            None => Rule::Local,
        };
    }
    match (first, second) {
        (b"local-zone:", Some(name)) => {
            return match words.next().unwrap_or(b"") {
                b"inform" | b"nodefault" => Rule::Else,
                it if it.ends_with(b"transparent") => Rule::One(name, ALL.excepted()),
                _ => Rule::One(name, ALL),
            };
        }
        (b"zone", Some(name)) => return zone_of_type(line, name),
        (b"type", Some(_)) if !zone.is_empty() => return zone_of_type(line, zone),
        (b"file" | b"forward" | b"forwarders" | b"masters" | b"primaries" | b"notify", Some(_))
            if !zone.is_empty() =>
        {
            return Rule::Setting;
        }
        (b"local-data:", Some(name)) => {
            let mut said = words.skip_while(|word| !is_type(word));
            return match (said.next(), said.next()) {
                (Some(_), Some(to)) if is_address(to) && !is_host(to) || to == b"." => {
                    Rule::One(name, ALL)
                }
                _ => Rule::Else,
            };
        }
        (b"address", Some(rest)) => return paths(rest, false, None),
        (b"nameserver", Some(rest)) => return paths(rest, true, None),
        (b"domain-rules", Some(rest)) => {
            let mut said = words.skip_while(|&word| !matches!(word, b"-a" | b"-address"));
            return match said.nth(1) {
                Some(to @ (b"#" | b"-")) => paths(rest, false, Some(to)),
                _ => Rule::Else,
            };
        }
        (b"add" | b"/ip", _) => {
            let has = |wanted: &[u8]| self::words(line).any(|word| word == wanted);
            let mut words = self::words(line).skip_while(|&word| word != b"add").peekable();
            if has(b"disabled=yes") || has(b"remove") || has(b"disable") {
                return Rule::Disabled;
            }
            if words.peek().is_none() {
                return Rule::Local;
            }
            let value = |word: &'a [u8]| word.split(|&it| it == b'=').next_back().unwrap_or(word);
            if has(b"type=FWD") || self::words(line).any(|word| is_host(value(word))) {
                return Rule::Else;
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
            b"address" | b"ipset" | b"nftset" => paths(rest, false, None),
            b"server" | b"local" => paths(rest, true, None),
            _ => Rule::Unknown,
        };
    }
    if let Some((kind, rest)) = split(line, b',') {
        let (name, policy) = split(rest, b',').unwrap_or((rest, b""));
        let reach = match kind.to_ascii_uppercase().as_slice() {
            b"DOMAIN-SUFFIX" | b"HOST-SUFFIX" => ALL,
            b"DOMAIN" | b"HOST" => ITSELF,
            _ => return Rule::Unknown,
        };
        let end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
        let policy = policy.trim_ascii_start().split(end).next().unwrap_or(policy);
        let reach = match policy.to_ascii_uppercase().as_slice() {
            b"" | b"NO-RESOLVE" | b"EXTENDED-MATCHING" | b"PRE-MATCHING" => reach,
            b"DIRECT" => reach.excepted(),
            it if it.starts_with(b"REJECT") => reach,
            // Requests go another way.
            _ => return Rule::Else,
        };
        return Rule::One(name.trim_ascii(), reach);
    }
    if let Some((kind @ (b"domain" | b"full"), name)) = split(first, b':') {
        let name = split(name, b':').map_or(name, |(name, _)| name);
        return Rule::One(name, if kind == b"full" { ITSELF } else { ALL });
    }
    // A record of a zone: a name, perhaps a time and a class, a type, and what it leads to.
    let mut rest = second.into_iter().chain(words);
    let is_comment = |word: &&[u8]| b"#;".contains(&word[0]) || word.starts_with(b"//");
    let Some(second) = rest.next().filter(|word| !is_comment(word)) else {
        // Behind these signs are attributes.
        let end = memchr::memmem::find(first, b":@").unwrap_or(first.len());
        return host(first[..end].strip_suffix(b"^").unwrap_or(&first[..end]));
    };
    let mut rest = [second].into_iter().chain(rest);
    match rest.by_ref().take(3).find(|word| is_type(word)) {
        Some(_) => {
            let to = rest.next().unwrap_or(b"");
            if is_host(to) {
                return Rule::Else;
            }
            let has_policy = matches!(to, b"." | b"*.") || to.starts_with(b"rpz-");
            let before_zone = first.strip_suffix(b".").and_then(|it| it.strip_suffix(zone));
            let name = before_zone.filter(|_| has_policy && !zone.is_empty()).unwrap_or(first);
            if is_trigger(trimmed(name)) {
                // For addresses, and servers of names.
                return Rule::Unknown;
            }
            let policy = trimmed(to).to_ascii_lowercase();
            match policy.as_slice() {
                b"rpz-passthru" => Rule::One(name, ALL.excepted()),
                // How it was written before.
                _ if trimmed(to).eq_ignore_ascii_case(trimmed(name)) => {
                    Rule::One(name, ALL.excepted())
                }
                b"rpz-tcp-only" => Rule::Unknown,
                // Requests are answered as for another name.
                _ if !to.is_empty() && !has_policy && !is_address(to) => Rule::Else,
                _ => Rule::One(name, ALL),
            }
        }
        None => Rule::Unknown,
    }
}

/// A zone of a resolver, whose type is perhaps in another line.
fn zone_of_type<'a>(line: &'a [u8], name: &'a [u8]) -> Rule<'a> {
    // Others ask for these names elsewhere.
    let ask: [&[u8]; 5] = [b"forward", b"slave", b"secondary", b"stub", b"static-stub"];
    let text = line.split(|byte| byte.is_ascii_whitespace() || b"{};".contains(byte));
    let mut kind = text.skip_while(|&word| word != b"type").filter(|it| !it.is_empty());
    match kind.nth(1) {
        Some(kind) if ask.contains(&kind) => Rule::Else,
        None if line.ends_with(b"{") => Rule::Setting,
        _ => Rule::One(name, ALL),
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
        return match host(name[at + 3..].strip_suffix(b"^").unwrap_or(&name[at + 3..])) {
            Rule::Part(_) => Rule::Conditional,
            rule => rule,
        };
    }
    let end = memchr::memchr2(b'^', b'$', name).unwrap_or(name.len());
    let rest = name[end..].strip_prefix(b"^").unwrap_or(&name[end..]);
    let Some(options) = rest.strip_prefix(b"$") else {
        return match rest {
            b"" | b"|" if name.contains(&b'/') => Rule::Conditional,
            b"" | b"|" => Rule::One(&name[..end], reach),
            _ => Rule::Unknown,
        };
    };
    let mut reach = reach;
    for option in options.split(|&byte| byte == b',') {
        match option {
            b"all" => {}
            b"important" => reach = reach.map(|_| IMPORTANT),
            // Takes out the rule that is otherwise the same.
            b"badfilter" => return Rule::Disabled,
            _ => return Rule::Conditional,
        }
    }
    Rule::One(&name[..end], reach)
}

/// The names between slashes, and where requests for them go: as in `/a.example/b.example/#`, or as
/// options behind such a word say.
fn paths<'a>(text: &'a [u8], forwards: bool, said: Option<&[u8]>) -> Rule<'a> {
    let Some(rest) = text.strip_prefix(b"/") else { return Rule::Unknown };
    let Some(end) = memchr::memrchr(b'/', rest) else { return Rule::Unknown };
    let reach = match (said.unwrap_or(&rest[end + 1..]), forwards) {
        (b"-", _) | (b"#", true) => ALL.excepted(),
        // An exception for one kind of addresses.
        ([b'-', ..], false) => return Rule::Unknown,
        ([_, ..], true) => return Rule::Else,
        (to, _) if is_host(to) => return Rule::Else,
        _ => ALL,
    };
    Rule::Many(Box::new(rest[..end].split(|&byte| byte == b'/')), reach)
}

/// The host of a URL without its scheme, or a name with a port.
fn host(text: &[u8]) -> Rule<'_> {
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

/// Whether a word is the type of a record that a request for a name gets.
fn is_type(word: &[u8]) -> bool {
    let types: [&[u8]; 3] = [b"CNAME", b"A", b"AAAA"];
    types.iter().any(|it| it.eq_ignore_ascii_case(word))
}

fn is_address(word: &[u8]) -> bool {
    word.last().is_some_and(|&last| last.is_ascii_hexdigit() || last == b':')
        && str::from_utf8(word).is_ok_and(|word| word.parse::<IpAddr>().is_ok())
}

/// Whether a word is an address that a request may lead to, unlike those of blocked names.
fn is_host(word: &[u8]) -> bool {
    let address = str::from_utf8(word).ok().and_then(|word| word.parse::<IpAddr>().ok());
    address.is_some_and(|it| !it.is_unspecified() && !it.is_loopback())
}

/// The words of a line, without quotes around them.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
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
