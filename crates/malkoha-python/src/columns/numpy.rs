//! Keys in numpy arrays, read in place.

use std::marker::PhantomData;
use std::slice;

use malkoha::KeyHasher;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use super::nested::Tuples;
use super::{Column, Integer, Objects, Rows, hash_words, of_column};
use crate::parts::Part;
use crate::scalars;

/// The object as a numpy array, if it is one or is kept in one, as array.array and memoryview are.
pub(super) fn as_array<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    static NDARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (py, ndarray) = (keys.py(), NDARRAY.import(keys.py(), "numpy", "ndarray")?);
    if keys.get_type().is(ndarray) {
        return Ok(Some(keys.clone()));
    }
    if keys.is_instance(ndarray)? {
        return refuse_masked(keys).map(|()| Some(keys.clone()));
    }
    // pandas makes lists of tuples in Arrow data, and polars addresses of objects. What a
    // categorical column has are its categories.
    let has_objects = || {
        let dtype = keys.getattr("dtype")?;
        let dtype = match dtype.getattr("categories") {
            Ok(categories) => categories.getattr("dtype")?,
            Err(_) => dtype,
        };
        match dtype.getattr("hasobject") {
            Ok(has_objects) => has_objects.is_truthy(),
            Err(_) => Ok(dtype.str()? == "Object"),
        }
    };
    let gives_arrow = (keys.hasattr(pyo3::intern!(py, "__arrow_c_stream__"))?
        && !has_objects().unwrap_or(false))
        || keys.hasattr(pyo3::intern!(py, "__arrow_c_array__"))?;
    if !gives_arrow
        && (keys.hasattr(pyo3::intern!(py, "__array__"))? || PyUntypedBuffer::get(keys).is_ok())
    {
        return kept(keys).map(Some);
    }
    Ok(None)
}

/// An error for an array with a mask: what is masked would count too.
pub(crate) fn refuse_masked(array: &Bound<'_, PyAny>) -> PyResult<()> {
    static MASKED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if array.is_instance(MASKED.import(array.py(), "numpy.ma", "MaskedArray")?)? {
        return Err(PyTypeError::new_err(
            "a masked array is no batch: compressed() leaves out what is masked, and tolist() \
             makes nulls of it",
        ));
    }
    Ok(())
}

/// The array that an object is kept in, or a new one: of objects if its type is one of pandas' or
/// polars' own, of whose nulls numpy would make other values.
pub(super) fn kept<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let dtype = keys.getattr("dtype");
    let is_other = dtype.is_ok_and(|dtype| {
        let is_own = scalars::is_of(&dtype, "pandas") || scalars::is_of(&dtype, "polars");
        is_own && dtype.getattr("hasobject").is_err()
    });
    let dtype = if is_other { Some("object") } else { None };
    keys.py().import("numpy")?.call_method1("asarray", (keys, dtype))
}

