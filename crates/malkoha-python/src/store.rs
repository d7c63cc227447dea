//! The content of a Python object: a table of one of four kinds, behind the locks that let threads
//! use it.
//!
//! Locks are taken with or without the interpreter attached, and their holders never wait for it: a
//! thread that waits for a lock has detached from the interpreter, so that the holder can continue.

use std::io;
use std::path::Path;
use std::ptr;

use malkoha::tables::{Build, Lookup};
use malkoha::{BuildError, Builder, Content, Filter, KeyHasher, Keys, Layout, Values};
use malkoha::{CuckooFilter, CuckooMap, ExpiringCuckooFilter, MappedFilter, MappedMap};
use malkoha::{GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooMap};
use malkoha::{GrowableConcurrentExpiringCuckooFilter, GrowableExpiringCuckooFilter};
use malkoha::{GrowableCuckooFilter, GrowableCuckooMap};
use pyo3::prelude::*;

use crate::errors::Raise;
use crate::lock::Lock;

pub(crate) const BUCKETED: Layout = Layout::Bucketed { bucket_size: 4 };

/// A set or a map.
pub(crate) enum Store<C: Kinds> {
    /// Of fixed size, with one lock.
    Fixed(Lock<C::Fixed>),
    /// One that grows, with one lock.
    Growable(Lock<C::Growable>),
    /// One that grows and has locks of its own.
    Shared(C::Shared),
    /// In a file, of fixed size.
    Mapped(C::Mapped),
}

/// The tables of sets, of maps, or of sets whose keys expire.
pub(crate) trait Kinds: Sized + Send + Sync + 'static {
    type Fixed: Readable + Build + Clone + PartialEq + Send;
    type Growable: Readable + Build + Clone + PartialEq + Send;
    type Shared: Readable + Build + Clone + PartialEq + Send;
    type Mapped: Readable + PartialEq + Send;

    /// Builds a table of fixed size, in this layout if there is a choice.
    fn build_fixed(
        builder: Builder<Self::Fixed>,
        _layout: Option<Layout>,
    ) -> Result<Self::Fixed, BuildError> {
        builder.build()
    }

    /// A copy in memory.
    fn owned(mapped: &Self::Mapped) -> Result<Self::Fixed, BuildError>;
    /// The same for threads that change it at the same time.
    fn share(growable: Self::Growable) -> Self::Shared;
}

impl Kinds for Keys {
    type Fixed = CuckooFilter;
    type Growable = GrowableCuckooFilter;
    type Shared = GrowableConcurrentCuckooFilter;
    type Mapped = MappedFilter;

    /// By default in buckets: the smallest layout takes one bit per key less, but batches insert
    /// keys at half the speed. The smallest also reaches rates that buckets do not.
    fn build_fixed(
        builder: Builder<CuckooFilter>,
        layout: Option<Layout>,
    ) -> Result<CuckooFilter, BuildError> {
        let bucketed = builder.clone().layout(BUCKETED);
        match layout {
            Some(layout) => builder.layout(layout).build(),
            None if bucketed.plan().is_ok() => bucketed.build(),
            None => builder.build(),
        }
    }

    fn owned(mapped: &MappedFilter) -> Result<CuckooFilter, BuildError> {
        mapped.to_owned()
    }

    fn share(growable: GrowableCuckooFilter) -> GrowableConcurrentCuckooFilter {
        growable.into_concurrent()
    }
}

impl Kinds for Values {
    type Fixed = CuckooMap;
    type Growable = GrowableCuckooMap;
    type Shared = GrowableConcurrentCuckooMap;
    type Mapped = MappedMap;

    fn owned(mapped: &MappedMap) -> Result<CuckooMap, BuildError> {
        mapped.to_owned()
    }

    fn share(growable: GrowableCuckooMap) -> GrowableConcurrentCuckooMap {
        growable.into_concurrent()
    }
}

/// Sets whose keys expire. None is mapped, because keys cannot be looked up in their files: a set
/// in memory stands for it.
pub(crate) struct Ages;

