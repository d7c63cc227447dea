//! The state of a table at one moment.

use std::sync::Arc;

use malkoha_store::{Error, Result, Snapshot, TableSnapshot};
use pyo3::prelude::*;

use super::handle::{Handle, Process};
use super::object::{Form, bytes};
use crate::common_methods::length;
use crate::errors::Raise;

/// A table, or the keys of the store itself, at one moment.
#[derive(Clone)]
pub(super) struct View {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) process: Process,
    pub(super) name: Option<String>,
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
    /// Of the table that has this name; `None` is the store itself.
    pub(super) fn new(
        py: Python<'_>,
        handle: &Handle,
        name: Option<String>,
        form: Form,
    ) -> PyResult<Self> {
        let snapshot = handle.detached(py, |store| {
            let snapshot = store.snapshot();
            of(&snapshot, name.as_deref())?;
            Ok(snapshot)
        })?;
        Ok(Self { snapshot: Arc::new(snapshot), process: handle.process, name, form })
    }

    fn table(&self) -> Result<TableSnapshot<'_>> {
        of(&self.snapshot, self.name.as_deref())
    }

    pub(super) fn find(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let (py, key) = (key.py(), bytes(key, "key")?);
        let found = self.table().and_then(|table| table.get(&key)).map_err(Raise::raise)?;
        found.map(|value| self.form.object(py, &value).map_err(|error| error.raise(py))).transpose()
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
