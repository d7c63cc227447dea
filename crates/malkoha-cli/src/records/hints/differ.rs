//! How the records of two sides differ, where that keeps them from being equal.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use parking_lot::Mutex;

use super::fields;
use super::forms::MOST_BYTES;
use super::found::{self, Found, proved};
use super::looks::{ADDRESS, CASE, CUT_OFF, Look, SIGNS, SURE};
use crate::failure::tell;
use crate::records::batch::Batch;
use crate::records::keys::Keys;
use crate::records::tally::Tally;

/// Keys of a file that are looked at, of those that are equal to others and of those that are not.
const MOST: usize = 1000;

/// Records of a file among which they are looked for.
const MOST_RECORDS: usize = 64 * MOST;

/// Files of each side whose records are compared.
const MOST_FILES: usize = 8;

/// Bytes of a beginning or end that keys may have in common.
const MOST_COMMON: usize = 16;

/// Some keys of a file.
#[derive(Default)]
struct Seen {
    /// Records that were looked at.
    count: usize,
    /// Keys that are equal to one of the other side, and those that are not, or may not be.
    equal: Vec<Vec<u8>>,
    others: Vec<Vec<u8>>,
}

/// Those of each file, by whether it is a list, its number and its name.
static SEEN: Mutex<BTreeMap<(bool, usize, String), Seen>> = Mutex::new(BTreeMap::new());

impl Seen {
    /// Takes a record; its key is equal to another, or may not be.
    fn take(&mut self, keys: &Keys, record: &[u8], is_equal: bool) {
        let side = if is_equal { &mut self.equal } else { &mut self.others };
        self.count += 1;
        let mut key = Vec::new();
        if side.len() < MOST
            && !record.starts_with(b"#")
            && keys.key_of(record, &mut key).is_ok()
            && (1..=MOST_BYTES).contains(&key.len())
        {
            side.push(key);
        }
    }

    /// Whether it has enough.
    fn is_full(&self) -> bool {
        self.others.len() == MOST || self.count >= MOST_RECORDS
    }
}

/// Keeps some keys of records of a file, by whether they are equal to others.
pub(super) fn keep_some<'a>(
    tally: &Tally,
    keys: &Keys,
    file: usize,
    records: impl Iterator<Item = (&'a [u8], bool)>,
) {
    let mut all = SEEN.lock();
    let has_room = all.keys().filter(|it| it.0 == tally.of_lists).count() < MOST_FILES;
    let it = (tally.of_lists, file, tally.name(file).to_owned());
    if !has_room && !all.contains_key(&it) {
        return tally.keep_no_more(file);
    }
    let seen = all.entry(it).or_default();
    // That of the digested text, not of its digest.
    let keys = keys.undigested();
    for (record, is_equal) in records {
        if seen.is_full() {
            return tally.keep_no_more(file);
        }
        seen.take(&keys, record, is_equal);
    }
}

impl Batch<'_, '_> {
    /// Keeps some keys of an input, given the numbers of records, and whether they are equal to one
    /// of the other side.
    pub(crate) fn keep_some(&self, tally: &Tally, records: impl Iterator<Item = (usize, bool)>) {
        let records = records.map(|(i, is_equal)| (self.records[i], is_equal));
        keep_some(tally, self.keys_of, self.file(), records);
    }
}

/// Tells how the records of lists and inputs that are not equal differ, if that is why. Inputs were
/// looked up in what is `known`, if not in lists, which finds others at this rate.
pub(crate) fn tell_difference(is_any_equal: bool, known: Option<&str>, fpr: f64) {
    let is_any_equal = is_any_equal || found::is_any_equal();
    let seen = SEEN.lock();
    let side = |of_lists| {
        let files = seen.iter().filter(move |it| it.0.0 == of_lists);
        files.map(|((_, _, name), seen)| (&**name, seen))
    };
    let both = side(true).flat_map(|list| side(false).map(move |input| (list, input)));
    let mut lists = side(true);
    let known = match (lists.next(), lists.next()) {
        (Some((name, _)), None) => name,
        _ => known.unwrap_or("lists"),
    };
    let (mut sure, rest): (Vec<_>, Vec<_>) =
        proved(is_any_equal, fpr).into_iter().partition(|it| !it.look().is_weak());
    // Of two sides, each may have its look.
    let mut remedies = HashSet::new();
    sure.retain(|it| {
        let files = [&it.with, &it.without].map(|name| name.as_deref().unwrap_or(known).to_owned());
        remedies.insert((it.look().remedy, BTreeSet::from(files)))
    });
    let mut sentences: Vec<String> = sure.iter().map(|it| said(it, known)).collect();
    if sentences.is_empty() {
        let mut rest = rest.iter().filter(|it| !is_any_equal || it.look().what != SIGNS);
        let mut sides = both.filter_map(|(list, input)| Sides::of(list, input, is_any_equal));
        let likely = sides.find_map(|sides| sides.difference());
        sentences.extend(likely.or_else(|| rest.next().map(|it| said(it, known))));
    }
    for sentence in sentences {
        let but = match sentence.starts_with("records") {
            _ if !is_any_equal => "nothing is equal:",
            true => "some records are equal, but other",
            false => "some records are equal, but",
        };
        tell(&format!("malkoha: {but} {sentence}"));
    }
}

