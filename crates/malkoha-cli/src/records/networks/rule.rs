//! Rules of firewalls, resolvers and routers: which networks they are about, and their verdict.

use super::super::Unfit;
use super::super::domains::Line;
use super::super::range::{Range, partial, range};
use super::super::ranges::has_part;
use super::kind::{Start, behind, is_count, is_key, is_one_of};
use super::run::Part;

/// Networks, and whether each is excepted.
pub(super) type Found = Vec<(Range, bool)>;

/// Targets and actions that neither block packets nor let them pass.
const ELSE: &str = "log nflog ulog mark connmark masquerade snat dnat src-nat dst-nat redirect \
    netmap notrack ct tcpmss tee trace passthrough mark-connection mark-packet mark-routing \
    fasttrack-connection add-src-to-address-list add-dst-to-address-list";

const PASSES: &str = "allow permit pass accept return direct dunno ok allow_snoop allow_setrd \
    allow_cookie trusted whitelist bypass";
const BLOCKS: &str = "deny drop reject block jump goto refuse deny_non_local refuse_non_local \
    discard tarpit";

/// Options behind which the verdict stands.
const ACTIONS: &str = "-j --jump -g --goto action -action --action then access --access effect \
    allowed mode verdict decision policy zone --zone ruleaction --rule-action";

/// Words that say themselves that packets pass, if no verdict is behind them.
const PASSING: &str = "--allow allowed authorize-security-group-ingress \
    authorize-security-group-egress";

/// Members of objects whose value says what is done, or of what list an entry is.
const TELLING: &str = "list name mode type set listname category action op operation method event \
    command direction dir chain";

/// Words behind which a name stands.
const NAMED: &str = "-A -I -R --append --insert acl name list list-name chain table term filter \
    address-group network-group ipv6-address-group ipv6-network-group prefix-list rule-set edit";

/// Words behind which other addresses stand.
const OTHERS: &str = "via gw gateway next-hop nexthop to-addresses to-source to-destination \
    --to-source --to-destination pref-src";

/// What a network is to packets.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Either,
    Source,
    Destination,
    Other,
}

/// A network, and whether it is excepted.
type End = (Role, Range, bool);

/// The networks that are not one's own, of those that a rule names.
fn foreign(ends: &[End], goes_out: bool, is_forward: bool) -> Result<Found, Unfit> {
    let (theirs, own) = match goes_out {
        true => (Role::Destination, Role::Source),
        false => (Role::Source, Role::Destination),
    };
    let has = |role| ends.iter().any(|it| it.0 == role && !it.1.is_every());
    if has(own) && (is_forward || !has(theirs) && !has(Role::Either)) {
        return Err(Unfit::Goes);
    }
    let those = ends.iter().filter(|it| it.0 == theirs || it.0 == Role::Either);
    let found: Found = those.map(|it| (it.1, it.2)).collect();
    if found.iter().any(|(it, _)| it.is_every()) { Err(Unfit::Every) } else { Ok(found) }
}

/// The networks of a rule, whose words follow.
pub(super) fn read(start: Start, words: &[&[u8]], part: Part<'_>) -> Result<Found, Line> {
    let unfit = match start {
        Start::Remark => return Err(Line::Nothing),
        Start::Undo => Unfit::Undone,
        Start::Else => Unfit::Else,
        start => return ends(start, words, part).map_err(Line::Unfit),
    };
    Err(Line::Unfit(unfit))
}

