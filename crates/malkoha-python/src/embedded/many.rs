//! Operations on many keys at once.

use malkoha_store::Batch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::object::time;
use super::table::PyTable;
use crate::batch::Mask;
use crate::columns::Binary;

/// Values one after another.
#[derive(Default)]
struct Found {
    bytes: Vec<u8>,
    /// Where each ends, unless there is none.
    ends: Vec<Option<usize>>,
}

impl PyTable {
    /// Calls `each` detached, once for every key in order, with its value. Nulls have none.
    fn look_up(
        &self,
        py: Python<'_>,
        rows: &[Option<&[u8]>],
        mut each: impl FnMut(usize, Option<&[u8]>) + Send,
    ) -> PyResult<()> {
        let keys: Vec<&[u8]> = rows.iter().map(|row| row.unwrap_or_default()).collect();
        self.handle.detached(py, |store| {
            self.of(store)?.get_many(&keys, |i, value| each(i, rows[i].and(value)))
        })
    }

    /// A batch of writes to this table.
    fn writes(&self) -> Batch {
        let mut batch = Batch::new();
        if let Some(name) = &self.name {
            batch.within(name);
        }
        batch
    }
}

#[pymethods]
impl PyTable {
    /// The values of many keys: a list with None for each key that has none. Sees all or nothing of
    /// a batch.
    ///
    /// Keys are an iterable of bytes or text, a numpy array of them, or anything that gives Arrow
    /// data. Nulls have no values.
    fn get_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = keys.py();
        let keys = Binary::new(keys)?;
        let rows = keys.rows()?;
        let mut found = Found::default();
        found.ends.reserve(rows.len());
        self.look_up(py, &rows, |_, value| {
            found.ends.push(value.map(|value| {
                found.bytes.extend_from_slice(value);
                found.bytes.len()
            }));
        })?;
        let mut start = 0;
        let object = |end: &Option<usize>| -> PyResult<Py<PyAny>> {
            let Some(end) = *end else { return Ok(py.None()) };
            let value = &found.bytes[start..end];
            start = end;
            self.form.object(py, value).map_err(|error| error.raise(py))
        };
        let values: Vec<_> = found.ends.iter().map(object).collect::<PyResult<_>>()?;
        PyList::new(py, values)
    }

    /// Which of many keys have a value: a numpy array of booleans. Takes the same keys as
    /// get_many().
    fn contains_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        let keys = Binary::new(keys)?;
        let mut mask = Mask::new(py, keys.len())?;
        let answers = mask.as_mut_slice();
        self.look_up(py, &keys.rows()?, |i, value| answers[i] = value.is_some())?;
        mask.into_array()
    }

    /// Sets the values of many keys, all or none of them; with `ttl` for a limited time. Takes the
    /// same keys as get_many(), and as many values; nulls are an error.
    #[pyo3(signature = (keys, values, *, ttl=None))]
    fn put_many(
        &self,
        keys: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
        ttl: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = keys.py();
        let ttl = ttl.map(|ttl| time(ttl, "ttl")).transpose()?;
        let (keys, values) = (Binary::new(keys)?, Binary::new(values)?);
        let (keys, values) = (keys.rows()?, values.rows()?);
        if keys.len() != values.len() {
            return Err(PyValueError::new_err(format!(
                "there are {} keys, but {} values",
                keys.len(),
                values.len()
            )));
        }
        for (rows, what) in [(&keys, "key"), (&values, "value")] {
            if let Some(row) = rows.iter().position(Option::is_none) {
                return Err(PyValueError::new_err(format!(
                    "the {what} in row {row} is null: leave the row out"
                )));
            }
        }
        self.handle.detached(py, |store| {
            let mut batch = self.writes();
            for (key, value) in keys.iter().flatten().zip(values.iter().flatten()) {
                match ttl {
                    None => batch.put(key, value)?,
                    Some(ttl) => batch.put_for(key, value, ttl)?,
                };
            }
            store.apply(&batch)
        })
    }

    /// Removes many keys, all or none of them; returns a numpy array of booleans: which of them had
    /// a value before. Takes the same keys as get_many().
    fn remove_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        let keys = Binary::new(keys)?;
        let rows = keys.rows()?;
        let mut mask = Mask::new(py, rows.len())?;
        let answers = mask.as_mut_slice();
        self.look_up(py, &rows, |i, value| answers[i] = value.is_some())?;
        self.handle.detached(py, |store| {
            let mut batch = self.writes();
            for (key, _) in rows.iter().zip(&*answers).filter(|(_, is_there)| **is_there) {
                batch.delete(key.unwrap_or_default())?;
            }
            store.apply(&batch)
        })?;
        mask.into_array()
    }
}