/// The message about a difference that is proved.
fn said(found: &Found, known: &str) -> String {
    let Look { what, remedy, .. } = found.look();
    let (with, without) =
        (found.with.as_deref().unwrap_or(known), found.without.as_deref().unwrap_or(known));
    let again = || match remedy.strip_prefix("see --") {
        Some(option) => format!("build it again with --{option}"),
        None => "build it again of records without".into(),
    };
    match *what {
        SIGNS => in_signs(found.forms.keys().next().map_or(b"", |it| it), with, without),
        _ if found.with.is_none() => {
            let what = if *what == CASE { "are in upper case" } else { what };
            format!("records of {with} {what}, unlike those of {without}: {}", again())
        }
        _ => match found.equal_fields() {
            Some(equal) => fields::sentence(&equal, found.look(), with, without),
            None => sentence(with, what, without, remedy),
        },
    }
}

fn in_signs(form: &[u8], one: &str, other: &str) -> String {
    format!(
        "'{}' in {one} and {other} differs in case, or in signs: see --ignore-case and \
         --ignore-unicode-case, or write all the same first, as by tr -d",
        form.escape_ascii(),
    )
}

type Texts<'a> = HashSet<&'a [u8]>;

/// A sample of a file's unequal keys, and its name.
type Side<'a> = (Texts<'a>, &'a str);

/// A list and an input.
struct Sides<'a> {
    equal: Texts<'a>,
    both: [Side<'a>; 2],
    is_any_equal: bool,
}

impl<'a> Sides<'a> {
    fn of(
        list: (&'a str, &'a Seen),
        input: (&'a str, &'a Seen),
        is_any_equal: bool,
    ) -> Option<Self> {
        let equal: Texts<'_> = input.1.equal.iter().map(Vec::as_slice).collect();
        let both = [list, input].map(|(name, seen)| {
            let keys = seen.others.iter().map(Vec::as_slice).filter(|key| !equal.contains(key));
            (keys.collect::<Texts<'_>>(), name)
        });
        let is_empty = both.iter().any(|(keys, _)| keys.is_empty());
        (!is_empty).then_some(Self { equal, both, is_any_equal })
    }

    fn difference(&self) -> Option<String> {
        let [list, input] = &self.both;
        let orders = [(list, input), (input, list)];
        let look = |look| orders.iter().find_map(|it| self.looked(look, *it));
        let looked = SURE.iter().find_map(look);
        looked.or_else(|| orders.iter().find_map(|it| self.cut(*it)))
    }

    /// Whether half of the first side have a look, and hardly any others.
    fn looked(&self, look: &Look, (with, without): (&Side<'_>, &Side<'_>)) -> Option<String> {
        let (keys, _) = with;
        let has = |key: &&&[u8]| !(look.without)(key).is_empty();
        // Where none of some has it, few of all have.
        let has_none = !keys.iter().take(64).any(|key| has(&key));
        if has_none {
            return None;
        }
        let count = |keys: &Texts<'_>| keys.iter().filter(has).count();
        let is_enough = match count(keys) {
            // Lists have addresses with and without names.
            1.. if look.what == ADDRESS && !self.is_any_equal => true,
            count if self.is_any_equal => 2 * count > keys.len(),
            count => 2 * count >= keys.len(),
        };
        let is_rare = |keys: &Texts<'_>| 100 * count(keys) <= keys.len();
        if !is_enough || !is_rare(&without.0) || !is_rare(&self.equal) {
            return None;
        }
        Some(sentence(with.1, look.what, without.1, look.remedy))
    }

    /// Whether most of the first side begin or end with the same, and some would be equal without.
    fn cut(&self, (with, without): (&Side<'_>, &Side<'_>)) -> Option<String> {
        let keys = &with.0;
        let least = if self.is_any_equal { 2 } else { keys.len().min(2) };
        for (at_end, how) in [(false, "begin with"), (true, "end with")] {
            for len in 1..=MOST_COMMON {
                let parts = keys.iter().filter_map(|key| cut(key, len, at_end));
                let Some(common) = majority(parts.clone().map(|it| it.0), keys.len()) else {
                    break;
                };
                let has = |key: &&&[u8]| cut(key, len, at_end).is_some_and(|it| it.0 == common);
                let is_rare =
                    |keys: &Texts<'_>| 100 * keys.iter().filter(has).count() <= keys.len();
                let equal = parts.filter(|it| it.0 == common && without.0.contains(it.1)).count();
                if equal >= least && is_rare(&without.0) && is_rare(&self.equal) {
                    let what = format!("{how} '{}'", common.escape_ascii());
                    return Some(sentence(with.1, &what, without.1, CUT_OFF));
                }
            }
        }
        None
    }
}

fn sentence(with: &str, what: &str, without: &str, remedy: &str) -> String {
    if what == CASE {
        let (one, other) = if with < without { (with, without) } else { (without, with) };
        return format!("records of {one} and {other} {CASE}: {remedy}");
    }
    format!("records of {with} {what}, unlike those of {without}: {remedy}")
}

/// The beginning or end of a key, and the rest, if there is one.
fn cut(key: &[u8], len: usize, at_end: bool) -> Option<(&[u8], &[u8])> {
    let at = if at_end { key.len().checked_sub(len)? } else { len };
    let (start, end) = key.split_at_checked(at)?;
    let (common, rest) = if at_end { (end, start) } else { (start, end) };
    (!rest.is_empty()).then_some((common, rest))
}

/// The text that more than half of `count` texts equal.
fn majority<'a>(texts: impl Iterator<Item = &'a [u8]>, count: usize) -> Option<&'a [u8]> {
    let mut counts = HashMap::new();
    texts.for_each(|text| *counts.entry(text).or_insert(0) += 1);
    counts.into_iter().find(|&(_, of_text)| 2 * of_text > count).map(|(text, _)| text)
}
