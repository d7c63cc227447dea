//! Structures to compare with a cuckoo filter. Each can be used by itself.
//!
//! | structure | bits per key at fpr 2^-k | memory touched by a lookup | removes | full |
//! | --- | --- | --- | --- | --- |
//! | [`BloomFilter`] | 1.44 k | k places (2 for an absent key) | no | never |
//! | [`BlockedBloomFilter`] | 1.44 k, and 3 to 23 % more | 1 cache line | no | never |
//! | [`CountingBloomFilter`] | 5.77 k | k places (2 for an absent key) | yes, counts to 14 | never |
//! | [`QuotientFilter`] | (k + 3) / load, load 0.45 to 0.9 | 1 or 2 neighbouring lines | yes, counts | below load 1 |
//! | [`DLeftCountingFilter`] | (k + 5.6) / 0.75 | 4 places | yes, counts | at 0.78 |
//! | [`CuckooHashTable`] | the keys, at load below 0.5 | 2 places | yes, exact | at 0.5, or it grows |
//! | [`BucketedCuckooTable`] | the keys, at load up to 0.99 | 2 to 4 places | yes, exact | at its threshold, or it grows |
//!
//! All of them take any [`Key`](malkoha::Key) of the `malkoha` crate and hash it in the same way,
//! so results are the same on every machine. The filters implement the trait [`Filter`],
//! and [`RemovableFilter`] if they can remove keys. The tables store the keys, so they are exact.
//!
//! ```
//! use malkoha_classic::{BlockedBloomFilter, Filter};
//!
//! let mut seen = BlockedBloomFilter::with_capacity(10_000, 0.01)?;
//! seen.insert_many(&["cuckoo", "malkoha", "koel"])?;
//! assert_eq!(seen.contains_many(&["koel", "magpie"]), [true, false]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! "Paper" is Fan, Andersen, Kaminsky and Mitzenmacher, *Cuckoo Filter: Practically Better Than
//! Bloom* (CoNEXT 2014); "thesis" is the chapter on Bloom and cuckoo filters whose equations are
//! numbered 1.1 to 1.24, as in [`malkoha::params`].

mod arch;
mod blocked;
mod bloom;
mod cuckoo;
mod dleft;
mod double_hash;
mod error;
mod filter;
mod quotient;
mod sizing;
mod words;

pub use blocked::{BlockedBloomFilter, blocked_bloom_bits_per_key, blocked_bloom_fpr};
pub use bloom::{Bloom, BloomFilter, CountingBloomFilter};
pub use cuckoo::{BucketedCuckooTable, CuckooHashTable, Growth};
pub use dleft::{DLeftCountingFilter, d_left_fpr};
pub use error::{BatchFull, BuildError, Full, Refused};
pub use filter::{Filter, RemovableFilter};
pub use quotient::{QuotientFilter, quotient_filter_fpr};
