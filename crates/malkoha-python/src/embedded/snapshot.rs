//! The state of a table at one moment, and the class `Snapshot`.

use std::sync::Arc;

use malkoha_store::{Error, Result, Snapshot, TableSnapshot};
use parking_lot::Mutex;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;

use super::entries::{Asked, PyEntries, bounds};
use super::handle::Process;
use super::object::{Form, bytes};
use super::table::PyTable;
use crate::common_methods::length;
use crate::errors::{Raise, StoreClosedError};

/// A table, or the keys of the store itself, at one moment.
#[derive(Clone)]
pub(super) struct View {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) process: Process,
    name: Option<String>,
    pub(super) form: Form,
}

/// A table of a snapshot.
pub(super) fn of<'s>(snapshot: &'s Snapshot, name: Option<&str>) -> Result<TableSnapshot<'s>> {
    match name {
        None => Ok(snapshot.main()),
        Some(name) => snapshot.table(name).ok_or(Error::TableRemoved),
    }
}

impl View {
    pub(super) fn new(py: Python<'_>, table: &PyTable) -> PyResult<Self> {
        let name = table.name.clone();
        let snapshot = table.handle.detached(py, |store| {
            let snapshot = store.snapshot();
            of(&snapshot, name.as_deref())?;
            Ok(snapshot)
        })?;
        Ok(Self {
            snapshot: Arc::new(snapshot),
            process: table.handle.process,
            name,
            form: table.form,
        })
    }

    fn table(&self) -> Result<TableSnapshot<'_>> {
        of(&self.snapshot, self.name.as_deref())
    }

    fn find(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let (py, key) = (key.py(), bytes(key, "key")?);
        let found = self.table().and_then(|table| table.get(&key)).map_err(Raise::raise)?;
        found.map(|value| self.form.object(py, &value).map_err(|error| error.raise(py))).transpose()
    }

    pub(super) fn entries(&self, py: Python<'_>, asked: Asked) -> PyResult<PyEntries> {
        PyEntries::new(py, self, self.name.as_deref(), asked)
    }

    /// The number of keys, if the index has it.
    fn indexed(&self) -> Option<u64> {
        self.snapshot.main_len().filter(|_| self.name.is_none())
    }

    /// The number of keys. With tables, the whole log is read.
    pub(super) fn len(&self, py: Python<'_>) -> PyResult<usize> {
        let count = || -> Result<u64> {
            if let Some(len) = self.indexed() {
                return Ok(len);
            }
            self.table()?.iter().try_fold(0, |count, entry| entry.map(|_| count + 1))
        };
        py.detach(count).map(length).map_err(Raise::raise)
    }

    pub(super) fn is_empty(&self, py: Python<'_>) -> PyResult<bool> {
        let find = || -> Result<bool> {
            Ok(self.indexed() == Some(0) || self.table()?.iter().next().transpose()?.is_none())
        };
        py.detach(find).map_err(Raise::raise)
    }
}

/// A store, or a table of it, as it was at one moment.
#[pyclass(name = "Snapshot", module = "malkoha", frozen, subclass)]
pub(crate) struct PySnapshot(Mutex<Option<View>>);

impl PySnapshot {
    fn view(&self) -> PyResult<View> {
        let view = self.0.lock().clone().ok_or_else(|| {
            StoreClosedError::new_err("the snapshot was closed: take another one of the store")
        })?;
        view.process.check().map(|()| view)
    }
}

#[pymethods]
impl PySnapshot {
    /// Of a table as it is now, or of another table in a snapshot.
    #[new]
    #[pyo3(signature = (of, name=None))]
    fn new(of: &Bound<'_, PyAny>, name: Option<String>) -> PyResult<Self> {
        let view = if let Ok(table) = of.cast::<PyTable>() {
            View::new(of.py(), table.get())?
        } else if let Ok(snapshot) = of.cast::<Self>() {
            snapshot.get().view()?
        } else {
            return Err(PyTypeError::new_err("a snapshot is taken by the snapshot() of a store"));
        };
        let view = match name {
            None => view,
            Some(name) if view.snapshot.table(&name).is_none() => {
                return Err(PyKeyError::new_err(name));
            }
            name => View { name, ..view },
        };
        Ok(Self(Mutex::new(Some(view))))
    }

    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.view()?.find(key)?.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.view()?.find(key)?.is_some())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.view()?.len(py)
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(!self.view()?.is_empty(py)?)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<PyEntries> {
        self.view()?.entries(py, Asked::Keys)
    }

    fn _pairs(&self, py: Python<'_>) -> PyResult<PyEntries> {
        self.view()?.entries(py, Asked::Pairs)
    }

    /// As Store.prefix().
    fn prefix(&self, prefix: &Bound<'_, PyAny>) -> PyResult<PyEntries> {
        let asked = Asked::Prefix(bytes(prefix, "key")?.into_owned());
        self.view()?.entries(prefix.py(), asked)
    }

    /// As Store.range().
    #[pyo3(signature = (start=None, stop=None))]
    fn range(
        &self,
        py: Python<'_>,
        start: Option<&Bound<'_, PyAny>>,
        stop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyEntries> {
        self.view()?.entries(py, bounds(start, stop)?)
    }

    /// Gives the space of its files back. Iterators that read from it keep it until they end.
    fn close(&self) {
        self.0.lock().take();
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        self.close();
    }
}
