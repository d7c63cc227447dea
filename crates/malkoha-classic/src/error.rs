//! Errors, with their remedies.

/// A structure that cannot be built as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The capacity is 0 or above 2^36.
    #[error("capacity {0} is out of range: ask for 1 to 68719476736 (2^36) keys")]
    Capacity(u64),
    /// The false-positive rate is not between 0 and 1.
    #[error("false-positive rate {0} is out of range: ask for one above 0 and below 1")]
    Fpr(f64),
    /// The structure cannot reach the false-positive rate at this capacity.
    #[error(
        "a {structure} for {capacity} keys does not reach a false-positive rate of {asked:e}: \
         ask for a higher one, or keep the keys themselves"
    )]
    FprTooSmall {
        /// The structure's name.
        structure: &'static str,
        /// The requested number of keys.
        capacity: u64,
        /// The requested rate.
        asked: f64,
    },
    /// A number of the geometry is outside what the structure supports.
    #[error("{name} {value} is out of range: choose {least} to {most}")]
    OutOfRange {
        /// The name of the number, with its unit.
        name: &'static str,
        /// The requested value.
        value: u64,
        /// The least that is supported.
        least: u64,
        /// The most that is supported.
        most: u64,
    },
    /// The table would not fit into this machine's address space or memory.
    #[error("a table of {bytes} bytes does not fit in memory: ask for fewer keys or a higher fpr")]
    Memory {
        /// The size of the table, saturating.
        bytes: u64,
    },
}

impl BuildError {
    /// `Ok` if `value` lies in `range`.
    pub(crate) fn check_range(
        name: &'static str,
        value: u64,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<(), Self> {
        if range.contains(&value) {
            Ok(())
        } else {
            Err(Self::OutOfRange { name, value, least: *range.start(), most: *range.end() })
        }
    }
}

/// An insert that found no place. The structure is exactly as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", full(*.len, *.capacity))]
#[non_exhaustive]
pub struct Full {
    /// The number of keys in the structure, copies included.
    pub len: u64,
    /// The number of keys it was built for.
    pub capacity: u64,
}

fn full(len: u64, capacity: u64) -> String {
    if len < capacity {
        format!(
            "no free slot for the key, though {len} of {capacity} keys are in: the same key was \
             inserted too often, or the table was built too tight; build a larger one"
        )
    } else {
        format!("full: built for {capacity} keys and holds {len}; build a larger one")
    }
}

/// A batch of which some keys found no place. All the others are in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} of the batch's keys were refused and the others inserted: {full}", refused.len())]
#[non_exhaustive]
pub struct BatchFull {
    /// The positions in the batch of the keys that were refused, ascending.
    pub refused: Vec<usize>,
    /// The state after the batch.
    pub full: Full,
}

/// An entry that found no place in a cuckoo hash table. The table is exactly as it was before, and
/// the entry is handed back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{full}; or let it grow")]
#[non_exhaustive]
pub struct Refused<K, V> {
    /// The key that was to be inserted.
    pub key: K,
    /// Its value.
    pub value: V,
    /// The state of the table.
    pub full: Full,
}
