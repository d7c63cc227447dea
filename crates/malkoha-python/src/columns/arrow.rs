//! Keys in Arrow arrays, read in place: any library's, through the PyCapsule interface.

use std::ffi::CStr;
use std::sync::Arc;

use malkoha::KeyHasher;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::Column;
use super::capsule::{self, ArrowArray, ArrowSchema, Owned};
use super::values::{Bits, Buffer, Dictionary, Ends, Fixed, Integers, Nothing, Of};
use super::values::{Values, Views, Words};

pub(super) fn array(keys: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<Box<dyn Column>> {
    let pair = keys.call_method0("__arrow_c_array__")?;
    let (schema, array) = capsule::array(&pair.get_item(0)?, &pair.get_item(1)?)?;
    column(&schema, array, hasher)
}

pub(super) fn stream(keys: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<Vec<Box<dyn Column>>> {
    let (schema, arrays) = capsule::stream(&keys.call_method0("__arrow_c_stream__")?)?;
    arrays.into_iter().map(|array| column(&schema, array, hasher)).collect()
}

fn column(
    schema: &ArrowSchema,
    array: Owned<ArrowArray>,
    hasher: KeyHasher,
) -> PyResult<Box<dyn Column>> {
    let owner = Arc::new(array);
    let rows = Rows { offset: 0, len: number(owner.length)? };
    // SAFETY: the producer gave a whole array of this type.
    Ok(Box::new(unsafe { part(schema, &owner, rows, hasher, &owner) }?))
}

/// The rows of a child array that belong to its parent.
#[derive(Clone, Copy)]
struct Rows {
    offset: usize,
    len: usize,
}

/// The keys of an array, or of the one column of a table.
///
/// # Safety
///
/// `array` is a whole array of this type, a part of that in `owner`.
unsafe fn part(
    schema: &ArrowSchema,
    array: &ArrowArray,
    rows: Rows,
    hasher: KeyHasher,
    owner: &Arc<Owned<ArrowArray>>,
) -> PyResult<Part> {
    let rows = Rows { offset: rows.offset + number(array.offset)?, ..rows };
    // SAFETY: the interface says that it is a string.
    let format = unsafe { CStr::from_ptr(schema.format) }.to_str().unwrap_or_default();
    if format == "+s" {
        if schema.n_children != 1 || array.n_children != 1 || array.null_count > 0 {
            return Err(PyTypeError::new_err(format!(
                "a table of {} columns is no batch of keys: select one column",
                schema.n_children
            )));
        }
        // SAFETY: it has one child, whose array is of the child's type.
        return unsafe { part(&**schema.children, &**array.children, rows, hasher, owner) };
    }
    let buffers = Buffers { array, is_empty: rows.len == 0 };
    let has_nulls = array.null_count != 0 && array.n_buffers > 0 && format != "n";
    let valid = if has_nulls { buffers.pointer(0) } else { Buffer::NONE };
    let values: Box<dyn Values> = if !schema.dictionary.is_null() && !array.dictionary.is_null() {
        let indices = buffers.integers(format)?.ok_or_else(|| no_keys(format))?;
        // SAFETY: just compared; the array's dictionary is of the type's.
        let (schema, array) = unsafe { (&*schema.dictionary, &*array.dictionary) };
        let rows = Rows { offset: 0, len: number(array.length)? };
        // SAFETY: as above.
        let entries = unsafe { part(schema, array, rows, hasher, owner) }?;
        Box::new(Dictionary::new(indices, Box::new(entries), hasher))
    } else if let Some(integers) = buffers.integers(format)? {
        Box::new(Integers(integers))
    } else {
        buffers.others(format, valid)?
    };
    Ok(Part { values, valid, rows, _owner: owner.clone() })
}

fn no_keys(format: &str) -> PyErr {
    let kind = match format.as_bytes() {
        [b'e' | b'f' | b'g'] => "floats".into(),
        [b'd', b':', ..] => "decimals".into(),
        [b'+', b'l' | b'L' | b'w', ..] => "lists".into(),
        _ => format!("format '{format}'"),
    };
    PyTypeError::new_err(format!(
        "an Arrow array of {kind} has no keys: give integers, dates, binary or text"
    ))
}

fn number(length: i64) -> PyResult<usize> {
    usize::try_from(length)
        .map_err(|_| PyValueError::new_err(format!("the Arrow array has the length {length}")))
}

/// The buffers of an array, whose type says what they hold.
struct Buffers<'a> {
    array: &'a ArrowArray,
    is_empty: bool,
}

impl Buffers<'_> {
    fn pointer(&self, i: usize) -> Buffer {
        assert!(self.array.n_buffers > i.cast_signed() as i64);
        // SAFETY: just compared.
        Buffer(unsafe { *self.array.buffers.add(i) }.cast())
    }

    /// Buffer `i`, which is not null unless there is nothing in it: no row, or empty texts alone.
    fn get(&self, i: usize) -> PyResult<Buffer> {
        let is_there = self.array.n_buffers > i.cast_signed() as i64;
        let buffer = if is_there { self.pointer(i) } else { Buffer::NONE };
        if !self.is_empty && (!is_there || (buffer.0.is_null() && i == 1)) {
            return Err(PyValueError::new_err(format!("the Arrow array has no buffer {i}")));
        }
        Ok(buffer)
    }

    /// Integers and dates, by the formats of the interface's specification.
    fn integers(&self, format: &str) -> PyResult<Option<Box<dyn Words>>> {
        let values = || self.get(1);
        Ok(Some(match format {
            "c" => Of::<i8>::boxed(values()?),
            "C" => Of::<u8>::boxed(values()?),
            "s" => Of::<i16>::boxed(values()?),
            "S" => Of::<u16>::boxed(values()?),
            "i" | "tdD" | "tts" | "ttm" => Of::<i32>::boxed(values()?),
            "I" => Of::<u32>::boxed(values()?),
            "L" => Of::<u64>::boxed(values()?),
            "l" | "tdm" | "ttu" | "ttn" => Of::<i64>::boxed(values()?),
            _ if format.starts_with("ts") || format.starts_with("tD") => {
                Of::<i64>::boxed(values()?)
            }
            "b" => Box::new(Bits(values()?)),
            _ => return Ok(None),
        }))
    }

    fn others(&self, format: &str, valid: Buffer) -> PyResult<Box<dyn Values>> {
        Ok(match format {
            "n" => Box::new(Nothing),
            "u" | "z" => Box::new(Ends::<u32>::new(self.get(1)?, self.get(2)?)),
            "U" | "Z" => Box::new(Ends::<u64>::new(self.get(1)?, self.get(2)?)),
            "vu" | "vz" => {
                // The last one has the lengths of the others.
                let texts = 2..number(self.array.n_buffers)?.saturating_sub(1);
                let texts = texts.map(|i| self.pointer(i)).collect();
                Box::new(Views { views: self.get(1)?, texts, valid })
            }
            _ => {
                let width = format.strip_prefix("w:").and_then(|width| width.parse().ok());
                let width = width.ok_or_else(|| no_keys(format))?;
                Box::new(Fixed { text: self.get(1)?, width })
            }
        })
    }
}

