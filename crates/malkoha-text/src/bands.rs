//! Bands of signatures: locality-sensitive hashing for the Jaccard similarity (Leskovec,
//! Rajaraman and Ullman, section 3.4).

use malkoha::KeyHasher;

use crate::OptionsError;
use crate::memory::Memory;
use crate::minhash::Rows;
use crate::shingles::Shingle;

/// How similar texts are found: signatures of `bands * rows` rows, of which two similar texts
/// have all rows of at least one band in common.
///
/// Two texts of Jaccard similarity `J` are found with the probability `1 - (1 - J^rows)^bands`,
/// [`probability`](Self::probability). This curve is steep and no step: some pairs below the
/// similarity asked for are found, and a few above it are not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bands {
    bands: u32,
    rows: u32,
}

impl Bands {
    /// The largest number of rows of a signature.
    pub const MAX_ROWS: u32 = 4096;

    /// Rows that [`for_similarity`](Self::for_similarity) chooses at most.
    const CHOSEN_ROWS: u32 = 128;

    /// The largest probability that it misses a pair of exactly this similarity.
    const MISSED: f64 = 0.055;

    /// Bands of this many rows each.
    ///
    /// # Errors
    ///
    /// If one of them is 0, or they have more than [`MAX_ROWS`](Self::MAX_ROWS) rows in all.
    pub fn new(bands: u32, rows: u32) -> Result<Self, OptionsError> {
        let all = u64::from(bands) * u64::from(rows);
        if all == 0 || all > u64::from(Self::MAX_ROWS) {
            return Err(OptionsError::Bands { bands, rows });
        }
        Ok(Self { bands, rows })
    }

    /// The steepest curve of at most 128 rows that finds 94.5 % of the pairs of exactly this
    /// similarity, and more of the pairs above it: 16 bands of 8 rows for 0.8.
    ///
    /// # Errors
    ///
    /// If the similarity is not between 0.3 and 0.99.
    pub fn for_similarity(similarity: f64) -> Result<Self, OptionsError> {
        if !(0.3..=0.99).contains(&similarity) {
            return Err(OptionsError::Similarity(similarity));
        }
        let needed = |rows: u32| {
            let agree = similarity.powf(f64::from(rows));
            (Self::MISSED.ln() / (-agree).ln_1p()).ceil()
        };
        let most = f64::from(Self::CHOSEN_ROWS);
        let rows =
            (1..=Self::CHOSEN_ROWS).rev().find(|&rows| needed(rows) * f64::from(rows) <= most);
        let rows = rows.unwrap_or(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number of at most 128"
        )]
        Ok(Self { bands: needed(rows) as u32, rows })
    }

    /// The number of bands, each of which takes one fingerprint for each text.
    #[must_use]
    pub const fn bands(self) -> u32 {
        self.bands
    }

    /// Rows in a band.
    #[must_use]
    pub const fn rows(self) -> u32 {
        self.rows
    }

    /// The probability that two texts of this Jaccard similarity are found.
    ///
    /// ```
    /// let bands = malkoha_text::Bands::for_similarity(0.8)?;
    /// assert!(bands.probability(0.9) > 0.999);
    /// assert!((0.945..0.95).contains(&bands.probability(0.8)));
    /// assert!(bands.probability(0.6) < 0.25 && bands.probability(0.4) < 0.011);
    /// # Ok::<(), malkoha_text::OptionsError>(())
    /// ```
    #[must_use]
    pub fn probability(self, similarity: f64) -> f64 {
        let agree = similarity.powf(f64::from(self.rows));
        1.0 - (1.0 - agree).powf(f64::from(self.bands))
    }

    /// The similarity at which a share of the bands agrees on average.
    #[must_use]
    pub(crate) fn similarity_of(self, agreeing: u32) -> f64 {
        (f64::from(agreeing) / f64::from(self.bands)).powf(1.0 / f64::from(self.rows))
    }
}

/// Makes a text's band keys. Cheap to clone, and shared by threads.
#[derive(Clone, Debug)]
pub(crate) struct Signer {
    hasher: KeyHasher,
    shingle: Shingle,
    bands: Bands,
    rows: Rows,
}

impl Signer {
    pub(crate) fn new(hasher: KeyHasher, shingle: Shingle, bands: Bands) -> Self {
        let rows = Rows::new((bands.bands * bands.rows) as usize, hasher);
        Self { hasher, shingle, bands, rows }
    }

    /// Replaces `keys` by one hash for each band.
    pub(crate) fn sign(&self, text: &str, memory: &mut Memory, keys: &mut Vec<u64>) {
        let Memory { hashes: shingles, signature, bytes, .. } = memory;
        self.shingle.hash(self.hasher, text, shingles);
        self.rows.sign(shingles, signature);
        keys.clear();
        for (band, rows) in (0_u32..).zip(signature.chunks_exact(self.bands.rows as usize)) {
            bytes.clear();
            bytes.extend_from_slice(&band.to_le_bytes());
            rows.iter().for_each(|row| bytes.extend_from_slice(&row.to_le_bytes()));
            keys.push(self.hasher.hash_bytes(bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_suit_the_similarity() {
        for (similarity, bands, rows) in
            [(0.5, 22, 3), (0.7, 16, 5), (0.8, 16, 8), (0.9, 9, 12), (0.95, 6, 18)]
        {
            let chosen = Bands::for_similarity(similarity).unwrap();
            assert_eq!((chosen.bands, chosen.rows), (bands, rows), "for {similarity}");
        }
        for step in 30..=99 {
            let similarity = f64::from(step) / 100.0;
            let chosen = Bands::for_similarity(similarity).unwrap();
            assert!(chosen.bands * chosen.rows <= 128);
            assert!(chosen.probability(similarity) >= 0.945, "{similarity}: {chosen:?}");
        }
        for wrong in [f64::NAN, 0.0, 0.29, 1.0, 80.0] {
            assert!(Bands::for_similarity(wrong).is_err());
        }
        assert!(Bands::new(0, 8).is_err() && Bands::new(u32::MAX, u32::MAX).is_err());
    }
}
