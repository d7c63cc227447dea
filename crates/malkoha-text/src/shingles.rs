//! Shingles: the runs of consecutive words or characters of a text (Broder, "On the resemblance
//! and containment of documents", 1997).

use malkoha::KeyHasher;

use crate::words;

/// The unit of similarity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shingle {
    /// Runs of this many words.
    Words(u32),
    /// Runs of this many characters of the words, which one space separates.
    Characters(u32),
}

impl Shingle {
    /// The largest number of words or characters.
    pub const MAX: u32 = 1000;

    /// How many words or characters a shingle has.
    #[must_use]
    pub const fn size(self) -> u32 {
        match self {
            Self::Words(len) | Self::Characters(len) => len,
        }
    }

    /// Replaces `hashes` by those of all shingles of a text, in order, with repetitions. A text
    /// that is shorter than a shingle has one, its whole; one without words that of its characters
    /// except white space at its ends. Returns the number of words or characters.
    ///
    /// A hash is 64 bits of the keyed hashes of the parts, as a polynomial, mixed. Takes time in
    /// proportion to the text, whatever the length of shingles.
    pub(crate) fn hash(self, hasher: KeyHasher, text: &str, hashes: &mut Vec<u64>) -> usize {
        hashes.clear();
        match self {
            Self::Words(_) => words(text, |word| hashes.push(hasher.hash_bytes(word.as_bytes()))),
            Self::Characters(_) => {
                let salt = hasher.hash_bytes(b"character");
                let part = |c: char| mix(u64::from(u32::from(c)) ^ salt);
                words(text, |word| {
                    if !hashes.is_empty() {
                        hashes.push(part(' '));
                    }
                    hashes.extend(word.chars().map(part));
                });
            }
        }
        let parts = hashes.len();
        if parts == 0 {
            hashes.push(hasher.hash_bytes(text.trim().as_bytes()));
        }
        roll(hashes, self.size() as usize);
        parts
    }
}

/// The polynomial's base: odd, without a pattern in its bits.
const BASE: u64 = 0x9e6c_63d0_876a_9a35;

/// Replaces hashes of parts, of which there is one, by those of runs of `len` parts.
fn roll(parts: &mut Vec<u64>, len: usize) {
    let first = parts.len().min(len.max(1));
    let push = |hash: u64, part: u64| hash.wrapping_mul(BASE).wrapping_add(part);
    let mut hash = parts[..first].iter().fold(0, |hash, &part| push(hash, part));
    // A run's first part has been multiplied this often when the run is complete.
    let top = BASE.wrapping_pow(u32::try_from(first).expect("at most Shingle::MAX"));
    for at in first..parts.len() {
        let (gone, part) = (parts[at - first], parts[at]);
        parts[at - first] = mix(hash);
        hash = push(hash, part).wrapping_sub(gone.wrapping_mul(top));
    }
    let runs = parts.len() - first;
    parts.truncate(runs + 1);
    parts[runs] = mix(hash);
}

/// A bijection in which each bit of the result depends on all bits (the finalizer of
/// `SplitMix64`).
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(shingle: Shingle, text: &str) -> Vec<u64> {
        let mut hashes = Vec::new();
        shingle.hash(KeyHasher::new(7), text, &mut hashes);
        hashes
    }

    /// A shingle's hash depends on its own parts alone, wherever they stand.
    #[test]
    fn a_shingle_has_one_hash_everywhere() {
        let text: Vec<String> = (0..40).map(|n| format!("w{}", n * n % 17)).collect();
        for len in [1, 2, 3, 5, 39, 40] {
            let all = hashes(Shingle::Words(len), &text.join(" "));
            assert_eq!(all.len(), 41 - len as usize);
            for (at, &hash) in all.iter().enumerate() {
                let alone = text[at..at + len as usize].join(" ");
                assert_eq!(hashes(Shingle::Words(len), &alone), [hash], "{len} words at {at}");
            }
        }
        let all = hashes(Shingle::Characters(4), "Koel, koel!");
        let alone = ["koel", "oel ", "el k", "l ko", " koe", "koel"];
        assert_eq!(all.len(), alone.len());
        assert_eq!(all[0], all[5]);
        assert_eq!(all[1..5].iter().collect::<std::collections::HashSet<_>>().len(), 4);
    }

    #[test]
    fn short_texts_have_one_shingle() {
        let short = hashes(Shingle::Words(5), "a b");
        assert_eq!(short.len(), 1);
        assert_ne!(short, hashes(Shingle::Words(5), "b a"));
        assert_ne!(short, hashes(Shingle::Words(5), "a"));
        assert_ne!(hashes(Shingle::Words(5), "a a"), hashes(Shingle::Words(5), "a"));
        assert_eq!(hashes(Shingle::Words(5), " —!"), hashes(Shingle::Words(3), "—!\n"));
        assert_ne!(hashes(Shingle::Words(5), "—!"), hashes(Shingle::Words(5), "— !"));
    }
}
