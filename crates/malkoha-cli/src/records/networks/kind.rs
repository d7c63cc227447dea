//! Tells lines apart by their form: records of logs, rules of firewalls, resolvers or routers, and
//! others. Only in rules are words verdicts, directions, or commands that take something out.

use super::super::range::{number, partial, range};
use super::rows::{Rule, hosts, iptables, routes, ufw};

/// How a statement is read that begins with one of some words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// What matters begins behind the word and this many names.
    Skip(usize),
    /// It takes out what it names.
    Undo,
    /// It neither blocks packets nor lets them pass, or is about a gateway alone.
    Else,
    /// It is for people.
    Remark,
    /// Names, and networks of which nothing is said.
    Entries,
    /// The word is the verdict. Protocols, directions and ends of packets follow.
    Verdict(bool),
    /// Names of options, each with its value behind it: ends of packets, the verdict, and others.
    Options,
    /// The verdict is behind the network. If there is none, the statement might need it.
    Trailing(bool),
    /// A network, and where packets for it go.
    Route,
}

use Start::*;

/// The words that statements begin with.
const STARTS: [(Start, &str); 16] = [
    // Of shells and programs, and numbers of rules.
    (Skip(0), "sudo doas exec push - :do iptables ip6tables ipset nft ufw ipfw pfctl csf rule seq"),
    (Skip(0), "fail2ban-client -exist -! -q -w -4 -6 -T --force insert prepend extended standard"),
    (Skip(0), "ip ipv6 http-request [ permanent hosts"),
    (Skip(1), "access-list prefix-list line -t tcp-request"),
    (Undo, "del delete remove rm no unban unbanip unblock unset undo withdraw deactivate disable"),
    (
        Undo,
        "disabled inactive revoke destroy remove-netfirewallrule -D -C --delete --check -dr -ar",
    ),
    (
        Else,
        "rdr nat dnat redirect binat match limit forwarders listen-on listen-on-v6 masters \
         primaries",
    ),
    (Else, "also-notify use_backend nameserver local broadcast default via to nexthop gateway >"),
    (Remark, "remark description rem --"),
    (Entries, "add table v"),
    (Verdict(true), "allow permit pass accept require ignoreip whitelist allowlist -a -ta"),
    (Verdict(false), "deny drop reject block -td"),
    (Options, "-A -I -R -s -p -i -m -o -d --append --insert --source --src --src-range acl set"),
    (
        Options,
        "edit netsh new-netfirewallrule set-netfirewallrule az aws gcloud firewall-cmd /ip /ipv6 \
         src dst",
    ),
    (Options, "source-address destination-address destination"),
    (Route, "route shun"),
];

/// Those behind which commas stand between words, too.
const WITH_COMMAS: &str = "elements element access-control: ip-cidr ip-cidr6 ip6-cidr src-ip-cidr \
    secrule";

/// Words between a verdict and the first network.
const OF_PACKETS: &str = "in out log quick return drop inet inet6 from to host ip ipv4 ipv6 tcp \
    udp icmp esp gre ah any all both source destination src dst src-ip dst-ip if unless not ! = : \
    flags keep state inbound outbound me extended standard - tcp-rst port-unreach block-policy";

/// The same, with a name behind each.
const OF_PACKETS_AND_NAME: &str = "on proto protocol port via interface user group object-group \
    object logamount eq gt lt neq prefix table deny_status label recv xmit sequence queue list";

/// Whether a word is one of those between blanks. Only options of one letter have a case.
pub(super) fn is_one_of(word: &[u8], words: &str) -> bool {
    let (words, len) = (words.as_bytes(), word.len());
    let Some(first) = word.first() else { return false };
    memchr::memchr_iter(first.to_ascii_lowercase(), words).any(|at| {
        let it = words.get(at..at + len).unwrap_or(b"");
        let is_it =
            if word[0] == b'-' && len == 2 { it == word } else { it.eq_ignore_ascii_case(word) };
        is_it
            && (at == 0 || words[at - 1] == b' ')
            && words.get(at + len).is_none_or(|it| *it == b' ')
    })
}

/// The rest of a line behind one of its words; empty for a word that is not part of it.
pub(super) fn behind<'a>(line: &'a [u8], word: &[u8]) -> &'a [u8] {
    let at = (word.as_ptr() as usize).wrapping_sub(line.as_ptr() as usize);
    line.get(at.wrapping_add(word.len())..).unwrap_or(b"")
}

