//! From one Python object to the hash of a key.

use std::ffi::c_int;

use malkoha::{Key, KeyHasher};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};

/// The hash of a key: `bytes` as they are, `str` as UTF-8, integers as 8 bytes.
#[inline(always)]
pub(crate) fn hash(key: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<u64> {
    // By the type itself is fastest, and most integers are no booleans. Inlined, so that what it
    // returns stays in registers.
    if let Ok(integer) = key.cast_exact::<PyInt>()
        && let Some(word) = signed_word(integer)
    {
        return Ok(word.hash_with(hasher));
    }
    hash_any(key, hasher)
}

#[inline(never)]
fn hash_any(key: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<u64> {
    if let Ok(text) = key.cast::<PyString>() {
        Ok(hasher.hash_bytes(text.to_str()?.as_bytes()))
    } else if let Ok(bytes) = key.cast::<PyBytes>() {
        Ok(hasher.hash_bytes(bytes.as_bytes()))
    } else if let Ok(integer) = key.cast::<PyInt>() {
        Ok(word(integer)?.hash_with(hasher))
    } else {
        hash_other(key, hasher)
    }
}

/// Objects that convert to an integer, such as numpy's scalars, and other objects made of bytes.
#[cold]
fn hash_other(key: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<u64> {
    if key.hasattr("__index__")? {
        return match key.call_method0("__index__") {
            Ok(integer) => Ok(word(integer.cast::<PyInt>()?)?.hash_with(hasher)),
            // An array has the method too, and refuses.
            Err(error) if error.is_instance_of::<PyTypeError>(key.py()) => Err(no_key(key)),
            Err(error) => Err(error),
        };
    }
    match PyBuffer::<u8>::get(key).and_then(|buffer| buffer.to_vec(key.py())) {
        Ok(bytes) => Ok(hasher.hash_bytes(&bytes)),
        Err(_) => Err(no_key(key)),
    }
}

fn no_key(key: &Bound<'_, PyAny>) -> PyErr {
    let name = key.get_type().name().map_or_else(|_| "this object".into(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "{name} is no key: give a str, bytes or an integer, or encode it as bytes"
    ))
}

/// An integer as a word: the two's complement, so that it is the same key whichever width or sign
/// its type had.
fn word(integer: &Bound<'_, PyInt>) -> PyResult<u64> {
    if let Some(word) = signed_word(integer) {
        return Ok(word);
    }
    integer.extract::<u64>().map_err(|_| {
        PyOverflowError::new_err(
            "integer keys are -2**63 to 2**64 - 1: give a greater one as bytes, \
             for instance by int.to_bytes",
        )
    })
}

/// [`word`] of an `i64`.
#[inline(always)]
fn signed_word(integer: &Bound<'_, PyInt>) -> Option<u64> {
    let mut overflow: c_int = 0;
    // SAFETY: the object is an integer, and the interpreter is attached.
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(integer.as_ptr(), &raw mut overflow) };
    (overflow == 0).then(|| value.cast_unsigned())
}
