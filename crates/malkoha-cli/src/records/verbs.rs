//! What rules of firewalls and routers do with the addresses that they name.

use super::Unfit;

/// Words of commands that take out what they name.
const UNDO: [&str; 15] = [
    "del",
    "delete",
    "remove",
    "rm",
    "unban",
    "unbanip",
    "unblock",
    "unset",
    "undo",
    "withdraw",
    "deactivate",
    "disable",
    "disabled",
    "inactive",
    "revoke",
];

/// Targets and actions that neither block packets nor let them pass.
const ELSE: [&str; 18] = [
    "log",
    "nflog",
    "ulog",
    "mark",
    "connmark",
    "masquerade",
    "snat",
    "dnat",
    "src-nat",
    "dst-nat",
    "redirect",
    "netmap",
    "notrack",
    "ct",
    "tcpmss",
    "tee",
    "trace",
    "passthrough",
];

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words.iter().any(|it| word.eq_ignore_ascii_case(it.as_bytes()))
}

/// Whether a rule or command with this word takes out what it names.
pub(super) fn undoes(word: &[u8]) -> bool {
    let bare = word.strip_prefix(b"--").unwrap_or(word);
    let end = bare.iter().position(|byte| b"-:".contains(byte)).unwrap_or(bare.len());
    // Checks whether there is such a rule.
    matches!(word, b"-D" | b"-C") || is_one_of(&bare[..end], &UNDO)
}

/// Whether packets pass (`true`) or not, if a word says it.
pub(super) fn verdict(word: &[u8]) -> Option<bool> {
    let passes = ["allow", "permit", "pass", "accept", "return", "direct", "dunno"];
    let lists = ["allowlist", "whitelist", "ignoreip"];
    match () {
        () if is_one_of(word, &passes) || is_one_of(word, &lists) => Some(true),
        () if is_one_of(word, &["deny", "drop", "reject", "block"]) => Some(false),
        () => None,
    }
}

/// Why a rule says nothing of addresses.
pub(super) fn says_nothing(words: &[&[u8]]) -> Option<Unfit> {
    let has = |word: &[u8]| words.contains(&word);
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or(&b""[..], |before| words[before]);
        let behind = words.get(at + 1).copied().unwrap_or(b"");
        let is_target = is_one_of(before, &["-j", "--jump", "action"])
            || is_one_of(behind, &["all", "tcp", "udp", "icmp"])
            || words.get(at + 2).is_some_and(|word| *word == b"--");
        match *word {
            b"disabled" if !is_one_of(behind, &["no", "false"]) => return Some(Unfit::Undone),
            word if is_target && is_one_of(word, &ELSE) => return Some(Unfit::Else),
            _ => {}
        }
    }
    // A rule of nftables may only count or log, and one of pf may change addresses.
    let is_verdict = |word: &&[u8]| is_one_of(word, &["jump", "goto"]) || verdict(word).is_some();
    let is_without = has(b"saddr") && !words.iter().any(is_verdict);
    let is_nat = matches!(words.first(), Some(&(b"nat" | b"rdr" | b"binat"))) && has(b"->");
    (is_without || is_nat).then_some(Unfit::Else)
}

/// Whether a word says that a rule is for what goes out, whose other end is the destination.
pub(super) fn goes_out(word: &[u8]) -> bool {
    matches!(word, b"OUTPUT" | b"output" | b"out" | b"outbound" | b"egress")
}

fn bare(word: &[u8]) -> Vec<u8> {
    let word = word.strip_suffix(b":").unwrap_or(word);
    word.strip_prefix(b"--").unwrap_or(word).to_ascii_lowercase()
}

/// Whether a word is a protocol, or the sign of its options: behind it are a source and a
/// destination.
pub(super) fn is_protocol(word: &[u8]) -> bool {
    matches!(word, b"--" | b"ip" | b"ipv4" | b"ipv6" | b"tcp" | b"udp" | b"icmp")
}

/// Whether sources of packets follow a word.
pub(super) fn is_source(word: &[u8]) -> bool {
    let bare = bare(word);
    matches!(bare.as_slice(), b"-s" | b"from" | b"saddr")
        || [&b"src"[..], b"source"].iter().any(|it| bare.starts_with(it))
}

/// Whether destinations of packets follow a word.
pub(super) fn is_destination(word: &[u8]) -> bool {
    let bare = bare(word);
    matches!(bare.as_slice(), b"-d" | b"to" | b"daddr" | b"any" | b"anywhere")
        || [&b"dst"[..], b"dest"].iter().any(|it| bare.starts_with(it))
}

/// The same of a word behind another, behind which they follow or not.
pub(super) fn leads_to_destination(word: &[u8], before: &[u8], was: bool) -> bool {
    let goes_on = was && !is_source(word) && verdict(word).is_none();
    is_destination(word) || goes_on && (before != b"to" || word == b"host")
}
