//! Words of rules in tables: what they begin, and what they say of networks.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::Unfit;
use super::super::range::number;

/// How a statement is read that begins with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As what follows the word and this many names.
    Behind(usize),
    /// Its networks are not listed: it takes them out, or is about one's own, gateways, or logs.
    Unfit(Unfit),
    /// It is for people, or names no entries.
    Nothing,
    /// One entry of a set, perhaps behind the set's name.
    Add,
    /// Networks, each perhaps with its verdict behind it.
    Entries,
    /// Clients that may pass, or not.
    Clients(bool),
    /// The word is the verdict. Ends of packets follow.
    Access(bool),
    /// Ends of packets, and the verdict behind them.
    Ends,
    /// Names, each with a value.
    Options,
    /// Names of folders, and a value.
    Path,
    /// A network, and where packets for it go.
    Route,
}

/// What a word in a rule says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
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

type Words<T> = LazyLock<HashMap<&'static [u8], T>>;

/// `+` joins words, `#` is any number, and `$` any variable.
pub(super) static STARTS: Words<Kind> = LazyLock::new(|| {
    use Kind::*;
    const UNDO: Kind = Unfit(self::Unfit::Undone);
    const ELSE: Kind = Unfit(self::Unfit::Else);
    table(&[
        (Behind(0), "sudo doas exec push up - :do $ # [ iptables ip6tables iptables-legacy"),
        (Behind(0), "ip6tables-legacy iptables-nft ip6tables-nft ipset nft ufw ufw+route ipfw"),
        (Behind(0), "ipfw+add add+# add+rule insert+rule pfctl -T cscli decisions firewall-cmd"),
        (Behind(0), "rule insert prepend extended standard seq permanent #+d http-request"),
        (Behind(0), "ip+access-list ipv6+access-list"),
        (Behind(1), "ip+prefix-list ipv6+prefix-list prefix-list access-list line -t --zone ip+-"),
        (Behind(1), "--ipset tcp-request ip+firewall ipv6+firewall fail2ban-client+set"),
        (UNDO, "del delete remove rm no unban unbanip unblock unset undo withdraw deactivate"),
        (UNDO, "disable disabled inactive revoke destroy remove-netfirewallrule -D -C --delete"),
        (UNDO, "--check csf+-dr csf+-ar #+x --remove-source --remove-rich-rule delignoreip"),
        (UNDO, "revoke-security-group-ingress revoke-security-group-egress --remove-entry"),
        (UNDO, "--remove-rule csf+-tr csf+-g test delete-network-acl-entry"),
        (ELSE, "rdr nat dnat redirect binat match limit forwarders listen-on listen-on-v6 masters"),
        (ELSE, "primaries also-notify use_backend nameserver local broadcast default via to"),
        (ELSE, "nexthop gateway gw > ip+a ip+addr ip+address ipv6+address ipset+test ipset+-T"),
        (ELSE, "--zone+trusted -T+test get+element interfaces ethernets get show ip+rule server"),
        (ELSE, "servers listen bind neighbor peer peers nameservers dns ntp upstream ingress"),
        (ELSE, "egress match-clients match-destinations count pipe divert queue skipto fwd tee"),
        (ELSE, "scrub host+all hostssl+all hostnossl+all fromcidr fromcidrset tocidr tocidrset"),
        (Nothing, "remark description rem create commit flush header -P -N -F -X"),
        (Add, "add banip"),
        (Entries, "table v elements element add+element access-control ip-cidr ip-cidr6 ip6-cidr"),
        (Entries, "src-ip-cidr secrule"),
        (Clients(true), "require+ip hosts+allow"),
        (Clients(false), "require+not hosts+deny"),
        (Access(true), "allow permit pass accept ignoreip addignoreip whitelist allowlist csf+-a"),
        (Access(true), "csf+-ta allow-query allow-query-cache allow-transfer allow-recursion"),
        (Access(true), "allow-update allow-notify allow-from allow_nets"),
        (Access(false), "deny drop reject block csf+-d csf+-td"),
        (Options, "-A -I -R -s -p -i -m -o -d --append --insert --source --src --src-range netsh"),
        (Options, "--add-source --add-entry new-netfirewallrule set-netfirewallrule az aws gcloud"),
        (Options, "action"),
        (Path, "set+firewall set+policy-options set+policy set+security set+routing-options"),
        (Path, "set+protocols set+subnet set+iprange set+start-ip set+end-ip edit acl src dst"),
        (Path, "source destination source-address destination-address"),
        (Route, "route ip+route ipv6+route ip+r shun"),
    ])
});

