//! Rows of the tables that firewalls and routers print, as rules that say the same.

use super::super::range::{range, v4};
use super::kind::{Start, behind, is_count, is_one_of};
use super::rule::is_else;

/// How a rule is read, and its words.
pub(super) type Rule<'a> = (Start, Vec<&'a [u8]>);

/// `[number] [packets bytes] target protocol -- [in out] source destination`
pub(super) fn iptables<'a>(words: &[&'a [u8]]) -> Option<Rule<'a>> {
    let numbers = words.iter().take_while(|it| is_count(it)).count();
    let [target, protocol, rest @ ..] = words.get(numbers..)? else { return None };
    let is_known = matches!(*target, b"DROP" | b"REJECT" | b"ACCEPT" | b"RETURN" | b"LOG");
    let rest = match rest {
        _ if !is_one_of(protocol, "all tcp udp icmp icmpv6 ipv6-icmp esp")
            && !is_count(protocol) =>
        {
            return None;
        }
        [b"--" | b"-f" | b"!f", rest @ ..] => rest,
        rest if is_known => rest,
        _ => return None,
    };
    let [source, destination, ..] = rest.get(if numbers > 1 { 2 } else { 0 }..)? else {
        return None;
    };
    let passes = matches!(*target, b"ACCEPT" | b"RETURN");
    let start = if is_else(target) { Start::Else } else { Start::Verdict(passes) };
    Some((start, vec![target, b"from", source, b"to", destination]))
}

/// `to action direction from`
pub(super) fn ufw<'a>(words: &[&'a [u8]]) -> Option<Rule<'a>> {
    let is_action = |it: &&[u8]| matches!(*it, b"ALLOW" | b"DENY" | b"REJECT" | b"LIMIT");
    let at = words.iter().take(8).position(is_action).filter(|&at| at > 0)?;
    let (way, from) = match words[at + 1..] {
        [way @ (b"IN" | b"OUT" | b"FWD"), from, ..] => (way, from),
        [from, ..] => (b"IN".as_slice(), from),
        [] => return None,
    };
    let to = words[..at].iter().find(|it| range(it).is_some()).copied().unwrap_or(b"any");
    let start = match words[at] {
        b"LIMIT" => Start::Else,
        action => Start::Verdict(action == b"ALLOW"),
    };
    let is_row = from == b"Anywhere" || range(from).is_some();
    is_row.then(|| (start, vec![words[at], way, b"from", from, b"to", to]))
}

/// `daemons: clients EXCEPT clients : ALLOW`
pub(super) fn hosts<'a>(words: &[&'a [u8]], line: &[u8]) -> Option<Rule<'a>> {
    let is_daemon = |it: &&[u8]| it.ends_with(b":") || behind(line, it).starts_with(b" : ");
    let clients =
        &words[words.iter().position(is_daemon).filter(|_| range(words[0]).is_none())? + 1..];
    let last = line[memchr::memrchr(b':', line)? + 1..].trim_ascii();
    let passes = last.eq_ignore_ascii_case(b"allow");
    let is_rule = passes || last.eq_ignore_ascii_case(b"deny") || clients.contains(&&b"EXCEPT"[..]);
    is_rule.then(|| (Start::Verdict(passes), clients.to_vec()))
}

/// `network mask gateway`, `network gateway mask flags`, `network gateway flags`, `network via
/// gateway`, and `*> network gateway`
pub(super) fn routes<'a>(words: &[&'a [u8]], line: &[u8]) -> Option<Rule<'a>> {
    let is_mask =
        |it: &[u8]| v4(it).is_some_and(|it| it.leading_ones() + it.trailing_zeros() == 32);
    let is_flags = |it: &[u8]| it[0] == b'U' && it.iter().all(u8::is_ascii_alphanumeric);
    let is_hop =
        |it: &[u8]| range(it).is_some() || it.starts_with(b"link#") || is_one_of(it, "on-link");
    let sign = *words.first()?;
    let is_path = b"rsdhSRK".contains(&sign[0]) && line.trim_ascii_start()[1..].starts_with(b">");
    if words.len() > 2 && (sign == b"*" || is_path) {
        // The kind of a path may be joined to the network.
        let rest = &words[words.iter().take_while(|it| it.len() == 1).count()..];
        let network = rest.first().map_or(&b""[..], |it| it.strip_prefix(b"i").unwrap_or(it));
        let is_network = network.contains(&b'/');
        return Some((if is_network { Start::Route } else { Start::Else }, vec![network]));
    }
    // Two addresses and a country are a range in other tables.
    let is_bare = !line.iter().any(|byte| b",\t".contains(byte));
    let at = words.iter().take(6).position(|it| range(it).is_some())?;
    let route = match words[at..] {
        // Another gateway of the network before.
        _ if at == 2 && sign.starts_with(b"[") && words[1] == b"via" => {
            return Some((Start::Else, vec![]));
        }
        [_, b"is", b"variably" | b"subnetted", ..] => return Some((Start::Else, vec![])),
        [it, b"via" | b"gw" | b"gateway" | b"dev", ..] => vec![it],
        [it, _, b"via" | b"is", ..] if at > 0 => vec![it],
        [it, hop, mask, flags, ..] if is_hop(hop) && is_mask(mask) && is_flags(flags) => {
            vec![it, mask]
        }
        [it, mask, hop, ref rest @ ..]
            if at == 0
                && is_mask(mask)
                && is_hop(hop)
                && !rest.first().is_some_and(|it| is_mask(it)) =>
        {
            vec![it, mask]
        }
        [it, hop, flags, ..] if is_hop(hop) && is_flags(flags) && is_bare && flags.len() > 2 => {
            vec![it]
        }
        _ => return None,
    };
    Some((Start::Route, route))
}
