//! Files of sets and maps.

use std::path::Path;

use malkoha::tables::{Fixed, Growing};
use malkoha::{AnyFilter, Content, FileKind, Filter, Keys, MappedFile, ReadError, Values};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::{Raise, with_path};
use crate::lock::Lock;
use crate::store::{Ages, Kinds, Store};

/// Sets or maps, as files have them.
pub(crate) trait Files: Kinds {
    /// The expected kind, in words.
    const NAME: &'static str;

    /// The store of a file's content, if it is of this sort.
    fn store(any: AnyFilter) -> Option<Store<Self>>;

    /// The store for threads that change it at the same time; `None` if there is none.
    fn shared(store: Store<Self>) -> Option<Store<Self>> {
        match store {
            Store::Growable(lock) => Some(Store::Shared(Self::share(lock.into_inner()))),
            _ => None,
        }
    }

    /// Opens a file of that kind, mapped if possible.
    fn open(path: &Path, kind: FileKind) -> Result<Store<Self>, ReadError>;
}

impl Files for Keys {
    const NAME: &'static str = "set";

    fn store(any: AnyFilter) -> Option<Store<Self>> {
        match any {
            AnyFilter::Set(filter) => Some(Store::Fixed(Lock::new(filter))),
            AnyFilter::GrowableSet(filter) => Some(Store::Growable(Lock::new(filter))),
            _ => None,
        }
    }

    fn open(path: &Path, kind: FileKind) -> Result<Store<Self>, ReadError> {
        map(path, kind, [FileKind::Set, FileKind::GrowableSet])
    }
}

impl Files for Values {
    const NAME: &'static str = "map";

    fn store(any: AnyFilter) -> Option<Store<Self>> {
        match any {
            AnyFilter::Map(map) => Some(Store::Fixed(Lock::new(map))),
            AnyFilter::GrowableMap(map) => Some(Store::Growable(Lock::new(map))),
            _ => None,
        }
    }

    fn open(path: &Path, kind: FileKind) -> Result<Store<Self>, ReadError> {
        map(path, kind, [FileKind::Map, FileKind::GrowableMap])
    }
}

impl Files for Ages {
    const NAME: &'static str = "set whose keys expire";

    fn store(any: AnyFilter) -> Option<Store<Self>> {
        match any {
            AnyFilter::ExpiringSet(filter) => Some(Store::Fixed(Lock::new(filter))),
            AnyFilter::GrowableExpiringSet(filter) => Some(Store::Growable(Lock::new(filter))),
            _ => None,
        }
    }

    /// Read as a whole: keys cannot be looked up in the file itself.
    fn open(path: &Path, _: FileKind) -> Result<Store<Self>, ReadError> {
        AnyFilter::open(path).and_then(sort)
    }
}

/// Reads a whole file into memory.
pub(crate) fn load<C: Files>(py: Python<'_>, path: &Path) -> PyResult<Store<C>> {
    py.detach(|| AnyFilter::open(path).and_then(sort)).map_err(|error| raise(error, path))
}

/// Reads a whole file's bytes.
pub(crate) fn from_bytes<C: Files>(py: Python<'_>, bytes: &[u8]) -> PyResult<Store<C>> {
    py.detach(|| AnyFilter::from_bytes(bytes).and_then(sort)).map_err(Raise::raise)
}

/// The store as it is, or for threads that change it at the same time.
pub(crate) fn share<C: Files>(py: Python<'_>, store: Store<C>, shared: bool) -> PyResult<Store<C>> {
    if !shared {
        return Ok(store);
    }
    let kind = store.kind();
    py.detach(|| C::shared(store)).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "the file holds a {kind} {}, which threads cannot share: leave shared out",
            C::NAME
        ))
    })
}

fn sort<C: Files>(any: AnyFilter) -> Result<Store<C>, ReadError> {
    let found = any.kind();
    C::store(any).ok_or_else(|| another_kind::<C>(found))
}

fn another_kind<C: Files>(found: FileKind) -> ReadError {
    ReadError::Kind { expected: C::NAME, found: found.name() }
}

/// Opens a file, mapped if possible.
pub(crate) fn open<C: Files>(py: Python<'_>, path: &Path) -> PyResult<Store<C>> {
    py.detach(|| FileKind::of_file(path).and_then(|kind| C::open(path, kind)))
        .map_err(|error| raise(error, path))
}

/// Maps a file: the first kind read-only, the second so that changes stay in memory.
fn map<C>(
    path: &Path,
    kind: FileKind,
    [fixed, growable]: [FileKind; 2],
) -> Result<Store<C>, ReadError>
where
    C: Content + Files<Mapped = Filter<Fixed<MappedFile>, C>, Growable = Filter<Growing, C>>,
{
    if kind == fixed {
        // SAFETY: the documentation of the Python function asks its callers not to write to the
        // file while it is open, as for numpy.memmap. Malkoha itself replaces files.
        unsafe { Filter::<Fixed<MappedFile>, C>::map(path) }.map(Store::Mapped)
    } else if kind == growable {
        // SAFETY: as above.
        let filter = unsafe { Filter::<Growing, C>::map(path) }?;
        Ok(Store::Growable(Lock::new(filter)))
    } else {
        Err(another_kind::<C>(kind))
    }
}

/// Writes the file at `path`, and replaces an earlier file.
pub(crate) fn save<C: Files>(py: Python<'_>, store: &Store<C>, path: &Path) -> PyResult<()> {
    store.read(py, |filter| py.detach(|| filter.save(path))).map_err(|error| with_path(error, path))
}

fn raise(error: ReadError, path: &Path) -> PyErr {
    match error {
        ReadError::Io(error) => with_path(error, path),
        other => other.raise(),
    }
}
