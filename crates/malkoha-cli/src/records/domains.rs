//! Domains in lines, as people have them: names, URLs, and the syntaxes of resolvers and blockers.

use std::borrow::Cow;

use idna::AsciiDenyList;

use super::Unfit;
use super::rules::{Rule, hides, rule, words};
use super::words::is_name;

/// The ranks of the rules for a name itself and for all names below it. The highest rank decides:
/// odd ranks list a name, even ones except it, and 0 is no rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) itself: u8,
    pub(crate) below: u8,
}

/// Listed, though excepted.
pub(crate) const IMPORTANT: u8 = 3;
/// Excepted, though important.
pub(crate) const FINAL: u8 = 4;

/// Whether a rule of this rank lists a name.
pub(crate) fn is_listed(said: u8) -> bool {
    !said.is_multiple_of(2)
}

pub(super) const ITSELF: Reach = Reach { itself: 1, below: 0 };
pub(super) const ALL: Reach = Reach { itself: 1, below: 1 };

impl Reach {
    /// The same with others in the place of what is said.
    pub(crate) fn map(self, other: impl Fn(u8) -> u8) -> Self {
        let of = |it| if it == 0 { 0 } else { other(it) };
        Self { itself: of(self.itself), below: of(self.below) }
    }

    /// The same as an exception.
    pub(super) fn excepted(self) -> Self {
        self.map(|it| it + 1)
    }

    pub(crate) fn max(self, other: Self) -> Self {
        let Self { itself, below } = other;
        Self { itself: self.itself.max(itself), below: self.below.max(below) }
    }
}

/// What a line has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Entries, all of which were passed on.
    Entries,
    /// Entries, with something to tell.
    Told(Unfit),
    /// A comment, or what a syntax needs before entries and behind them.
    Nothing,
    Unfit(Unfit),
}

