//! Removes duplicates from texts: equal ones, similar ones, and repeated paragraphs. Finds texts
//! that [overlap](Overlap) with others, such as evaluation sets.
//!
//! A [`Deduplicator`] decides for each text, in order, whether it is kept. It grows as texts come:
//! no size is guessed. Its rate of wrong losses stays at any size.
//!
//! | method | index per kept text | wrongly dropped |
//! | --- | --- | --- |
//! | [`exact`](Options::exact) | 13 bytes | none (over 96 bits are compared) |
//! | [`near`](Options::near) 0.8 | 16 fingerprints, 60 to 70 bytes | 1 in 10,000, or as asked |
//! | [`paragraphs`](Options::paragraphs) | 13 bytes per paragraph | none |
//!
//! # How similar texts are found
//!
//! Texts become [words], words become shingles (runs of five), and the set of shingles becomes a
//! signature of row minima, `MinHash` (Broder, "On the resemblance and containment of documents",
//! 1997). Two signatures agree in a row with the probability of the sets' Jaccard similarity.
//! Rows form [`Bands`], and texts that agree in all rows of a band are similar (Leskovec, Rajaraman
//! and Ullman, "Mining of Massive Datasets", section 3.4). A filter of the bands' hashes takes the
//! place of the usual table from bands to documents (Khan et al., "LSHBloom", arXiv 2411.04257,
//! 2024); here it is a cuckoo filter that grows.
//!
//! # Guarantees
//!
//! * Each dropped text has a duplicate that is kept, except for wrong losses.
//! * Decisions depend on options, texts and their order, not on threads, calls, or saved states.
//! * A text without words, such as one of emoji, is a duplicate only of those that are equal except
//!   for white space at the ends.
//!
//! # Limits
//!
//! * Bands find most similar pairs, not all: [`Bands::probability`] is the curve.
//! * Texts shorter than a shingle are similar only if they have the same words.
//! * Similarity is that of sets. A text within a text twice as long has a similarity of a half.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod bands;
mod dedup;
mod exact;
mod many;
mod memory;
mod minhash;
mod near;
mod options;
mod overlap;
mod paragraphs;
mod shingles;
mod state;
mod words;

pub use bands::Bands;
pub use dedup::{Decision, Deduplicator, Duplicate, Prepared, Preparer, Reason};
pub use memory::Memory;
pub use options::{Method, Options, OptionsError};
pub use overlap::{Overlap, Share};
pub use shingles::Shingle;
pub use state::{StateError, UniteError};
pub use words::words;