/// Whether a word is the name of an option or a member, whose value follows.
pub(super) fn is_key(line: &[u8], word: &[u8]) -> bool {
    let behind = behind(line, word);
    matches!(behind, [b'=', ..] | [b'"', b':', ..] | [b'"', b' ', b':', ..])
        || word.len() > 1 && word.ends_with(b":")
}

/// The number of a rule or item, or how many packets and bytes a rule met.
pub(super) fn is_count(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"[").unwrap_or(word);
    let (last, rest) = digits.split_last().unwrap_or((&0, b""));
    let digits = if b"].KM".contains(last) { rest } else { digits };
    digits.split(|&it| it == b':').all(|it| !it.is_empty() && number(it).is_some())
}

fn start_of(word: &[u8]) -> Option<Start> {
    let bare = word.strip_suffix(b":").unwrap_or(word);
    // Of scripts: variables, and programs with their folders.
    if word.starts_with(b"$") {
        return Some(Skip(0));
    }
    let program = match memchr::memrchr(b'/', bare).filter(|_| bare[0] == b'/') {
        Some(at) => &bare[at + 1..],
        None => bare,
    };
    let program =
        program.strip_suffix(b"-legacy").or(program.strip_suffix(b"-nft")).unwrap_or(program);
    let find = |name| STARTS.iter().find(|(_, words)| is_one_of(name, words));
    match find(bare).or_else(|| find(program)) {
        Some(&(Remark | Skip(_) | Else | Options | Entries, _)) if word.ends_with(b":") => None,
        Some(&(start, _)) => Some(start),
        None if is_count(word) => Some(Skip(0)),
        None if is_one_of(word, WITH_COMMAS) => Some(Trailing(false)),
        None if bare.starts_with(b"allow-") || bare.starts_with(b"allow_") => Some(Verdict(true)),
        None => None,
    }
}

/// How a statement is read that is a rule, and its words from the first one on that matters.
pub(super) fn rule<'a>(words: &[&'a [u8]], line: &[u8]) -> Option<Rule<'a>> {
    let start = || start_of_rule(words, line).map(|(start, rest)| (start, rest.to_vec()));
    let rows = || ufw(words).or_else(|| hosts(words, line)).or_else(|| routes(words, line));
    let is_action = |word: &&[u8]| is_one_of(word, "action allowed") && is_key(line, word);
    let pairs = || words.iter().any(is_action).then(|| (Options, words.to_vec()));
    iptables(words).or_else(start).or_else(pairs).or_else(rows)
}

fn start_of_rule<'w, 'a>(words: &'w [&'a [u8]], line: &[u8]) -> Option<(Start, &'w [&'a [u8]])> {
    // Of nftables and firewalld, wherever its ends stand.
    let is_nft = |pair: &[&[u8]]| {
        matches!(pair, [b"ip" | b"ip6" | b"arp", b"saddr" | b"daddr"])
            || matches!(pair, [b"rule", b"family" | b"priority"])
    };
    let (names_ends, has_from) = (words.windows(2).any(is_nft), words.contains(&&b"from"[..]));
    let is_rule = |next| {
        next == b"element" || has_from && matches!(start_of(next), Some(Verdict(_) | Skip(_)))
    };
    let mut rest = words;
    loop {
        let (&first, others) = rest.split_first()?;
        let next = others.first().copied().unwrap_or(b"");
        if range(first).is_some() && !is_count(first) {
            // Of a map.
            return behind(line, first).starts_with(b" : ").then_some((Trailing(false), rest));
        }
        // In rows of tables, other columns follow.
        let is_row = matches!(behind(line, first), [b',' | b'"' | b'\'', ..]);
        let start = match start_of(first) {
            start if is_row && start != Some(Trailing(false)) => return None,
            Some(Undo) => Undo,
            // Flags of MikroTik's numbered entries.
            None if is_flag(first) && rest.len() < words.len() && is_count(words[0]) => {
                if first.contains(&b'X') {
                    return Some((Undo, rest));
                }
                rest = others;
                continue;
            }
            // Options of programs.
            None if first.starts_with(b"-") && rest.len() < words.len() => {
                rest = others;
                continue;
            }
            _ if names_ends => return Some((Trailing(true), words)),
            // Of Shorewall.
            None if behind(line, first).starts_with(b"(ACCEPT)") => Verdict(true),
            // Of a daemon.
            None if first.ends_with(b":") && is_one_of(next, "unban") => Undo,
            Some(Skip(names)) => {
                rest = others.get(names..)?;
                continue;
            }
            Some(Entries) if is_key(line, next) => Options,
            Some(Entries | Route) if is_rule(next) => {
                rest = others;
                continue;
            }
            Some(Route) if others.iter().take(3).any(|it| start_of(it) == Some(Undo)) => Undo,
            Some(Verdict(_)) if !names_conditions(words[0], first, others) => return None,
            start => start?,
        };
        return Some((start, rest));
    }
}