fn ends(start: Start, all: &[&[u8]], part: Part<'_>) -> Result<Found, Unfit> {
    let has = |words: &str| all.iter().any(|word| is_one_of(word, words));
    let says = |at: usize, words| all.get(at).is_some_and(|word| is_one_of(word, words));
    let mut verdict = if let Start::Verdict(it) = start { Some(it) } else { None };
    let has_roles = !matches!(start, Start::Entries | Start::Trailing(false) | Start::Route);
    // Of Apache, where addresses may have fewer parts.
    let has_parts = says(0, "deny allow") && says(1, "from") || says(0, "require");
    // As in access lists of routers, the source comes before the destination, without a name.
    let has_places = verdict.is_some()
        && !has_parts
        && !has("from to source destination")
        && all.iter().take_while(|it| range(it).is_none()).any(|it| is_protocol(it));
    let (mut ends, mut role): (Vec<End>, _) = (Vec::new(), Role::Either);
    let (mut is_not, mut is_except, mut is_list) = (false, false, false);
    let (mut goes_out, mut is_forward, is_input) = (false, false, has("input"));
    // How many networks have a verdict behind them.
    let mut judged = 0;
    let (mut last, mut words) = (&b":"[..], all.iter().copied().peekable());
    let (is_object, mut key) = (matches!(part.text, [b'{' | b'[' | b'"', ..]), &b""[..]);
    while let Some(&word) = words.peek() {
        let part_of_one = partial(word).filter(|_| has_parts && is_one_of(last, "from ip"));
        if part_of_one.is_some() || range(word).is_some() {
            let joint: &[u8] = if last.ends_with(b"range") { b"to" } else { b"" };
            let mut found = match part_of_one {
                Some(it) => words.next().map(|_| (it, false)).into_iter().collect(),
                None => part.networks(&mut words, last, joint)?,
            };
            let has_one = start == Start::Options
                || verdict.is_some() && role == Role::Either && !has_parts && !is_except;
            if has_one && last != b"or" && ends.iter().any(|it| it.0 == role) {
                return Err(Unfit::Scattered);
            }
            found.truncate(if has_places { 1 } else { usize::MAX });
            ends.extend(found.into_iter().map(|(it, not)| (role, it, not ^ is_not)));
            is_not &= has_parts || is_except;
            role = if has_places { Role::Destination } else { role };
            last = if has_parts { last } else { word };
            continue;
        }
        words.next();
        let next = words.peek().copied().unwrap_or(b"");
        let next = next.strip_prefix(b":").unwrap_or(next);
        if is_key(part.text, word) {
            key = word.strip_suffix(b":").unwrap_or(word);
        }
        // The value of a member that anybody may have written says nothing.
        let is_telling = !is_object || is_one_of(key, TELLING);
        is_list |= (ends.is_empty() || start == Start::Options)
            && is_telling
            && has_part(word, &["whitelist", "allowlist"]);
        goes_out |= is_one_of(word, "output out outbound egress gateway blackhole")
            && is_telling
            && !is_one_of(last, "on -j");
        is_forward |= is_one_of(word, "forward fwd") || word == b"daddr" && !is_input;
        let judges = match start {
            Start::Trailing(_) => verdict_of(word.strip_suffix(b"/").unwrap_or(word)),
            // Of an element of a set.
            Start::Entries => (word == b"nomatch").then_some(true),
            _ => None,
        };
        if let Some(passes) = judges {
            ends[judged..].iter_mut().for_each(|it| it.2 ^= passes);
            judged = ends.len();
        }
        // Of Junos.
        if start == Start::Options
            && word == b"except"
            && range(last).is_some()
            && let Some(end) = ends.last_mut()
        {
            end.2 = !end.2;
        }
        if has_roles && is_one_of(last, NAMED) {
            role = Role::Either;
        } else if has_roles {
            // In hosts.allow, it is about all that follow.
            is_except |= word == b"EXCEPT";
            is_not |= is_one_of(word, "not unless notipaddress") | is_except
                || word == b"!" && (range(next).is_some() || role_of(next).is_some());
            let is_action = is_one_of(word.strip_suffix(b":").unwrap_or(word), ACTIONS);
            let is_off = is_one_of(next, "no false");
            if is_one_of(word, "disabled") && !is_off
                || is_one_of(word, "enabled enable") && is_off
                || word.starts_with(b"--remove") | word.starts_with(b"revoke-")
                || start == Start::Options
                    && is_telling
                    && is_one_of(word, "remove delete unban unbanip")
            {
                return Err(Unfit::Undone);
            }
            if is_action && is_else(next) {
                return Err(Unfit::Else);
            }
            // Others are chains.
            let is_jump = is_one_of(word, "-j --jump -g --goto");
            let said = if is_jump {
                Some(matches!(next, b"ACCEPT" | b"RETURN"))
            } else {
                verdict_of(next)
            };
            let passes = start == Start::Options && is_one_of(word, PASSING) && said.is_none();
            verdict = verdict.or(said.filter(|_| is_action)).or(passes.then_some(true));
            let is_option = start == Start::Options && matches!(word, [b'-', _]);
            role = match role_of(word) {
                Some(role) => role,
                None if has_places
                    && (word == b"any" || is_one_of(last, "object-group object")) =>
                {
                    Role::Destination
                }
                None if is_one_of(word, OTHERS) || is_option => Role::Other,
                None if start == Start::Options && is_key(part.text, word) => Role::Either,
                None => role,
            };
        }
        last = word;
    }
    if start == Start::Trailing(true) && judged == 0 {
        return Err(Unfit::Else);
    }
    // Behind a comma there is another member of the same entry.
    let first = all.iter().find(|it| range(it).is_some());
    let is_member = |it: &&[u8]| start == Start::Entries && behind(part.text, it).starts_with(b",");
    let has_one =
        start == Start::Route || all.first() == Some(&&b"add"[..]) && first.is_some_and(is_member);
    ends.truncate(if has_one { 1 } else { usize::MAX });
    let passes = verdict.unwrap_or(is_list && judged == 0);
    let found = foreign(&ends, goes_out, is_forward)?;
    Ok(found.into_iter().map(|(it, is_not)| (it, is_not ^ passes)).collect())
}

/// Whether packets pass (`true`) or not, if a word says it.
pub(super) fn verdict_of(word: &[u8]) -> Option<bool> {
    if is_one_of(word, PASSES) || word == b"true" {
        return Some(true);
    }
    (is_one_of(word, BLOCKS) || word == b"false").then_some(false)
}

pub(super) fn is_else(target: &[u8]) -> bool {
    is_one_of(target, ELSE)
}

/// Words behind which stand sources or destinations.
fn role_of(word: &[u8]) -> Option<Role> {
    let word = word.strip_suffix(b":").unwrap_or(word);
    let bare = word.strip_prefix(b"--").or(word.strip_prefix(b"-")).unwrap_or(word);
    let bare = bare.strip_prefix(b"add-").unwrap_or(bare);
    let begins =
        |with: &[u8]| bare.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with));
    match word {
        b"-s" | b"from" | b"saddr" => Some(Role::Source),
        b"-d" | b"to" | b"daddr" => Some(Role::Destination),
        _ if is_one_of(bare, "remoteip remoteaddress") => Some(Role::Either),
        _ if is_one_of(bare, "localip localaddress") => Some(Role::Destination),
        _ if begins(b"src") || begins(b"source") => Some(Role::Source),
        _ if begins(b"dst") || begins(b"dest") => Some(Role::Destination),
        _ => None,
    }
}

fn is_protocol(word: &[u8]) -> bool {
    is_one_of(word, "ip ipv4 ipv6 tcp udp icmp esp gre ah ospf eigrp igmp icmpv6") || is_count(word)
}
