//! The class `CuckooFilter`.

pub(crate) mod batches;
mod operators;

use malkoha::tables::Change;
use malkoha::{BatchError, Filter, GrowableConcurrentCuckooFilter};
use malkoha::{GrowableConcurrentExpiringCuckooFilter, GrowableCuckooFilter};
use malkoha::{InsertError, KeyHasher, Keys};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use crate::common_methods::common_methods;
use crate::errors::Raise;
use crate::key;
use crate::options::{self, Options};
use crate::store::{self, Store, change_methods, operations};

/// CuckooFilter(capacity=None, fpr=0.001, *, growable=True, shared=False, growth=None, layout=None,
/// seed=None, key=None)
///
/// A set that remembers keys in a few bits each: whether a key was added is answered with "no",
/// which is always right, or "yes", which is wrong with the probability `fpr`.
///
/// Without a capacity, or with one below 65,536, it keeps `fpr` at any size. A larger capacity saves
/// 4 to 6 bits per key: it keeps `fpr` up to `capacity` times `growth` keys (1 by default, math.inf
/// for any size), and each doubling beyond adds less than `fpr`.
///
/// With growable=False, `layout` is how fingerprints lie in memory: "bucketed", "gap-windows",
/// "semi-sorted" or "words". By default it is "bucketed", unless the rate is too low for that.
/// "gap-windows" takes one bit per key less at rates of 3 % or lower, and batches add keys at about
/// half the speed.
#[pyclass(name = "CuckooFilter", module = "malkoha", frozen, weakref)]
pub(crate) struct PyFilter {
    store: Store<Keys>,
    hasher: KeyHasher,
}

common_methods!(PyFilter, Keys, "CuckooFilter");
change_methods!(PyFilter, Set);
batches::batch_methods!(PyFilter, Set);

#[pymethods]
impl PyFilter {
    #[new]
    #[pyo3(signature = (capacity=None, fpr=0.001, *, growable=true, shared=false, growth=None,
        layout=None, seed=None, key=None))]
    #[expect(clippy::too_many_arguments, reason = "Python's are named")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = crate::arguments::capacity)] capacity: Option<u64>,
        #[pyo3(from_py_with = crate::arguments::fpr)] fpr: f64,
        growable: bool,
        shared: bool,
        #[pyo3(from_py_with = crate::arguments::growth)] growth: Option<f64>,
        layout: Option<&str>,
        #[pyo3(from_py_with = crate::arguments::seed)] seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<Self> {
        let hasher = options::hasher(seed, key)?;
        let layout = options::layout(layout, growable)?;
        let common = Options { capacity, fpr, growable, shared, hasher, ..Options::default() };
        Options { growth, layout, ..common }.build(py).map(|store| Self::from_store(py, store))
    }

    /// Adds a key, or one more copy if it is present. count() returns the number of copies, and
    /// remove() removes one.
    fn add(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let hash = key::hash(key, self.hasher)?;
        self.change_one(py, |set| set.insert_hash(hash))?.map_err(Raise::raise)
    }

    /// Adds a key unless it seems to be present; returns whether it was added. If several threads
    /// add one key at the same time, exactly one of them gets True.
    ///
    /// Not for a filter from which keys are removed: the present key can be another one.
    fn add_unique(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = key::hash(key, self.hasher)?;
        self.change_one(py, |set| set.insert_unique_hash(hash))?.map_err(Raise::raise)
    }

    /// Removes one copy of a key that was added; KeyError if it is absent.
    ///
    /// Remove only keys that were added: the filter knows fingerprints, not keys, and removing a
    /// false positive removes another key.
    fn remove(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.discard(py, key)? { Ok(()) } else { Err(PyKeyError::new_err(key.clone().unbind())) }
    }

    /// Removes one copy of a key that was added, if it is present; returns whether it was.
    fn discard(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = key::hash(key, self.hasher)?;
        self.change_one(py, |set| set.remove_hash(hash))
    }

    /// Removes all keys.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |set| set.clear())
    }

    /// Returns memory after many removals from a filter that grows. Takes time in proportion to its
    /// size.
    fn shrink_to_fit(&self, py: Python<'_>) {
        if let Store::Growable(lock) = &self.store {
            store::change(py, lock, GrowableCuckooFilter::shrink_to_fit);
        }
    }
}

/// Batches of inserts.
pub(crate) trait InsertMany: Send {
    /// Prepares for a batch: `hash` returns what there is at a position.
    fn make_room(&mut self, _hashes: usize, _hash: &mut dyn FnMut(usize) -> Option<u64>) {}
    fn insert_hashes(&mut self, hashes: &[u64], threads: usize) -> Result<(), BatchError>;
}

impl<T: Change + Send> InsertMany for Filter<T> {
    fn make_room(&mut self, hashes: usize, hash: &mut dyn FnMut(usize) -> Option<u64>) {
        Self::make_room(self, hashes, hash);
    }

    fn insert_hashes(&mut self, hashes: &[u64], threads: usize) -> Result<(), BatchError> {
        self.insert_hashes_with_threads(hashes, threads)
    }
}

// Threads that share filters have batches of their own.
impl InsertMany for &GrowableConcurrentCuckooFilter {
    fn insert_hashes(&mut self, hashes: &[u64], _: usize) -> Result<(), BatchError> {
        GrowableConcurrentCuckooFilter::insert_hashes(self, hashes)
    }
}

impl InsertMany for &GrowableConcurrentExpiringCuckooFilter {
    fn insert_hashes(&mut self, hashes: &[u64], _: usize) -> Result<(), BatchError> {
        GrowableConcurrentExpiringCuckooFilter::insert_hashes(self, hashes)
    }
}

operations! {
    /// The operations of every set that can change.
    Set: InsertMany, self: &mut Self;
    {
        insert_hash(hash: u64) -> Result<(), InsertError>;
        insert_unique_hash(hash: u64) -> Result<bool, InsertError>;
        remove_hash(hash: u64) -> bool;
        clear() -> ();
        insert_unique_hashes(hashes: &[u64], new: &mut [bool]) -> Result<(), BatchError>;
        remove_hashes(hashes: &[u64], removed: &mut [bool]) -> ();
    }
    [T: Change + Send] Filter<T> => Self;
    [] &GrowableConcurrentCuckooFilter => GrowableConcurrentCuckooFilter;
    [] &GrowableConcurrentExpiringCuckooFilter => GrowableConcurrentExpiringCuckooFilter;
}
