//! Keys and values from Python objects, and back.

use std::borrow::Cow;
use std::time::Duration;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::scalars;

/// The bytes of a key or a value: text as UTF-8.
#[inline]
pub(super) fn bytes<'a>(object: &'a Bound<'_, PyAny>, what: &str) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Cow::Borrowed(text.to_str()?.as_bytes()));
    }
    // Another thread may change what is no bytes, so it is copied.
    match PyBuffer::<u8>::get(object).and_then(|buffer| buffer.to_vec(object.py())) {
        Ok(bytes) => Ok(Cow::Owned(bytes)),
        Err(_) => Err(wrong_type(object, what)),
    }
}

#[cold]
fn wrong_type(object: &Bound<'_, PyAny>, what: &str) -> PyErr {
    let name = scalars::name(object);
    PyTypeError::new_err(format!("a {what} is bytes or str, not {name}: encode it as bytes"))
}

/// Python objects of bytes: `bytes`, or `str` where the store was opened with `text=True`.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) text: bool,
}

/// From this length on, the memory for an object might be missing.
const LARGE: usize = 1 << 16;

impl Form {
    /// The object, or the bytes if they are not text. Runs no Python code, and not the collector.
    #[inline]
    pub(super) fn object(
        self,
        py: Python<'_>,
        bytes: &[u8],
    ) -> std::result::Result<Py<PyAny>, NoObject> {
        if self.text {
            let text = text(bytes)?;
            if text.len() < LARGE {
                return Ok(PyString::new(py, text).into_any().unbind());
            }
            let made = PyString::from_bytes(py, bytes).map_err(NoObject::Failed)?;
            return Ok(made.into_any().unbind());
        }
        if bytes.len() < LARGE {
            return Ok(PyBytes::new(py, bytes).into_any().unbind());
        }
        let copy = |memory: &mut [u8]| {
            memory.copy_from_slice(bytes);
            Ok(())
        };
        let made = PyBytes::new_with(py, bytes.len(), copy).map_err(NoObject::Failed)?;
        Ok(made.into_any().unbind())
    }
}

/// The bytes as text.
pub(super) fn text(bytes: &[u8]) -> std::result::Result<&str, NoObject> {
    str::from_utf8(bytes).map_err(|_| NoObject::NoText(bytes.to_vec()))
}

/// The reason why bytes became no object.
pub(super) enum NoObject {
    NoText(Vec<u8>),
    Failed(PyErr),
}

impl NoObject {
    pub(super) fn raise(self, py: Python<'_>) -> PyErr {
        let bytes = match self {
            Self::NoText(bytes) => bytes,
            Self::Failed(error) => return error,
        };
        // Decodes them again, for the exception that says where they are wrong.
        let Err(error) = PyString::from_bytes(py, &bytes) else {
            return PyValueError::new_err("the bytes are no text");
        };
        let note = "the store has bytes that are no UTF-8 text: open it without text=True";
        error.add_note(py, note).err().unwrap_or(error)
    }
}

/// A time to live: seconds, or a timedelta.
pub(super) fn time(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Duration> {
    let time = match object.extract::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => object.extract::<Duration>().ok(),
    };
    time.filter(|time| !time.is_zero()).ok_or_else(|| {
        PyValueError::new_err(format!(
            "{what} is a number of seconds above 0 and below 2**64, or such a timedelta, not \
             {object}"
        ))
    })
}