pub(super) fn column(
    array: &Bound<'_, PyAny>,
    hasher: KeyHasher,
    objects: Objects,
) -> PyResult<Box<dyn Column>> {
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        return Err(PyValueError::new_err(format!(
            "a batch of keys has one dimension, this array has {dimensions}: ravel() it, or make a \
             frame or a structured array of its columns"
        )));
    }
    let dtype = array.getattr("dtype")?;
    let kind: char = dtype.getattr("kind")?.extract()?;
    // Text lies in arrays as code points, not as the bytes that are hashed.
    if matches!(kind, 'O' | 'T' | 'U') {
        return objects(&array.call_method0("tolist")?, hasher);
    }
    let fields = dtype.getattr("names")?;
    if !fields.is_none() {
        let fields = fields.try_iter()?.map(|name| {
            let name = name?;
            column(&array.get_item(&name)?, hasher, objects)
                .map_err(|error| of_column(array.py(), &name, error))
        });
        return Tuples::column(fields.collect::<PyResult<_>>()?);
    }
    let native = if dtype.getattr("isnative")?.extract()? {
        array.clone()
    } else {
        let native = dtype.call_method1("newbyteorder", ("=",))?;
        array.call_method1("astype", (native,))?
    };
    let width: usize = dtype.getattr("itemsize")?.extract()?;
    // The buffer protocol has no form for dates.
    let dates = matches!(kind, 'M' | 'm');
    let readable = if dates { native.call_method1("view", ("i8",))? } else { native };
    let items = Items::new(&readable)?;
    Ok(match (kind, width) {
        ('M' | 'm', _) => Integers::<i64>::column(items, dates),
        ('b' | 'u', 1) => Integers::<u8>::column(items, dates),
        ('u', 2) => Integers::<u16>::column(items, dates),
        ('u', 4) => Integers::<u32>::column(items, dates),
        ('u', 8) => Integers::<u64>::column(items, dates),
        ('i', 1) => Integers::<i8>::column(items, dates),
        ('i', 2) => Integers::<i16>::column(items, dates),
        ('i', 4) => Integers::<i32>::column(items, dates),
        ('i', 8) => Integers::<i64>::column(items, dates),
        ('S', _) => Box::new(FixedBytes { items, width }),
        _ => {
            return Err(PyTypeError::new_err(format!(
                "an array of {dtype} has no keys: give text, bytes, integers or dates"
            )));
        }
    })
}

/// The items of an array of one dimension.
struct Items {
    /// Keeps the memory.
    buffer: PyUntypedBuffer,
    stride: isize,
    len: usize,
}

impl Items {
    fn new(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(array)?;
        let (stride, len) = (buffer.strides()[0], buffer.shape()[0]);
        Ok(Self { buffer, stride, len })
    }

    /// Where item `i` begins.
    #[inline]
    fn at(&self, i: usize) -> *const u8 {
        assert!(i < self.len);
        // The number of an array's items fits an isize.
        self.buffer.buf_ptr().cast::<u8>().wrapping_offset(self.stride * i.cast_signed())
    }
}

/// Integers of one type, and dates as the integers that numpy stores for them.
struct Integers<T> {
    items: Items,
    /// In dates, the least integer is "not a time".
    dates: bool,
    integer: PhantomData<fn() -> T>,
}

impl<T: Integer> Integers<T> {
    fn column(items: Items, dates: bool) -> Box<dyn Column> {
        Box::new(Self { items, dates, integer: PhantomData })
    }

    #[inline]
    fn word(&self, i: usize) -> u64 {
        // SAFETY: the item is inside the array, whose items are of this type by its dtype.
        unsafe { self.items.at(i).cast::<T>().read_unaligned() }.word()
    }
}

impl<T: Integer> Column for Integers<T> {
    fn len(&self) -> usize {
        self.items.len
    }
}

impl<T: Integer> Rows for Integers<T> {
    fn hash(&self, hasher: KeyHasher, start: usize, hashes: &mut [u64]) {
        hash_words(hasher, hashes, |words| {
            for (i, word) in words.iter_mut().enumerate() {
                *word = self.word(start + i);
            }
        });
    }

    fn part(&self, _: KeyHasher, i: usize) -> Part {
        Part::Word(self.word(i))
    }

    fn has_nulls(&self) -> bool {
        self.dates
    }

    fn is_null(&self, i: usize) -> bool {
        self.word(i) == i64::MIN.cast_unsigned()
    }
}

/// Byte strings of one width, padded with zeros, which numpy removes when it returns one.
struct FixedBytes {
    items: Items,
    width: usize,
}

impl Column for FixedBytes {
    fn len(&self) -> usize {
        self.items.len
    }
}

impl Rows for FixedBytes {
    #[inline]
    fn bytes(&self, i: usize) -> Option<&[u8]> {
        // SAFETY: the item is inside the array, whose items are of this width by its dtype.
        let padded = unsafe { slice::from_raw_parts(self.items.at(i), self.width) };
        let len = padded.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        Some(&padded[..len])
    }
}
