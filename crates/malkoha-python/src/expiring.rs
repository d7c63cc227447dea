//! The class `ExpiringCuckooFilter`.

use std::ptr;

use malkoha::tables::{Ages, Expiring};
use malkoha::{BatchError, Builder, ExpiringCuckooFilter, Filter};
use malkoha::{GrowableConcurrentExpiringCuckooFilter, GrowableExpiringCuckooFilter};
use malkoha::{InsertError, KeyHasher};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;

use crate::common_methods::common_methods;
use crate::errors::{Raise, UnionError};
use crate::filter::Set;
use crate::filter::batches::batch_methods;
use crate::key;
use crate::lock::Lock;
use crate::options::{self, Kind, Options};
use crate::store::{self, Store, change_by, change_methods};

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
        let options = Options { capacity, fpr, growable, shared, growth: None, hasher };
        let store = match options.kind()? {
            Kind::Fixed => {
                let builder = with_ages::<ExpiringCuckooFilter>(&options, ttl, resolution)?;
                py.detach(|| builder.build()).map(|filter| Store::Fixed(Lock::new(filter)))
            }
            Kind::Growable => {
                let builder = with_ages::<GrowableExpiringCuckooFilter>(&options, ttl, resolution)?;
                py.detach(|| builder.build()).map(|filter| Store::Growable(Lock::new(filter)))
            }
            Kind::Shared => {
                let builder: Builder<GrowableConcurrentExpiringCuckooFilter> =
                    with_ages(&options, ttl, resolution)?;
                py.detach(|| builder.build()).map(Store::Shared)
            }
        };
        store.map(|store| Self::from_store(py, store)).map_err(Raise::raise)
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
        self.read_one(py, |set| set.times().now)
    }

    /// The shortest time for which a key is found.
    #[getter]
    fn ttl(&self, py: Python<'_>) -> u64 {
        self.read_one(py, |set| set.times().ttl)
    }

    /// The longest additional time for which a key can be found, rounded up.
    #[getter]
    fn resolution(&self, py: Python<'_>) -> u64 {
        self.read_one(py, |set| set.times().resolution)
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

/// A builder of one whose keys expire.
fn with_ages<F>(options: &Options, ttl: u64, step: Option<u64>) -> PyResult<Builder<F>> {
    let builder = options.builder()?.expire_after(ttl);
    Ok(match step {
        Some(step) => builder.resolution(step),
        None => builder,
    })
}

impl PyExpiring {
    fn read_one<R>(&self, py: Python<'_>, read: impl FnOnce(&dyn Aging) -> R + Send) -> R {
        match &self.store {
            Store::Fixed(lock) => lock.read_one(py, |set| read(set)),
            Store::Growable(lock) => lock.read_one(py, |set| read(set)),
            Store::Shared(filter) => read(&filter),
            Store::Mapped(never) => match *never {},
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

struct Times {
    now: u64,
    ttl: u64,
    resolution: u64,
}

/// The operations of every set whose keys expire.
trait Aging: Set {
    fn advance(&mut self, now: u64);
    fn times(&self) -> Times;
    fn age_hash(&self, hash: u64) -> Option<u64>;
    fn refresh_hash(&mut self, hash: u64) -> Result<bool, InsertError>;
    fn refresh_hashes(&mut self, hashes: &[u64], new: &mut [bool]) -> Result<(), BatchError>;
}

macro_rules! aging {
    ($set:ty $(where $table:ident: $bound:path)? => $filter:ty) => {
        impl$(<$table: $bound + Send>)? Aging for $set
        $(where Filter<Expiring<$table>>: Set)?
        {
            fn advance(&mut self, now: u64) {
                <$filter>::advance(self, now);
            }

            fn times(&self) -> Times {
                let (now, ttl) = (<$filter>::now(self), <$filter>::ttl(self));
                Times { now, ttl, resolution: <$filter>::resolution(self) }
            }

            fn age_hash(&self, hash: u64) -> Option<u64> {
                <$filter>::age_hash(self, hash)
            }

            fn refresh_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
                <$filter>::refresh_hash(self, hash)
            }

            fn refresh_hashes(&mut self, hashes: &[u64], new: &mut [bool]) -> Result<(), BatchError> {
                <$filter>::refresh_hashes(self, hashes, new)
            }
        }
    };
}
aging!(Filter<Expiring<T>> where T: Ages => Filter<Expiring<T>>);
aging!(&GrowableConcurrentExpiringCuckooFilter => GrowableConcurrentExpiringCuckooFilter);
