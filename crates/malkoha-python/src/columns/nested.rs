//! Columns made of columns.

use malkoha::KeyHasher;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::{Column, Rows, starts};
use crate::parts::{self, Part};

/// The tuples of the keys in several columns of equal length.
pub(super) struct Tuples(Vec<Box<dyn Column>>);

impl Tuples {
    /// One column stays as it is: a table of one column has that column's keys.
    pub(super) fn column(mut columns: Vec<Box<dyn Column>>) -> PyResult<Box<dyn Column>> {
        if columns.len() == 1 {
            return Ok(columns.remove(0));
        }
        if columns.is_empty() || columns.len() > parts::MOST {
            return Err(PyTypeError::new_err(format!(
                "{} columns are no batch of keys: select 1 to {}, or nest some in a struct",
                columns.len(),
                parts::MOST
            )));
        }
        if columns.iter().any(|column| column.len() != columns[0].len()) {
            return Err(PyValueError::new_err("the columns of the keys differ in length"));
        }
        Ok(Box::new(Self(columns)))
    }
}

impl Column for Tuples {
    fn len(&self) -> usize {
        self.0[0].len()
    }
}

impl Rows for Tuples {
    fn hash(&self, hasher: KeyHasher, start: usize, hashes: &mut [u64]) {
        let columns = self.0.iter().map(|column| {
            let mut parts = vec![0; hashes.len()];
            column.hash(hasher, start, &mut parts);
            parts
        });
        parts::tuples(&columns.collect::<Vec<_>>(), hasher, hashes);
    }

    fn has_nulls(&self) -> bool {
        self.0.iter().any(|column| column.has_nulls())
    }

    fn is_null(&self, i: usize) -> bool {
        self.0.iter().any(|column| column.has_nulls() && column.is_null(i))
    }
}

/// Columns one after another, as one.
pub(super) struct Chunks {
    columns: Vec<Box<dyn Column>>,
    starts: Vec<usize>,
    len: usize,
}

impl Chunks {
    pub(super) fn column(mut columns: Vec<Box<dyn Column>>) -> Box<dyn Column> {
        if columns.len() == 1 {
            return columns.remove(0);
        }
        let (starts, len) = starts(&columns);
        Box::new(Self { columns, starts, len })
    }

    /// The column with row `i`, and where that is in it.
    fn find(&self, i: usize) -> (&dyn Column, usize) {
        let number = self.starts.partition_point(|&start| start <= i) - 1;
        (&*self.columns[number], i - self.starts[number])
    }
}

impl Column for Chunks {
    fn len(&self) -> usize {
        self.len
    }
}

impl Rows for Chunks {
    fn hash(&self, hasher: KeyHasher, mut start: usize, mut hashes: &mut [u64]) {
        while !hashes.is_empty() {
            let (column, first) = self.find(start);
            let (here, rest) = hashes.split_at_mut(hashes.len().min(column.len() - first));
            column.hash(hasher, first, here);
            (start, hashes) = (start + here.len(), rest);
        }
    }

    fn part(&self, hasher: KeyHasher, i: usize) -> Part {
        let (column, i) = self.find(i);
        column.part(hasher, i)
    }

    fn has_nulls(&self) -> bool {
        self.columns.iter().any(|column| column.has_nulls())
    }

    fn is_null(&self, i: usize) -> bool {
        let (column, i) = self.find(i);
        column.has_nulls() && column.is_null(i)
    }

    fn bytes(&self, i: usize) -> Option<&[u8]> {
        let (column, i) = self.find(i);
        column.bytes(i)
    }
}
