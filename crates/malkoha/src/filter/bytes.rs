//! Sets and maps as bytes in memory.

use alloc::vec::Vec;

use super::{Content, Filter};
use crate::format::ReadError;
use crate::table::traits::{Lookup, Stored};

impl<T: Lookup, C: Content> Filter<T, C> {
    /// The bytes of the file that the filter would be saved as: docs/FORMAT.md specifies them. Equal
    /// filters give equal bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.table
            .write(T::kind(C::IS_MAP), self.hasher(), &mut bytes)
            .expect("a vector takes all bytes");
        bytes
    }
}

impl<T: Stored, C: Content> Filter<T, C> {
    /// Reads from `bytes`, which hold a whole file.
    ///
    /// # Errors
    ///
    /// If `bytes` are not exactly one whole, undamaged file of this kind.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let (table, hasher) = T::from_bytes(T::kind(C::IS_MAP), bytes)?;
        Ok(Self::new(table, hasher))
    }
}
