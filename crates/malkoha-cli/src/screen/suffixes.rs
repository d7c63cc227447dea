//! Finds out in one pass over a name which of the name and its parents can be listed.
//!
//! A name is hashed from its end, eight bytes at a time. So the hash of the whole also gives the
//! hashes of all suffixes, for one multiplication each.

use malkoha::KeyHasher;

use super::sieve::Bits;
use crate::records::{CHUNK, equal, lower, word_before};

/// Dismisses most names that are not listed; the listed ones are in lower case. Somebody who
/// guesses its keys can choose names that pass, which then cost as much as without this table.
pub(super) struct Suffixes {
    bits: Bits,
    /// For each number of labels, whether a name has this many; the last bit is for more.
    depths: u64,
    keys: [u64; 2],
}

/// A part of a name that can be listed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Suffix {
    pub(super) hash: u64,
    /// The number of the name, and where in it the suffix begins.
    pub(super) number: u32,
    pub(super) start: u32,
}

impl Suffixes {
    /// For this many names.
    pub(super) fn of(names: u64) -> Self {
        let random = KeyHasher::random();
        let keys = [random.hash_bytes(b"0"), random.hash_bytes(b"1") | 1];
        Self { bits: Bits::of(names), depths: 0, keys }
    }

    /// Takes a listed name, and returns its hash.
    pub(super) fn add(&mut self, name: &[u8]) -> u64 {
        let (hash, depth) = self.hash(name);
        self.depths |= depth;
        self.bits.set(hash);
        hash
    }

    /// The hash of a name in lower case, and the bit of the number of its labels.
    pub(super) fn hash(&self, name: &[u8]) -> (u64, u64) {
        let depth = depth_bit(memchr::memchr_iter(b'.', name).count() + 1);
        let mut whole = 0;
        self.for_each(name, depth, |hash, start| {
            if start == 0 {
                whole = hash;
            }
        });
        (whole, depth)
    }

    /// Adds the suffixes of a name, which is ASCII, that can be listed, the shortest first; upper
    /// case is taken for lower.
    #[inline]
    pub(super) fn ask(&self, number: usize, name: &[u8], asked: &mut Vec<Suffix>) {
        // No list has names of 4 GiB, and no batch has that many of them.
        let (Ok(number), Ok(_)) = (u32::try_from(number), u32::try_from(name.len())) else {
            return;
        };
        self.for_each(name, self.depths, |hash, start| {
            #[expect(clippy::cast_possible_truncation, reason = "see above")]
            let start = start as u32;
            // Added, and perhaps removed again, because a branch would be unpredictable.
            asked.push(Suffix { hash, number, start });
            asked.truncate(asked.len() - usize::from(!self.bits.has(hash)));
        });
    }

    /// Calls `each` with the hash of each suffix of one of these depths that begins with a label,
    /// and where it begins.
    #[inline(always)]
    fn for_each(&self, name: &[u8], depths: u64, mut each: impl FnMut(u64, usize)) {
        // The lowest bit of `left` is that of the labels of the suffix that comes next.
        let fewer = |left: u64| left >> 1 | left & MORE;
        let (mut hash, mut end, mut left) = (self.keys[0], name.len(), fewer(depths));
        let mut of_word = |word: u64, hash: u64, end: usize, left: &mut u64| {
            let mut dots = equal(word, b'.');
            while dots != 0 {
                let last = u64::BITS - 1 - dots.leading_zeros();
                // The bytes behind it: none, or up to seven.
                let behind = word & (u64::MAX << last << 1);
                if *left & 1 != 0 {
                    each(self.mix(hash ^ behind), end + last as usize / 8 + 1 - CHUNK);
                }
                *left = fewer(*left);
                dots ^= 1 << last;
            }
        };
        while end >= CHUNK {
            let word = lower(word_before(name, end));
            of_word(word, hash, end, &mut left);
            hash = self.mix(hash ^ word);
            end -= CHUNK;
            if left == 0 {
                // No listed name has this many labels.
                return;
            }
        }
        let mut rest = 0;
        if end > 0 {
            rest = lower(word_before(name, end));
            of_word(rest, hash, end, &mut left);
        }
        if left & 1 != 0 && !name.is_empty() {
            each(self.mix(hash ^ rest), 0);
        }
    }

    #[inline(always)]
    fn mix(&self, word: u64) -> u64 {
        let product = u128::from(word) * u128::from(self.keys[1]);
        // Both halves of it.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let folded = product as u64 ^ (product >> 64) as u64;
        folded
    }
}

/// The bit of more labels than have bits of their own.
const MORE: u64 = 1 << 63;

/// The bit of a number of labels.
#[inline(always)]
fn depth_bit(labels: usize) -> u64 {
    if labels < 63 { 1 << labels } else { MORE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_those_that_begin_with_a_label() {
        let names: [&[u8]; 7] =
            [b"a", b"ab.cd", b"example.org", b"12345678", b"a.2345678", b"x.1234567.1234567", b"."];
        let mut all = Suffixes::of(7);
        let hashes = names.map(|name| all.add(name));
        let candidates = |name: &[u8]| {
            let mut asked = Vec::new();
            all.ask(0, name, &mut asked);
            let found = asked.iter();
            found.map(|suffix| (suffix.start as usize, suffix.hash)).collect::<Vec<_>>()
        };
        for (name, hash) in names.into_iter().zip(hashes) {
            assert!(candidates(name).contains(&(0, hash)), "{name:?}");
            // Behind any labels, in any case.
            for before in
                ["www", "a.b", "1234567", "12345678", "", "...", "x.y.z.very-long-label-of-a-name"]
            {
                let child = [before.as_bytes(), b".", name].concat();
                let start = before.len() + 1;
                for child in [child.clone(), child.to_ascii_uppercase()] {
                    let found = candidates(&child);
                    assert!(found.contains(&(start, hash)), "{child:?}");
                    assert!(found.is_sorted_by(|a, b| a.0 > b.0));
                }
            }
        }
        // Hashes of suffixes are those of names, wherever eight bytes end.
        let hash_of = |name: &[u8], wanted: usize| {
            let mut hash = None;
            all.for_each(name, u64::MAX, |found, start| {
                if start == wanted {
                    hash = Some(found);
                }
            });
            hash.unwrap()
        };
        let name = b"a.bc.def.ghij.klmno.pqrstu.vwxyzab.cdefghij.klmnopqrs";
        for (dot, _) in name.iter().enumerate().filter(|&(_, &byte)| byte == b'.') {
            assert_eq!(hash_of(name, dot + 1), hash_of(&name[dot + 1..], 0));
            assert_ne!(hash_of(name, dot + 1), hash_of(&name[dot..], 0));
        }
    }

    /// A name of any number of labels has a hash, and is found alone and behind others.
    #[test]
    fn names_of_many_labels() {
        for labels in [1, 2, 61, 62, 63, 64, 65, 127, 1000] {
            let (mut all, name) = (Suffixes::of(1), vec!["ab"; labels].join("."));
            let hash = all.add(name.as_bytes());
            for start in [0, 3, 300] {
                let mut asked = Vec::new();
                all.ask(0, format!("{}{name}", "w.".repeat(start)).as_bytes(), &mut asked);
                let found = |it: &Suffix| (it.start as usize, it.hash) == (2 * start, hash);
                assert!(asked.iter().any(found), "{labels} labels behind {start}");
            }
        }
    }
}
