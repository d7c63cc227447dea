//! The class `ExpiringCuckooFilter`.

use std::ptr;

use malkoha::{BatchError, ExpiringCuckooFilter, InsertError, KeyHasher};
use malkoha::{GrowableConcurrentExpiringCuckooFilter, GrowableExpiringCuckooFilter};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;

use crate::common_methods::common_methods;
use crate::errors::{Raise, UnionError};
use crate::filter::Set;
use crate::filter::batches::batch_methods;
use crate::key;
use crate::options::{self, Options};
use crate::store::{self, Store, change_by, change_methods, operations};

/// ExpiringCuckooFilter(ttl, capacity=None, fpr=0.001, *, resolution=None, growable=True,
/// shared=False, seed=None, key=None)
///
/// A set that forgets a key when `ttl` has passed since it was added. Time is a number in any unit
/// that you pass to advance(), such as int(time.time()). A key is always found for `ttl`, and for
/// at most one step of `resolution` longer, by default a fifteenth of `ttl`.
#[pyclass(name = "ExpiringCuckooFilter", module = "malkoha", frozen, weakref)]
pub(crate) struct PyExpiring {
    store: Store<store::Ages>,
    hasher: KeyHasher,
}

common_methods!(PyExpiring, store::Ages, "ExpiringCuckooFilter");
change_methods!(PyExpiring, Aging);
batch_methods!(PyExpiring, Aging);

#[pymethods]
impl PyExpiring {
    #[new]
    #[pyo3(signature = (ttl, capacity=None, fpr=0.001, *, resolution=None, growable=true,
        shared=false, seed=None, key=None))]
    #[expect(clippy::too_many_arguments, reason = "Python's are named")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = crate::arguments::ttl)] ttl: u64,
        #[pyo3(from_py_with = crate::arguments::capacity)] capacity: Option<u64>,
        #[pyo3(from_py_with = crate::arguments::fpr)] fpr: f64,
        #[pyo3(from_py_with = crate::arguments::resolution)] resolution: Option<u64>,
        growable: bool,
        shared: bool,
        #[pyo3(from_py_with = crate::arguments::seed)] seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<Self> {
        if shared && !growable {
            let message = "a shared set whose keys expire grows: leave growable out";
            return Err(PyTypeError::new_err(message));
        }
        let hasher = options::hasher(seed, key)?;
        let common = Options { capacity, fpr, growable, shared, hasher, ..Options::default() };
        Options { ttl: Some(ttl), resolution, ..common }
            .build(py)
            .map(|store| Self::from_store(py, store))
    }

    /// Sets the time to `now`, in the unit of ttl. An earlier time than the present one changes
    /// nothing.
    fn advance(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = crate::arguments::now)] now: u64,
    ) -> PyResult<()> {
        self.change_one(py, |set| set.advance(now))
    }

    /// The latest time passed to advance(); 0 before any.
    #[getter]
    fn now(&self, py: Python<'_>) -> u64 {
        self.read_one(py, |set| set.now())
    }

    /// The shortest time for which a key is found.
    #[getter]
    fn ttl(&self, py: Python<'_>) -> u64 {
        self.read_one(py, |set| set.ttl())
    }

    /// The longest additional time for which a key can be found, rounded up.
    #[getter]
    fn resolution(&self, py: Python<'_>) -> u64 {
        self.read_one(py, |set| set.resolution())
    }

    /// An upper bound of the time since a key was added or refreshed, less than a step of
    /// resolution too long; None if it is absent.
    fn age(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        let hash = key::hash(key, self.hasher)?;
        Ok(self.read_one(py, |set| set.age_hash(hash)))
    }

    /// Adds a key, or renews the age of a present one.
    fn add(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let hash = key::hash(key, self.hasher)?;
        self.change_one(py, |set| set.insert_hash(hash))?.map_err(Raise::raise)
    }

    /// Adds a key unless it is present, and leaves the age of a present one; returns whether it was
    /// new within the window. If several threads add one key at the same time, exactly one of them
    /// gets True.
    fn add_unique(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = key::hash(key, self.hasher)?;
        self.change_one(py, |set| set.insert_unique_hash(hash))?.map_err(Raise::raise)
    }

    /// Adds a key as add() does; returns whether it was new.
    fn refresh(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = key::hash(key, self.hasher)?;
        self.change_one(py, |set| set.refresh_hash(hash))?.map_err(Raise::raise)
    }

    /// Adds many keys, as refresh() does each, in their order; returns a numpy array of booleans
    /// that says which were new. Nulls are not. Takes the same keys as contains_many().
    fn refresh_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.change_many(keys, false, |set, hashes, new| set.refresh_hashes(hashes, new))
    }

    /// Forgets a key, and those that share its fingerprint; KeyError if it is absent.
    fn remove(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.discard(py, key)? { Ok(()) } else { Err(PyKeyError::new_err(key.clone().unbind())) }
    }

    /// Forgets a key, if it is present; returns whether it was.
    fn discard(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = key::hash(key, self.hasher)?;
        self.change_one(py, |set| set.remove_hash(hash))
    }

    /// Forgets all keys.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |set| set.clear())
    }

    /// The keys of both, each with the smaller of its ages.
    fn __or__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Self> {
        let union = self.copy(py)?;
        union.unite(other)?;
        Ok(union)
    }

    fn __ior__(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        self.unite(other)
    }
}

impl PyExpiring {
    fn read_one<R>(&self, py: Python<'_>, read: impl FnOnce(&dyn Aged) -> R + Send) -> R {
        match &self.store {
            Store::Fixed(lock) => lock.read_one(py, |set| read(set)),
            Store::Growable(lock) => lock.read_one(py, |set| read(set)),
            Store::Shared(set) => read(set),
            Store::Mapped(set) => read(set),
        }
    }

    fn unite(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        let (py, other) = (other.py(), other.get());
        if ptr::eq(self, other) {
            return Ok(());
        }
        let united = match (&self.store, &other.store) {
            (Store::Fixed(ours), Store::Fixed(theirs)) => {
                change_by(py, ours, theirs, |ours, theirs| ours.union_with(theirs))
            }
            (Store::Growable(ours), Store::Growable(theirs)) => {
                change_by(py, ours, theirs, |ours, theirs| ours.union_with(theirs))
            }
            (ours, theirs) => {
                return Err(UnionError::new_err(format!(
                    "a {} set whose keys expire and a {} one have no union: build both growable, \
                     or both fixed",
                    ours.kind(),
                    theirs.kind()
                )));
            }
        };
        united.map_err(Raise::raise)
    }
}

operations! {
    /// The queries of every set whose keys expire.
    Aged: Sync, self: &Self;
    {
        now() -> u64;
        ttl() -> u64;
        resolution() -> u64;
        age_hash(hash: u64) -> Option<u64>;
    }
    [] ExpiringCuckooFilter => Self;
    [] GrowableExpiringCuckooFilter => Self;
    [] GrowableConcurrentExpiringCuckooFilter => Self;
}

operations! {
    /// The operations of every set whose keys expire.
    Aging: Set, self: &mut Self;
    {
        advance(now: u64) -> ();
        refresh_hash(hash: u64) -> Result<bool, InsertError>;
        refresh_hashes(hashes: &[u64], new: &mut [bool]) -> Result<(), BatchError>;
    }
    [] ExpiringCuckooFilter => Self;
    [] GrowableExpiringCuckooFilter => Self;
    [] &GrowableConcurrentExpiringCuckooFilter => GrowableConcurrentExpiringCuckooFilter;
}
