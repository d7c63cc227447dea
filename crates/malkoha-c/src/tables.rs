//! The kinds behind a handle. All of them are used through a shared reference.

use std::any::Any;
use std::convert::identity;
use std::io;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use malkoha::locks::Locking;
use malkoha::tables::{Candidates, Change, Expiring, Fixed, Growing, Lookup, Partitioned, Shared};
use malkoha::{AnyFilter, MappedFilter, MappedMap};
use malkoha::{BatchError, Content, Filter, InsertError, KeyHasher, Keys, UnionError, Values};

use crate::expiry::Aging;
use crate::status::{Failure, Status};

/// The table of a handle.
pub(crate) enum Table {
    Set(Box<dyn Set>),
    Expiring(Box<dyn Aging>),
    Map(Box<dyn Map>),
    MappedSet(MappedFilter),
    MappedMap(MappedMap),
}

// A thread that panicked under a lock has reported it: see `Status::Bug`.
pub(crate) fn read<F>(lock: &RwLock<F>) -> RwLockReadGuard<'_, F> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn write<F>(lock: &RwLock<F>) -> RwLockWriteGuard<'_, F> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

macro_rules! read {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// The queries of every kind.
        pub(crate) trait Read: Send + Sync {
            $(fn $name(&self, $($argument: $type),*) -> $result;)*
        }

        impl<T: Lookup + Send + Sync, C: Content + Send + Sync> Read for Filter<T, C> {
            $(fn $name(&self, $($argument: $type),*) -> $result {
                Filter::$name(self, $($argument),*)
            })*
        }

        impl<F: Read> Read for RwLock<F> {
            $(fn $name(&self, $($argument: $type),*) -> $result {
                read(self).$name($($argument),*)
            })*
        }
    };
}
read! {
    hasher() -> KeyHasher;
    contains_hash(hash: u64) -> bool;
    contains_hashes(hashes: &[u64], found: &mut [bool]) -> ();
    count_hash(hash: u64) -> u64;
    len() -> u64;
    capacity() -> u64;
    size_in_bytes() -> u64;
    expected_fpr() -> f64;
    value_bits() -> u32;
    to_bytes() -> Vec<u8>;
    save(path: &Path) -> io::Result<()>;
}

/// The queries of every map.
pub(crate) trait Pairs: Read {
    fn each_value(&self, hash: u64, each: &mut dyn FnMut(u64));
    fn each_value_of(&self, hashes: &[u64], each: &mut dyn FnMut(usize, u64));
}

impl<T: Candidates + Send + Sync> Pairs for Filter<T, Values> {
    fn each_value(&self, hash: u64, each: &mut dyn FnMut(u64)) {
        self.for_each_candidate(hash, |value, _| each(value));
    }

    fn each_value_of(&self, hashes: &[u64], each: &mut dyn FnMut(usize, u64)) {
        self.get_hashes(hashes, each);
    }
}

impl<F: Pairs> Pairs for RwLock<F> {
    fn each_value(&self, hash: u64, each: &mut dyn FnMut(u64)) {
        read(self).each_value(hash, each);
    }

    fn each_value_of(&self, hashes: &[u64], each: &mut dyn FnMut(usize, u64)) {
        read(self).each_value_of(hashes, each);
    }
}

