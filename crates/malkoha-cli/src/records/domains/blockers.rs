//! Rules of ad blockers, and patterns for names.

use super::super::Unfit;
use super::reach::{ALL, IMPORTANT, ITSELF, Reach, Rule};
use super::rules::host;
use super::text::split;

/// Whether a line is the rule of an ad blocker that hides parts of pages.
pub(super) fn hides(line: &[u8]) -> bool {
    let Some((names, rest)) = split(line, b'#') else { return false };
    // As in `##`, `#@#`, `#?#`, `#$?#`, `#@%#`.
    let signs = rest.iter().take_while(|it| b"@?$%".contains(it)).count();
    let selector = rest[signs..].strip_prefix(b"#").unwrap_or(b"");
    let name = selector.strip_prefix(b"#").unwrap_or(selector);
    // Others are headings.
    !names.iter().any(u8::is_ascii_whitespace)
        && name.first().is_some_and(|first| !first.is_ascii_whitespace() && !b"#=-".contains(first))
}

/// An exception, behind its sign.
pub(super) fn exception(rule: &[u8]) -> Rule<'_> {
    match blocker(rule) {
        Rule::One(name, reach) => Rule::One(name, reach.excepted()),
        other => other,
    }
}

/// A rule of an ad blocker, if it is for all requests to a name.
pub(super) fn blocker(rule: &[u8]) -> Rule<'_> {
    let (name, reach) = match rule {
        [b'|', b'|', name @ ..] => (name, ALL),
        [b'|', name @ ..] if memchr::memmem::find(name, b"://").is_none() => (name, ITSELF),
        rule => (rule.strip_prefix(b"|").unwrap_or(rule), ALL),
    };
    // A pattern that ends with such a part is below a name.
    let (name, mut reach) = match name {
        [b'.', name @ ..] if reach == ALL => (name, Reach { itself: 0, ..reach }),
        name => (name, reach),
    };
    if let Some(at) = memchr::memmem::find(name, b"://") {
        return match host(name[at + 3..].strip_suffix(b"^").unwrap_or(&name[at + 3..])) {
            Rule::Part(_) => Rule::Unfit(Unfit::Conditional),
            rule => rule,
        };
    }
    let end = memchr::memchr2(b'^', b'$', name).unwrap_or(name.len());
    let rest = name[end..].strip_prefix(b"^").unwrap_or(&name[end..]);
    let Some(options) = rest.strip_prefix(b"$") else {
        return match rest {
            b"" | b"|" if name.contains(&b'/') => Rule::Unfit(Unfit::Conditional),
            // Any name that begins so.
            b"" if end == name.len() && (!name.contains(&b'.') || name.ends_with(b".")) => {
                Rule::Unfit(Unfit::NoDomain)
            }
            b"" | b"|" => Rule::One(&name[..end], reach),
            _ => Rule::Unfit(Unfit::NoDomain),
        };
    };
    for option in options.split(|&byte| byte == b',') {
        match option {
            b"all" => {}
            b"important" => reach = reach.map(|_| IMPORTANT),
            // Takes out the rule that is otherwise the same.
            b"badfilter" => return Rule::Unfit(Unfit::Undone),
            _ => return Rule::Unfit(Unfit::Conditional),
        }
    }
    Rule::One(&name[..end], reach)
}

/// A pattern for a name and those below it, or for a name, without its last `$`.
pub(super) fn regex(pattern: &[u8]) -> Rule<'_> {
    let below: [&[u8]; 6] =
        [br"(\.|^)", br"(^|\.)", br"(?:^|\.)", br"(?:\.|^)", br"^(.+\.)?", br"^(.*\.)?"];
    let (name, reach) = match below.iter().find_map(|it| pattern.strip_prefix(*it)) {
        Some(name) => (name, ALL),
        None => (pattern.strip_prefix(b"^").unwrap_or(b"*"), ITSELF),
    };
    let name = str::from_utf8(name).unwrap_or("*").replace(r"\.", "\0");
    // A dot that is not escaped is any character, and so are other signs.
    if name.contains('.') {
        Rule::Unfit(Unfit::NoDomain)
    } else {
        Rule::Owned(name.replace('\0', "."), reach)
    }
}
