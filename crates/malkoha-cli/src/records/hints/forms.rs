//! What keys would be if they were written otherwise.

use std::collections::BTreeMap;

use super::looks::{LIKELY, Look, SPELLED, SURE};
use super::proof::note;
use crate::records::keys::{Digested, Keys};

/// Forms that are kept.
const MOST: usize = 4096;

/// Longer keys are left out.
pub(super) const MOST_BYTES: usize = 4096;

/// Number of bits that are checked before forms, as a power of two.
const BITS: u32 = 16;

/// What keys are without looks, of files that were read.
pub(crate) struct Forms {
    /// The look of each, and the file.
    forms: BTreeMap<Vec<u8>, (usize, usize)>,
    bits: Vec<u64>,
    names: Vec<String>,
    /// The key of a record, for the memory.
    key: Vec<u8>,
}

impl Forms {
    /// Of files with these names.
    pub(crate) fn of(names: Vec<String>) -> Self {
        Self { forms: BTreeMap::new(), bits: Vec::new(), names, key: Vec::new() }
    }

    /// Adds those of a record. The keys are undigested.
    pub(crate) fn add(&mut self, file: usize, record: &[u8], keys: &Keys, digest: Digests) {
        self.key.clear();
        if record.len() > MOST_BYTES || keys.key_of(record, &mut self.key).is_err() {
            return;
        }
        for (look, mut form) in forms_of(&self.key) {
            if self.forms.len() == MOST {
                return;
            }
            digest.apply(&mut form);
            self.bits.resize(1 << (BITS - 6), 0);
            let bit = bit(&form);
            self.bits[bit / 64] |= 1 << (bit % 64);
            self.forms.entry(form).or_insert((look, file));
        }
    }

    /// Proves what they are, if these are in another file: `find` returns its name.
    pub(crate) fn prove(&self, find: impl Fn(&[u8], usize) -> Option<String>) {
        for (form, &(look, file)) in &self.forms {
            if let Some(other) = find(form, file) {
                note(look, &self.names[file], Some(&other), form);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<(usize, &str)> {
        let bit = bit(key);
        if self.bits.get(bit / 64)? >> (bit % 64) & 1 == 0 {
            return None;
        }
        let &(look, file) = self.forms.get(key)?;
        Some((look, &self.names[file]))
    }
}

/// The digest of what is compared, if digests are.
#[derive(Clone, Copy)]
pub(crate) struct Digests(Option<Digested>);

impl Digests {
    pub(super) fn apply(self, key: &mut Vec<u8>) {
        if let Some(Digested::Of(digest)) = self.0 {
            digest.apply(key, 0);
        }
    }
}

impl Keys {
    pub(crate) fn are_digests(&self) -> bool {
        self.digest.is_some()
    }

    /// The keys before their digests are taken, and these.
    pub(crate) fn before_digests(&self) -> (Self, Digests) {
        (self.undigested(), Digests(self.digest))
    }
}

/// A bit for a key, by its length, beginning and end.
fn bit(key: &[u8]) -> usize {
    let word = |part: Option<&[u8; 8]>| part.map_or(0, |it| u64::from_le_bytes(*it));
    let short = || key.iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
    let start = if key.len() < 8 { short() } else { word(key.first_chunk()) };
    let mixed = start ^ word(key.last_chunk()).rotate_left(23) ^ key.len() as u64;
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BITS)) as usize
}

/// All looks that can be proved. Their numbers are those of forms.
pub(super) fn looks() -> impl Iterator<Item = &'static Look> {
    SURE.iter().chain(&LIKELY).chain(&SPELLED)
}

/// What a key would be without each of its looks, with their numbers; the last is without case and
/// signs around it.
pub(super) fn forms_of(key: &[u8]) -> Vec<(usize, Vec<u8>)> {
    if is_plain(key) {
        return Vec::new();
    }
    let of_looks = looks().map(|look| (look.without)(key)).chain([vec![bare(key).into_bytes()]]);
    let all = of_looks.enumerate().flat_map(|(n, forms)| forms.into_iter().map(move |it| (n, it)));
    all.filter(|(_, form)| !form.is_empty() && form != key).collect()
}

/// Whether a key has no look, as most have none.
pub(super) fn is_plain(key: &[u8]) -> bool {
    const USUAL: [bool; 256] = {
        let (mut usual, mut byte) = ([false; 256], 0_u8);
        while byte < 128 {
            let is_letter = byte.is_ascii_lowercase() || byte.is_ascii_digit();
            usual[byte as usize] = is_letter || matches!(byte, b'.' | b'@' | b'_' | b'-');
            byte += 1;
        }
        usual
    };
    let ends = [key.first(), key.last()];
    key.iter().all(|&byte| USUAL[usize::from(byte)])
        && ends.iter().flatten().all(|it| it.is_ascii_alphanumeric())
        && !key.starts_with(b"0")
        && !key.starts_with(b"www.")
        && key.get(2) != Some(&b'-')
}

/// A key without case, and signs around it; nothing of a long one.
pub(super) fn bare(key: &[u8]) -> String {
    let text = if key.len() > 256 { "".into() } else { String::from_utf8_lossy(key) };
    text.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase()
}