/// Texts that say what a statement is, wherever they are in it.
pub(super) const SIGNS: [(&[u8], Kind); 8] = [
    (b"saddr vmap ", Kind::Entries),
    (b" saddr ", Kind::Ends),
    (b" daddr ", Kind::Ends),
    (b"rule family", Kind::Ends),
    (b"rule priority", Kind::Ends),
    (b" action=", Kind::Options),
    (b" allowed=", Kind::Options),
    (b"(ACCEPT)", Kind::Unfit(Unfit::Else)),
];

/// Words without the dashes of long options.
pub(super) static WORDS: Words<Word> = LazyLock::new(|| {
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
        (Not, "not unless ! notipaddress ne != invert negate negatecondition"),
        (Except, "except exclude excluded excluding exception exceptions exclusions"),
        (Out, "out outbound output egress"),
        (In, "in inbound input"),
        (Forward, "forward fwd"),
        (Known, "quick inet inet6 both if : flags keep state me extended standard - -- tcp-rst"),
        (Known, "port-unreach block-policy x-forwarded-for $"),
        (Verdict(Some(true)), "permit pass accept return direct dunno ok allow_snoop bypass"),
        (Verdict(Some(true)), "allow_setrd allow_cookie nomatch relay"),
        (Verdict(Some(false)), "deny drop reject block refuse deny_non_local refuse_non_local"),
        (Verdict(Some(false)), "discard tarpit"),
        (Verdict(None), "log nflog ulog mark connmark masquerade snat dnat src-nat dst-nat ct"),
        (Verdict(None), "redirect netmap notrack tcpmss tee trace passthrough mark-connection"),
        (Verdict(None), "mark-packet mark-routing fasttrack-connection nfqueue tproxy classify"),
        (Verdict(None), "dscp hl audit count skipto pipe add-src-to-address-list"),
        (Verdict(None), "add-dst-to-address-list"),
        (Action, "-j jump -g goto then jump-target action access effect verdict decision policy"),
        (Action, "zone op ruleaction rule-action operation method event command rule target act"),
        (Allowed, "allow allowed whitelist allowlist authorize-security-group-ingress"),
        (Allowed, "authorize-security-group-egress whitelisted white allowlists allowedips"),
        (Allowed, "mynetworks trusted safelist ippermissions ippermissionsegress cidrip cidripv6"),
        (Allowed, "securitygroupingress securitygroupegress cidr_blocks permitted exempt exempted"),
        (Allowed, "ignored allowlisted loadbalancersourceranges"),
        (Way, "-A -I -R append insert chain dir direction"),
        (List, "list name mode type set listname category short"),
        (Disabled, "disabled deleted removed revoked inactive absent expired"),
        (Enabled, "enabled enable active to_ids blocked"),
        (Label, "host hosts ips addr ipaddr ipaddress iprange members net netrange cidrs subnet"),
        (Label, "prefix range block blocks client clients ioc indicator entry item element value"),
        (Label, "object start end first last td tr li p code c s o b r d nmap scan report for"),
        (Label, "exitaddress inetnum inet6num route6 unreachable prohibit between ban"),
        (Label, "network-object"),
    ])
});

