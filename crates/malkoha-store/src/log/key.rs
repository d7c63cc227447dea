//! How a record is found.

use malkoha::KeyHasher;

/// The number of the table that has the list of all tables.
pub(crate) const LIST_OF_TABLES: u32 = u32::MAX;

/// A key, and the table that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key<'a> {
    /// The number of the table: 0 has the keys of the store itself.
    pub(crate) table: u32,
    pub(crate) name: &'a [u8],
}

impl<'a> Key<'a> {
    /// A key of the store itself.
    pub(crate) const fn main(name: &'a [u8]) -> Self {
        Self { table: 0, name }
    }

    #[inline(always)]
    pub(crate) fn hash(self, hasher: &KeyHasher) -> u64 {
        let hash = hasher.hash_bytes(self.name);
        if self.table == 0 { hash } else { hash ^ salt(self.table, hasher) }
    }
}

/// Separates the hashes of tables. It is rotated, so that no key cancels it by being equal to the
/// number.
fn salt(table: u32, hasher: &KeyHasher) -> u64 {
    hasher.hash_bytes(&table.to_le_bytes()).rotate_left(32)
}