/// An array whose rows are keys.
pub(super) struct Part {
    values: Box<dyn Values>,
    /// A bit for each row, in arrays that have nulls.
    valid: Buffer,
    rows: Rows,
    /// Keeps the buffers.
    _owner: Arc<Owned<ArrowArray>>,
}

impl Column for Part {
    fn len(&self) -> usize {
        self.rows.len
    }

    fn hash(&self, hasher: KeyHasher, start: usize, hashes: &mut [u64]) {
        assert!(start + hashes.len() <= self.rows.len);
        // SAFETY: the rows are inside the array, whose values are of its type.
        unsafe { self.values.hash(hasher, self.rows.offset + start, hashes) };
    }

    fn has_nulls(&self) -> bool {
        self.valid != Buffer::NONE || self.values.has_nulls()
    }

    fn is_null(&self, i: usize) -> bool {
        assert!(i < self.rows.len);
        let row = self.rows.offset + i;
        // SAFETY: the row is inside the array; the bits are there unless the pointer is null.
        unsafe { (self.valid != Buffer::NONE && !self.valid.bit(row)) || self.values.is_null(row) }
    }

    fn bytes(&self, i: usize) -> Option<&[u8]> {
        assert!(i < self.rows.len);
        // SAFETY: the row is inside the array.
        unsafe { self.values.bytes(self.rows.offset + i) }
    }
}
