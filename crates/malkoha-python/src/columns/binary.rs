//! Batches of bytes, or of texts alone, from the objects that batches of keys can be.

use std::fmt::Display;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyString};

use super::{Column, Rows, items, read_bytes, room};
use crate::scalars;

/// Bytes in memory that can be read without the interpreter: text as UTF-8.
pub(crate) struct Binary(Vec<Box<dyn Column>>);

impl Binary {
    pub(crate) fn new(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let what = "bytes or text: encode others as bytes";
        read_bytes(values, |values, _| objects(values, false), what).map(Self)
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

/// Texts in memory that can be read without the interpreter.
pub(crate) struct Texts(Binary);

impl Texts {
    pub(crate) fn new(texts: &Bound<'_, PyAny>) -> PyResult<Self> {
        let columns = read_bytes(texts, |texts, _| objects(texts, true), "text: give str")?;
        Ok(Self(Binary(columns)))
    }

    /// The texts, in order: nulls as `None`, or refused.
    pub(crate) fn rows(&self, keep_null: bool) -> PyResult<Vec<Option<&str>>> {
        let rows = self.0.rows()?.into_iter().enumerate();
        rows.map(|(row, bytes)| match bytes.map(str::from_utf8).transpose() {
            Ok(None) if !keep_null => Err(PyValueError::new_err(format!(
                "row {row} is null: leave it out (keep_null=True of keep and cut keeps it)"
            ))),
            text => text.map_err(|error| not_unicode(row, &error)),
        })
        .collect()
    }
}

#[cold]
fn no_bytes(row: usize, found: &Bound<'_, PyAny>, only_text: bool) -> PyErr {
    let name = scalars::name(found);
    PyTypeError::new_err(if only_text {
        format!("row {row} is no text but {name}: give str")
    } else {
        format!("row {row} is {name}: give bytes or text, encode others as bytes")
    })
}

fn not_unicode(row: usize, error: &dyn Display) -> PyErr {
    PyValueError::new_err(format!("row {row} is not Unicode text: {error}"))
}

enum Row {
    Bytes(PyBackedBytes),
    Text(PyBackedStr),
    /// Another thread may change the object.
    Copied(Vec<u8>),
    Null,
}

/// Python's objects, which stay where they are.
struct PythonRows {
    rows: Vec<Row>,
    has_nulls: bool,
}

fn objects(values: &Bound<'_, PyAny>, only_text: bool) -> PyResult<Box<dyn Column>> {
    let mut rows = Vec::with_capacity(room(values));
    let mut has_nulls = false;
    for value in items(values)? {
        let value = value?;
        rows.push(match value.cast_into::<PyBytes>() {
            Ok(bytes) if only_text => return Err(no_bytes(rows.len(), &bytes, only_text)),
            Ok(bytes) => Row::Bytes(bytes.into()),
            Err(other) => {
                let row = row(&other.into_inner(), rows.len(), only_text)?;
                has_nulls |= matches!(row, Row::Null);
                row
            }
        });
    }
    Ok(Box::new(PythonRows { rows, has_nulls }))
}

fn row(value: &Bound<'_, PyAny>, number: usize, only_text: bool) -> PyResult<Row> {
    if let Ok(text) = value.cast::<PyString>() {
        let text = PyBackedStr::try_from(text.clone());
        return text.map(Row::Text).map_err(|error| not_unicode(number, &error));
    }
    if scalars::is_null(value) {
        return Ok(Row::Null);
    }
    match PyBuffer::<u8>::get(value).and_then(|buffer| buffer.to_vec(value.py())) {
        Ok(bytes) if !only_text => Ok(Row::Copied(bytes)),
        _ => Err(no_bytes(number, value, only_text)),
    }
}

impl Column for PythonRows {
    fn len(&self) -> usize {
        self.rows.len()
    }
}

impl Rows for PythonRows {
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
