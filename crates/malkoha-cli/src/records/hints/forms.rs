//! Other forms of keys.

use std::collections::BTreeMap;

use malkoha::KeyHasher;

use super::fields::{At, Parted};
use super::found::{keep_parted, note};
use super::looks::{Look, SQUEEZED, looks, signs};
use crate::records::keys::{Digested, Keys};
use crate::records::spelling::Joined;

/// Forms that are kept, whichever have the smallest hashes.
const MOST: usize = 4096;

/// Of longer keys, fields in this many bytes are looked at.
pub(super) const MOST_BYTES: usize = 4096;

/// Number of bits that are checked before forms, as a power of two.
const BITS: u32 = 16;

/// Another form of a key.
pub(super) struct Form {
    /// The number of the look that it is without.
    pub(super) look: usize,
    /// The number of the field that it is.
    pub(super) field: usize,
    pub(super) text: Vec<u8>,
}

/// Keys without looks, of files that were read.
pub(crate) struct Forms {
    /// The look of each, the file, and where it was.
    forms: BTreeMap<Vec<u8>, (usize, usize, At)>,
    bits: Vec<u64>,
    /// Their hashes have this many zeros in front.
    zeros: u32,
    hasher: KeyHasher,
    records: usize,
    names: Vec<String>,
    /// Of each file.
    parted: Vec<Parted>,
    /// The key of a record, for the memory.
    key: Vec<u8>,
}

impl Forms {
    /// Of files with these names.
    pub(crate) fn of(names: Vec<String>) -> Self {
        Self {
            forms: BTreeMap::new(),
            bits: Vec::new(),
            zeros: 0,
            hasher: KeyHasher::new(0),
            records: 0,
            parted: vec![Parted::default(); names.len()],
            names,
            key: Vec::new(),
        }
    }

    /// Adds those of a record.
    pub(crate) fn add(&mut self, file: usize, record: &[u8], (keys, undigested): (&Keys, &Keys)) {
        self.key.clear();
        if undigested.key_of(record, &mut self.key).is_err() {
            return;
        }
        self.records += 1;
        for Form { look, field, mut text } in keys.forms_of(&self.key, true, &mut self.parted[file])
        {
            keys.digest(&mut text);
            self.bits.resize(1 << (BITS - 6), 0);
            if self.hasher.hash_bytes(&text).leading_zeros() >= self.zeros {
                let bit = bit(&text);
                self.bits[bit / 64] |= 1 << (bit % 64);
                self.forms.entry(text).or_insert((look, file, (field, self.records)));
            }
            while self.forms.len() > MOST {
                self.zeros += 1;
                let Self { forms, zeros, hasher, .. } = self;
                forms.retain(|text, _| hasher.hash_bytes(text).leading_zeros() >= *zeros);
            }
        }
    }

    /// Keeps the counts of each file for the messages at the end.
    pub(crate) fn settled(self) -> Self {
        self.names.iter().zip(&self.parted).for_each(|(name, parted)| keep_parted(name, parted));
        self
    }

