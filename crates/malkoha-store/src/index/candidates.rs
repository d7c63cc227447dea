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
    /// Those of a part, if it has any.
    #[inline(always)]
    pub(super) fn of(part: &GrowableCuckooMap, hash: u64) -> Option<Self> {
        match part.sole_candidate(hash) {
            Sole::Absent => None,
            Sole::Value(location) => Some(Self::One(location)),
            Sole::Several => Some(Self::several(part, hash)),
        }
    }

    #[cold]
    #[inline(never)]
    fn several(part: &GrowableCuckooMap, hash: u64) -> Self {
        Self::Several(part.get_hash(hash).collect())
    }

    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[u64] {
        match self {
            Self::One(location) => slice::from_ref(location),
            Self::Several(locations) => locations,
        }
    }
}