/// Whether what follows a verdict are conditions: those of HAProxy and Shorewall have many words.
fn names_conditions(start: &[u8], verdict: &[u8], words: &[&[u8]]) -> bool {
    is_one_of(start, "http-request tcp-request")
        || verdict.ends_with(b"ACCEPT")
        || speaks_of_packets(words)
}

fn is_flag(word: &[u8]) -> bool {
    word.len() <= 2 && word.iter().all(u8::is_ascii_uppercase)
}

/// Whether words up to the first network are those of rules.
fn speaks_of_packets(words: &[&[u8]]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word {
            _ if range(word).is_some() => break,
            [b'$' | b'!' | b'<', ..] => {}
            _ if is_one_of(word, OF_PACKETS_AND_NAME) => _ = words.next(),
            _ if is_one_of(word, OF_PACKETS) || is_count(word) => {}
            _ => return partial(word).is_some(),
        }
    }
    true
}

/// Whether a line is of a log: it begins with a time, or has signs of one. Strangers choose words
/// of these.
pub(super) fn is_logged(line: &[u8]) -> bool {
    let has = |sign: &[u8]| memchr::memmem::find(line, sign).is_some();
    // In hosts.allow, an address is between the brackets.
    let is_address = |at: usize| {
        let open = memchr::memrchr(b'[', &line[..at]).unwrap_or(at);
        range(&line[open..=at]).is_some()
    };
    let has_sign = memchr::memchr(b']', line).is_some()
        && (has(b"] \"") || memchr::memmem::find(line, b"]: ").is_some_and(|at| !is_address(at)));
    has_sign
        || begins_with_time(line)
        || memchr::memchr(b'=', line).is_some() && has(b" SRC=") && has(b" DST=")
}

fn begins_with_time(line: &[u8]) -> bool {
    const NAMES: &str = "time date ts timestamp @timestamp datetime";
    const DAYS: &str =
        "jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun";
    let has_soon = |byte| line.iter().take(40).any(|it| *it == byte);
    let is_sign = |byte: &u8| b"[({\"'*.: ".contains(byte);
    let start = line.iter().position(|byte| !is_sign(byte)).unwrap_or(line.len());
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",;\"=]".contains(byte);
    let text = &line[start..line.len().min(start + 40)];
    let (word, rest) = text.split_at(text.iter().position(is_end).unwrap_or(text.len()));
    let is_day = |it: &[u8]| it.len() == 3 && is_one_of(it, DAYS);
    let is_date = |sign: u8, most: usize| {
        let is_part = |it: &[u8]| matches!(it.len(), 1..5) && number(it).is_some() || is_day(it);
        let mut parts = word.splitn(3, |it| *it == sign);
        let [first, second, third] = std::array::from_fn(|_| parts.next().unwrap_or(b""));
        let is_last =
            is_part(&third[..third.len().min(2)]) && (sign == b'-' || !third.contains(&sign));
        first.len() <= most && is_part(first) && is_part(second) && is_last
    };
    let seconds: Vec<_> = word.split(|it| *it == b'.').map(<[u8]>::len).collect();
    match line {
        // Of syslog, and of Cisco's routers.
        [b'<', b'0'..=b'9', ..] => has_soon(b'>'),
        [b'%', b'A'..=b'Z', ..] => has_soon(b'-'),
        _ if is_day(word) => !rest.is_empty(),
        _ if is_one_of(word, NAMES) => matches!(rest, [b'=', ..] | [b'"', b':', ..]),
        // Seconds, and days with dots.
        _ if matches!(seconds[..], [10, _] | [_, 6] | [2, 2, 4]) => {
            number(&word[..seconds[0]]).is_some()
        }
        _ => is_date(b'-', 4) || is_date(b'/', 4) || is_date(b':', 2),
    }
}
