//! The locations that the index has for a hash.

use std::slice;

use malkoha::{GrowableCuckooMap, Sole};

/// At least one.
pub(crate) enum Candidates {
    /// As usual.
    One(u64),
    /// Some are of other keys.
    Several(Vec<u64>),
}

impl Candidates {
    /// Those of a shard, if it has any.
    #[inline(always)]
    pub(super) fn of(shard: &GrowableCuckooMap, hash: u64) -> Option<Self> {
        match shard.sole_candidate(hash) {
            Sole::Absent => None,
            Sole::Value(location) => Some(Self::One(location)),
            Sole::Several => Some(Self::several(shard, hash)),
        }
    }

    #[cold]
    #[inline(never)]
    fn several(shard: &GrowableCuckooMap, hash: u64) -> Self {
        Self::Several(shard.get_hash(hash).collect())
    }

    /// All of them.
    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[u64] {
        match self {
            Self::One(location) => slice::from_ref(location),
            Self::Several(locations) => locations,
        }
    }
}

impl<'a> IntoIterator for &'a Candidates {
    type Item = &'a u64;
    type IntoIter = slice::Iter<'a, u64>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}
