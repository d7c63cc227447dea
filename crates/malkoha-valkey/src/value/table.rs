//! The table of a filter: it grows, or has a fixed size, or its items expire.
//!
//! Times are milliseconds since 1970. Where items stay they make no difference.

use malkoha::{
    BatchError, Copies, CuckooFilter, FileKind, GrowableCuckooFilter, GrowableExpiringCuckooFilter,
    GrowableExpiringLoader, GrowableLoader, InsertError, KeyHasher, ReadError, UnionError,
};

/// The kind of a table, as chunks have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Lasting = 1,
    Expiring = 2,
    /// Of a small filter, which has none.
    Small = 3,
    Fixed = 4,
}

/// A filter of any kind.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    Lasting(GrowableCuckooFilter),
    Expiring(GrowableExpiringCuckooFilter),
    /// From a file.
    Fixed(CuckooFilter),
}

/// Runs one expression on the filter of any kind.
macro_rules! each {
    ($table:expr, $filter:ident => $body:expr) => {
        match $table {
            Table::Lasting($filter) => $body,
            Table::Expiring($filter) => $body,
            Table::Fixed($filter) => $body,
        }
    };
}

/// One expression for filters whose items stay, one for those whose items expire.
macro_rules! by_time {
    ($table:expr, $filter:ident => $lasting:expr, $expiring:expr) => {
        match $table {
            Table::Lasting($filter) => $lasting,
            Table::Fixed($filter) => $lasting,
            Table::Expiring($filter) => $expiring,
        }
    };
}

