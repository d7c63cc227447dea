//! Batches of texts, from the objects that batches of keys can be.

use malkoha::KeyHasher;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use super::{Column, items, read_bytes, room};
use crate::scalars;

/// Texts in memory that can be read without the interpreter.
pub(crate) struct Texts(Vec<Box<dyn Column>>);

impl Texts {
    pub(crate) fn new(texts: &Bound<'_, PyAny>) -> PyResult<Self> {
        read_bytes(texts, strings, "text: give str").map(Self)
    }

    /// The texts, in order: nulls as `None`, or refused.
    pub(crate) fn rows(&self, keep_null: bool) -> PyResult<Vec<Option<&str>>> {
        let mut rows = Vec::with_capacity(self.0.iter().map(|column| column.len()).sum());
        for column in &self.0 {
            for i in 0..column.len() {
                let row = rows.len();
                if column.has_nulls() && column.is_null(i) {
                    if !keep_null {
                        return Err(PyValueError::new_err(format!(
                            "row {row} is null: leave it out, or keep it by keep_null=True"
                        )));
                    }
                    rows.push(None);
                    continue;
                }
                let bytes = column.bytes(i).unwrap_or_default();
                let text = str::from_utf8(bytes).map_err(|error| not_unicode(row, &error))?;
                rows.push(Some(text));
            }
        }
        Ok(rows)
    }
}

fn no_text(row: usize, found: &str) -> PyErr {
    PyTypeError::new_err(format!("row {row} is no text but {found}: give str"))
}

fn not_unicode(row: usize, error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("row {row} is not Unicode text: {error}"))
}

/// Python's strings, which stay where they are.
struct Strings {
    rows: Vec<Option<PyBackedStr>>,
    has_nulls: bool,
}

fn strings(texts: &Bound<'_, PyAny>, _: KeyHasher) -> PyResult<Box<dyn Column>> {
    let mut rows = Vec::with_capacity(room(texts));
    for text in items(texts)? {
        let (text, row) = (text?, rows.len());
        rows.push(match text.extract::<PyBackedStr>() {
            Ok(text) => Some(text),
            Err(_) if scalars::is_null(&text) => None,
            Err(error) if error.is_instance_of::<PyValueError>(texts.py()) => {
                return Err(not_unicode(row, &error));
            }
            Err(_) => return Err(no_text(row, &scalars::name(&text))),
        });
    }
    let has_nulls = rows.contains(&None);
    Ok(Box::new(Strings { rows, has_nulls }))
}

impl Column for Strings {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn has_nulls(&self) -> bool {
        self.has_nulls
    }

    fn is_null(&self, i: usize) -> bool {
        self.rows[i].is_none()
    }

    fn bytes(&self, i: usize) -> Option<&[u8]> {
        self.rows[i].as_ref().map(|text| text.as_bytes())
    }
}
