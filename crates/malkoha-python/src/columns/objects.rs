//! Keys that are Python objects, in a list or from any iterable.

use malkoha::KeyHasher;
use pyo3::prelude::*;

use super::{Column, Rows, items, room};
use crate::key;

/// Objects are hashed immediately, since they can only be read with the interpreter.
struct Hashed {
    hashes: Vec<u64>,
    /// For each key whether it is null, if any is.
    nulls: Vec<bool>,
}

pub(super) fn column(keys: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<Box<dyn Column>> {
    let mut hashes = Vec::with_capacity(room(keys));
    let mut nulls = Vec::new();
    for key in items(keys)? {
        let hash = key::hash_or_null(&key?, hasher)?;
        if hash.is_none() {
            nulls.resize(hashes.len(), false);
            nulls.push(true);
        }
        hashes.push(hash.unwrap_or_default());
    }
    if !nulls.is_empty() {
        nulls.resize(hashes.len(), false);
    }
    Ok(Box::new(Hashed { hashes, nulls }))
}

impl Column for Hashed {
    fn len(&self) -> usize {
        self.hashes.len()
    }
}

impl Rows for Hashed {
    fn hash(&self, _: KeyHasher, start: usize, hashes: &mut [u64]) {
        hashes.copy_from_slice(&self.hashes[start..][..hashes.len()]);
    }

    fn has_nulls(&self) -> bool {
        !self.nulls.is_empty()
    }

    fn is_null(&self, i: usize) -> bool {
        self.nulls[i]
    }
}
