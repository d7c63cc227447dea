//! Words of rules in a table, and what they say of networks and names.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::range::number;
use super::is_one_of;

/// The meaning of a word in a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// Where packets come from follows, or where they go.
    Source,
    Destination,
    /// Addresses that are not one's own follow.
    Either,
    /// The source follows in access lists of routers, and behind it the destination.
    Protocol,
    /// Any address.
    Any,
    /// A name or address follows, which says nothing, or is an end of packets.
    Named,
    Group,
    Not,
    /// The network before it is an exception.
    Except,
    Out,
    In,
    Forward,
    Known,
    /// Whether packets pass; `None` if they are neither blocked nor let pass.
    Verdict(Option<bool>),
    /// A verdict follows.
    Action,
    /// The network behind it may pass, unless a verdict follows.
    Allowed,
    /// A direction or a chain follows.
    Way,
    /// The name of a list follows.
    List,
    Disabled,
    Enabled,
    /// A network follows, of which it says nothing.
    Label,
}

pub(crate) type Words<T> = LazyLock<HashMap<&'static [u8], T>>;

/// Words without the dashes of long options.
pub(crate) static WORDS: Words<Word> = LazyLock::new(|| {
    use Word::*;
    table(&[
        (Source, "-s from source src saddr src-ip src-range source-address add-source add-entry"),
        (Source, "hdr_ip"),
        (Destination, "-d to destination dst daddr dst-ip dst-range destination-address localip"),
        (Destination, "localaddress"),
        (Either, "remoteip remoteaddress cidr cidr-block"),
        (Protocol, "ip ipv4 ipv6 tcp udp icmp icmpv6 esp gre ah ospf eigrp igmp all #"),
        (Any, "any anywhere"),
        (Named, "on proto protocol port interface user group logamount eq gt lt neq table via gw"),
        (Named, "deny_status label recv xmit sequence queue acl gateway next-hop nexthop"),
        (Named, "to-addresses pref-src"),
        (Group, "object-group object"),
        (Not, "not never unless ! notipaddress ne != invert negate negatecondition"),
        (Except, "except exclude excluded excluding exception exceptions exclusions"),
        (Out, "out outbound output egress"),
        (In, "in inbound input"),
        (Forward, "forward fwd"),
        (Known, "quick inet inet6 both if : flags keep state me extended standard - -- tcp-rst"),
        (Known, "port-unreach block-policy x-forwarded-for $"),
        (Verdict(Some(true)), "permit pass accept return direct dunno ok allow_snoop bypass"),
        (Verdict(Some(true)), "allow_setrd allow_cookie nomatch relay"),
        (Verdict(Some(false)), "deny drop reject block refuse deny_non_local refuse_non_local"),
        (Verdict(Some(false)), "discard tarpit silent-drop"),
        (Verdict(None), "log nflog ulog mark connmark masquerade snat dnat src-nat dst-nat ct"),
        (Verdict(None), "redirect netmap notrack tcpmss tee trace passthrough mark-connection"),
        (Verdict(None), "mark-packet mark-routing fasttrack-connection nfqueue tproxy classify"),
        (Verdict(None), "dscp hl audit count skipto pipe add-src-to-address-list"),
        (Verdict(None), "add-dst-to-address-list"),
        (Action, "-j jump -g goto then jump-target action access effect verdict decision policy"),
        (
            Action,
            "zone op ruleaction rule-action rule_action operation method event command rule target act",
        ),
        (Allowed, "allow allowed whitelist allowlist authorize-security-group-ingress"),
        (Allowed, "authorize-security-group-egress whitelisted white allowlists allowedips"),
        (Allowed, "mynetworks trusted safelist ippermissions ippermissionsegress cidrip cidripv6"),
        (Allowed, "securitygroupingress securitygroupegress cidr_blocks permitted exempt exempted"),
        (Allowed, "ignored allowlisted loadbalancersourceranges cidr_ipv4 cidr_ipv6 cidripv4"),
        (Allowed, "ingress_cidr_blocks public_access_cidrs authorized"),
        (Way, "-A -I -R append insert chain dir direction"),
        (List, "list name mode type set listname category short kind"),
        (Disabled, "disabled deleted removed revoked inactive absent expired released delete"),
        (Enabled, "enabled enable active to_ids blocked"),
        (Label, "host hosts ips addr ipaddr ipaddress iprange members net netrange cidrs subnet"),
        (Label, "prefix range block blocks client clients ioc indicator entry item element value"),
        (Label, "object start end first last td tr li p code c s o b r d nmap scan report for"),
        (Label, "exitaddress inetnum inet6num route6 unreachable prohibit between ban"),
        (Label, "network-object"),
    ])
});

