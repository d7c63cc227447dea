//! Batches of bytes, from the objects that batches of keys can be.

use malkoha::KeyHasher;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyString};

use super::{Column, items, read_bytes, room};
use crate::scalars;

/// Bytes in memory that can be read without the interpreter: text as UTF-8.
pub(crate) struct Binary(Vec<Box<dyn Column>>);

impl Binary {
    pub(crate) fn new(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        read_bytes(values, objects, "bytes or text: encode others as bytes").map(Self)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|column| column.len()).sum()
    }

    /// The rows, in order; `None` for nulls.
    pub(crate) fn rows(&self) -> PyResult<Vec<Option<&[u8]>>> {
        let mut rows = Vec::with_capacity(self.len());
        for column in &self.0 {
            let has_nulls = column.has_nulls();
            for i in 0..column.len() {
                if has_nulls && column.is_null(i) {
                    rows.push(None);
                } else {
                    rows.push(Some(column.bytes(i).ok_or_else(|| {
                        PyValueError::new_err(format!("row {} has no bytes", rows.len()))
                    })?));
                }
            }
        }
        Ok(rows)
    }
}

#[cold]
fn no_bytes(row: usize, found: &Bound<'_, PyAny>) -> PyErr {
    let name = scalars::name(found);
    PyTypeError::new_err(format!("row {row} is {name}: give bytes or text, encode others as bytes"))
}

enum Row {
    Bytes(PyBackedBytes),
    Text(PyBackedStr),
    /// Another thread may change the object.
    Copied(Vec<u8>),
    Null,
}

/// Python's objects, which stay where they are.
struct Rows {
    rows: Vec<Row>,
    has_nulls: bool,
}

fn objects(values: &Bound<'_, PyAny>, _: KeyHasher) -> PyResult<Box<dyn Column>> {
    let mut rows = Vec::with_capacity(room(values));
    let mut has_nulls = false;
    for value in items(values)? {
        let value = value?;
        rows.push(match value.cast_into::<PyBytes>() {
            Ok(bytes) => Row::Bytes(bytes.into()),
            Err(other) => {
                let row = row(&other.into_inner(), rows.len())?;
                has_nulls |= matches!(row, Row::Null);
                row
            }
        });
    }
    Ok(Box::new(Rows { rows, has_nulls }))
}

fn row(value: &Bound<'_, PyAny>, number: usize) -> PyResult<Row> {
    if let Ok(text) = value.cast::<PyString>() {
        let text = PyBackedStr::try_from(text.clone());
        return text.map(Row::Text).map_err(|error| {
            PyValueError::new_err(format!("row {number} is not Unicode text: {error}"))
        });
    }
    if scalars::is_null(value) {
        return Ok(Row::Null);
    }
    match PyBuffer::<u8>::get(value).and_then(|buffer| buffer.to_vec(value.py())) {
        Ok(bytes) => Ok(Row::Copied(bytes)),
        Err(_) => Err(no_bytes(number, value)),
    }
}

impl Column for Rows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn has_nulls(&self) -> bool {
        self.has_nulls
    }

    fn is_null(&self, i: usize) -> bool {
        matches!(self.rows[i], Row::Null)
    }

    fn bytes(&self, i: usize) -> Option<&[u8]> {
        match &self.rows[i] {
            Row::Bytes(bytes) => Some(bytes),
            Row::Text(text) => Some(text.as_bytes()),
            Row::Copied(bytes) => Some(bytes),
            Row::Null => None,
        }
    }
}
