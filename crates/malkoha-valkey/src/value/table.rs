//! The table of a filter: of items that stay until they are deleted, or that expire.
//!
//! Times are milliseconds since 1970. Where items stay they make no difference.

use malkoha::{
    BatchError, Copies, FileKind, GrowableCuckooFilter, GrowableExpiringCuckooFilter,
    GrowableExpiringLoader, GrowableLoader, InsertError, KeyHasher, ReadError, UnionError,
};

/// Either kind.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    Lasting(GrowableCuckooFilter),
    Expiring(GrowableExpiringCuckooFilter),
}

/// Runs one expression on the filter of either kind.
macro_rules! each {
    ($table:expr, $filter:ident => $body:expr) => {
        match $table {
            Table::Lasting($filter) => $body,
            Table::Expiring($filter) => $body,
        }
    };
}

/// Functions of the library that both kinds have.
macro_rules! both {
    ($($(#[$doc:meta])* $visibility:vis fn $name:ident -> $result:ty;)*) => {
        $($(#[$doc])* $visibility fn $name(&self) -> $result {
            each!(self, filter => filter.$name())
        })*
    };
}

/// Why two tables are not united.
#[derive(Debug)]
pub(crate) enum Unlike {
    /// Items of one of them stay, those of the other expire.
    Kinds,
    Filters(UnionError),
}

impl Table {
    both! {
        pub(crate) fn to_bytes -> Vec<u8>;
        pub(crate) fn hasher -> KeyHasher;
        pub(crate) fn buckets -> u64;
        pub(crate) fn segments -> usize;
        pub(super) fn capacity -> u64;
        pub(crate) fn fingerprint_bits -> u32;
        pub(crate) fn expected_fpr -> f64;
        pub(super) fn size_in_bytes -> u64;
        /// Pieces that a [`Loader`] puts together.
        pub(super) fn piece_count -> usize;
    }

    /// The table of a file of the library.
    pub(super) fn open(file: &[u8]) -> Result<Self, ReadError> {
        match FileKind::of(file)? {
            FileKind::GrowableExpiringSet => {
                GrowableExpiringCuckooFilter::from_bytes(file).map(Self::Expiring)
            }
            _ => GrowableCuckooFilter::from_bytes(file).map(Self::Lasting),
        }
    }

    pub(crate) fn expiring(&self) -> Option<&GrowableExpiringCuckooFilter> {
        match self {
            Self::Lasting(_) => None,
            Self::Expiring(filter) => Some(filter),
        }
    }

    pub(super) fn advance(&mut self, now: u64) {
        if let Self::Expiring(filter) = self {
            filter.advance(now);
        }
    }

    pub(super) fn contains(&self, hash: u64, now: u64) -> bool {
        match self {
            Self::Lasting(filter) => filter.contains_hash(hash),
            Self::Expiring(filter) => filter.contains_hash_at(hash, now),
        }
    }

    pub(super) fn contains_all(&self, hashes: &[u64], now: u64, found: &mut [bool]) {
        match self {
            Self::Lasting(filter) => filter.contains_hashes(hashes, found),
            Self::Expiring(filter) => filter.contains_hashes_at(hashes, now, found),
        }
    }

    /// Copies of an item; of one that expires there is one at most.
    pub(super) fn count(&self, hash: u64, now: u64) -> u64 {
        match self {
            Self::Lasting(filter) => filter.count_hash(hash),
            Self::Expiring(filter) => filter.contains_hash_at(hash, now).into(),
        }
    }

    /// Whether CF.ADDNX finds an item at the time that the table has.
    pub(super) fn has_copy(&self, hash: u64) -> bool {
        match self {
            Self::Lasting(filter) => filter.has_copy_hash(hash),
            Self::Expiring(filter) => filter.contains_hash(hash),
        }
    }

    /// Whether adding an item takes no slot.
    pub(super) fn has_slot_for(&self, hash: u64) -> bool {
        match self {
            Self::Lasting(filter) => filter.count_hash(hash) >= 2,
            Self::Expiring(filter) => filter.contains_hash(hash),
        }
    }

    pub(super) fn insert(&mut self, hash: u64) -> Result<(), InsertError> {
        each!(self, filter => filter.insert_hash(hash))
    }

    pub(super) fn insert_all(&mut self, hashes: &[u64]) -> Result<(), BatchError> {
        each!(self, filter => filter.insert_hashes(hashes))
    }

    pub(super) fn insert_all_absent(
        &mut self,
        hashes: &[u64],
        new: &mut [bool],
    ) -> Result<(), BatchError> {
        each!(self, filter => filter.insert_unique_hashes(hashes, new))
    }

    pub(super) fn remove(&mut self, hash: u64) -> bool {
        each!(self, filter => filter.remove_hash(hash))
    }

    pub(super) fn remove_all(&mut self, hashes: &[u64], removed: &mut [bool]) {
        each!(self, filter => filter.remove_hashes(hashes, removed));
    }

    /// Items that are in, copies included.
    pub(crate) fn len(&self, now: u64) -> u64 {
        match self {
            Self::Lasting(filter) => filter.len(),
            Self::Expiring(filter) => filter.len_at(now),
        }
    }

    /// Items that are in slots, at the time that the table has.
    pub(super) fn in_slots(&self) -> u64 {
        each!(self, filter => filter.len() - filter.spilled())
    }

    pub(crate) fn slots(&self) -> u64 {
        4 * self.buckets()
    }

    pub(super) fn unite(&mut self, other: &Self) -> Result<(), Unlike> {
        let united = match (self, other) {
            (Self::Lasting(ours), Self::Lasting(theirs)) => ours.unite(theirs, Copies::Sum),
            (Self::Expiring(ours), Self::Expiring(theirs)) => ours.union_with(theirs),
            _ => return Err(Unlike::Kinds),
        };
        united.map_err(Unlike::Filters)
    }

    /// Removes what has expired.
    pub(super) fn sweep(&mut self) {
        if let Self::Expiring(filter) = self {
            filter.sweep();
        }
    }

    pub(super) fn piece(&self, number: usize) -> Option<Vec<u8>> {
        each!(self, filter => filter.piece(number))
    }
}

/// What puts a table of either kind together.
#[derive(Debug)]
pub(super) enum Loader {
    Lasting(GrowableLoader),
    Expiring(GrowableExpiringLoader),
}

impl Loader {
    pub(super) fn new(expires: bool) -> Self {
        if expires {
            Self::Expiring(GrowableExpiringLoader::new())
        } else {
            Self::Lasting(GrowableLoader::for_filter())
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        match self {
            Self::Lasting(loader) => loader.push(bytes),
            Self::Expiring(loader) => loader.push(bytes),
        }
    }

    pub(super) fn into_table(self) -> Result<Table, ReadError> {
        match self {
            Self::Lasting(loader) => loader.into_filter().map(Table::Lasting),
            Self::Expiring(loader) => loader.into_filter().map(Table::Expiring),
        }
    }
}