pub(crate) fn table<T: Copy>(lists: &[(T, &'static str)]) -> HashMap<&'static [u8], T> {
    let words = |&(it, words): &(T, &'static str)| words.split(' ').map(move |word| (word, it));
    lists.iter().flat_map(words).map(|(word, it)| (word.as_bytes(), it)).collect()
}

/// The meaning of words that follow each other. Only options of one letter have a case.
pub(crate) fn look_up<T: Copy>(words: &HashMap<&[u8], T>, phrase: &[&[u8]]) -> Option<T> {
    let (mut text, mut len) = ([0; 48], 0);
    for word in phrase {
        let to = text.get_mut(len..=len + word.len())?;
        to[..word.len()].copy_from_slice(word);
        to[word.len()] = b'+';
        if !matches!(word, [b'-', _]) {
            to.make_ascii_lowercase();
        }
        len += word.len() + 1;
    }
    words.get(text.get(..len.checked_sub(1)?)?).copied()
}

/// A word as tables have it: numbers, variables, and programs without their folders.
pub(crate) fn name(word: &[u8]) -> &[u8] {
    match word {
        [b'$', ..] => b"$",
        [b'/', ..] => word.rsplit(|it| *it == b'/').next().unwrap_or(b""),
        _ if is_count(word) => b"#",
        _ => word.strip_suffix(b":").or(word.strip_suffix(b"/")).unwrap_or(word),
    }
}

/// The number of a rule or item, or how many packets and bytes a rule met.
pub(crate) fn is_count(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"[").unwrap_or(word);
    let (last, rest) = digits.split_last().unwrap_or((&0, b""));
    let digits = if b"].KM".contains(last) { rest } else { digits };
    digits.split(|&it| it == b':').all(|it| !it.is_empty() && number(it).is_some())
}

/// The meaning of a word of a rule. Only options of one letter have dashes.
pub(crate) fn meaning(word: &[u8]) -> Option<Word> {
    let mut word = name(word);
    while word.len() > 2 && word.starts_with(b"-") {
        word = &word[1..];
    }
    look_up(&WORDS, &[word])
}

/// Whether a name says that what has it is blocked: `LOGDROP`, `ssh_blacklist`.
pub(crate) fn is_of_blocked(name: &[u8]) -> bool {
    const SIGNS: &str = "drop deny denied reject black blocklist blocked bann bad malicious \
                         malware attack spam abus tarpit f2b forbid sinkhole nxdomain quarantine";
    name.len() > 2
        && (parts(name).any(|it| is_one_of(it, "block|ban|adblock")) || has_one(name, SIGNS))
        && !has_one(name, "accept allow white pass permit trust unb")
}

/// Whether a text has one of those in another, whatever its case.
fn has_one(text: &[u8], wanted: &str) -> bool {
    let has = |it: &str| text.windows(it.len()).any(|at| at.eq_ignore_ascii_case(it.as_bytes()));
    wanted.split(' ').any(has)
}

/// Whether a word turns what follows into its opposite.
pub(crate) fn is_negation(word: &[u8]) -> bool {
    word != b"!" && matches!(meaning(word), Some(Word::Not | Word::Except))
}

/// Whether packets pass (`true`) or not, if a word says it.
pub(crate) fn verdict_of(word: &[u8]) -> Option<bool> {
    match meaning(word)? {
        Word::Verdict(passes) => passes,
        Word::Allowed => Some(true),
        _ => None,
    }
}

/// The words that a name has: `trusted-ips`, `notNets`. Names of companies have one: `TrustArc`.
pub(crate) fn parts(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = name.split(|byte| !byte.is_ascii_alphanumeric());
    words.flat_map(|it| {
        let is_camel = it.first().is_some_and(u8::is_ascii_lowercase);
        it.chunk_by(move |a, b| !(is_camel && a.is_ascii_lowercase() && b.is_ascii_uppercase()))
    })
}

/// Whether a word begins with one of those in a text, whatever its case.
pub(crate) fn begins_with_one(word: &[u8], starts: &str) -> bool {
    let (Some(first), starts) = (word.first(), starts.as_bytes()) else { return false };
    memchr::memchr_iter(first.to_ascii_lowercase(), starts).any(|at| {
        let end = memchr::memchr(b' ', &starts[at..]).map_or(starts.len(), |end| at + end);
        let is_it = |it: &[u8]| it.eq_ignore_ascii_case(&starts[at..end]);
        starts[..at].last().is_none_or(|it| *it == b' ') && word.get(..end - at).is_some_and(is_it)
    })
}

/// Whether one of the words of a name says that what has it may pass.
pub(crate) fn is_of_allowed(name: &[u8]) -> bool {
    const ALLOWED: &str = "allow|allows|allowed|allowing|white|trusted|bypass|bypassed|\
                           ignore|ignores|ignored|passthru|passthrough|exempt|exempted|\
                           exclude|excludes|excluded|excluding|exclusion|exclusions|exception|\
                           exceptions|unblock|unblocked|unban|unbanned|approved";
    let is_one = |it: &[u8]| meaning(it) == Some(Word::Allowed);
    let whole = name.strip_suffix(b":").unwrap_or(name);
    is_one(name)
        || is_one_of(whole, "safe|trust|safe_ips|safe-ips|safe_domains|safe-domains")
        || parts(name).any(|it| is_one_of(it, ALLOWED) || it.len() < name.len() && is_one(it))
        || has_one(name, "whitelist allowlist safelist")
        || has_one(name, "allowed") && !has_one(name, "disallow notallow")
}

/// Whether a name is of something else than entries: servers that are asked, or targets of
/// requests.
pub(crate) fn is_of_others(name: &[u8]) -> bool {
    const STARTS: &str = "nameserver upstream fallback bootstrap resolver server prox forward fake \
                          sniff skip rewrite customdns mapping redirect initiator backend target \
                          endpoint gateway ipam registr radius ntp external socket parental \
                          response sortlist pool";
    let is_bad = is_of_blocked(name) || parts(name).any(|it| is_one_of(it, "c2|cnc|botnet|open"));
    !is_bad && parts(name).any(|it| begins_with_one(it, STARTS) || is_one_of(it, "dns|bip"))
        || is_one_of(name, "base|fixed-cidr")
        || has_one(name, "extra_hosts")
}
