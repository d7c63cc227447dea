//! The class `Snapshot`.

use parking_lot::Mutex;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;

use super::entries::{Asked, PyEntries, bounds};
use super::object::bytes;
use super::table::PyTable;
use super::view::View;
use crate::errors::StoreClosedError;

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
            table.get().view(of.py())?
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
        PyEntries::new(py, &self.view()?, Asked::Keys)
    }

    fn _pairs(&self, py: Python<'_>) -> PyResult<PyEntries> {
        PyEntries::new(py, &self.view()?, Asked::Pairs)
    }

    /// As Store.prefix().
    fn prefix(&self, prefix: &Bound<'_, PyAny>) -> PyResult<PyEntries> {
        let asked = Asked::Prefix(bytes(prefix, "key")?.into_owned());
        PyEntries::new(prefix.py(), &self.view()?, asked)
    }

    /// As Store.range().
    #[pyo3(signature = (start=None, stop=None))]
    fn range(
        &self,
        py: Python<'_>,
        start: Option<&Bound<'_, PyAny>>,
        stop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyEntries> {
        PyEntries::new(py, &self.view()?, bounds(start, stop)?)
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
