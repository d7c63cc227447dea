//! Where a key is, and its hash.

use std::ops::Deref;

use crate::addressing::{Addressing, Probe};

/// A key's places and fingerprint, and the hash, from which tables below take further bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Target {
    pub(super) probe: Probe,
    pub(super) hash: u64,
}

impl Target {
    #[inline(always)]
    pub(super) fn new(addressing: &Addressing, hash: u64) -> Self {
        Self { probe: addressing.probe(hash), hash }
    }
}

impl Deref for Target {
    type Target = Probe;

    #[inline(always)]
    fn deref(&self) -> &Probe {
        &self.probe
    }
}

impl From<Probe> for Target {
    /// Of a table that has none below it.
    #[inline(always)]
    fn from(probe: Probe) -> Self {
        Self { probe, hash: 0 }
    }
}
