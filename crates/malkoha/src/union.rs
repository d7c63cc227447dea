//! Unions of filters and of maps.

use std::ops::Deref;

use crate::error::{Full, UnionError};
use crate::filter::{CuckooFilter, MAX_LEN, Parts};
use crate::layout::Copies;

impl CuckooFilter {
    /// Adds all that is in another filter of the same geometry and seed: filters that were built for
    /// the same capacity and rate, as a rule. Copies add up: a key that is in both is in twice then.
    ///
    /// Goes through the slots of `other` once, segment by segment, and takes the memory of another
    /// table meanwhile.
    ///
    /// ```
    /// use malkoha::CuckooFilter;
    ///
    /// let mut seen = CuckooFilter::with_capacity(1_000, 0.001)?;
    /// seen.insert("cuckoo")?;
    /// let mut elsewhere = CuckooFilter::with_capacity(1_000, 0.001)?;
    /// elsewhere.insert("magpie")?;
    /// seen.union_with(&elsewhere)?;
    /// assert!(seen.contains("cuckoo") && seen.contains("magpie"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the filters differ in geometry or seed, if what is in both does not fit into one, or if
    /// there is no memory; nothing has changed then.
    pub fn union_with<B>(&mut self, other: &CuckooFilter<B>) -> Result<(), UnionError>
    where
        B: Deref<Target = [u8]>,
    {
        self.unite(other, Copies::Sum)
    }

    /// [`union_with`](Self::union_with) in which a key that is in both counts as `copies` says.
    ///
    /// # Errors
    ///
    /// As [`union_with`](Self::union_with).
    pub fn unite<B>(&mut self, other: &CuckooFilter<B>, copies: Copies) -> Result<(), UnionError>
    where
        B: Deref<Target = [u8]>,
    {
        united_len(&self.parts(), &other.parts())?;
        let bytes = self.table().bytes().len() as u64;
        let mut table = self.table().try_clone().ok_or(UnionError::Memory { bytes })?;
        let added = table.absorb(other.table(), copies, self.max_kicks());
        let len = self.len() + added.ok_or_else(|| UnionError::Full(self.full()))?;
        *self = Self::from_parts(table, &Parts { len, ..self.parts() });
        Ok(())
    }

    /// Takes out all that is not in another filter of the same geometry and seed. What is in both stays.
    ///
    /// # Errors
    ///
    /// As [`union_with`](Self::union_with).
    pub fn intersect_with<B>(&mut self, other: &CuckooFilter<B>) -> Result<(), UnionError>
    where
        B: Deref<Target = [u8]>,
    {
        united_len(&self.parts(), &other.parts())?;
        let bytes = self.table().bytes().len() as u64;
        let mut table = self.table().try_clone().ok_or(UnionError::Memory { bytes })?;
        table.retain(other.table());
        let len = table.occupied().saturating_add(table.spill().copies());
        *self = Self::from_parts(table, &Parts { len, ..self.parts() });
        Ok(())
    }
}

/// The number of keys in both, if they can be united.
pub(crate) fn united_len(ours: &Parts, theirs: &Parts) -> Result<u64, UnionError> {
    if ours.geometry != theirs.geometry {
        return Err(UnionError::Different("geometry"));
    }
    if ours.seed != theirs.seed {
        return Err(UnionError::Different("seed"));
    }
    let len = ours.len.checked_add(theirs.len).filter(|&len| len <= MAX_LEN);
    len.ok_or(UnionError::Full(Full { len: ours.len, capacity: ours.capacity }))
}
