//! From one Python object to the hash of a key.

use std::ffi::c_int;

use malkoha::KeyHasher;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyInt, PyList, PyString, PyTuple};

use crate::parts::{self, Part};
use crate::{numbers, scalars};

/// The hash of a key: `bytes` as they are, `str` as UTF-8, integers as 8 bytes, and what is made of
/// these.
#[inline(always)]
pub(crate) fn hash(key: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<u64> {
    hash_or_null(key, hasher)?.ok_or_else(|| null(key))
}

/// The hash of a key, or `None` if it is a null or has one in it.
#[inline(always)]
pub(crate) fn hash_or_null(key: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<Option<u64>> {
    // By the type itself is fastest, and most integers are no booleans. Inlined, so that what it
    // returns stays in registers.
    if let Ok(integer) = key.cast_exact::<PyInt>()
        && let Some(word) = signed_word(integer)
    {
        return Ok(Some(Part::Word(word).hash(hasher)));
    }
    hash_any(key, hasher)
}

#[inline(never)]
fn hash_any(key: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<Option<u64>> {
    Ok(match part(key, hasher, 0)? {
        Part::Null => None,
        part => Some(part.hash(hasher)),
    })
}

#[cold]
fn null(key: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(if key.is_instance_of::<PyTuple>() || key.is_instance_of::<PyList>() {
        "a key with a null in it is a null, which is no key: leave it out, or give another value"
    } else {
        "a null is no key: leave it out, or give another value"
    })
}

/// A key, at this depth inside of others.
pub(crate) fn part(key: &Bound<'_, PyAny>, hasher: KeyHasher, depth: usize) -> PyResult<Part> {
    if depth > parts::MOST_DEEP {
        return Err(parts::too_deep());
    }
    if let Ok(text) = key.cast::<PyString>() {
        Ok(Part::Hash(hasher.hash_bytes(text.to_str()?.as_bytes())))
    } else if let Ok(bytes) = key.cast::<PyBytes>() {
        Ok(Part::Hash(hasher.hash_bytes(bytes.as_bytes())))
    } else if let Ok(integer) = key.cast::<PyInt>() {
        of_integer(integer, hasher)
    } else if let Ok(keys) = key.cast::<PyTuple>() {
        tuple(keys.iter(), hasher, depth)
    } else if let Ok(items) = key.cast::<PyList>() {
        let items = items.iter().map(|item| part(&item, hasher, depth + 1));
        let items = items.collect::<PyResult<Vec<_>>>()?;
        let has_null = items.iter().any(|item| matches!(item, Part::Null));
        Ok(if has_null { Part::Null } else { Part::Hash(parts::list(&items, hasher)) })
    } else {
        scalars::part(key, hasher, depth)
    }
}

/// Several keys as one.
pub(crate) fn tuple<'py>(
    keys: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
    hasher: KeyHasher,
    depth: usize,
) -> PyResult<Part> {
    let count = keys.len();
    if count == 0 || count > parts::MOST {
        return Err(PyTypeError::new_err(format!(
            "a tuple of {count} is no key: give 1 to {}, or nest tuples",
            parts::MOST
        )));
    }
    let (mut hashes, mut has_null) = ([0; parts::MOST], false);
    for (hash, key) in hashes.iter_mut().zip(keys) {
        let part = part(&key, hasher, depth + 1)?;
        has_null |= matches!(part, Part::Null);
        *hash = part.hash(hasher);
    }
    Ok(if has_null { Part::Null } else { Part::Hash(parts::tuple(&hashes[..count], hasher)) })
}

/// An integer: the two's complement, so that it is the same key whichever width or sign its type
/// had.
pub(crate) fn of_integer(integer: &Bound<'_, PyInt>, hasher: KeyHasher) -> PyResult<Part> {
    if let Some(word) = signed_word(integer) {
        return Ok(Part::Word(word));
    }
    let options = [("signed", true)].into_py_dict(integer.py())?;
    let bytes = integer.call_method("to_bytes", (32, "little"), Some(&options)).map_err(|_| {
        PyOverflowError::new_err(
            "integer keys are -2**255 to 2**255 - 1: give a greater one as bytes, for instance by \
             int.to_bytes",
        )
    })?;
    let bytes: [u8; 32] = bytes.extract()?;
    let (words, _) = bytes.as_chunks();
    let words = std::array::from_fn(|i| u64::from_le_bytes(words[i]));
    Ok(numbers::integer(words, hasher))
}

/// The two's complement of an `i64`.
#[inline(always)]
fn signed_word(integer: &Bound<'_, PyInt>) -> Option<u64> {
    let mut overflow: c_int = 0;
    // SAFETY: the object is an integer, and the interpreter is attached.
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(integer.as_ptr(), &raw mut overflow) };
    (overflow == 0).then(|| value.cast_unsigned())
}
