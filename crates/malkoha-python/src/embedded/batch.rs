//! The class `Batch`.

use std::sync::Arc;

use malkoha_store::Batch;
use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use super::handle::Handle;
use super::object::{bytes, time};
use super::table::PyTable;
use crate::errors::Raise;

/// Writes that are applied together or not at all.
///
/// As a context manager it applies them at the end of the block, unless an exception leaves it.
#[pyclass(name = "Batch", module = "malkoha", frozen)]
pub(crate) struct PyBatch {
    handle: Arc<Handle>,
    /// The name of the table of writes that name no other; empty for the store itself.
    table: String,
    writes: Mutex<Writes>,
}

#[derive(Default)]
struct Writes {
    batch: Batch,
    /// The table of the next write.
    table: String,
}

impl PyBatch {
    pub(super) fn new(table: &PyTable) -> Self {
        Self {
            handle: Arc::clone(&table.handle),
            table: table.name.clone().unwrap_or_default(),
            writes: Mutex::default(),
        }
    }

    fn add(
        &self,
        py: Python<'_>,
        table: Option<&PyTable>,
        add: impl FnOnce(&mut Batch) -> malkoha_store::Result<&mut Batch>,
    ) -> PyResult<()> {
        if table.is_some_and(|table| !Arc::ptr_eq(&table.handle, &self.handle)) {
            return Err(PyValueError::new_err("the table is of another store than the batch"));
        }
        let name = table.map_or(Some(&self.table), |table| table.name.as_ref());
        let name = name.map_or("", String::as_str);
        self.handle.process.check()?;
        let mut guard = self.writes.lock_py_attached(py);
        let writes = &mut *guard;
        if writes.table != name {
            name.clone_into(&mut writes.table);
            writes.batch.within(name);
        }
        add(&mut writes.batch).map(drop).map_err(Raise::raise)
    }
}

#[pymethods]
impl PyBatch {
    /// Sets the value of a key; with `ttl` for a limited time, and with `table` in another table.
    #[pyo3(signature = (key, value, *, ttl=None, table=None))]
    fn put(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: Option<&Bound<'_, PyAny>>,
        table: Option<&Bound<'_, PyTable>>,
    ) -> PyResult<()> {
        let ttl = ttl.map(|ttl| time(ttl, "ttl")).transpose()?;
        let (py, key, value) = (key.py(), bytes(key, "key")?, bytes(value, "value")?);
        self.add(py, table.map(Bound::get), |batch| match ttl {
            None => batch.put(&key, &value),
            Some(ttl) => batch.put_for(&key, &value, ttl),
        })
    }

    /// Removes a key, if it is there when the batch is applied.
    #[pyo3(signature = (key, *, table=None))]
    fn discard(&self, key: &Bound<'_, PyAny>, table: Option<&Bound<'_, PyTable>>) -> PyResult<()> {
        let (py, key) = (key.py(), bytes(key, "key")?);
        self.add(py, table.map(Bound::get), |batch| batch.delete(&key))
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(key, value, None, None)
    }

    /// As discard().
    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        self.discard(key, None)
    }

    /// The number of writes that are not applied yet.
    fn __len__(&self, py: Python<'_>) -> usize {
        self.writes.lock_py_attached(py).batch.len()
    }

    /// Drops the writes that are not applied yet.
    fn clear(&self, py: Python<'_>) {
        *self.writes.lock_py_attached(py) = Writes::default();
    }

    /// Applies the writes, and empties the batch. If it raises an exception, the batch is as it
    /// was.
    fn write(&self, py: Python<'_>) -> PyResult<()> {
        let mut writes = self.writes.lock_py_attached(py);
        self.handle.detached(py, |store| store.apply(&writes.batch))?;
        writes.batch.clear();
        writes.table.clear();
        Ok(())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        exception: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if exception.is_none() {
            return self.write(py);
        }
        self.clear(py);
        Ok(())
    }
}
