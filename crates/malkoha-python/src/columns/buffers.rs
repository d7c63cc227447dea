//! The buffers of an Arrow array, and what is in them by its type.

use std::marker::PhantomData;
use std::ptr::null;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::capsule::ArrowArray;
use super::values::{Bits, Buffer, Ends, Fixed, Nothing, Of, Text, Views, Words};
use super::wides::{self, Wides};
use super::{Integer, Rows};

pub(super) fn no_keys(format: &str) -> PyErr {
    let kind = match format.as_bytes() {
        [b'e' | b'f' | b'g'] => "floats".into(),
        [b'+', b'm'] => "maps".into(),
        [b'+', b'u', ..] => "unions".into(),
        [b't', b'i', ..] => "calendar intervals".into(),
        _ => format!("format '{format}'"),
    };
    PyTypeError::new_err(format!(
        "an Arrow array of {kind} has no keys: cast it to text, binary, integers, decimals or dates"
    ))
}

pub(super) fn number(length: i64) -> PyResult<usize> {
    usize::try_from(length)
        .map_err(|_| PyValueError::new_err(format!("the Arrow array has the length {length}")))
}

/// The buffers of an array, whose type says what they hold.
///
/// A producer promises that they are as long as type, offset, length and values say, and that they
/// do not change. No consumer can check the first: the interface has no lengths.
pub(super) struct Buffers<'a> {
    pub(super) array: &'a ArrowArray,
    /// The first row that is used.
    first: usize,
    /// The number of rows from the start of the buffers on; 0 if none of them is used.
    rows: usize,
}

impl<'a> Buffers<'a> {
    /// Those of `len` rows from number `offset` on.
    pub(super) fn new(array: &'a ArrowArray, offset: usize, len: usize) -> Self {
        Self { array, first: offset, rows: if len == 0 { 0 } else { offset + len } }
    }

    /// Buffer `i`, if it can have `len` bytes. A buffer of no bytes might be missing or null.
    fn find(&self, i: usize, len: usize) -> Option<Buffer> {
        let is_there = self.array.n_buffers > i.cast_signed() as i64;
        // SAFETY: just compared.
        let start = if is_there { unsafe { *self.array.buffers.add(i) } } else { null() };
        let is_possible = len == 0 || (!start.is_null() && isize::try_from(len).is_ok());
        // SAFETY: the producer's promise.
        is_possible.then(|| unsafe { Buffer::new(start.cast(), len) })
    }

    /// Buffer `i`, of `len` bytes.
    pub(super) fn get(&self, i: usize, len: usize) -> PyResult<Buffer> {
        let missing = || PyValueError::new_err(format!("the Arrow array has no buffer {i}"));
        self.find(i, len).ok_or_else(missing)
    }

    /// A bit for each row, of which those of nulls are 0; `None` if no row is null.
    pub(super) fn valid(&self) -> Option<Buffer> {
        let has_nulls = self.array.null_count != 0 && self.rows > 0;
        has_nulls.then(|| self.find(0, self.rows.div_ceil(8))).flatten()
    }

    /// The integers in buffer `i`, one for each row.
    pub(super) fn of<T: Integer>(&self, i: usize) -> PyResult<Box<dyn Words>> {
        Ok(Box::new(Of::<T>(self.get(i, self.rows.saturating_mul(size_of::<T>()))?, PhantomData)))
    }

    pub(super) fn ends<T: Integer>(&self) -> PyResult<Ends<T>> {
        let count = if self.rows == 0 { 0 } else { self.rows + 1 };
        Ok(Ends(self.get(1, count.saturating_mul(size_of::<T>()))?, PhantomData))
    }

    fn text<T: Integer>(&self) -> PyResult<Text<T>> {
        let ends = self.ends()?;
        let len = if self.rows == 0 { 0 } else { ends.range(self.rows - 1).end };
        let is_within = |row| {
            let range = ends.range(row);
            range.start <= range.end && range.end <= len
        };
        if !(self.first..self.rows).all(is_within) {
            return Err(malformed("has texts whose ends are not in order"));
        }
        Ok(Text { ends, text: self.get(2, len)? })
    }

    /// The last buffer has the lengths of those after the views.
    fn views(&self) -> PyResult<Views> {
        let views = self.get(1, self.rows.saturating_mul(16))?;
        let last = number(self.array.n_buffers)?.saturating_sub(1);
        let lengths = self.get(last, last.saturating_sub(2) * size_of::<i64>())?;
        let text = |i| self.get(i, number(lengths.read::<i64, 1>(i - 2)[0])?);
        let texts = (2..last).map(text).collect::<PyResult<_>>()?;
        let views = Views { views, texts, valid: self.valid() };
        self.check("has views of bytes outside its buffers", |row| views.bytes(row).is_some())?;
        Ok(views)
    }

    /// Refuses an array if a row that is no null lies outside of it.
    pub(super) fn check(&self, what: &str, is_within: impl Fn(usize) -> bool) -> PyResult<()> {
        let valid = self.valid();
        let is_good = |row| valid.is_some_and(|valid| !valid.bit(row)) || is_within(row);
        if (self.first..self.rows).all(is_good) { Ok(()) } else { Err(malformed(what)) }
    }

    /// Integers and dates, by the formats of the interface's specification.
    pub(super) fn integers(&self, format: &str) -> PyResult<Option<Box<dyn Words>>> {
        match format {
            "c" => self.of::<i8>(1),
            "C" => self.of::<u8>(1),
            "s" => self.of::<i16>(1),
            "S" => self.of::<u16>(1),
            "i" | "tdD" | "tts" | "ttm" => self.of::<i32>(1),
            "I" => self.of::<u32>(1),
            "L" => self.of::<u64>(1),
            "l" | "tdm" | "ttu" | "ttn" => self.of::<i64>(1),
            _ if format.starts_with("ts") || format.starts_with("tD") => self.of::<i64>(1),
            "b" => self.get(1, self.rows.div_ceil(8)).map(|bits| Box::new(Bits(bits)) as _),
            _ => return Ok(None),
        }
        .map(Some)
    }

    pub(super) fn others(&self, format: &str) -> PyResult<Box<dyn Rows>> {
        Ok(match format {
            "n" => Box::new(Nothing),
            "u" | "z" => Box::new(self.text::<u32>()?),
            "U" | "Z" => Box::new(self.text::<u64>()?),
            "vu" | "vz" => Box::new(self.views()?),
            _ => {
                let items = |width| self.get(1, self.rows.saturating_mul(width));
                match (wides::parse(format), format.strip_prefix("w:").map(str::parse)) {
                    (Some(kind), _) => Box::new(Wides { units: items(kind.width)?, kind }),
                    (None, Some(Ok(width))) => Box::new(Fixed { text: items(width)?, width }),
                    _ => return Err(no_keys(format)),
                }
            }
        })
    }
}

pub(super) fn malformed(what: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow array {what}"))
}
