//! Keys in Arrow arrays, read in place: any library's, through the PyCapsule interface.

use std::ffi::CStr;
use std::sync::Arc;

use malkoha::KeyHasher;
use pyo3::prelude::*;

use super::buffers::{Buffers, malformed, no_keys, number};
use super::capsule::{self, ArrowArray, ArrowSchema, Owned};
use super::dictionary::{Dictionary, Runs};
use super::lists::{Every, Lists, Ranges, Spans};
use super::nested::Tuples;
use super::values::{Buffer, Integers};
use super::{Column, Rows, of_column};
use crate::parts::{MOST_DEEP, Part, too_deep};

pub(super) fn array(keys: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<Box<dyn Column>> {
    let pair = keys.call_method0("__arrow_c_array__")?;
    let (schema, array) = capsule::array(&pair.get_item(0)?, &pair.get_item(1)?)?;
    column(keys.py(), &schema, array, hasher)
}

pub(super) fn stream(
    stream: &Bound<'_, PyAny>,
    hasher: KeyHasher,
) -> PyResult<Vec<Box<dyn Column>>> {
    let (schema, arrays) = capsule::stream(stream)?;
    arrays.into_iter().map(|array| column(stream.py(), &schema, array, hasher)).collect()
}

fn column(
    py: Python<'_>,
    schema: &ArrowSchema,
    array: Owned<ArrowArray>,
    hasher: KeyHasher,
) -> PyResult<Box<dyn Column>> {
    let owner = Arc::new(array);
    let rows = Slice { offset: 0, len: number(owner.length)? };
    let reader = Reader { py, hasher, owner: &owner, depth: 0 };
    // SAFETY: the producer gave a whole array of this type.
    Ok(Box::new(unsafe { reader.array(schema, &owner, rows) }?))
}

/// The rows of a child array that belong to its parent.
#[derive(Clone, Copy)]
struct Slice {
    offset: usize,
    len: usize,
}

/// Reads an array and those that it is made of.
#[derive(Clone, Copy)]
struct Reader<'a> {
    py: Python<'a>,
    hasher: KeyHasher,
    owner: &'a Arc<Owned<ArrowArray>>,
    depth: usize,
}