impl Kinds for Ages {
    type Fixed = ExpiringCuckooFilter;
    type Growable = GrowableExpiringCuckooFilter;
    type Shared = GrowableConcurrentExpiringCuckooFilter;
    type Mapped = ExpiringCuckooFilter;

    fn owned(mapped: &ExpiringCuckooFilter) -> Result<ExpiringCuckooFilter, BuildError> {
        Ok(mapped.clone())
    }

    fn share(growable: GrowableExpiringCuckooFilter) -> GrowableConcurrentExpiringCuckooFilter {
        growable.into_concurrent()
    }
}

/// Declares a trait of operations, and implements it with the methods of the same names:
/// `Trait: Super, self: &Self; { operations } [T: Bound] Type => Filter<T>; and more`.
macro_rules! operations {
    (
        $(#[$doc:meta])* $trait:ident: $super:path, $self:ident: $by:ty; $methods:tt
        $([$($generics:tt)*] $table:ty => $filter:ty;)+
    ) => {
        operations! { trait $(#[$doc])* $trait: $super, $self: $by, $methods }
        $(operations! { impl $trait, [$($generics)*] $table => $filter, $self: $by, $methods })+
    };
    (trait $(#[$doc:meta])* $trait:ident: $super:path, $self:ident: $by:ty, {
        $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*
    }) => {
        $(#[$doc])*
        pub(crate) trait $trait: $super {
            $(fn $name($self: $by, $($argument: $type),*) -> $result;)*
        }
    };
    (impl $trait:ident, [$($generics:tt)*] $table:ty => $filter:ty, $self:ident: $by:ty, {
        $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*
    }) => {
        impl<$($generics)*> $trait for $table {
            $(fn $name($self: $by, $($argument: $type),*) -> $result {
                <$filter>::$name($self, $($argument),*)
            })*
        }
    };
}
pub(crate) use operations;

operations! {
    /// The operations of every kind. Except for files, all of them take hashes.
    Readable: Sync, self: &Self;
    {
        hasher() -> KeyHasher;
        contains_hash(hash: u64) -> bool;
        contains_hashes(hashes: &[u64], found: &mut [bool]) -> ();
        count_hash(hash: u64) -> u64;
        len() -> u64;
        capacity() -> u64;
        expected_fpr() -> f64;
        size_in_bytes() -> u64;
        to_bytes() -> Vec<u8>;
        save(path: &Path) -> io::Result<()>;
    }
    [T: Lookup + Sync, C: Content + Sync] Filter<T, C> => Self;
}

impl<C: Kinds> Store<C> {
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Fixed(_) => "fixed",
            Self::Growable(_) => "growable",
            Self::Shared(_) => "shared",
            Self::Mapped(_) => "mapped",
        }
    }

    /// Reads while no other thread changes it, or as it is being changed if it is shared.
    #[inline]
    pub(crate) fn read<R>(&self, py: Python<'_>, read: impl FnOnce(&dyn Readable) -> R) -> R {
        match self {
            Self::Fixed(lock) => read(&*lock.read(py)),
            Self::Growable(lock) => read(&*lock.read(py)),
            Self::Shared(filter) => read(filter),
            Self::Mapped(filter) => read(filter),
        }
    }

    /// Runs a short read, without detaching.
    #[inline]
    pub(crate) fn read_one<R>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&dyn Readable) -> R + Send,
    ) -> R {
        match self {
            Self::Fixed(lock) => lock.read_one(py, |table| read(table)),
            Self::Growable(lock) => lock.read_one(py, |table| read(table)),
            Self::Shared(filter) => read(filter),
            Self::Mapped(filter) => read(filter),
        }
    }

    /// A copy that can change.
    pub(crate) fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(match self {
            Self::Fixed(lock) => Self::Fixed(Lock::new(lock.read(py).clone())),
            Self::Growable(lock) => Self::Growable(Lock::new(lock.read(py).clone())),
            Self::Shared(filter) => Self::Shared(filter.clone()),
            Self::Mapped(filter) => Self::Fixed(Lock::new(C::owned(filter).map_err(Raise::raise)?)),
        })
    }

    /// Whether both are of one kind, and their tables equal.
    pub(crate) fn equals(&self, other: &Self, py: Python<'_>) -> bool {
        match (self, other) {
            _ if ptr::eq(self, other) => true,
            (Self::Fixed(a), Self::Fixed(b)) => equal(py, a, b),
            (Self::Growable(a), Self::Growable(b)) => equal(py, a, b),
            (Self::Shared(a), Self::Shared(b)) => py.detach(|| a == b),
            (Self::Mapped(a), Self::Mapped(b)) => py.detach(|| a == b),
            _ => false,
        }
    }

    pub(crate) fn hasher(&self, py: Python<'_>) -> KeyHasher {
        self.read_one(py, |table| table.hasher())
    }
}

