//! The class `Store`: opening, closing and care.

use std::path::PathBuf;
use std::sync::Arc;

use malkoha_store::{Compression, Cut, Durability, Error, LostKey, Options, Store};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use super::handle::Handle;
use super::object::{Form, time};
use super::table::PyTable;
use crate::arguments;
use crate::errors::Raise;

/// Store(path, *, read_only=False, past_damage=False, text=False, create=None, durability=None,
/// compression=None, background=None, file_bytes=None, checkpoint_bytes=None, compact_share=None,
/// compact_rate=None, log_ratio=None, seed=None, ordered=None)
///
/// Keys and values in the directory `path`, which is made if it is not there. A mapping of bytes to
/// bytes, or of text to text with `text=True`. Takes text as its UTF-8 in either case.
///
/// One process at a time opens it for writing; with `read_only=True` any number of others read the
/// state at opening. `past_damage=True` reads a damaged store as far as possible.
///
/// `durability` is a number of seconds, "always" or "system": an acknowledged write is safe from a
/// power cut after that time, at once, or when the system writes it. A crash of the process alone
/// loses nothing. The default is 0.2. `compression="lz4"` compresses new values. A store that is
/// made with `ordered=True` keeps its keys in order: iteration is sorted, and prefix() and range()
/// read what they return. The other options are those of the Rust library's Options.
#[pyclass(name = "Store", module = "malkoha", frozen, subclass, extends = PyTable)]
pub(crate) struct PyStore {
    handle: Arc<Handle>,
}

fn durability(asked: &Bound<'_, PyAny>) -> PyResult<Durability> {
    match asked.cast::<PyString>() {
        Ok(name) if name == "always" => Ok(Durability::Always),
        Ok(name) if name == "system" => Ok(Durability::System),
        Ok(name) => Err(PyValueError::new_err(format!(
            "no durability has the name {:?}: give \"always\", \"system\" or a number of seconds",
            name.to_string()
        ))),
        Err(_) => time(asked, "durability").map(Durability::Every),
    }
}

fn compression(name: &str) -> PyResult<Compression> {
    match name {
        "lz4" => Ok(Compression::Lz4),
        "none" => Ok(Compression::None),
        _ => Err(PyValueError::new_err(format!(
            "no compression has the name {name:?}: give \"lz4\" or \"none\""
        ))),
    }
}

/// Errors as exceptions that are not raised.
fn exceptions(py: Python<'_>, errors: Vec<Error>) -> Vec<Py<PyAny>> {
    errors.into_iter().map(|error| error.raise().into_value(py).into_any()).collect()
}

/// Pairs of a table, or None for the store itself, and a key.
fn lost(py: Python<'_>, keys: Vec<LostKey>) -> Vec<(Option<String>, Py<PyBytes>)> {
    keys.into_iter().map(|lost| (lost.table, PyBytes::new(py, &lost.key).unbind())).collect()
}

