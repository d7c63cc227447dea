//! Errors, each with its remedy: one family each for building, inserting
//! and uniting; [`ReadError`](crate::ReadError) is the fourth.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::params::math;

/// A filter that cannot be built as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The capacity is 0 or above 2^36.
    #[error("capacity {0} is out of range: ask for 1 to 68719476736 (2^36) keys")]
    Capacity(u64),
    /// The false-positive rate is not between 0 and 1.
    #[error("false-positive rate {0} is out of range: ask for one above 0 and below 1")]
    Fpr(f64),
    /// The longest fingerprints, of 32 bits or 30 in a growable filter, do not reach the
    /// false-positive rate.
    #[error(
        "a false-positive rate of {asked:e} needs longer fingerprints than there are: \
         ask for at least {:.1e}, or keep the keys themselves",
        two_digits_above(*reachable)
    )]
    FprTooSmall {
        /// The requested rate.
        asked: f64,
        /// The lowest possible rate.
        reachable: f64,
    },
    /// The growth factor is not between 1 and the greatest that such a filter supports: 10^9, less
    /// from a large capacity, or 65,536 if threads share it.
    #[error("growth by a factor of {asked} is out of range: ask for 1 to {most}")]
    Growth {
        /// The factor asked for.
        asked: f64,
        /// The greatest.
        most: f64,
    },
    /// The fingerprint size is outside 4 to 32 bits.
    #[error("fingerprints of {0} bits are not supported: choose 4 to 32")]
    FingerprintBits(u32),
    /// The bucket size is not 1, 2, 4 or 8.
    #[error("buckets of {0} slots are not supported: choose 1, 2, 4 or 8")]
    BucketSize(u32),
    /// The layout does not support the requested geometry.
    #[error("the {layout} layout does not support {what}")]
    Layout {
        /// The layout's name.
        layout: &'static str,
        /// The unsupported geometry, and the alternative.
        what: &'static str,
    },
    /// The value size is outside 1 to 64 bits, or 0 to 64 in a growable map.
    #[error("values of {0} bits are not supported: choose 1 to 64")]
    ValueBits(u32),
    /// Keys cannot expire after such a time in such steps.
    #[error(
        "keys cannot expire after {ttl} in steps of {resolution}: choose a time of at least 1 and \
         below 2^64, and a resolution of 1 at least, 1/255 of the time at least and all of it at most"
    )]
    Window {
        /// The requested time.
        ttl: u64,
        /// The requested resolution.
        resolution: u64,
    },
    /// An option that this kind of filter or map does not have.
    #[error("a {kind} has no {option}: {remedy}")]
    Option {
        /// The kind of filter.
        kind: &'static str,
        /// The builder's option.
        option: &'static str,
        /// The alternative.
        remedy: &'static str,
    },
    /// More evictions are asked for than an insert may consider.
    #[error("{0} kicks are too many: choose at most 65535")]
    MaxKicks(u32),
    /// Neither a false-positive rate nor a fingerprint size was given, or both were.
    #[error("give either a false-positive rate or a fingerprint size, not both and not neither")]
    Precision,
    /// The table would not fit this machine's address space or memory.
    #[error("a table of {bytes} bytes does not fit in memory: ask for fewer keys or a higher fpr")]
    Memory {
        /// The size of the table, saturating.
        bytes: u64,
    },
    /// The keys that the filter was to be built of did not fit: there are more distinct ones than
    /// the capacity that was given, usually.
    #[error(transparent)]
    Insert(#[from] InsertError),
}

impl From<BatchError> for BuildError {
    fn from(refusal: BatchError) -> Self {
        refusal.error.into()
    }
}

/// The smallest number of two digits that is not below a positive `rate`: the error must not name
/// a rate that is refused too.
fn two_digits_above(rate: f64) -> f64 {
    let last_digit = math::powf(10.0, math::floor(math::log10(rate)) - 1.0);
    math::ceil(rate / last_digit) * last_digit
}

/// A key, or a pair of key and value, that was not inserted. The filter or map is unchanged.
///
/// Copies of a key that is in are never refused for lack of room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// No place was found for a new key.
    #[error("{}", full(*.len, *.capacity))]
    Full {
        /// The number of keys in the filter.
        len: u64,
        /// The number of keys it was built for.
        capacity: u64,
    },
    /// The value is too large.
    #[error("value {value} has more than the {bits} bits of this map's values: build it for more")]
    Value {
        /// The refused value.
        value: u64,
        /// Bits of the map's values, at most.
        bits: u32,
    },
    /// The system lacks the memory for a reservation.
    #[error("room for that many keys takes {bytes} bytes, more than there are: reserve for fewer")]
    Memory {
        /// The approximate size.
        bytes: u64,
    },
}

fn full(len: u64, capacity: u64) -> String {
    if len < capacity {
        format!(
            "no free slot for the key, though the filter holds {len} of {capacity} keys: \
             its fingerprints are too short for so many: build one with longer ones"
        )
    } else {
        format!(
            "filter is full: it was built for {capacity} keys and holds {len}; build a larger one"
        )
    }
}

fn overfull(keys: u64, capacity: u64) -> String {
    if keys > capacity {
        format!(
            "together they hold {keys} keys, and one was built for {capacity}: build larger ones"
        )
    } else {
        full(keys, capacity)
    }
}

/// Some keys of a batch, or pairs of key and value, were refused. All others are in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} of the batch's keys were refused and the others inserted: {error}", refused.len())]
#[non_exhaustive]
pub struct BatchError {
    /// The positions in the batch of the keys that were refused, ascending.
    pub refused: Vec<usize>,
    /// Why the first of them was refused; `len` is that after the batch.
    pub error: InsertError,
}

/// Two filters or maps that could not be united. The first is exactly as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnionError {
    /// They hash keys differently.
    #[error(
        "the filters hash keys in different ways: build one like the other, with its seed or key"
    )]
    Seed,
    /// They place keys differently.
    #[error(
        "the filters differ in {0}: only filters of the same layout, fingerprint and value size \
         and capacity can be united; build one from the keys of both, or growable ones"
    )]
    Different(&'static str),
    /// The contents of both do not fit into one.
    #[error("the union does not fit: {}", overfull(*.keys, *.capacity))]
    Full {
        /// The keys of both, those that are in both counted twice.
        keys: u64,
        /// The number of keys that the first was built for.
        capacity: u64,
    },
    /// There would be more copies than 2^63.
    #[error("the filters have more than 2^63 keys together, copies included: unite others")]
    Copies,
    /// There is no memory for another table.
    #[error("a union takes the memory of another table of {bytes} bytes while it is made")]
    Memory {
        /// The size of the table.
        bytes: u64,
    },
}
