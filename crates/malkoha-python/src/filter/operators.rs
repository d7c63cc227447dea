//! Unions and intersections.

use std::ops::Deref;
use std::ptr;

use malkoha::{Copies, CuckooFilter, GrowableCuckooFilter};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::PyFilter;
use crate::errors::{Raise, UnionError, read_only};
use crate::store::{Store, change, change_by};

#[pymethods]
impl PyFilter {
    /// Adds the content of others: filters as |= does, batches of keys as add_many() does.
    #[pyo3(signature = (*others))]
    fn update(&self, others: &Bound<'_, PyTuple>) -> PyResult<()> {
        for other in others {
            match other.cast::<Self>() {
                Ok(other) => self.unite(other)?,
                Err(_) => self.add_many(&other, None)?,
            }
        }
        Ok(())
    }

    /// Adds the keys of another filter and sums the copies: a key once in each has two. After that,
    /// count() returns in how many of several filters of distinct keys a key seems to be.
    fn sum_with(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        self.sum(other)
    }

    /// The union of two sets. A key in both counts as often as in the set where it counts more.
    fn __or__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        combine(self, py, other, Self::unite)
    }

    fn __ior__(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        self.unite(other)
    }

    /// The keys in both. A key in one alone is left out, unless it is a false positive of the
    /// other.
    fn __and__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        combine(self, py, other, Self::intersect)
    }

    fn __iand__(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        self.intersect(other)
    }
}

fn combine<'py>(
    filter: &PyFilter,
    py: Python<'py>,
    other: &Bound<'py, PyAny>,
    with: impl FnOnce(&PyFilter, &Bound<'py, PyFilter>) -> PyResult<()>,
) -> PyResult<Py<PyAny>> {
    let Ok(other) = other.cast::<PyFilter>() else { return Ok(py.NotImplemented()) };
    let result = filter.copy(py)?;
    with(&result, other)?;
    Ok(Py::new(py, result)?.into_any())
}

/// A union in which copies add up, under a name for [`of_one_kind`].
trait Add<T> {
    fn add(&mut self, other: &T) -> Result<(), malkoha::UnionError>;
}

impl<B: Deref<Target = [u8]>> Add<CuckooFilter<B>> for CuckooFilter {
    fn add(&mut self, other: &CuckooFilter<B>) -> Result<(), malkoha::UnionError> {
        self.unite(other, Copies::Sum)
    }
}

impl Add<Self> for GrowableCuckooFilter {
    fn add(&mut self, other: &Self) -> Result<(), malkoha::UnionError> {
        self.unite(other, Copies::Sum)
    }
}

/// Calls a method of two filters of one kind, with both locks.
macro_rules! of_one_kind {
    ($ours:expr, $theirs:expr, $method:ident) => {{
        let (this, other) = ($ours, $theirs.get());
        let py = $theirs.py();
        match (&this.store, &other.store) {
            (Store::Fixed(ours), Store::Fixed(theirs)) => {
                change_by(py, ours, theirs, |ours, theirs| ours.$method(theirs))
            }
            (Store::Growable(ours), Store::Growable(theirs)) => {
                change_by(py, ours, theirs, |ours, theirs| ours.$method(theirs))
            }
            (Store::Fixed(ours), Store::Mapped(theirs)) => {
                change(py, ours, |ours| ours.$method(theirs))
            }
            (Store::Mapped(_), _) => return Err(read_only()),
            _ => return Err(other_kinds(this, other)),
        }
        .map_err(Raise::raise)
    }};
}

fn other_kinds(this: &PyFilter, other: &PyFilter) -> PyErr {
    let (ours, theirs) = (this.store.kind(), other.store.kind());
    if ours == "shared" || theirs == "shared" {
        return UnionError::new_err(
            "a shared filter has no union or intersection: from_bytes(filter.to_bytes()) makes a \
             growable one of it",
        );
    }
    UnionError::new_err(format!(
        "a {ours} filter and a {theirs} one have no union or intersection: build both growable, or \
         both fixed"
    ))
}

impl PyFilter {
    fn unite(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        if ptr::eq(self, other.get()) {
            return Ok(());
        }
        of_one_kind!(self, other, union_with)
    }

    fn sum(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        if ptr::eq(self, other.get()) {
            // Both locks are one.
            let copy = Bound::new(other.py(), self.copy(other.py())?)?;
            return self.sum(&copy);
        }
        of_one_kind!(self, other, add)
    }

    fn intersect(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        if ptr::eq(self, other.get()) {
            return Ok(());
        }
        of_one_kind!(self, other, intersect_with)
    }
}