/// Implements methods of a class that change its table, as an object of the trait that all tables
/// of this sort have.
macro_rules! change_methods {
    ($class:ident, $changes:ident) => {
        impl $class {
            /// Changes the table, and keeps others out also while it detaches; an exception if the
            /// table is mapped.
            #[inline]
            fn change<R>(
                &self,
                py: Python<'_>,
                change: impl FnOnce(&mut dyn $changes) -> R,
            ) -> PyResult<R> {
                match &self.store {
                    Store::Fixed(lock) => Ok(change(&mut *lock.write(py))),
                    Store::Growable(lock) => Ok(change(&mut *lock.write(py))),
                    Store::Shared(table) => Ok(change(&mut &*table)),
                    Store::Mapped(_) => Err(crate::errors::read_only()),
                }
            }

            /// Changes the table without detaching; an exception if it is mapped.
            #[inline]
            fn change_one<R>(
                &self,
                py: Python<'_>,
                change: impl FnOnce(&mut dyn $changes) -> R + Send,
            ) -> PyResult<R> {
                match &self.store {
                    Store::Fixed(lock) => Ok(lock.change_one(py, |table| change(table))),
                    Store::Growable(lock) => Ok(lock.change_one(py, |table| change(table))),
                    Store::Shared(table) => Ok(change(&mut &*table)),
                    Store::Mapped(_) => Err(crate::errors::read_only()),
                }
            }
        }
    };
}
pub(crate) use change_methods;

/// Changes a table exclusively, and lets other Python threads run.
pub(crate) fn change<T: Send + Sync, R: Send>(
    py: Python<'_>,
    lock: &Lock<T>,
    change: impl FnOnce(&mut T) -> R + Send,
) -> R {
    let table = &mut *lock.write(py);
    py.detach(|| change(table))
}

/// Changes a table by the content of another. All threads take the lock at the lower address first,
/// so that no two wait for each other.
pub(crate) fn change_by<T: Send + Sync, R: Send>(
    py: Python<'_>,
    ours: &Lock<T>,
    theirs: &Lock<T>,
    change: impl FnOnce(&mut T, &T) -> R + Send,
) -> R {
    let (mut ours, theirs) = if ptr::from_ref(ours) < ptr::from_ref(theirs) {
        let ours = ours.write(py);
        (ours, theirs.read(py))
    } else {
        let theirs = theirs.read(py);
        (ours.write(py), theirs)
    };
    let (ours, theirs) = (&mut *ours, &*theirs);
    py.detach(|| change(ours, theirs))
}

fn equal<T: Send + Sync + PartialEq>(py: Python<'_>, a: &Lock<T>, b: &Lock<T>) -> bool {
    // A waiting writer blocks new readers, so the order matters here too.
    let (a, b) = if ptr::from_ref(a) < ptr::from_ref(b) { (a, b) } else { (b, a) };
    let a = a.read(py);
    let b = b.read(py);
    let (a, b) = (&*a, &*b);
    py.detach(|| a == b)
}
