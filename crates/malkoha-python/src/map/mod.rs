//! The class `CuckooMap`.

mod batches;

use malkoha::tables::Candidates;
use malkoha::{BatchError, CuckooMap, Filter, GrowableConcurrentCuckooMap};
use malkoha::{GrowableCuckooMap, InsertError, KeyHasher, Values};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use crate::common_methods::common_methods;
use crate::errors::Raise;
use crate::key;
use crate::options::{self, Options};
use crate::store::{Store, change_methods, operations};

/// CuckooMap(capacity=None, fpr=0.001, *, value_bits=None, growable=True, shared=False,
/// growth=None, seed=None, key=None)
///
/// A map from keys to small integers of up to 64 bits, in a few bits more than the values take. It
/// stores no keys: get() returns candidates. The value of an added key is among them; any other
/// key has `fpr` candidates on average.
#[pyclass(name = "CuckooMap", module = "malkoha", frozen, weakref)]
pub(crate) struct PyMap {
    store: Store<Values>,
    hasher: KeyHasher,
}

common_methods!(PyMap, Values, "CuckooMap");
change_methods!(PyMap, Map);

#[pymethods]
impl PyMap {
    #[new]
    #[pyo3(signature = (capacity=None, fpr=0.001, *, value_bits=None, growable=true, shared=false,
        growth=None, seed=None, key=None))]
    #[expect(clippy::too_many_arguments, reason = "Python's are named")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = crate::arguments::capacity)] capacity: Option<u64>,
        #[pyo3(from_py_with = crate::arguments::fpr)] fpr: f64,
        #[pyo3(from_py_with = crate::arguments::value_bits)] value_bits: Option<u32>,
        growable: bool,
        shared: bool,
        #[pyo3(from_py_with = crate::arguments::growth)] growth: Option<f64>,
        #[pyo3(from_py_with = crate::arguments::seed)] seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<Self> {
        let hasher = options::hasher(seed, key)?;
        let value_bits = value_bits.or(Some(u64::BITS));
        let common = Options { capacity, fpr, growable, shared, hasher, ..Options::default() };
        Options { growth, value_bits, ..common }.build(py).map(|store| Self::from_store(py, store))
    }

    /// Adds a value for a key, in addition to those that it has.
    fn add(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = crate::arguments::value)] value: u64,
    ) -> PyResult<()> {
        let hash = key::hash(key, self.hasher)?;
        self.change_one(py, |map| map.insert_hash(hash, value))?.map_err(Raise::raise)
    }

    /// The different candidate values of a key, ascending.
    fn get(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let hash = key::hash(key, self.hasher)?;
        let mut values = Vec::new();
        self.look_up_one(py, |map| {
            map.for_each_candidate(hash, &mut |value, _| values.push(value))
        });
        values.sort_unstable();
        values.dedup();
        Ok(values)
    }

    /// The number of copies of a pair of key and value: never too few.
    fn count_value(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = crate::arguments::value)] value: u64,
    ) -> PyResult<u64> {
        let hash = key::hash(key, self.hasher)?;
        let mut copies = 0_u64;
        self.look_up_one(py, |map| {
            map.for_each_candidate(hash, &mut |found, more| {
                copies += if found == value { more } else { 0 };
            });
        });
        Ok(copies)
    }

    /// Replaces a value that was added for a key by another; KeyError if it is absent.
    fn replace(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = crate::arguments::value)] old: u64,
        #[pyo3(from_py_with = crate::arguments::value)] new: u64,
    ) -> PyResult<()> {
        let hash = key::hash(key, self.hasher)?;
        let found = self.change_one(py, |map| map.update_hash(hash, old, new))?;
        if found.map_err(Raise::raise)? { Ok(()) } else { Err(not_in(key, old)) }
    }

    /// Removes one copy of a key that was added with this value; KeyError if it is absent.
    ///
    /// Remove only pairs that were added: otherwise another key with the same fingerprint and value
    /// can be removed.
    fn remove(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = crate::arguments::value)] value: u64,
    ) -> PyResult<()> {
        if self.discard(py, key, value)? { Ok(()) } else { Err(not_in(key, value)) }
    }

    /// Removes one copy of a key that was added with this value, if present; returns whether it
    /// was.
    fn discard(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = crate::arguments::value)] value: u64,
    ) -> PyResult<bool> {
        let hash = key::hash(key, self.hasher)?;
        self.change_one(py, |map| map.remove_hash(hash, value))
    }

    /// Removes all pairs.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |map| map.clear())
    }

    /// The greatest number of bits that a value can have.
    #[getter]
    fn value_bits(&self, py: Python<'_>) -> u32 {
        self.look_up_one(py, |map| map.value_bits())
    }
}

fn not_in(key: &Bound<'_, PyAny>, value: u64) -> PyErr {
    PyKeyError::new_err((key.clone().unbind(), value))
}

impl PyMap {
    fn look_up_one<R>(&self, py: Python<'_>, look_up: impl FnOnce(&dyn Lookups) -> R + Send) -> R {
        match &self.store {
            Store::Fixed(lock) => lock.read_one(py, |map| look_up(map)),
            Store::Growable(lock) => lock.read_one(py, |map| look_up(map)),
            Store::Shared(map) => look_up(map),
            Store::Mapped(map) => look_up(map),
        }
    }

    /// Runs a longer lookup, which can detach from the interpreter.
    fn look_up<R>(&self, py: Python<'_>, look_up: impl FnOnce(&dyn Lookups) -> R) -> R {
        match &self.store {
            Store::Fixed(lock) => look_up(&*lock.read(py)),
            Store::Growable(lock) => look_up(&*lock.read(py)),
            Store::Shared(map) => look_up(map),
            Store::Mapped(map) => look_up(map),
        }
    }
}

operations! {
    /// The queries of every map.
    Lookups: Sync, self: &Self;
    {
        value_bits() -> u32;
        for_each_candidate(hash: u64, each: &mut dyn FnMut(u64, u64)) -> ();
        get_hashes(hashes: &[u64], each: &mut dyn FnMut(usize, u64)) -> ();
    }
    [T: Candidates + Sync] Filter<T, Values> => Self;
}

operations! {
    /// The operations of every map that can change.
    Map: Send, self: &mut Self;
    {
        insert_hash(hash: u64, value: u64) -> Result<(), InsertError>;
        insert_hashes(pairs: &[(u64, u64)]) -> Result<(), BatchError>;
        update_hash(hash: u64, old: u64, new: u64) -> Result<bool, InsertError>;
        remove_hash(hash: u64, value: u64) -> bool;
        clear() -> ();
    }
    [] CuckooMap => Self;
    [] GrowableCuckooMap => Self;
    [] &GrowableConcurrentCuckooMap => GrowableConcurrentCuckooMap;
}
