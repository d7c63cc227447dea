//! The class `Table`: operations on single keys, and iteration.

use std::sync::Arc;

use malkoha_store::{Error, Result, Store, Swap, Table};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;

use super::batch::PyBatch;
use super::entries::{Asked, PyEntries};
use super::handle::Handle;
use super::object::{Form, bytes, time};
use super::view::View;
use crate::common_methods::length;

/// The keys of one table of a store, or of the store itself.
#[pyclass(name = "Table", module = "malkoha", frozen, subclass)]
pub(crate) struct PyTable {
    pub(super) handle: Arc<Handle>,
    /// `None` for the keys of the store itself.
    pub(super) name: Option<String>,
    pub(super) form: Form,
}

impl PyTable {
    #[inline]
    pub(super) fn of<'s>(&self, store: &'s Store) -> Result<Table<'s>> {
        match &self.name {
            None => Ok(store.main()),
            Some(name) => store.find_table(name).ok_or(Error::TableRemoved),
        }
    }

    #[inline]
    fn find(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let (py, form, key) = (key.py(), self.form, bytes(key, "key")?);
        let found = self.handle.attached(py, |store| {
            self.of(store)?.get_with(&key, |value| {
                // SAFETY: `attached` calls this in the thread that has `py`, without detaching.
                form.object(unsafe { Python::assume_attached() }, value)
            })
        })?;
        found.transpose().map_err(|error| error.raise(py))
    }

    pub(super) fn view(&self, py: Python<'_>) -> PyResult<View> {
        View::new(py, &self.handle, self.name.clone(), self.form)
    }

    fn put_bytes(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let ttl = ttl.map(|ttl| time(ttl, "ttl")).transpose()?;
        let (py, key, value) = (key.py(), bytes(key, "key")?, bytes(value, "value")?);
        self.handle.detached(py, |store| match ttl {
            None => self.of(store)?.put(&key, &value),
            Some(ttl) => self.of(store)?.put_for(&key, &value, ttl),
        })
    }

    fn remove(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (py, key) = (key.py(), bytes(key, "key")?);
        self.handle.detached(py, |store| self.of(store)?.delete(&key))
    }

    /// The number of keys, if the index has it.
    fn indexed(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        let is_main = self.name.is_none();
        let len = self.handle.attached(py, |store| Ok(store.main_len().filter(|_| is_main)))?;
        Ok(len.map(length))
    }
}

#[pymethods]
impl PyTable {
    #[new]
    #[pyo3(signature = (store, name, ordered=false))]
    fn new(store: &Bound<'_, Self>, name: String, ordered: bool) -> PyResult<Self> {
        let main = store.get();
        if main.name.is_some() {
            return Err(PyTypeError::new_err("a table has no tables: give the store"));
        }
        let make = |store: &Store| {
            if ordered { store.ordered_table(&name) } else { store.table(&name) }.map(drop)
        };
        main.handle.detached(store.py(), make)?;
        Ok(Self { handle: Arc::clone(&main.handle), name: Some(name), form: main.form })
    }

    /// The name of the table; None for the keys of the store itself.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether its keys are kept in order.
    #[getter]
    fn ordered(&self, py: Python<'_>) -> PyResult<bool> {
        self.handle.attached(py, |store| Ok(self.of(store)?.is_ordered()))
    }

    /// Changes whether its keys are kept in order.
    fn set_ordered(&self, py: Python<'_>, ordered: bool) -> PyResult<()> {
        self.handle.detached(py, |store| self.of(store)?.set_ordered(ordered))
    }

    #[inline]
    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.find(key)?.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))
    }

    /// The value of a key, or `default` if it has none.
    #[pyo3(signature = (key, default=None))]
    fn get(
        &self,
        key: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Option<Py<PyAny>>> {
        Ok(self.find(key)?.or(default))
    }

    #[inline]
    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (py, key) = (key.py(), bytes(key, "key")?);
        self.handle.attached(py, |store| self.of(store)?.contains(&key))
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put_bytes(key, value, None)
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.remove(key)? { Ok(()) } else { Err(PyKeyError::new_err(key.clone().unbind())) }
    }

    /// Sets the value of a key; with `ttl`, in seconds or as a timedelta, for a limited time.
    #[pyo3(signature = (key, value, *, ttl=None))]
    fn put(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.put_bytes(key, value, ttl)
    }

    /// Removes a key; returns whether it was there.
    fn discard(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.remove(key)
    }

    /// Sets the value of a key that has none; returns whether it had none. No other write of the
    /// key comes between reading and writing.
    fn put_if_absent(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (py, key, value) = (key.py(), bytes(key, "key")?, bytes(value, "value")?);
        self.handle.detached(py, |store| self.of(store)?.put_if_absent(&key, &value))
    }

    /// Sets the value of a key to `new` if it is `old`; returns whether it was. None as `old` means
    /// that the key is absent, and as `new` that it is removed.
    fn compare_and_swap(
        &self,
        key: &Bound<'_, PyAny>,
        old: Option<&Bound<'_, PyAny>>,
        new: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let (py, key) = (key.py(), bytes(key, "key")?);
        let old = old.map(|old| bytes(old, "value")).transpose()?;
        let new = new.map(|new| bytes(new, "value")).transpose()?;
        self.handle.detached(py, |store| {
            let swap = self.of(store)?.compare_and_swap(&key, old.as_deref(), new.as_deref())?;
            Ok(swap == Swap::Done)
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        match self.indexed(py)? {
            Some(len) => Ok(len),
            None => self.view(py)?.len(py),
        }
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        match self.indexed(py)? {
            Some(len) => Ok(len > 0),
            None => Ok(!self.view(py)?.is_empty(py)?),
        }
    }

    /// An iterator over all keys as bytes, also those that are no text.
    fn _bytes(&self, py: Python<'_>) -> PyResult<PyEntries> {
        let view = View { form: Form { text: false }, ..self.view(py)? };
        PyEntries::new(py, &view, Asked::Keys)
    }

    /// An empty batch of writes to this table, which are applied together or not at all.
    fn batch(&self) -> PyBatch {
        PyBatch::new(self)
    }
}
