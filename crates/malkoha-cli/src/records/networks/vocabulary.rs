//! Words with which the statements of firewalls, resolvers and routers begin.

use std::sync::LazyLock;

use super::super::Unfit;
use super::super::blocks::{Word, Words, is_of_blocked, look_up, meaning, table};

/// Words of a line among which is what it says of the lines behind it.
pub(super) const NAMES: usize = 64;

/// How a statement is read that begins with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As what follows the word and this many names.
    Behind(usize),
    /// The same, if that is a verdict.
    Before(usize),
    /// Its networks are not listed: it takes them out, or is about one's own, gateways, or logs.
    Unfit(Unfit),
    /// It is for people, or names no entries.
    Nothing,
    /// One entry of a set, perhaps behind the set's name.
    Add,
    /// Networks, each perhaps with its verdict behind it.
    Entries,
    /// The same, of a program whose other actions are no verdicts.
    Judged,
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

/// `+` joins words, `#` is any number, and `$` any variable.
pub(super) static STARTS: Words<Kind> = LazyLock::new(|| {
    use Kind::*;
    const UNDO: Kind = Unfit(self::Unfit::Undone);
    const ELSE: Kind = Unfit(self::Unfit::Else);
    table(&[
        (Behind(0), "sudo doas exec push up - :do $ # [ iptables ip6tables iptables-legacy"),
        (Behind(0), "ip6tables-legacy iptables-nft ip6tables-nft ipset nft ufw ufw+route ipfw"),
        (Behind(0), "add+rule insert+rule pfctl -T cscli decisions firewall-cmd"),
        (Behind(0), "rule insert prepend extended standard seq permanent #+d"),
        (Behind(0), "ip+access-list ipv6+access-list"),
        (Behind(1), "ip+prefix-list ipv6+prefix-list prefix-list access-list line -t --zone ip+-"),
        (Behind(1), "--ipset ip+firewall ipv6+firewall fail2ban-client+set"),
        (Before(0), "http-request ipfw+add add+#"),
        (Before(1), "tcp-request"),
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
        (
            ELSE,
            "scrub monitor host+all hostssl+all hostnossl+all fromcidr fromcidrset tocidr tocidrset",
        ),
        (Nothing, "remark description rem create commit flush header -P -N -F -X"),
        (Add, "add banip"),
        (Entries, "table v elements element add+element"),
        (Judged, "access-control ip-cidr ip-cidr6 ip6-cidr src-ip-cidr secrule"),
        (Clients(true), "require+ip hosts+allow"),
        (Clients(false), "require+not hosts+deny"),
        (Access(true), "allow permit pass accept ignoreip addignoreip whitelist allowlist csf+-a"),
        (Access(true), "csf+-ta allow-query allow-query-cache allow-transfer allow-recursion"),
        (Access(true), "allow-update allow-notify allow-from allow_nets"),
        (Access(false), "deny drop reject block silent-drop tarpit csf+-d csf+-td"),
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

/// Why networks behind a word are not listed.
pub(super) fn unfit(word: &[u8]) -> Option<Unfit> {
    if let Some(Kind::Unfit(why)) = look_up(&STARTS, &[word]) { Some(why) } else { None }
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

/// The meaning of a name. For names in no table, the first letters decide.
pub(super) fn key(name: &[u8], is_option: bool) -> Option<Word> {
    let start = name.iter().position(|it| *it != b'-').unwrap_or(0);
    let begins = |with: &[u8]| {
        name[start..].get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with))
    };
    match meaning(name) {
        None if begins(b"src") || begins(b"source") => Some(Word::Source),
        None if begins(b"dst") || begins(b"dest") => Some(Word::Destination),
        None if is_option => Some(Word::Named),
        it => it,
    }
}
