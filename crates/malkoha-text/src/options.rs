//! The choices of a deduplicator.

use malkoha::KeyHasher;

use crate::Bands;
use crate::shingles::Shingle;

/// Which texts are duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// Equal texts, without errors: over 96 bits of two keyed hashes are compared.
    Exact,
    /// Texts with equal words: case, punctuation, symbols and white space do not count.
    Words,
    /// Similar texts.
    Near {
        /// How similar.
        bands: Bands,
        /// The parts of a text that are compared.
        shingle: Shingle,
        /// The largest probability that a text is dropped which has no band in common with any
        /// kept text, over all bands.
        rate: f64,
    },
    /// Cuts paragraphs that occurred before out of a text.
    Paragraphs {
        /// Shorter ones, in bytes, are never cut.
        shortest: u32,
        /// A text of which something was cut is dropped if less than this is left, in bytes
        /// without the white space around paragraphs.
        least_left: u32,
    },
}

/// The choices of a [`Deduplicator`](crate::Deduplicator).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    pub(crate) method: Method,
    pub(crate) numbered: bool,
    pub(crate) documents: u64,
    pub(crate) hasher: KeyHasher,
}

/// The default [rate](Method::Near::rate).
const RATE: f64 = 1e-4;

impl Options {
    /// Equal texts.
    #[must_use]
    pub const fn exact() -> Self {
        Self::of(Method::Exact)
    }

    /// Texts of at least about this Jaccard similarity in runs of five words. Wrongly dropped are
    /// at most 1 in 10,000 texts without a similar one.
    ///
    /// # Errors
    ///
    /// If the similarity is not between 0.3 and 0.99.
    pub fn near(similarity: f64) -> Result<Self, OptionsError> {
        let bands = Bands::for_similarity(similarity)?;
        Ok(Self::of(Method::Near { bands, shingle: Shingle::Words(5), rate: RATE }))
    }

    /// Repeated paragraphs of any length. A text is dropped if less than 100 bytes are left.
    #[must_use]
    pub const fn paragraphs() -> Self {
        Self::of(Method::Paragraphs { shortest: 0, least_left: 100 })
    }

    /// Any method.
    #[must_use]
    pub const fn of(method: Method) -> Self {
        Self { method, numbered: false, documents: 1000, hasher: KeyHasher::new(0) }
    }

    /// Remembers the number of each kept text, so that each dropped one is reported with the text
    /// that it is a duplicate of. Takes up to 25 more bytes for an exact text or paragraph, and 3
    /// to 5 more for each band of a near one. Its index then differs, so other texts are wrongly
    /// dropped.
    #[must_use]
    pub const fn numbered(self, numbered: bool) -> Self {
        Self { numbered, ..self }
    }

    /// Texts to make room for at first. It grows beyond.
    #[must_use]
    pub const fn documents(self, documents: u64) -> Self {
        Self { documents, ..self }
    }

    /// The hash function and its key. Somebody who knows them and chooses texts can make texts
    /// that are dropped. The default key is known, and the same everywhere.
    #[must_use]
    pub const fn hasher(self, hasher: KeyHasher) -> Self {
        Self { hasher, ..self }
    }

    /// Which texts are duplicates.
    #[must_use]
    pub const fn method(&self) -> Method {
        self.method
    }

    /// Whether numbers are remembered.
    #[must_use]
    pub const fn is_numbered(&self) -> bool {
        self.numbered
    }

    /// Whether the decisions are the same: all but the room at first.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Self { documents: 0, ..*self } == Self { documents: 0, ..*other }
    }

    pub(crate) fn check(self) -> Result<Self, OptionsError> {
        if let Method::Near { shingle, rate, .. } = self.method {
            if !(1..=Shingle::MAX).contains(&shingle.size()) {
                return Err(OptionsError::Shingle(shingle.size()));
            }
            if !(1e-6..=0.1).contains(&rate) {
                return Err(OptionsError::Rate(rate));
            }
        }
        Ok(self)
    }
}

/// Choices that cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A similarity outside the range.
    #[error("the similarity is {0}: choose one between 0.3 and 0.99")]
    Similarity(f64),
    /// No bands, or too many rows.
    #[error(
        "{bands} bands of {rows} rows: at least one of each, and at most {most} rows in all",
        most = Bands::MAX_ROWS
    )]
    Bands {
        /// Bands.
        bands: u32,
        /// Rows in each.
        rows: u32,
    },
    /// A length of shingles outside the range.
    #[error("shingles of {0}: choose 1 to {most} words or characters", most = Shingle::MAX)]
    Shingle(u32),
    /// A rate outside the range.
    #[error("the rate of wrongly dropped texts is {0}: choose one between 1e-6 and 0.1")]
    Rate(f64),
    /// The index cannot be built.
    #[error(transparent)]
    Build(#[from] malkoha::BuildError),
}
