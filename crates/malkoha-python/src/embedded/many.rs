//! Operations on many keys at once.

use std::sync::Arc;

use malkoha_store::Batch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

use super::object::{Form, text, time};
use super::table::PyTable;
use crate::batch::Mask;
use crate::columns::{Binary, Values, give};

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

/// Values of keys, as an Arrow array of large binary, or of large text.
#[pyclass(name = "Values", module = "malkoha", frozen)]
pub(crate) struct PyValues {
    values: Arc<Values>,
    form: Form,
}

#[pymethods]
impl PyValues {
    fn __len__(&self) -> usize {
        self.values.len()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The interface leaves it open whether another type is given.
        drop(requested_schema);
        give(py, &self.values, self.form.text)
    }
}

#[pymethods]
impl PyTable {
    /// The values of many keys: a list with None for each key that has none, or with `arrow=True`
    /// an object that pyarrow, polars and others take as an Arrow array. Sees all or nothing of a
    /// batch.
    ///
    /// Keys are an iterable of bytes or text, a numpy array of them, or anything that gives Arrow
    /// data. Nulls have no values.
    #[pyo3(signature = (keys, *, arrow=false))]
    fn get_many<'py>(&self, keys: &Bound<'py, PyAny>, arrow: bool) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        let keys = Binary::new(keys)?;
        let rows = keys.rows()?;
        let mut found = Values::with_capacity(rows.len());
        self.look_up(py, &rows, |_, value| found.push(value))?;
        if arrow {
            let form = self.form;
            if form.text {
                let mut values = found.iter().flatten();
                values
                    .try_for_each(|value| text(value).map(drop))
                    .map_err(|error| error.raise(py))?;
            }
            let values = PyValues { values: Arc::new(found), form };
            return Ok(Bound::new(py, values)?.into_any());
        }
        let object = |value: Option<&[u8]>| match value {
            None => Ok(py.None()),
            Some(value) => self.form.object(py, value).map_err(|error| error.raise(py)),
        };
        let objects: Vec<_> = found.iter().map(object).collect::<PyResult<_>>()?;
        PyList::new(py, objects).map(Bound::into_any)
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
            store.apply(&batch).map(drop)
        })
    }

    /// Removes many keys, all or none of them; returns a numpy array of booleans: which of them had
    /// a value before. Threads that remove one key at the same time do not both get True. Takes the
    /// same keys as get_many().
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
            // Another thread may have removed some of them in between.
            let existed = store.apply(&batch)?;
            let there = answers.iter_mut().filter(|is_there| **is_there);
            there.zip(existed).for_each(|(is_there, existed)| *is_there = existed);
            Ok(())
        })?;
        mask.into_array()
    }
}