fn table<T: Copy>(lists: &[(T, &'static str)]) -> HashMap<&'static [u8], T> {
    let words = |&(it, words): &(T, &'static str)| words.split(' ').map(move |word| (word, it));
    lists.iter().flat_map(words).map(|(word, it)| (word.as_bytes(), it)).collect()
}

/// What words that follow each other mean. Only options of one letter have a case.
pub(super) fn look_up<T: Copy>(words: &HashMap<&[u8], T>, phrase: &[&[u8]]) -> Option<T> {
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
pub(super) fn name(word: &[u8]) -> &[u8] {
    match word {
        [b'$', ..] => b"$",
        [b'/', ..] => word.rsplit(|it| *it == b'/').next().unwrap_or(b""),
        _ if is_count(word) => b"#",
        _ => word.strip_suffix(b":").or(word.strip_suffix(b"/")).unwrap_or(word),
    }
}

/// The number of a rule or item, or how many packets and bytes a rule met.
pub(super) fn is_count(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"[").unwrap_or(word);
    let (last, rest) = digits.split_last().unwrap_or((&0, b""));
    let digits = if b"].KM".contains(last) { rest } else { digits };
    digits.split(|&it| it == b':').all(|it| !it.is_empty() && number(it).is_some())
}

/// What a word of a rule says. Only options of one letter have dashes.
pub(super) fn meaning(word: &[u8]) -> Option<Word> {
    let mut word = name(word);
    while word.len() > 2 && word.starts_with(b"-") {
        word = &word[1..];
    }
    look_up(&WORDS, &[word])
}

/// Whether a name says that what has it is blocked: `LOGDROP`, `ssh_blacklist`.
pub(super) fn is_of_blocked(name: &[u8]) -> bool {
    let has =
        |part: &str| name.windows(part.len()).any(|it| it.eq_ignore_ascii_case(part.as_bytes()));
    if name.len() < 3 {
        return false;
    }
    let signs = "drop deny denied reject black blocklist blocked bann bad malicious malware attack \
                 spam abus tarpit f2b forbid";
    signs.split(' ').any(has) && !"accept allow white pass permit trust unb".split(' ').any(has)
}

/// Whether packets that jump to a target pass. What other chains do is not known.
pub(super) fn chain(name: &[u8]) -> Result<bool, Unfit> {
    match meaning(name) {
        Some(Word::Verdict(Some(passes))) => Ok(passes),
        Some(Word::Allowed) => Ok(true),
        None if is_of_blocked(name) => Ok(false),
        _ => Err(Unfit::Else),
    }
}

/// Whether a value turns its name off.
pub(super) fn is_no(value: &[u8]) -> bool {
    ["no", "false", "$false"].iter().any(|it| value.eq_ignore_ascii_case(it.as_bytes()))
}

/// Why networks behind a word are not listed.
pub(super) fn unfit(word: &[u8]) -> Option<Unfit> {
    if let Some(Kind::Unfit(why)) = look_up(&STARTS, &[word]) { Some(why) } else { None }
}

/// Whether a word turns what follows into its opposite.
pub(super) fn is_negation(word: &[u8]) -> bool {
    word != b"!" && matches!(meaning(word), Some(Word::Not | Word::Except))
}

/// Whether packets pass (`true`) or not, if a word says it.
pub(super) fn verdict_of(word: &[u8]) -> Option<bool> {
    match meaning(word)? {
        Word::Verdict(passes) => passes,
        Word::Allowed => Some(true),
        _ => None,
    }
}

/// Whether one of the parts of a name says that what has it may pass.
pub(super) fn is_of_allowed(name: &[u8]) -> bool {
    let has =
        |part: &str| name.windows(part.len()).any(|it| it.eq_ignore_ascii_case(part.as_bytes()));
    let mut parts = name.split(|byte| b"-_:/$".contains(byte)).chain([name]);
    parts.any(|it| meaning(it) == Some(Word::Allowed))
        || ["whitelist", "allowlist"].into_iter().any(has)
        || has("allowed") && !has("disallow") && !has("notallow")
}

/// Whether the text of a column says that there was no reason to block.
pub(super) fn is_harmless(cell: &[u8]) -> bool {
    const CELLS: &str = "fp|false positive|false-positive|false_positive|falsepositive|benign|\
                         clean|harmless|legitimate|cleared|unblocked|unbanned|not blocked|\
                         not banned|not malicious";
    let start = cell.iter().position(|it| !b" \"'".contains(it)).unwrap_or(0);
    let end = cell.iter().rposition(|it| !b" \"'".contains(it)).map_or(start, |at| at + 1);
    CELLS.split('|').any(|it| cell[start..end].eq_ignore_ascii_case(it.as_bytes()))
}

/// Whether a line only says that what follows may pass (`true`) or not: `# Allowed networks`.
pub(super) fn heading(line: &[u8]) -> Option<bool> {
    const OTHERS: &str = "ip ips ipv4 ipv6 network networks addresses ranges subnets entries \
                          list lists the our my these following below are is always";
    let is_other = |word: &[u8]| {
        let is_it = |it: &str| word.eq_ignore_ascii_case(it.as_bytes());
        meaning(word) == Some(Word::Label) || OTHERS.split(' ').any(is_it)
    };
    let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'.';
    let mut verdict = None;
    // Settings are none.
    if memchr::memchr(b'=', line).is_some_and(|at| !line[at..].starts_with(b"==")) {
        return None;
    }
    for word in line.split(is_sign).filter(|it| !it.is_empty()) {
        let passes = is_of_allowed(word) || meaning(word) == Some(Word::Except);
        if passes || is_of_blocked(word) {
            // Two of them make a sentence, a number counts what is in the list.
            if verdict.replace(passes).is_some() {
                return None;
            }
        } else if !is_other(word) {
            return None;
        }
    }
    verdict
}
