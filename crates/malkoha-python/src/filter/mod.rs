//! The class `CuckooFilter`.

pub(crate) mod batches;
mod operators;

use malkoha::tables::Change;
use malkoha::{BatchError, CuckooFilter, Filter, GrowableConcurrentCuckooFilter};
use malkoha::{GrowableConcurrentExpiringCuckooFilter, GrowableCuckooFilter};
use malkoha::{InsertError, KeyHasher, Keys};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use crate::common_methods::common_methods;
use crate::errors::Raise;
use crate::key;
use crate::lock::Lock;
use crate::options::{self, Kind, Options};
use crate::store::{self, Store, change_methods};

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
        let options = Options { capacity, fpr, growable, shared, growth, hasher };
        let store = match options.kind()? {
            Kind::Fixed => {
                let builder = options.builder::<CuckooFilter>()?;
                py.detach(|| options::build_fixed(builder, layout))
                    .map(|filter| Store::Fixed(Lock::new(filter)))
            }
            Kind::Growable => {
                let builder = options.builder::<GrowableCuckooFilter>()?;
                py.detach(|| builder.build()).map(|filter| Store::Growable(Lock::new(filter)))
            }
            Kind::Shared => {
                let builder = options.builder::<GrowableConcurrentCuckooFilter>()?;
                py.detach(|| builder.build()).map(Store::Shared)
            }
        };
        store.map(|store| Self::from_store(py, store)).map_err(Raise::raise)
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

/// The operations of every set that can change.
pub(crate) trait Set: Send {
    fn insert_hash(&mut self, hash: u64) -> Result<(), InsertError>;
    fn insert_unique_hash(&mut self, hash: u64) -> Result<bool, InsertError>;
    fn remove_hash(&mut self, hash: u64) -> bool;
    fn clear(&mut self);
    /// Prepares for a batch: `hash` returns what there is at a position.
    fn make_room(&mut self, _hashes: usize, _hash: &mut dyn FnMut(usize) -> Option<u64>) {}
    fn insert_hashes(&mut self, hashes: &[u64], threads: usize) -> Result<(), BatchError>;
    fn insert_unique_hashes(&mut self, hashes: &[u64], new: &mut [bool]) -> Result<(), BatchError>;
    fn remove_hashes(&mut self, hashes: &[u64], removed: &mut [bool]);
}

macro_rules! set {
    ($set:ty $(where $table:ident: $bound:path)? => $filter:ty, $insert:expr $(, $room:expr)?) => {
        impl$(<$table: $bound + Send>)? Set for $set {
            fn insert_hash(&mut self, hash: u64) -> Result<(), InsertError> {
                <$filter>::insert_hash(self, hash)
            }

            fn insert_unique_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
                <$filter>::insert_unique_hash(self, hash)
            }

            fn remove_hash(&mut self, hash: u64) -> bool {
                <$filter>::remove_hash(self, hash)
            }

            fn clear(&mut self) {
                <$filter>::clear(self);
            }

            $(
                fn make_room(
                    &mut self,
                    hashes: usize,
                    hash: &mut dyn FnMut(usize) -> Option<u64>,
                ) {
                    $room(self, hashes, hash);
                }
            )?

            fn insert_hashes(&mut self, hashes: &[u64], threads: usize) -> Result<(), BatchError> {
                $insert(self, hashes, threads)
            }

            fn insert_unique_hashes(
                &mut self,
                hashes: &[u64],
                new: &mut [bool],
            ) -> Result<(), BatchError> {
                <$filter>::insert_unique_hashes(self, hashes, new)
            }

            fn remove_hashes(&mut self, hashes: &[u64], removed: &mut [bool]) {
                <$filter>::remove_hashes(self, hashes, removed);
            }
        }
    };
}
set!(
    Filter<T> where T: Change => Filter<T>,
    Filter::<T>::insert_hashes_with_threads,
    Filter::<T>::make_room
);
// Threads that share filters have batches of their own.
set!(&GrowableConcurrentCuckooFilter => GrowableConcurrentCuckooFilter, |set: &mut &_, hashes, _| {
    GrowableConcurrentCuckooFilter::insert_hashes(set, hashes)
});
set!(
    &GrowableConcurrentExpiringCuckooFilter => GrowableConcurrentExpiringCuckooFilter,
    |set: &mut &_, hashes, _| GrowableConcurrentExpiringCuckooFilter::insert_hashes(set, hashes)
);
