//! Iteration, in chunks that are read detached.

use std::ops::Bound as Limit;
use std::sync::Arc;
use std::vec;

use malkoha_store::{Entries, Entry, Error, Result, Snapshot};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyTuple;

use super::handle::Process;
use super::object::{Form, bytes};
use super::view::{View, of};
use crate::errors::Raise;

/// The most entries of a chunk.
const CHUNK: usize = 1024;
/// A chunk of this many bytes is not continued.
const CHUNK_BYTES: usize = 1 << 20;

/// Which entries are to be returned, and what of them.
pub(super) enum Asked {
    Keys,
    Pairs,
    Prefix(Vec<u8>),
    Range(Limit<Vec<u8>>, Limit<Vec<u8>>),
}

/// The keys from `start` to before `stop`.
pub(super) fn bounds(
    start: Option<&Bound<'_, PyAny>>,
    stop: Option<&Bound<'_, PyAny>>,
) -> PyResult<Asked> {
    let key = |key| PyResult::Ok(bytes(key, "key")?.into_owned());
    let start = start.map_or(Ok(Limit::Unbounded), |start| key(start).map(Limit::Included))?;
    let stop = stop.map_or(Ok(Limit::Unbounded), |stop| key(stop).map(Limit::Excluded))?;
    Ok(Asked::Range(start, stop))
}

/// An iterator over the keys of a store, or over pairs of keys and values.
#[pyclass(name = "Entries", module = "malkoha", frozen)]
pub(crate) struct PyEntries {
    /// `None` at the end.
    reader: Mutex<Option<Reader>>,
    with_values: bool,
    form: Form,
    process: Process,
}

struct Reader {
    /// Dropped before the snapshot, because it borrows from it.
    found: Entries<'static>,
    chunk: vec::IntoIter<Read>,
    _snapshot: Arc<Snapshot>,
}

/// An entry, copied.
type Read = Result<(Vec<u8>, Vec<u8>)>;

impl PyEntries {
    pub(super) fn new(py: Python<'_>, view: &View, asked: Asked) -> PyResult<Self> {
        let snapshot = Arc::clone(&view.snapshot);
        // SAFETY: the reader has the snapshot, at an address that stays, and drops it after all
        // that borrows from it, which does not leave the reader.
        let borrowed: &'static Snapshot = unsafe { &*Arc::as_ptr(&snapshot) };
        let with_values = !matches!(asked, Asked::Keys);
        let find = || {
            let table = of(borrowed, view.name.as_deref())?;
            match asked {
                Asked::Keys | Asked::Pairs => Ok(table.iter()),
                Asked::Prefix(prefix) => table.prefix(&prefix),
                Asked::Range(start, stop) => table
                    .range((start.as_ref().map(Vec::as_slice), stop.as_ref().map(Vec::as_slice))),
            }
        };
        let found = py.detach(find).map_err(Raise::raise)?;
        let reader = Reader { found, chunk: Vec::new().into_iter(), _snapshot: snapshot };
        Ok(Self {
            reader: Mutex::new(Some(reader)),
            with_values,
            form: view.form,
            process: view.process,
        })
    }
}

impl Reader {
    fn next(&mut self, with_values: bool) -> Option<Read> {
        self.chunk.next().or_else(|| {
            let mut bytes = 0;
            let mut chunk = Vec::new();
            while chunk.len() < CHUNK && bytes < CHUNK_BYTES {
                let Some(found) = self.found.next() else { break };
                chunk.push(found.map(|Entry { key, value, .. }| {
                    let value = if with_values { value.into_owned() } else { Vec::new() };
                    bytes += key.len() + value.len();
                    (key.into_owned(), value)
                }));
            }
            self.chunk = chunk.into_iter();
            self.chunk.next()
        })
    }
}

#[pymethods]
impl PyEntries {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.process.check()?;
        let next = {
            let mut guard = self.reader.lock_py_attached(py);
            let Some(reader) = &mut *guard else { return Ok(None) };
            let next = match reader.chunk.next() {
                None => py.detach(|| reader.next(self.with_values)),
                next => next,
            };
            if next.is_none() {
                *guard = None;
            }
            next
        };
        let Some(next) = next else { return Ok(None) };
        let (key, value) = next.map_err(Error::raise)?;
        let object = |bytes: &[u8]| self.form.object(py, bytes).map_err(|error| error.raise(py));
        let key = object(&key)?;
        if !self.with_values {
            return Ok(Some(key));
        }
        PyTuple::new(py, [key, object(&value)?]).map(|pair| Some(pair.into_any().unbind()))
    }
}