/// Implements a trait for kinds that take turns and for kinds that threads share, whose methods
/// have the same names.
macro_rules! changes {
    (
        $trait:ident: $read:path,
        locked <T: $($locked:path)|+> $table:ty,
        $(shared <$($parameter:ident: $($bound:path)|+),*> $filter:ty,)+
        => $methods:tt
    ) => {
        changes! { trait $trait: $read; $methods }
        changes! {
            impl <T: $($locked)|+> $trait for (RwLock<$table>: $read), through write; $methods
        }
        $(changes! {
            impl <$($parameter: $($bound)|+),*> $trait for ($filter: $read), through identity;
            $methods
        })+
    };
    (trait $trait:ident: $read:path; {
        $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*
    }) => {
        pub(crate) trait $trait: $read + Any {
            $(fn $name(&self, $($argument: $type),*) -> $result;)*
        }
    };
    (impl <$($parameter:ident: $($bound:path)|+),*> $trait:ident for ($filter:ty: $read:path),
        through $through:ident; {
        $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*
    }) => {
        impl<$($parameter: $($bound +)+ Send + Sync + 'static),*> $trait for $filter
        where
            $filter: $read,
        {
            $(fn $name(&self, $($argument: $type),*) -> $result {
                $through(self).$name($($argument),*)
            })*
        }
    };
}
pub(crate) use changes;

changes! {
    Set: Read,
    locked <T: Change> Filter<T, Keys>,
    shared <P: Locking> Filter<Shared<P>>,
    shared <> Filter<Partitioned>,
    shared <> Filter<Partitioned<Expiring<Growing>>>,
    => {
        insert_hash(hash: u64) -> Result<(), InsertError>;
        insert_unique_hash(hash: u64) -> Result<bool, InsertError>;
        remove_hash(hash: u64) -> bool;
        insert_hashes(hashes: &[u64]) -> Result<(), BatchError>;
        insert_unique_hashes(hashes: &[u64], new: &mut [bool]) -> Result<(), BatchError>;
        remove_hashes(hashes: &[u64], removed: &mut [bool]) -> ();
        clear() -> ();
    }
}
changes! {
    Map: Pairs,
    locked <T: Change | Candidates> Filter<T, Values>,
    shared <> Filter<Partitioned, Values>,
    => {
        insert_hash(hash: u64, value: u64) -> Result<(), InsertError>;
        insert_hashes(pairs: &[(u64, u64)]) -> Result<(), BatchError>;
        update_hash(hash: u64, old: u64, new: u64) -> Result<bool, InsertError>;
        remove_hash(hash: u64, value: u64) -> bool;
        clear() -> ();
    }
}

/// A kind that takes turns.
pub(crate) fn locked<F>(filter: F) -> Box<RwLock<F>> {
    Box::new(RwLock::new(filter))
}

impl TryFrom<AnyFilter> for Table {
    type Error = Failure;

    fn try_from(any: AnyFilter) -> Result<Self, Failure> {
        Ok(match any {
            AnyFilter::Set(set) => Self::Set(locked(set)),
            AnyFilter::GrowableSet(set) => Self::Set(locked(set)),
            AnyFilter::Map(map) => Self::Map(locked(map)),
            AnyFilter::GrowableMap(map) => Self::Map(locked(map)),
            AnyFilter::ExpiringSet(set) => Self::Expiring(locked(set)),
            AnyFilter::GrowableExpiringSet(set) => Self::Expiring(locked(set)),
            other => {
                let text = format!(
                    "a {} cannot be used from C yet: use it from Rust or the command",
                    other.kind().name()
                );
                return Err(Failure::new(Status::Kind, text));
            }
        })
    }
}

impl Table {
    pub(crate) fn read(&self) -> &dyn Read {
        match self {
            Self::Set(set) => &**set,
            Self::Expiring(set) => &**set,
            Self::Map(map) => &**map,
            Self::MappedSet(set) => set,
            Self::MappedMap(map) => map,
        }
    }

    pub(crate) const fn is_map(&self) -> bool {
        matches!(self, Self::Map(_) | Self::MappedMap(_))
    }

    pub(crate) const fn is_read_only(&self) -> bool {
        matches!(self, Self::MappedSet(_) | Self::MappedMap(_))
    }

    /// The set, to be changed.
    pub(crate) fn set(&self) -> Result<&dyn Set, Failure> {
        match self {
            Self::Set(set) => Ok(&**set),
            Self::Expiring(set) => Ok(&**set),
            Self::MappedSet(_) => Err(read_only()),
            _ => Err(another("a map, whose keys have values: call malkoha_put() and its like")),
        }
    }

    /// The set whose keys expire, if it is one.
    pub(crate) fn expiring(&self) -> Option<&dyn Aging> {
        if let Self::Expiring(set) = self { Some(&**set) } else { None }
    }

    /// The map, to be changed.
    pub(crate) fn map(&self) -> Result<&dyn Map, Failure> {
        match self {
            Self::Map(map) => Ok(&**map),
            Self::MappedMap(_) => Err(read_only()),
            _ => Err(another("a set, without values: call malkoha_insert() and its like")),
        }
    }

    /// The map, to be asked.
    pub(crate) fn pairs(&self) -> Result<&dyn Pairs, Failure> {
        match self {
            Self::Map(map) => Ok(&**map),
            Self::MappedMap(map) => Ok(map),
            _ => Err(another("a set, without values: call malkoha_contains() and its like")),
        }
    }

    pub(crate) fn clear(&self) -> Result<(), Failure> {
        match self {
            Self::Set(set) => set.clear(),
            Self::Expiring(set) => set.clear(),
            Self::Map(map) => map.clear(),
            _ => return Err(read_only()),
        }
        Ok(())
    }

    /// A union of sets or maps.
    pub(crate) fn unite(&self, other: &Self) -> Result<(), Failure> {
        let united = match (self, other) {
            (Self::Set(a), Self::MappedSet(b)) => {
                any(&**a).map(|a| Ok(write::<Filter<Fixed>>(a).union_with(b)?))
            }
            (Self::Map(a), Self::MappedMap(b)) => {
                any(&**a).map(|a| Ok(write::<Filter<Fixed, Values>>(a).union_with(b)?))
            }
            (Self::Set(a), Self::Set(b)) => both(&**a, &**b, Filter::<Fixed>::union_with)
                .or_else(|| both(&**a, &**b, Filter::<Growing>::union_with)),
            (Self::Map(a), Self::Map(b)) => both(&**a, &**b, Filter::<Fixed, Values>::union_with)
                .or_else(|| both(&**a, &**b, Filter::<Growing, Values>::union_with)),
            (Self::Expiring(a), Self::Expiring(b)) => {
                both(&**a, &**b, Filter::<Expiring<Fixed>>::union_with)
                    .or_else(|| both(&**a, &**b, Filter::<Expiring<Growing>>::union_with))
            }
            (Self::MappedSet(_) | Self::MappedMap(_), _) => Some(Err(read_only())),
            _ => None,
        };
        united.unwrap_or_else(|| Err(kinds_differ()))
    }
}

fn any<F: 'static>(table: &dyn Any) -> Option<&RwLock<F>> {
    table.downcast_ref()
}

/// Unites the second with the first, if both are of this type.
fn both<F: Clone + 'static>(
    a: &dyn Any,
    b: &dyn Any,
    unite: fn(&mut F, &F) -> Result<(), UnionError>,
) -> Option<Result<(), Failure>> {
    let (a, b) = (any::<F>(a)?, any::<F>(b)?);
    // The other is copied, so that no two threads wait for each other's filters.
    let b = read(b).clone();
    Some(unite(&mut write(a), &b).map_err(Failure::from))
}

fn read_only() -> Failure {
    Failure::new(
        Status::Kind,
        "the table lies in a mapped file and cannot change: open it with malkoha_open()",
    )
}

fn another(what: &str) -> Failure {
    Failure::new(Status::Kind, format!("this is {what}"))
}

fn kinds_differ() -> Failure {
    Failure::new(
        Status::Union,
        "only two sets, two whose keys expire, or two maps can be united that are both of fixed \
         size or both growable, and not shared",
    )
}