/// Functions of the library that all kinds have.
macro_rules! all {
    ($($(#[$doc:meta])* $visibility:vis fn $name:ident -> $result:ty;)*) => {
        $($(#[$doc])* $visibility fn $name(&self) -> $result {
            each!(self, filter => filter.$name())
        })*
    };
}

/// Why tables are not united.
#[derive(Debug)]
pub(crate) enum NotUnited {
    /// All together are larger than a filter can be.
    TooLarge,
    /// They are of different kinds.
    Kinds,
    Unlike(UnionError),
}

impl Table {
    all! {
        pub(crate) fn to_bytes -> Vec<u8>;
        pub(crate) fn hasher -> KeyHasher;
        pub(super) fn capacity -> u64;
        pub(crate) fn fingerprint_bits -> u32;
        pub(crate) fn expected_fpr -> f64;
        pub(super) fn size_in_bytes -> u64;
        /// Pieces that a [`Loader`] puts together.
        pub(super) fn piece_count -> usize;
    }

    /// The table of a file of the library; an error says what to do about it.
    pub(super) fn open(file: &[u8]) -> Result<Self, String> {
        let kind = FileKind::of(file).map_err(|error| error.to_string())?;
        let table = match kind {
            FileKind::GrowableExpiringSet => {
                GrowableExpiringCuckooFilter::from_bytes(file).map(Self::Expiring)
            }
            FileKind::Set => CuckooFilter::from_bytes(file).map(Self::Fixed),
            FileKind::GrowableSet => GrowableCuckooFilter::from_bytes(file).map(Self::Lasting),
            FileKind::ExpiringSet => return Err(refused(kind, "build one that grows")),
            _ => return Err(refused(kind, "build a set: 'malkoha build' without --values")),
        };
        table.map_err(|error| match error {
            ReadError::Length { expected, found }
                if found == expected + 1 && file.ends_with(b"\n") =>
            {
                format!(
                    "{error}; redis-cli ends its output with a newline: 'redis-cli --raw cf.dump key | \
                     head -c -1' removes it"
                )
            }
            error => error.to_string(),
        })
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Lasting(_) => Kind::Lasting,
            Self::Expiring(_) => Kind::Expiring,
            Self::Fixed(_) => Kind::Fixed,
        }
    }

    pub(crate) fn buckets(&self) -> u64 {
        match self {
            Self::Lasting(filter) => filter.buckets(),
            Self::Expiring(filter) => filter.buckets(),
            Self::Fixed(filter) => filter.geometry().slots() / 4,
        }
    }

    pub(crate) fn segments(&self) -> usize {
        match self {
            Self::Lasting(filter) => filter.segments(),
            Self::Expiring(filter) => filter.segments(),
            Self::Fixed(filter) => filter.geometry().segments as usize,
        }
    }

    pub(crate) fn expiring(&self) -> Option<&GrowableExpiringCuckooFilter> {
        if let Self::Expiring(filter) = self { Some(filter) } else { None }
    }

    pub(super) fn advance(&mut self, now: u64) {
        if let Self::Expiring(filter) = self {
            filter.advance(now);
        }
    }

    pub(super) fn contains(&self, hash: u64, now: u64) -> bool {
        by_time!(self, filter => filter.contains_hash(hash), filter.contains_hash_at(hash, now))
    }

    pub(super) fn contains_all(&self, hashes: &[u64], now: u64, found: &mut [bool]) {
        by_time!(self, filter => filter.contains_hashes(hashes, found), filter.contains_hashes_at(hashes, now, found));
    }

    /// Copies of an item; of one that expires there is one at most.
    pub(super) fn count(&self, hash: u64, now: u64) -> u64 {
        by_time!(self, filter => filter.count_hash(hash), filter.contains_hash_at(hash, now).into())
    }

    /// Whether CF.ADDNX finds an item at the time that the table has.
    pub(super) fn has_copy(&self, hash: u64) -> bool {
        by_time!(self, filter => filter.has_copy_hash(hash), filter.contains_hash(hash))
    }

    /// Whether adding an item takes no slot.
    pub(super) fn has_slot_for(&self, hash: u64) -> bool {
        match self {
            Self::Lasting(filter) => filter.count_hash(hash) >= 2,
            Self::Fixed(_) => false,
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
        by_time!(self, filter => filter.len(), filter.len_at(now))
    }

    /// Items that count for the capacity, at the time that the table has: of one that grows, those
    /// in slots.
    pub(super) fn counted(&self) -> u64 {
        match self {
            Self::Lasting(filter) => filter.len() - filter.spilled(),
            Self::Expiring(filter) => filter.len() - filter.spilled(),
            Self::Fixed(filter) => filter.len(),
        }
    }

    pub(crate) fn slots(&self) -> u64 {
        4 * self.buckets()
    }

    pub(super) fn unite(&mut self, other: &Self) -> Result<(), NotUnited> {
        let united = match (self, other) {
            (Self::Lasting(ours), Self::Lasting(theirs)) => ours.unite(theirs, Copies::Sum),
            (Self::Fixed(ours), Self::Fixed(theirs)) => ours.unite(theirs, Copies::Sum),
            (Self::Expiring(ours), Self::Expiring(theirs)) => ours.union_with(theirs),
            _ => return Err(NotUnited::Kinds),
        };
        united.map_err(NotUnited::Unlike)
    }

    /// Removes what has expired, and gives back the room of what is gone.
    pub(super) fn sweep(&mut self) {
        match self {
            Self::Lasting(filter) => filter.shrink_to_fit(),
            Self::Expiring(filter) => filter.sweep(),
            Self::Fixed(_) => {}
        }
    }

    pub(super) fn piece(&self, number: usize) -> Option<Vec<u8>> {
        each!(self, filter => filter.piece(number))
    }
}

/// Why a file of this kind is not taken.
fn refused(kind: FileKind, instead: &str) -> String {
    format!("the file holds a {}, which the server does not take: {instead}", kind.name())
}

/// Builds a table of any kind from its parts.
#[derive(Debug)]
pub(super) enum Loader {
    Lasting(GrowableLoader),
    Expiring(GrowableExpiringLoader),
    /// The bytes of the file.
    Fixed(Vec<u8>),
}

impl Loader {
    pub(super) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Lasting | Kind::Small => Self::Lasting(GrowableLoader::for_filter()),
            Kind::Expiring => Self::Expiring(GrowableExpiringLoader::new()),
            Kind::Fixed => Self::Fixed(Vec::new()),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        match self {
            Self::Lasting(loader) => loader.push(bytes),
            Self::Expiring(loader) => loader.push(bytes),
            Self::Fixed(file) => {
                file.extend(bytes);
                FileKind::of(file).map(drop)
            }
        }
    }

    pub(super) fn into_table(self) -> Result<Table, ReadError> {
        match self {
            Self::Lasting(loader) => loader.into_filter().map(Table::Lasting),
            Self::Expiring(loader) => loader.into_filter().map(Table::Expiring),
            Self::Fixed(file) => CuckooFilter::from_bytes(&file).map(Table::Fixed),
        }
    }
}