#[pymethods]
impl PyStore {
    #[new]
    #[pyo3(signature = (path, *, read_only=false, past_damage=false, text=false, create=None,
        durability=None, compression=None, background=None, file_bytes=None,
        checkpoint_bytes=None, compact_share=None, compact_rate=None, log_ratio=None, seed=None,
        ordered=None))]
    #[expect(clippy::too_many_arguments, reason = "Python's are named")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        read_only: bool,
        past_damage: bool,
        text: bool,
        create: Option<bool>,
        durability: Option<&Bound<'_, PyAny>>,
        compression: Option<&str>,
        background: Option<bool>,
        #[pyo3(from_py_with = arguments::file_bytes)] file_bytes: Option<u64>,
        #[pyo3(from_py_with = arguments::checkpoint_bytes)] checkpoint_bytes: Option<u64>,
        compact_share: Option<f64>,
        #[pyo3(from_py_with = arguments::compact_rate)] compact_rate: Option<u64>,
        log_ratio: Option<f64>,
        #[pyo3(from_py_with = arguments::seed)] seed: Option<u64>,
        ordered: Option<bool>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let durability = durability.map(self::durability).transpose()?;
        let compression = compression.map(self::compression).transpose()?;
        let mut options = Options::new();
        let mut given = None;
        macro_rules! set {
            ($($name:ident)*) => {$(
                if let Some($name) = $name {
                    options = options.$name($name);
                    given = Some(stringify!($name));
                }
            )*};
        }
        set! {
            create durability compression background file_bytes checkpoint_bytes compact_share
            compact_rate log_ratio seed ordered
        }
        let is_reader = read_only || past_damage;
        if let Some(name) = given.filter(|_| is_reader) {
            return Err(PyTypeError::new_err(format!(
                "{name} is for a store that is written to: leave it out with read_only or \
                 past_damage"
            )));
        }
        let open = || match (past_damage, read_only) {
            (true, _) => Store::open_past_damage(&path),
            (false, true) => Store::open_read_only(&path),
            (false, false) => Store::open(&path, &options),
        };
        let store = py.detach(open).map_err(Raise::raise)?;
        let handle = Handle::new(store, path);
        let table = PyTable { handle: Arc::clone(&handle), name: None, form: Form { text } };
        Ok(PyClassInitializer::from(table).add_subclass(Self { handle }))
    }

    /// Its directory.
    #[getter]
    fn path(&self) -> PathBuf {
        self.handle.path.clone()
    }

    /// Whether it was closed, or opened before this process was forked.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.handle.is_closed(py)
    }

    /// The names of its tables, sorted.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.handle.attached(py, |store| Ok(store.tables()))
    }

    /// Removes a table with its keys; returns whether it was there. Reads the whole log.
    fn remove_table(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.handle.detached(py, |store| store.remove_table(name))
    }

    /// Makes everything that was written durable.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.detached(py, Store::sync)
    }

    /// Syncs, and writes the index into a file, so that opening after a crash is fast.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.detached(py, Store::checkpoint)
    }

    /// Gives back the space of overwritten and removed records.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.detached(py, Store::compact)
    }

    /// Copies the store, as it is now, into an empty or missing directory. On the same file system
    /// the copy shares its files with the store, and so their damage.
    fn backup(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.handle.detached(py, |store| store.backup(&path))
    }

    fn _verify(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let found = self.handle.detached(py, Store::verify)?;
        let keys = lost(py, found.lost_keys);
        let damage = exceptions(py, found.damage);
        let all = (found.records, found.live, found.lost, keys, damage);
        all.into_pyobject(py).map(Bound::unbind)
    }

    fn _recovery(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let cut = |cut: &Cut| (cut.file.clone(), cut.offset, cut.bytes);
        self.handle
            .attached(py, |store| {
                let found = store.recovery();
                Ok((
                    found.checkpoint.as_ref().map(Error::to_string),
                    found.cut.as_ref().map(cut),
                    found.cut_files.iter().map(cut).collect::<Vec<_>>(),
                    found.skipped.iter().map(Error::to_string).collect::<Vec<_>>(),
                    found.lost_keys.clone(),
                ))
            })
            .and_then(|(checkpoint, cut, files, skipped, keys)| {
                let all = (checkpoint, cut, files, skipped, lost(py, keys));
                all.into_pyobject(py).map(Bound::unbind)
            })
    }

    #[staticmethod]
    fn _repair(py: Python<'_>, path: PathBuf) -> PyResult<Py<PyTuple>> {
        let repair = py.detach(|| Store::repair(&path)).map_err(Raise::raise)?;
        let skipped = exceptions(py, repair.skipped);
        let all = (repair.keys, skipped, lost(py, repair.lost_keys), repair.set_aside);
        all.into_pyobject(py).map(Bound::unbind)
    }

    /// The latest error of a thread of the store since the last call, or None.
    fn background_error(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let error = self.handle.attached(py, |store| Ok(store.background_error()))?;
        Ok(error.map(|error| error.raise().into_value(py).into_any()))
    }

    /// Sizes in bytes, and counts since opening, by name.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = self.handle.attached(py, |store| Ok(store.metrics()))?;
        let dict = PyDict::new(py);
        macro_rules! set {
            ($($of:expr => $($name:ident)*;)*) => {$($(
                dict.set_item(stringify!($name), $of.$name)?;
            )*)*};
        }
        set! {
            all.stats => keys files log_bytes dead_bytes tombstone_bytes reserved_bytes index_bytes
                order_bytes;
            all => written_records written_bytes copied_records copied_bytes removed_files
                removed_bytes syncs checkpoints;
        }
        dict.set_item("sync_seconds", all.sync_time.as_secs_f64())?;
        dict.set_item("held_back_seconds", all.held_back.as_secs_f64())?;
        Ok(dict)
    }

    /// The same in the text format of Prometheus, with the label `store`.
    fn prometheus(&self, py: Python<'_>, store: &str) -> PyResult<String> {
        self.handle.attached(py, |open| Ok(open.metrics().prometheus(store)))
    }

    /// Syncs, writes a checkpoint, and lets other processes write. Waits for calls of other
    /// threads. Closing it again does nothing, nor does closing it in a forked process.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.close(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.handle.close(py)
    }
}
