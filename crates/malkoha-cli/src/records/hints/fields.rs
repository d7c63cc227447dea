//! Fields of keys that would be equal to whole keys of the other side.

use std::collections::{BTreeMap, HashSet};

use super::looks::{Look, look};
use crate::records::spelling::trimmed;

/// Separators of fields, each with its name in messages.
pub(super) const FIELDS: [Look; 11] = [
    parted(b"\t", |key| parts(key, b'\t'), "tabs"),
    parted(b",", |key| parts(key, b','), "commas"),
    parted(b";", |key| parts(key, b';'), "semicolons"),
    parted(b"|", |key| parts(key, b'|'), "'|'"),
    parted(b" ", |key| parts(key, b' '), "blanks"),
    parted(b":", |key| parts(key, b':'), "colons"),
    parted(b"=", |key| parts(key, b'='), "'='"),
    parted(b"\"", |key| parts(key, b'"'), "'\"'"),
    parted(b"/", |key| parts(key, b'/'), "'/'"),
    parted(b"?", |key| parts(key, b'?'), "'?'"),
    parted(b"(", |key| parts(key, b'('), "'('"),
];

const SELECT: &str = "see -k with -t, and -K with --list-delimiter";

const fn parted(
    sign: &'static [u8],
    parts: fn(&[u8]) -> Vec<Vec<u8>>,
    called: &'static str,
) -> Look {
    look(sign, parts, called, SELECT)
}

/// The fields between a sign, without blanks, quotes and brackets around them. Several blanks are
/// one.
fn parts(key: &[u8], sign: u8) -> Vec<Vec<u8>> {
    let is_frame = |byte: &u8| b"\"'<>()[]{} ".contains(byte);
    let unframed = |field: &[u8]| {
        let field = trimmed(field);
        let start = field.iter().take_while(|&byte| is_frame(byte)).count();
        let end = field[start..].iter().rev().take_while(|&byte| is_frame(byte)).count();
        field[start..field.len() - end].to_vec()
    };
    let fields = key.split(|&byte| byte == sign);
    fields.filter(|field| sign != b' ' || !field.is_empty()).map(unframed).collect()
}

/// How many keys of a file have each sign between fields.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parted {
    pub(super) all: usize,
    has: [usize; FIELDS.len()],
    /// And whose fields were looked up.
    read: [usize; FIELDS.len()],
}

impl Parted {
    /// Counts a key that has these signs.
    pub(super) fn count(&mut self, signs: u128, are_read: bool) {
        self.all += 1;
        for (i, _) in FIELDS.iter().enumerate().filter(|(_, look)| look.may_have(signs)) {
            self.has[i] += 1;
            self.read[i] += usize::from(are_read);
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.all += other.all;
        self.has.iter_mut().zip(other.has).for_each(|(has, other)| *has += other);
        self.read.iter_mut().zip(other.read).for_each(|(read, other)| *read += other);
    }

    /// Whether few keys have the sign of a look by fields.
    pub(super) fn has_few(&self, look: &Look) -> bool {
        8 * self.has[number(look)] <= self.all
    }

    /// Whether this many are most of those with the sign of a look whose fields were looked up.
    pub(super) fn are_most(&self, count: usize, look: &Look) -> bool {
        2 * count >= self.read[number(look)]
    }
}

fn number(look: &Look) -> usize {
    FIELDS.iter().position(|it| it.what == look.what).unwrap_or(0)
}

/// Where a form was: the number of the field, and of the record.
pub(super) type At = (usize, usize);

/// Which fields are whole keys of the other side.
pub(super) enum Equal {
    /// The one of this number, from 0, of this many.
    Field(usize, usize),
    /// Several of a record.
    Several,
}

/// Which these fields are.
pub(super) fn equal(fields: &BTreeMap<Vec<u8>, At>) -> Option<Equal> {
    let mut counts = BTreeMap::<usize, usize>::new();
    fields.values().for_each(|&(field, _)| *counts.entry(field).or_default() += 1);
    let (field, count) = counts.into_iter().rev().max_by_key(|&(_, count)| count)?;
    let records: HashSet<usize> = fields.values().map(|&(_, record)| record).collect();
    let are_several = 2 * count < fields.len() && fields.len() >= 2 * records.len();
    Some(if are_several { Equal::Several } else { Equal::Field(field, count) })
}

/// The message about them.
pub(super) fn sentence(equal: &Equal, look: &Look, with: &str, without: &str) -> String {
    let Look { what, remedy, .. } = look;
    let (which, remedy) = match equal {
        Equal::Field(field, _) => (format!("which are in field {}", field + 1), *remedy),
        Equal::Several => ("several of which are in one".into(), "write each in a line first"),
    };
    format!("records of {with} have {what}, unlike those of {without}, {which}: {remedy}")
}