impl Reader<'_> {
    /// The keys of an array.
    ///
    /// # Safety
    ///
    /// `array` is a whole array of this type, a part of that in the owner.
    unsafe fn array(
        self,
        schema: &ArrowSchema,
        array: &ArrowArray,
        rows: Slice,
    ) -> PyResult<Array> {
        let rows = Slice { offset: rows.offset + number(array.offset)?, ..rows };
        // SAFETY: the interface says that it is a string.
        let format = unsafe { CStr::from_ptr(schema.format) }.to_str().unwrap_or_default();
        let buffers = Buffers::new(array, rows.offset, rows.len);
        let valid = buffers.valid();
        let values: Box<dyn Rows> = if !schema.dictionary.is_null() && !array.dictionary.is_null() {
            let indices = buffers.integers(format)?.ok_or_else(|| no_keys(format))?;
            // SAFETY: just compared; the array's dictionary is of the type's.
            let (schema, array) = unsafe { (&*schema.dictionary, &*array.dictionary) };
            // SAFETY: as above.
            let entries = unsafe { self.whole(schema, array) }?;
            Box::new(Dictionary::new(indices, entries, self.hasher))
        } else if let Some(integers) = buffers.integers(format)? {
            Box::new(Integers(integers))
        } else if format.starts_with('+') {
            // SAFETY: the caller's promise.
            unsafe { self.nested(schema, &buffers, format, rows) }?
        } else {
            buffers.others(format)?
        };
        Ok(Array { values, valid, rows, _owner: self.owner.clone() })
    }

    /// All rows of an array inside another.
    ///
    /// # Safety
    ///
    /// As for [`array`](Self::array).
    unsafe fn whole(self, schema: &ArrowSchema, array: &ArrowArray) -> PyResult<Box<dyn Column>> {
        let rows = Slice { offset: 0, len: number(array.length)? };
        // SAFETY: the caller's promise.
        Ok(Box::new(unsafe { self.deeper()?.array(schema, array, rows) }?))
    }

    /// Tables and structs, lists, and runs.
    ///
    /// # Safety
    ///
    /// As for [`array`](Self::array).
    unsafe fn nested(
        self,
        schema: &ArrowSchema,
        buffers: &Buffers<'_>,
        format: &str,
        rows: Slice,
    ) -> PyResult<Box<dyn Rows>> {
        let array = buffers.array;
        let children = number(schema.n_children)?;
        if schema.n_children != array.n_children {
            return Err(malformed("has another number of children than its type"));
        }
        // SAFETY: they have this many children.
        let child = |i: usize| unsafe { (&**schema.children.add(i), &**array.children.add(i)) };
        // SAFETY: the child's array is of the child's type.
        let whole = |i: usize| unsafe { self.whole(child(i).0, child(i).1) };
        let ranges: Box<dyn Ranges> = match format {
            "+s" => {
                let columns = (0..children).map(|i| {
                    // SAFETY: as above.
                    unsafe { self.field(child(i).0, child(i).1, rows.offset + rows.len) }
                });
                return Ok(Tuples::column(columns.collect::<PyResult<_>>()?)?);
            }
            "+r" if children == 2 => {
                // SAFETY: as above.
                let runs = unsafe { runs(child(0).0, child(0).1) }?;
                let values = whole(1)?;
                let end = (rows.offset + rows.len) as u64;
                let covered = runs.last().copied().unwrap_or_default();
                if !runs.is_sorted() || runs.len() > values.len() || covered < end {
                    return Err(malformed("has runs that do not cover its rows"));
                }
                return Ok(Box::new(Dictionary::new(Box::new(Runs(runs)), values, self.hasher)));
            }
            _ if children != 1 => return Err(no_keys(format)),
            "+l" => Box::new(buffers.ends::<u32>()?),
            "+L" => Box::new(buffers.ends::<u64>()?),
            "+vl" => Box::new(Spans([buffers.of::<u32>(1)?, buffers.of::<u32>(2)?])),
            "+vL" => Box::new(Spans([buffers.of::<u64>(1)?, buffers.of::<u64>(2)?])),
            _ => {
                let len = format.strip_prefix("+w:").and_then(|len| len.parse().ok());
                Box::new(Every(len.ok_or_else(|| no_keys(format))?))
            }
        };
        let items = whole(0)?;
        let is_within = |row| {
            let range = ranges.range(row);
            range.start <= range.end && range.end <= items.len()
        };
        buffers.check("has lists of items that it has not", is_within)?;
        Ok(Box::new(Lists { ranges, items }))
    }

    /// A column of a table or struct, which has this many rows.
    ///
    /// # Safety
    ///
    /// As for [`array`](Self::array).
    unsafe fn field(
        self,
        schema: &ArrowSchema,
        array: &ArrowArray,
        len: usize,
    ) -> PyResult<Box<dyn Column>> {
        if number(array.length)? < len {
            return Err(malformed("has a column that is too short"));
        }
        let rows = Slice { offset: 0, len };
        // SAFETY: the caller's promise.
        match self.deeper().and_then(|it| unsafe { it.array(schema, array, rows) }) {
            Ok(column) => Ok(Box::new(column)),
            Err(error) if schema.name.is_null() => Err(error),
            Err(error) => {
                // SAFETY: the interface says that it is a string.
                let name = unsafe { CStr::from_ptr(schema.name) }.to_string_lossy();
                Err(of_column(self.py, name, error))
            }
        }
    }

    fn deeper(self) -> PyResult<Self> {
        let depth = self.depth + 1;
        if depth > MOST_DEEP { Err(too_deep()) } else { Ok(Self { depth, ..self }) }
    }
}

/// Where each run ends.
///
/// # Safety
///
/// `array` is a whole array of this type.
unsafe fn runs(schema: &ArrowSchema, array: &ArrowArray) -> PyResult<Vec<u64>> {
    let (offset, len) = (number(array.offset)?, number(array.length)?);
    // SAFETY: the interface says that it is a string.
    let format = unsafe { CStr::from_ptr(schema.format) }.to_str().unwrap_or_default();
    let ends = Buffers::new(array, offset, len).integers(format)?;
    let mut runs = vec![0; len];
    ends.ok_or_else(|| no_keys(format))?.words(offset, &mut runs);
    Ok(runs)
}

/// An array whose rows are keys.
pub(super) struct Array {
    values: Box<dyn Rows>,
    /// A bit for each row, in arrays that have nulls.
    valid: Option<Buffer>,
    rows: Slice,
    /// Keeps the buffers.
    _owner: Arc<Owned<ArrowArray>>,
}

impl Column for Array {
    fn len(&self) -> usize {
        self.rows.len
    }
}

impl Rows for Array {
    fn hash(&self, hasher: KeyHasher, start: usize, hashes: &mut [u64]) {
        self.values.hash(hasher, self.rows.offset + start, hashes);
    }

    fn has_nulls(&self) -> bool {
        self.valid.is_some() || self.values.has_nulls()
    }

    fn part(&self, hasher: KeyHasher, i: usize) -> Part {
        self.values.part(hasher, self.rows.offset + i)
    }

    fn is_null(&self, i: usize) -> bool {
        let row = self.rows.offset + i;
        self.valid.is_some_and(|valid| !valid.bit(row)) || self.values.is_null(row)
    }

    fn bytes(&self, i: usize) -> Option<&[u8]> {
        self.values.bytes(self.rows.offset + i)
    }
}
