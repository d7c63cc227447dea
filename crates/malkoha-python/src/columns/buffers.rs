//! The buffers of an Arrow array, and what is in them by its type.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::capsule::ArrowArray;
use super::values::{Bits, Buffer, Ends, Fixed, Nothing, Of, Values, Views, Words};
use super::wides::Wides;

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
pub(super) struct Buffers<'a> {
    pub(super) array: &'a ArrowArray,
    pub(super) is_empty: bool,
}

impl Buffers<'_> {
    pub(super) fn pointer(&self, i: usize) -> Buffer {
        assert!(self.array.n_buffers > i.cast_signed() as i64);
        // SAFETY: just compared.
        Buffer(unsafe { *self.array.buffers.add(i) }.cast())
    }

    /// Buffer `i`, which is not null unless there is nothing in it: no row, or empty texts alone.
    pub(super) fn get(&self, i: usize) -> PyResult<Buffer> {
        let is_there = self.array.n_buffers > i.cast_signed() as i64;
        let buffer = if is_there { self.pointer(i) } else { Buffer::NONE };
        if !self.is_empty && (!is_there || (buffer.0.is_null() && i == 1)) {
            return Err(PyValueError::new_err(format!("the Arrow array has no buffer {i}")));
        }
        Ok(buffer)
    }

    /// Integers and dates, by the formats of the interface's specification.
    pub(super) fn integers(&self, format: &str) -> PyResult<Option<Box<dyn Words>>> {
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

    pub(super) fn others(&self, format: &str, valid: Buffer) -> PyResult<Box<dyn Values>> {
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
            _ => match (Wides::parse(format), format.strip_prefix("w:").map(str::parse)) {
                (Some(wides), _) => Box::new(Wides { units: self.get(1)?, ..wides }),
                (None, Some(Ok(width))) => Box::new(Fixed { text: self.get(1)?, width }),
                _ => return Err(no_keys(format)),
            },
        })
    }
}

pub(super) fn malformed(what: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow array {what}"))
}
