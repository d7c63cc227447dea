//! The verdicts of headings, and of the members of blocks.

use super::super::Unfit;
use super::{Verdict, Word, is_of_allowed, is_of_blocked, meaning, verdict_of};

/// Whether a text is one of those in another, whatever its case.
pub(crate) fn is_one_of(text: &[u8], wanted: &str) -> bool {
    wanted.split('|').any(|it| text.eq_ignore_ascii_case(it.as_bytes()))
}

/// Whether the text of a column says that there was no reason to block.
pub(crate) fn is_harmless(cell: &[u8]) -> bool {
    const CELLS: &str = "fp|false positive|false-positive|false_positive|falsepositive|\
                         false_positives|benign|clean|harmless|legitimate|cleared|unblocked|\
                         unbanned|not blocked|not banned|not malicious";
    let start = cell.iter().position(|it| !b" \"'".contains(it)).unwrap_or(0);
    let end = cell.iter().rposition(|it| !b" \"'".contains(it)).map_or(start, |at| at + 1);
    is_one_of(&cell[start..end], CELLS)
}

/// Whether the value of a name may say that its entry does not count any more.
pub(crate) fn is_state(name: &[u8]) -> bool {
    is_one_of(name, "state|status|ensure|classification")
}

/// Whether the value of a name is a text for people.
fn is_text(name: &[u8]) -> bool {
    is_one_of(
        name,
        "comment|comments|description|as_name|org|raw_data|note|notes|title|message|text",
    )
}

/// Whether a line only says that what follows may pass (`true`) or not: `# Allowed networks`.
pub(crate) fn heading(line: &[u8]) -> Option<bool> {
    const OTHERS: &str = "ip|ips|ipv4|ipv6|network|networks|addresses|ranges|subnets|entries|list|\
                          lists|the|our|my|these|following|below|are|is|always|domain|domains|\
                          name|names|site|sites";
    // Whole words, because names of people and companies begin with some of them.
    const ALLOWED: &str = "allow|allows|allowed|allowlist|allowlists|allowlisted|whitelist|\
                           whitelists|whitelisted|exception|exceptions|except|excluded|exclusion|\
                           exclusions|exempt|exempted|trusted|safelist|safelisted|permit|\
                           permitted|ignored|unblocked";
    const BLOCKED: &str = "block|blocks|blocked|blocklist|blocklists|blocklisted|blacklist|\
                           blacklists|blacklisted|deny|denied|denylist|ban|bans|banned|banlist";
    let has_list = || line.windows(4).any(|it| it.eq_ignore_ascii_case(b"list"));
    let is_of = |word: &[u8], words: &str, colour: &str| {
        is_one_of(word, words) || is_one_of(word, colour) && has_list()
    };
    let is_other = |word: &[u8]| meaning(word) == Some(Word::Label) || is_one_of(word, OTHERS);
    let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'.';
    let mut verdict = None;
    // Settings and names of columns are none.
    if memchr::memchr(b'=', line).is_some_and(|at| !line[at..].starts_with(b"=="))
        || memchr::memchr2(b',', b'\t', line).is_some()
    {
        return None;
    }
    for word in line.split(is_sign).filter(|it| !it.is_empty()) {
        let passes = is_of(word, ALLOWED, "white");
        if passes || is_of(word, BLOCKED, "black") {
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

/// The verdict of a name and its value on the other members of their block. `key` is the meaning of
/// the name.
pub(crate) fn said(key: Option<Word>, name: &[u8], value: &[u8]) -> Option<Verdict> {
    let is_true = is_one_of(value, "true|yes|on|1");
    let is_false = is_one_of(value, "false|no|0|$false|off");
    let name = name.strip_suffix(b":").unwrap_or(name);
    let is_state = is_state(name);
    let is_strict = || {
        is_one_of(name, "action|rule_action|verdict|decision")
            && value.iter().any(u8::is_ascii_alphabetic)
    };
    let key = if is_one_of(name, "group|tag") { Some(Word::List) } else { key };
    match key {
        Some(Word::Disabled) => (!is_false).then_some(Err(Unfit::Undone)),
        Some(Word::Enabled) => is_false.then_some(Err(Unfit::Undone)),
        _ if is_false && is_of_blocked(name) => Some(Err(Unfit::Undone)),
        _ if is_state && meaning(value) == Some(Word::Disabled) => Some(Err(Unfit::Undone)),
        _ if is_state && is_of_allowed(value) => Some(Ok(true)),
        _ if is_harmless(value) && !is_text(name) => Some(Err(Unfit::Else)),
        Some(Word::List) if is_of_allowed(value) => Some(Ok(true)),
        Some(Word::List) => is_of_blocked(value).then_some(Ok(false)),
        Some(Word::Allowed) if is_true || is_false => Some(Ok(is_true)),
        None if is_true && is_of_allowed(name) => Some(Ok(true)),
        _ if is_true && (key == Some(Word::Not) || is_harmless(name)) => Some(Err(Unfit::Else)),
        Some(Word::Action | Word::Allowed) => match verdict_of(value) {
            _ if meaning(value) == Some(Word::Verdict(None)) => Some(Err(Unfit::Else)),
            Some(passes) => Some(Ok(passes)),
            None if is_of_blocked(value) => Some(Ok(false)),
            None if is_of_allowed(value) => Some(Ok(true)),
            None => is_strict().then_some(Err(Unfit::Else)),
        },
        _ => None,
    }
}
