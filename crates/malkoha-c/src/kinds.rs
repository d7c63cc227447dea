//! The operations of the kinds behind a handle, as traits for `dyn`. All are used through a
//! shared reference.

use std::any::Any;
use std::convert::identity;
use std::io;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use malkoha::locks::Locking;
use malkoha::tables::{Ages, Candidates, Change, Expiring, Growing, Lookup, Partitioned, Shared};
use malkoha::{BatchError, Content, Filter, InsertError, KeyHasher, Keys, Values};

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

/// The queries of every set whose keys expire.
pub(crate) trait Aged: Set {
    /// The time that keys live, the resolution, and the present time.
    fn times(&self) -> [u64; 3];
    fn age_hash(&self, hash: u64) -> Option<u64>;
}

impl<T: Ages + Send + Sync + 'static> Aged for RwLock<Filter<Expiring<T>, Keys>> {
    fn times(&self) -> [u64; 3] {
        let set = read(self);
        [set.ttl(), set.resolution(), set.now()]
    }

    fn age_hash(&self, hash: u64) -> Option<u64> {
        read(self).age_hash(hash)
    }
}

impl Aged for Filter<Partitioned<Expiring<Growing>>> {
    fn times(&self) -> [u64; 3] {
        [self.ttl(), self.resolution(), self.now()]
    }

    fn age_hash(&self, hash: u64) -> Option<u64> {
        Self::age_hash(self, hash)
    }
}

changes! {
    Aging: Aged,
    locked <T: Ages> Filter<Expiring<T>, Keys>,
    shared <> Filter<Partitioned<Expiring<Growing>>>,
    => {
        advance(now: u64) -> ();
        refresh_hash(hash: u64) -> Result<bool, InsertError>;
        refresh_hashes(hashes: &[u64], new: &mut [bool]) -> Result<(), BatchError>;
    }
}