impl Line {
    pub(crate) fn unfit(self) -> Option<Unfit> {
        if let Self::Unfit(why) = self { Some(why) } else { None }
    }
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
        let is_label = |label: &[u8]| matches!(label.len(), 1..=63);
        let mut labels = text.rsplit(|&byte| byte == b'.').peekable();
        // No name ends with a number.
        text.iter().any(u8::is_ascii_alphanumeric)
            && text.len() <= 253
            && is_name(text)
            && !labels.peek().is_some_and(|last| last.iter().all(u8::is_ascii_digit))
            && labels.all(is_label)
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

/// Calls `each` with the names in a line, and what each stands for.
pub(crate) fn domains(line: &[u8], each: impl FnMut(&[u8], Reach)) -> Line {
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
pub(crate) fn domains_in_zone(
    line: &[u8],
    zone: &[u8],
    mut each: impl FnMut(&[u8], Reach),
) -> Line {
    let mut one = |name: &[u8], reach: Reach| {
        let (name, reach) = match name {
            // Even of a rule for a name alone.
            [b'*', b'.', name @ ..] => (name, Reach { itself: 0, below: reach.itself }),
            [b'-', b'.', name @ ..] => (name, Reach { below: 0, ..reach }),
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
    if line.strip_prefix(b"//").is_some_and(|it| !it.contains(&b'/')) {
        return Line::Unfit(Unfit::Slashes);
    }
    // An item of YAML or JSON.
    let item = line.strip_prefix(b"- ").unwrap_or(line).trim_ascii();
    let item = item.strip_suffix(b",").unwrap_or(item);
    let line = match item {
        [first @ (b'"' | b'\''), inner @ .., last] if first == last => inner,
        item => item,
    };
    let (mut all, mut any) = (true, false);
    let found = match rule(line, zone) {
        Rule::One(name, reach) => one(name, reach),
        Rule::Owned(name, reach) => one(name.as_bytes(), reach),
        Rule::Many(names, reach) => {
            // All of them, even if one is no name.
            names.for_each(|name| {
                let is_name = one(name, reach);
                (all, any) = (all & is_name, any | is_name);
            });
            all
        }
        Rule::Local => return Line::Nothing,
        Rule::Disabled => return Line::Unfit(Unfit::Undone),
        Rule::Else => return Line::Unfit(Unfit::Else),
        Rule::Unknown => false,
    };
    match found {
        true => Line::Entries,
        false if any => Line::Told(Unfit::Partly),
        false => Line::Unfit(Unfit::NoDomain),
    }
}

/// Whether a line is a comment, or what stands before and behind the entries of a file.
fn is_nothing(line: &[u8]) -> bool {
    let Some(first) = line.first() else { return true };
    if let Some(text) = line.strip_prefix(b"//") {
        // Except URLs without a scheme.
        return !text.contains(&b'.') || text.iter().any(u8::is_ascii_whitespace);
    }
    if b"#!;".contains(first) {
        return !hides(line);
    }
    match line {
        // The name of a format or section, and what is said of a zone.
        [b'[', second, rest @ .., b']'] if second.is_ascii_alphabetic() => {
            return !rest.contains(&b'.') || rest.iter().any(u8::is_ascii_whitespace);
        }
        [b'$', second, ..] => return second.is_ascii_uppercase(),
        // The name of a list, in YAML.
        [name @ .., b':'] if !line.starts_with(b"local-") => {
            return name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'-');
        }
        b"---" => return true,
        _ => {}
    }
    let mut words = words(line);
    let first = words.next().unwrap_or(b"");
    let is_of_zone = |word: &[u8]| matches!(word, b"SOA" | b"NS");
    let (is_ns, mut behind) = (first == b"NS", words.take(3));
    // Of the zone itself.
    first == b"@" || is_ns && line.ends_with(b".") || behind.any(is_of_zone) || is_frame(line)
}

/// Whether a line, apart from its comment, has but brackets, and numbers and times of a zone.
fn is_frame(line: &[u8]) -> bool {
    let text = line.split(|&byte| byte == b';').next().unwrap_or(line);
    let mut words = text.split(|byte| b"{}[]() \t,".contains(byte));
    let is_time = |word: &[u8]| {
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"smhdwSMHDW".contains(byte);
        word.iter().all(is_part) && word.first().is_none_or(u8::is_ascii_digit)
    };
    words.all(is_time) && !line.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One case in each line: names and what they stand for, and lines of lists that have them.
    const CASES: &str = r#"
ads.example 11 ¦ ads.example ¦ ADS.Example. ¦ .ads.example ¦ +.ads.example ¦   - '+.ads.example'
ads.example 11 ¦ "ads.example", ¦ ||ads.example^$all ¦ ads.example^ ¦ 0.0.0.0 ads.example # why
ads.example 11 ¦ 127.0.0.1    ads.example ¦ ::1 localhost ads.example ¦ address=/ads.example/0.0.0.0
ads.example 11 ¦ domain-rules /ads.example/ -c none -a # ¦ ipset=/ads.example/x
ads.example 22 ¦ domain-rules /ads.example/ -address - ¦ nameserver /ads.example/-
Else ¦ server=/ads.example/10.0.0.1 ¦ local=/ads.example/::1#5353 ¦ nameserver /ads.example/x
Else ¦ domain-rules /ads.example/ -n x ¦ domain-rules /ads.example/ -a 10.0.0.1
Else ¦ zone "ads.example" { type forward; }; ¦ zone "ads.example" IN {type slave;};
Else ¦ add name=ads.example type=FWD forward-to=10.0.0.1 ¦ local-zone: ads.example inform
NoDomain ¦ ..ads.example ¦ +..ads.example ¦ ...x ¦ *..ads.example ¦ ads.example..
NoDomain ¦ rules: ads.example ¦ payload: ['a.example'] ¦ server: a ¦ --- ads.example
NoDomain ¦ local ads.example ¦ IN ads.example ¦ NS ads.example ¦ [ads] ads.example
Else ¦ 192.168.1.5 nas.lan ¦ address=/ads.example/192.168.1.5 ¦ address /ads.example/10.0.0.1
Else ¦ local-data: "nas.lan A 192.168.1.5" ¦ add name=nas.lan address=192.168.1.5 ¦ ads.example A 1.2.3.4
Partly ads.example ¦ 0.0.0.0 ads.example bad..name ¦ address=/bad..name/ads.example/
ads.example 11 ¦ add name=ads.example address=127.0.0.1 ¦ local-data: "ads.example AAAA ::"
Nothing ¦ 1H30M ¦ 1h30m ; x ¦ 1W2D ¦ forward-zone: ¦ domains:
Undone ¦ /ip dns static remove [find name=ads.example]
ads.example 11 ¦ server=/ads.example/ ¦ local=/ads.example/ ¦ address /ads.example/#
ads.example 11 ¦ local-zone: "ads.example." static ¦ local-data: 'ads.example A 0.0.0.0'
ads.example 11 ¦ :: ads.example ¦ 0 ads.example ¦ ads.example ; x ¦ ads.example. in cname .
ads.example 11 ¦ ads.example. 300 IN CNAME . ¦ ads.example A 0.0.0.0 ¦ domain:ads.example:@ads
ads.example 11 ¦ - DOMAIN-SUFFIX,ads.example,REJECT ¦ host-suffix, ads.example, reject
ads.example 11 ¦ zone "ads.example" IN {type primary;}; ¦ add name=ads.example type=NXDOMAIN
ads.example 11 ¦ /ip dns static add name="ads.example" ¦ //ads.example/x ¦ ||ads.example^$all
ads.example 11 ¦ ^(.+\.)?ads\.example$ ¦ /(?:^|\.)ads\.example$/ ¦ ads.example#why
ads.example 11 ¦ (^|\.)ads\.example$ ¦ https://ads.example/path?x ¦ http://u:w@ads.example:8080
ads.example 11 ¦ ads.example:443 ¦ |https://ads.example^ ¦ ads.example # ads ¦ ||ads.example
ads.example 01 ¦ *.ads.example ¦ ||*.ads.example^ ¦ *.ads.example CNAME .
ads.example 10 ¦ full:ads.example ¦ DOMAIN,ads.example,REJECT ¦ =ads.example ¦ |ads.example^
ads.example 10 ¦ ^ads\.example$ ¦ address /-.ads.example/#
ads.example 01 ¦ full:*.ads.example ¦ DOMAIN,*.ads.example ¦ =*.ads.example ¦ |*.ads.example^
ads.example 33 ¦ ||ads.example^$important ¦ ||ads.example^$important,all
ads.example 44 ¦ @@||ads.example^$important
ads.example 22 ¦ @@||ads.example^ ¦ @@ads.example ¦ server=/ads.example/# ¦ address /ads.example/-
ads.example 22 ¦ local-zone: ads.example always_transparent ¦ ads.example CNAME rpz-passthru.
ads.example 20 ¦ @@|ads.example^|
a.example,b.example 11 ¦ 0.0.0.0 a.example b.example ¦ address=/a.example/b.example/::
xn--bcher-kva.example 11 ¦ Bücher.example
ab.example 11 ¦ Ａb。Example.
Nothing ¦ // x ¦ //x ¦ ## x ¦ ### x ¦ ######## ¦ ##===== ¦ ##
Nothing ¦ # x ¦ ! x ¦ [Adblock Plus] ¦ ; x ¦ 127.0.0.1 localhost ¦ server: ¦ payload: ¦ }; ¦ 
Nothing ¦ fe80::1%lo0 localhost ¦ /ip dns static ¦ [Rule]
Nothing ¦ $TTL 60 ¦ @ SOA a. b. 1 2 3 4 5 ¦ @ IN NS localhost. ¦   NS localhost.
ads.example 22 ¦ DOMAIN-SUFFIX,ads.example,DIRECT ¦ local=/ads.example/#
ads.example 11 ¦ ads.example:@ads
Nothing ¦ 1h ; x ¦ 30M ¦ 1w ) ¦ 2024010101 ; serial ¦ 1 2 3 4 5 ) ¦ [Adblock Plus 2.0]
NoDomain ¦ [ads.example] ¦ $important ¦ 12345 ¦ 1.2.3 ¦ 0.0.0.0 0 ¦ a..example ¦ address /x.y/-6
Slashes ¦ //ads.example ¦ //ads.example:8080
Undone ¦ add name=ads.example type=NXDOMAIN disabled=yes
NoDomain ¦ see https://ads.example for more ¦ RULE-SET,https://ads.example/x.txt,REJECT
NoDomain ¦ ads.example CNAME rpz-tcp-only.
NoDomain ¦ ads.example##.banner ¦ ads.example#@#.banner ¦ ads.example,b.example#?#div ¦ add list=x
NoDomain ¦ /ip firewall address-list add address=ads.example ¦ ||ads.example^$important,third-party
NoDomain ¦ 。 ¦ １９２.0.2.7 ¦ ###banner
NoDomain ¦ ##.banner ¦ /banner/* ¦ ||ads.example^$third-party ¦ ||ads.example/path ¦ a b ¦ a,b
NoDomain ¦ conf-dir=/etc ¦ 0.0.0.0 ¦ 192.0.2.7 ¦ http://192.0.2.7/ ¦ keyword:ads ¦ ^ads.example$
NoDomain ¦ 32.7.2.0.192.rpz-ip CNAME . ¦ ["ads.example"]
NoDomain ¦ DOMAIN-KEYWORD,ads ¦ a*.example ¦ é*.example ¦ a;b.example ¦ - ¦ local-zone:
"#;

    #[test]
    fn names_are_as_long_as_any() {
        let label = |len: usize| "a".repeat(len);
        let long = [label(63), label(63), label(63), label(61)].join(".");
        for (name, is_one) in [
            (label(63) + ".example", true),
            (label(64) + ".example", false),
            (long.clone(), true),
            (long + "a", false),
            ("é".repeat(60) + ".example", false),
        ] {
            assert_eq!(normal(name.as_bytes()).is_some(), is_one, "{name}");
        }
    }

    #[test]
    fn lines_as_people_have_them() {
        for case in CASES.lines().filter(|case| !case.is_empty()) {
            let (expected, lines) = case.split_once(" ¦ ").unwrap();
            for line in lines.split(" ¦ ") {
                let (mut names, mut reaches) = (Vec::new(), Vec::new());
                let read = domains(line.as_bytes(), |name, reach| {
                    names.push(String::from_utf8(name.to_vec()).unwrap());
                    reaches.push(format!("{}{}", reach.itself, reach.below));
                });
                let found = match read {
                    Line::Entries => format!("{} {}", names.join(","), reaches[0]),
                    Line::Nothing => "Nothing".to_owned(),
                    Line::Told(why) | Line::Unfit(why) => {
                        format!("{why:?} {}", names.join(",")).trim_end().to_owned()
                    }
                };
                assert_eq!(found, expected, "{line}");
            }
        }
    }
}
