//! How much of a text occurs in other texts, such as the evaluation sets of a language model.

use malkoha::{GrowableCuckooFilter, InsertError, KeyHasher};

use crate::memory::Memory;
use crate::options::OptionsError;
use crate::shingles::Shingle;

/// The rate at which an n-gram is found wrongly.
const RATE: f64 = 1e-6;

/// The n-grams of a collection of texts.
///
/// ```
/// use malkoha_text::{Overlap, Shingle};
///
/// let mut evaluation = Overlap::new(Shingle::Words(3))?;
/// evaluation.add("Which bird lays its eggs in the nests of others?")?;
/// let mut memory = Default::default();
/// let share = evaluation.share("The bird lays its eggs.", &mut memory);
/// // Of "the bird lays", "bird lays its" and "lays its eggs".
/// assert_eq!((share.found, share.all), (2, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Overlap {
    shingle: Shingle,
    known: GrowableCuckooFilter,
    texts: u64,
    short: u64,
    memory: Memory,
}

/// How many of a text's n-grams occur in a collection. Repeated ones count as often as they occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Those that occur there. An n-gram is found wrongly with a probability of 1 in 10^6.
    pub found: u64,
    /// All of them: 1 for a text that is shorter than one.
    pub all: u64,
}

impl Share {
    /// From 0 to 1.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    pub fn ratio(self) -> f64 {
        self.found as f64 / self.all.max(1) as f64
    }
}

impl Overlap {
    /// An empty collection, compared by n-grams of this size.
    ///
    /// # Errors
    ///
    /// If the size is 0 or above [`Shingle::MAX`].
    pub fn new(shingle: Shingle) -> Result<Self, OptionsError> {
        if !(1..=Shingle::MAX).contains(&shingle.size()) {
            return Err(OptionsError::Shingle(shingle.size()));
        }
        let known = GrowableCuckooFilter::builder().fpr(RATE).build()?;
        Ok(Self { shingle, known, texts: 0, short: 0, memory: Memory::default() })
    }

    fn hasher() -> KeyHasher {
        KeyHasher::new(0)
    }

    /// Adds a text.
    ///
    /// # Errors
    ///
    /// If the system lacks the memory. Some n-grams might be there then.
    pub fn add(&mut self, text: &str) -> Result<(), InsertError> {
        let Memory { hashes, found: new, .. } = &mut self.memory;
        let parts = self.shingle.hash(Self::hasher(), text, hashes);
        new.clear();
        new.resize(hashes.len(), false);
        self.known.insert_unique_hashes(hashes, new).map_err(|refusal| refusal.error)?;
        self.texts += 1;
        self.short += u64::from(parts < self.shingle.size() as usize);
        Ok(())
    }

    /// Texts of the collection.
    #[must_use]
    pub fn texts(&self) -> u64 {
        self.texts
    }

    /// Texts that are shorter than an n-gram. They are found only where a text equals one.
    #[must_use]
    pub fn short_texts(&self) -> u64 {
        self.short
    }

    /// Different n-grams of the collection.
    #[must_use]
    pub fn ngrams(&self) -> u64 {
        self.known.len()
    }

    /// How many of a text's n-grams occur in the collection.
    #[must_use]
    pub fn share(&self, text: &str, memory: &mut Memory) -> Share {
        let Memory { hashes, found, .. } = memory;
        let parts = self.shingle.hash(Self::hasher(), text, hashes);
        if parts == 0 {
            return Share { found: 0, all: 1 };
        }
        found.clear();
        found.resize(hashes.len(), false);
        self.known.contains_hashes(hashes, found);
        let count = found.iter().filter(|&&found| found).count();
        Share { found: count as u64, all: hashes.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Shares against sets of word lists.
    #[test]
    fn shares_are_those_of_sets() {
        let mut state = 9_u64;
        let mut text = || {
            let mut word = || {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                (state >> 40) % 9
            };
            let len = word() * 4;
            (0..len).map(|_| word().to_string()).collect::<Vec<_>>()
        };
        let mut known = Overlap::new(Shingle::Words(4)).unwrap();
        let mut oracle: HashSet<Vec<String>> = HashSet::new();
        let grams = |words: &[String]| -> Vec<Vec<String>> {
            words.windows(4.min(words.len()).max(1)).map(<[String]>::to_vec).collect()
        };
        for _ in 0..100 {
            let words = text();
            known.add(&words.join(" ")).unwrap();
            oracle.extend(grams(&words));
        }
        assert!(known.short_texts() > 0 && known.texts() == 100);
        for _ in 0..1000 {
            let words = text();
            let grams = grams(&words);
            let found = grams.iter().filter(|gram| oracle.contains(*gram)).count() as u64;
            let share = known.share(&words.join(" "), &mut Memory::default());
            assert_eq!((share.found, share.all), (found, grams.len().max(1) as u64));
        }
    }
}
