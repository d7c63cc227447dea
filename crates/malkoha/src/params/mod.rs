//! The arithmetic of sizing: the memory for a number of keys at a false-positive rate.
//!
//! Every function is pure and names the equation it implements. "Paper" is Fan, Andersen,
//! Kaminsky and Mitzenmacher, *Cuckoo Filter: Practically Better Than Bloom* (CoNEXT 2014);
//! "thesis" is the chapter on Bloom and cuckoo filters whose equations are numbered 1.1 to 1.24.
//!
//! ```
//! use malkoha::params;
//!
//! // Bits per key of each structure, if one absent key in a thousand may be reported as present:
//! let fpr = 0.001;
//! assert!((params::information_bound(fpr) - 9.97).abs() < 0.01);
//! assert!((params::bloom_bits_per_key(fpr) - 14.38).abs() < 0.01);
//! assert!((params::cuckoo_bits_bound(fpr, 4, 0.95) - 13.65).abs() < 0.01);
//! ```

mod bloom;
mod cuckoo;

pub use bloom::{bloom_bits_per_key, bloom_fpr, bloom_optimal_hashes};
pub(crate) use cuckoo::float;
pub use cuckoo::{
    cuckoo_bits_bound, cuckoo_bits_per_key, cuckoo_fingerprint_bits, cuckoo_fpr,
    cuckoo_load_threshold, expected_overfull_groups, min_fingerprint_bits, semi_sorted_bits_bound,
};

// The functions of `f64` that `core` does not have: those of `std`, or of `libm` without it.
#[cfg(feature = "std")]
pub(crate) use core::primitive::f64 as math;
#[cfg(not(feature = "std"))]
pub(crate) mod math {
    pub(crate) use libm::{ceil, exp, exp2, floor, log2, log10};
    pub(crate) use libm::{expm1 as exp_m1, log as ln, log1p as ln_1p, pow as powf};
}

/// The fewest bits per key any filter with this false-positive rate can use: log2(1/fpr) (thesis,
/// eq. 1.17).
#[must_use]
pub fn information_bound(fpr: f64) -> f64 {
    -math::log2(fpr)
}