    /// Proves what they are, if these are in another file: `find` returns its name.
    pub(crate) fn prove(&self, find: impl Fn(&[u8], usize) -> Option<String>) {
        for (form, &(look, file, at)) in &self.forms {
            if let Some(other) = find(form, file) {
                note(look, [Some(&self.names[file]), Some(&other)], form, at);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// The look of a form, its file, and where it was.
    pub(super) fn get(&self, key: &[u8]) -> Option<(usize, &str, At)> {
        let bit = bit(key);
        if self.bits.get(bit / 64)? >> (bit % 64) & 1 == 0 {
            return None;
        }
        let &(look, file, at) = self.forms.get(key)?;
        Some((look, &self.names[file], at))
    }
}

impl Keys {
    pub(crate) fn are_digests(&self) -> bool {
        self.digest.is_some()
    }

    /// Takes the digest of a key before it, if digests are compared.
    pub(super) fn digest(&self, key: &mut Vec<u8>) {
        if let Some(Digested::Of(digest)) = self.digest {
            digest.apply(key, 0);
        }
    }

    /// The forms of a key without each of its looks; fields only if these are wanted. Counts what
    /// it has between fields.
    pub(super) fn forms_of(&self, key: &[u8], with_fields: bool, parted: &mut Parted) -> Vec<Form> {
        if self.spelling.joined != Joined::Nothing && key.contains(&b'\t') {
            let fields: Vec<&[u8]> = key.split(|&byte| byte == b'\t').collect();
            return if fields.iter().all(|field| is_plain(field)) {
                Vec::new()
            } else {
                forms_of_fields(&fields)
            };
        }
        if is_plain(key) {
            parted.count(0, false);
            return Vec::new();
        }
        let start = &key[..key.len().min(MOST_BYTES)];
        let signs = signs(start);
        parted.count(signs, with_fields);
        let of_key = |(number, look): (usize, &Look)| {
            let is_field = number > SQUEEZED;
            let of = if is_field { start } else { key };
            let is_read = if is_field { with_fields } else { key.len() <= MOST_BYTES };
            let is_read = is_read && look.may_have(signs);
            let mut texts = if is_read { (look.without)(of) } else { Vec::new() };
            if start.len() < key.len() {
                // The last one may go on.
                texts.pop();
            }
            (number, texts)
        };
        let mut forms: Vec<Form> = Vec::new();
        for (look, texts) in looks().enumerate().map(of_key) {
            for (field, text) in texts.into_iter().enumerate() {
                let mut known = forms.iter().take(MOST_KNOWN);
                if !text.is_empty() && text != key && known.all(|it| it.text != text) {
                    forms.push(Form { look, field, text });
                }
            }
        }
        forms
    }

    /// The forms of a key with looks, if it can be without.
    pub(super) fn forms_with(key: &[u8]) -> impl Iterator<Item = Form> {
        let with = looks().enumerate().filter_map(|(look, it)| Some((look, it.with?)));
        let forms = with.map(|(look, with)| Form { look, field: 0, text: with(key) });
        forms.filter(move |form| form.text != key)
    }
}

/// Forms among which others are not repeated.
const MOST_KNOWN: usize = 16;

/// Several fields without the looks that they have.
fn forms_of_fields(fields: &[&[u8]]) -> Vec<Form> {
    let whole = |(number, look): (usize, &Look)| {
        let without = |field: &&[u8]| (look.without)(field).into_iter().find(|it| !it.is_empty());
        let without: Vec<_> = fields.iter().map(without).collect();
        let has_it = without.iter().any(Option::is_some) && number <= SQUEEZED;
        let fields = without.into_iter().zip(fields);
        let texts = fields.map(|(without, field)| without.unwrap_or_else(|| field.to_vec()));
        has_it.then(|| Form {
            look: number,
            field: 0,
            text: texts.collect::<Vec<_>>().join(&b'\t'),
        })
    };
    let (all, forms) = (fields.join(&b'\t'), looks().enumerate().filter_map(whole));
    forms.filter(|form| form.text != all).collect()
}

/// A bit for a key, by its length, beginning and end.
fn bit(key: &[u8]) -> usize {
    let word = |part: Option<&[u8; 8]>| part.map_or(0, |it| u64::from_le_bytes(*it));
    let short = || key.iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
    let start = if key.len() < 8 { short() } else { word(key.first_chunk()) };
    let mixed = start ^ word(key.last_chunk()).rotate_left(23) ^ key.len() as u64;
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BITS)) as usize
}

/// Whether a key has no look, as most have none.
#[inline]
pub(super) fn is_plain(key: &[u8]) -> bool {
    let is_usual = |it: &u8| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'@');
    let ends = [key.first(), key.last()];
    key.iter().all(is_usual)
        && ends.iter().flatten().all(|it| it.is_ascii_alphanumeric())
        && !key.starts_with(b"0")
        && !key.starts_with(b"www.")
        && !(key.ends_with(b".0")
            || key.len() > 4 && key[key.len() - 4] == b'.' && ends[1] < Some(&b'a'))
}
