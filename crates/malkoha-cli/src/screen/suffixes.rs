//! Which of a name and its parents may be listed, found out in one pass over the name.
//!
//! A name is hashed from its end, eight bytes at a time, so that the hashes of all suffixes come
//! with that of the whole: each is one multiplication further.

use malkoha::KeyHasher;

/// Of the table, for each name.
const BITS_A_NAME: u64 = 16;

/// Above, the table would not stay in cache.
const MOST_BITS: u64 = 1 << 24;

/// Bytes that are hashed at once.
const CHUNK: usize = 8;

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;

/// A table of bits of listed names, which are in lower case. It lets most names go that are not in.
/// Whoever guesses its keys can choose names that it keeps, which costs no more than if there were
/// none.
pub(super) struct Suffixes {
    bits: Vec<u64>,
    /// For each number of labels whether a name has so many; the last bit is for more.
    depths: u64,
    keys: [u64; 2],
}

impl Suffixes {
    /// Of names that each have a line.
    pub(super) fn of<'a>(lines: u64, names: impl Iterator<Item = &'a [u8]>) -> Self {
        let bits = lines.saturating_mul(BITS_A_NAME).next_power_of_two().clamp(64, MOST_BITS);
        let words = usize::try_from(bits / 64).unwrap_or(1);
        let random = KeyHasher::random();
        let keys = [random.hash_bytes(b"0"), random.hash_bytes(b"1") | 1];
        let mut all = Self { bits: vec![0; words], depths: 0, keys };
        for name in names {
            let labels = memchr::memchr_iter(b'.', name).count() + 1;
            let mut whole = 0;
            all.for_each(name, u64::MAX, |hash, start| {
                if start == 0 {
                    whole = hash;
                }
            });
            all.depths |= depth_bit(labels);
            let (word, bit) = all.at(whole);
            all.bits[word] |= bit;
        }
        all
    }

    /// Calls `each` with where suffixes of an ASCII name begin that may be listed, the shortest
    /// first; upper case is taken for lower.
    #[inline]
    pub(super) fn candidates(&self, name: &[u8], mut each: impl FnMut(usize)) {
        self.for_each(name, self.depths, |hash, start| {
            let (word, bit) = self.at(hash);
            if self.bits[word] & bit != 0 {
                each(start);
            }
        });
    }

    #[inline(always)]
    fn at(&self, hash: u64) -> (usize, u64) {
        // A power of two of words.
        let word = (hash >> 6) as usize & (self.bits.len() - 1);
        (word, 1 << (hash % 64))
    }

    /// Calls `each` with the hash of each suffix of one of these depths that begins with a label,
    /// and where it begins.
    #[inline(always)]
    fn for_each(&self, name: &[u8], depths: u64, mut each: impl FnMut(u64, usize)) {
        let (mut hash, mut end, mut labels) = (self.keys[0], name.len(), 1);
        while end > 0 {
            let word = lower(chunk(name, end));
            let mut dots = equal(word, b'.');
            while dots != 0 {
                // The last one, and the bytes behind it: none, or up to seven.
                let byte = (u64::BITS - 1 - dots.leading_zeros()) / 8;
                let behind = word & u64::MAX.checked_shl(8 * (byte + 1)).unwrap_or(0);
                if depths & depth_bit(labels) != 0 {
                    each(self.mix(hash ^ behind), end + byte as usize + 1 - CHUNK);
                }
                labels += 1;
                dots ^= 1 << (8 * byte + 7);
            }
            let is_first = end <= CHUNK;
            if end >= CHUNK {
                hash = self.mix(hash ^ word);
            }
            if is_first && depths & depth_bit(labels) != 0 {
                let rest = if end == CHUNK { 0 } else { word };
                each(self.mix(hash ^ rest), 0);
            }
            end = end.saturating_sub(CHUNK);
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

/// The bit of a number of labels.
#[inline(always)]
fn depth_bit(labels: usize) -> u64 {
    1 << labels.min(63)
}

/// The eight bytes of a name before `end`, or all that there are behind zeros.
#[inline(always)]
fn chunk(name: &[u8], end: usize) -> u64 {
    if let Some(last) = name[..end].last_chunk::<CHUNK>() {
        return u64::from_le_bytes(*last);
    }
    let mut first = [0; CHUNK];
    match name.first_chunk::<CHUNK>() {
        Some(chunk) => first = *chunk,
        None => first[..end].copy_from_slice(&name[..end]),
    }
    u64::from_le_bytes(first) << (8 * (CHUNK - end))
}

/// The highest bit of each byte that is this one.
#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    let other = word ^ (ONES * u64::from(byte));
    !(((other & !HIGH) + !HIGH) | other) & HIGH
}

/// ASCII letters in lower case.
#[inline(always)]
fn lower(word: u64) -> u64 {
    let low = word & !HIGH;
    let from_a = low + ONES * (0x80 - u64::from(b'A'));
    let above_z = low + ONES * (0x7f - u64::from(b'Z'));
    word | ((from_a & !above_z & !word & HIGH) >> 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_those_that_begin_with_a_label() {
        let names: [&[u8]; 7] =
            [b"a", b"ab.cd", b"example.org", b"12345678", b"a.2345678", b"x.1234567.1234567", b"."];
        let all = Suffixes::of(7, names.into_iter());
        for name in names {
            let mut found = Vec::new();
            all.candidates(name, |start| found.push(start));
            assert!(found.contains(&0), "{name:?}");
            // Behind any labels, in any case.
            for before in
                ["www", "a.b", "1234567", "12345678", "", "...", "x.y.z.very-long-label-of-a-name"]
            {
                let child = [before.as_bytes(), b".", name].concat();
                let start = before.len() + 1;
                for child in [child.clone(), child.to_ascii_uppercase()] {
                    let mut found = Vec::new();
                    all.candidates(&child, |start| found.push(start));
                    assert!(found.contains(&start), "{child:?}");
                    assert!(found.is_sorted_by(|a, b| a > b));
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

    #[test]
    fn letters_are_lowered_and_nothing_else() {
        for byte in 0..=255 {
            let word = u64::from_le_bytes([byte, b'x', byte, byte, b'.', byte, 0x80, 0xff]);
            assert_eq!(lower(word).to_le_bytes()[0], byte.to_ascii_lowercase());
            assert_eq!(lower(word).to_le_bytes()[5..], [byte.to_ascii_lowercase(), 0x80, 0xff]);
            let dot = if byte == b'.' { 0x80 } else { 0 };
            assert_eq!(equal(word, b'.').to_le_bytes(), [dot, 0, dot, dot, 0x80, dot, 0, 0]);
        }
    }
}
