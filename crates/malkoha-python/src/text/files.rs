//! States: as files, as bytes, and pickled.

use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read};
use std::path::{Path, PathBuf};

use malkoha_text::{Deduplicator, StateError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::PyDeduplicator;
use crate::errors::{ReadError, with_path};

#[pymethods]
impl PyDeduplicator {
    /// Saves what later texts are compared with as the file at `path`, and replaces an earlier
    /// file. Writes under another name, syncs and renames, so the file is always whole. The command
    /// `malkoha dedup --seen` reads it.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let texts = &*self.texts.read(py);
        py.detach(|| malkoha::replace_file(&path, |file| texts.write_to(BufWriter::new(file))))
            .map_err(|error| with_path(error, &path))
    }

    /// Reads the file at `path` into memory, and checks every byte of it.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| {
            let file = File::open(&path).map_err(|error| with_path(error, &path))?;
            read(BufReader::new(file), &path)
        })
    }

    /// The bytes of the file that save() would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        let texts = &*self.texts.read(py);
        py.detach(|| texts.write_to(&mut bytes))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads the bytes of a whole file, and checks all of them.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Self> {
        py.detach(|| read(&*data, Path::new("")))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }
}

/// Reads a state and nothing after it.
fn read(mut reader: impl Read, path: &Path) -> PyResult<PyDeduplicator> {
    let texts = match Deduplicator::read_from(&mut reader) {
        Ok(texts) => texts,
        Err(StateError::Io(error) | StateError::Index(malkoha::ReadError::Io(error)))
            if error.kind() != ErrorKind::UnexpectedEof =>
        {
            return Err(with_path(error, path));
        }
        Err(error) => return Err(ReadError::new_err(error.to_string())),
    };
    match reader.read(&mut [0]) {
        Ok(0) => Ok(PyDeduplicator::of(texts)),
        Ok(_) => Err(ReadError::new_err(
            "something follows the state: names of files, which malkoha dedup --report remembers, \
             and only the command goes on with them",
        )),
        Err(error) => Err(with_path(error, path)),
    }
}
