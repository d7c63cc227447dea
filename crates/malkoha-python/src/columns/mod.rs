//! Batches of keys, from any Python object that has them, as hashes.

mod arrow;
mod binary;
mod buffers;
mod capsule;
mod dictionary;
mod give;
mod lists;
mod nested;
mod numpy;
mod objects;
mod values;
mod wides;

use std::fmt::Display;
use std::ops::Range;

use malkoha::KeyHasher;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyByteArray, PyBytes, PyString};

use crate::parts::Part;
use crate::scalars;
pub(crate) use binary::{Binary, Texts};
pub(crate) use give::{Values, give};
use nested::{Chunks, Tuples};
pub(crate) use numpy::refuse_masked;

/// Keys that are hashed at a time: their hashes fit the processor's first cache.
pub(crate) const CHUNK: usize = 1024;

/// Values in memory that can be read without the interpreter, each of which is a key.
trait Rows: Send + Sync {
    /// Hashes the values from number `start` on. What it writes for a null is meaningless.
    fn hash(&self, hasher: KeyHasher, start: usize, hashes: &mut [u64]) {
        for (i, hash) in hashes.iter_mut().enumerate() {
            *hash = hasher.hash_bytes(self.bytes(start + i).unwrap_or_default());
        }
    }

    /// One value, as a part of a list. Of a null it is meaningless.
    fn part(&self, hasher: KeyHasher, i: usize) -> Part {
        let mut hash = [0];
        self.hash(hasher, i, &mut hash);
        Part::Hash(hash[0])
    }

    fn has_nulls(&self) -> bool {
        false
    }

    fn is_null(&self, _i: usize) -> bool {
        false
    }

    /// The bytes of a value that is not null; `None` if it has none.
    fn bytes(&self, _i: usize) -> Option<&[u8]> {
        None
    }
}

/// Rows of which all are keys.
trait Column: Rows {
    fn len(&self) -> usize;
}

/// Makes a column of Python objects.
type Objects = fn(&Bound<'_, PyAny>, KeyHasher) -> PyResult<Box<dyn Column>>;

/// The rows of an iterable that memory is taken for at once. What it says of its length can be wrong.
fn room(values: &Bound<'_, PyAny>) -> usize {
    values.len().unwrap_or(0).min(1 << 20)
}

/// The items of an iterable. Signals are handled between some of them: ctrl-C ends a long list.
fn items<'py>(
    values: &Bound<'py, PyAny>,
) -> PyResult<impl Iterator<Item = PyResult<Bound<'py, PyAny>>>> {
    let py = values.py();
    let has = |name| values.hasattr(name);
    if !has(intern!(py, "__iter__"))? && !has(intern!(py, "__len__"))? {
        return Err(PyTypeError::new_err(format!(
            "{} is no batch: give a list, an array, a column or a frame, and collect() a lazy one",
            scalars::name(values)
        )));
    }
    Ok(values.try_iter()?.enumerate().map(move |(i, item)| {
        if i % (1 << 16) == 0 {
            py.check_signals()?;
        }
        item
    }))
}

/// The columns of a numpy array, of anything that provides Arrow data, or of an iterable.
fn read(
    values: &Bound<'_, PyAny>,
    hasher: KeyHasher,
    objects: Objects,
) -> PyResult<Vec<Box<dyn Column>>> {
    let py = values.py();
    let has = |name: &Bound<'_, PyString>| values.hasattr(name);
    if values.is_instance_of::<PyString>()
        || values.is_instance_of::<PyBytes>()
        || values.is_instance_of::<PyByteArray>()
    {
        return Err(PyTypeError::new_err("a batch was asked for: put one value in a list"));
    }
    // One by one: as Arrow data, pandas' index can be a column too, and polars gives the addresses
    // of objects.
    if has(intern!(py, "iloc"))? && has(intern!(py, "columns"))? {
        return frame(values.call_method0("items")?, hasher, objects);
    }
    if has(intern!(py, "iter_columns"))? && has(intern!(py, "columns"))? {
        let columns = values.call_method0("iter_columns")?;
        let names = values.getattr("columns")?;
        return frame(
            py.import("builtins")?.call_method1("zip", (names, columns))?,
            hasher,
            objects,
        );
    }
    if has(intern!(py, "levels"))? && has(intern!(py, "to_frame"))? {
        // An index of several columns. Two can have one name.
        let options = [("index", false), ("allow_duplicates", true)].into_py_dict(py)?;
        let index = values.call_method("to_frame", (), Some(&options))?;
        return frame(index.call_method0("items")?, hasher, objects);
    }
    if let Some(array) = numpy::as_array(values)? {
        return Ok(vec![numpy::column(&array, hasher, objects)?]);
    }
    if has(intern!(py, "__arrow_c_stream__"))? {
        return match values.call_method0(intern!(py, "__arrow_c_stream__")) {
            // pandas has Arrow data where pyarrow is installed, and knows the type.
            Err(error)
                if error.is_instance_of::<PyException>(py) && has(intern!(py, "__array__"))? =>
            {
                Ok(vec![numpy::column(&numpy::kept(values)?, hasher, objects)?])
            }
            stream => arrow::stream(&stream?, hasher),
        };
    }
    if has(intern!(py, "__arrow_c_array__"))? {
        return Ok(vec![arrow::array(values, hasher)?]);
    }
    Ok(vec![objects(values, hasher)?])
}

/// The columns of a frame, of their names and themselves.
fn frame(
    named: Bound<'_, PyAny>,
    hasher: KeyHasher,
    objects: Objects,
) -> PyResult<Vec<Box<dyn Column>>> {
    let mut columns = Vec::new();
    for item in named.try_iter()? {
        let (name, column): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
        columns.push(
            read(&column, hasher, objects).map_err(|error| of_column(named.py(), &name, error))?,
        );
    }
    let columns = columns.into_iter().map(Chunks::column).collect();
    Ok(vec![Tuples::column(columns)?])
}

/// Columns of bytes or text alone; `what` is what else they are not. No hashes are made of them,
/// except for those of a dictionary.
fn read_bytes(
    values: &Bound<'_, PyAny>,
    objects: Objects,
    what: &str,
) -> PyResult<Vec<Box<dyn Column>>> {
    let columns = read(values, KeyHasher::new(0), objects)?;
    let is_null = |column: &dyn Column, i| column.has_nulls() && column.is_null(i);
    let mut firsts = columns.iter().map(|column| {
        let first = (0..column.len()).find(|&i| !is_null(&**column, i));
        first.map(|i| column.bytes(i))
    });
    if firsts.any(|first| first == Some(None)) {
        // Columns have a type of their values, and frames none.
        let is_frame = values.hasattr("columns")?;
        let named = ["dtype", "type"].iter().filter(|_| !is_frame);
        let of = named.filter_map(|name| values.getattr(*name).ok()).next();
        let of = of.map_or_else(|| scalars::name(values), |of| of.to_string());
        return Err(PyTypeError::new_err(format!("a batch of {of} is no {what}")));
    }
    Ok(columns)
}

/// An error of the keys in a column, with its name.
fn of_column(py: Python<'_>, name: impl Display, error: PyErr) -> PyErr {
    let text = format!("column '{name}': {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) { PyTypeError::new_err(text) } else { error }
}

/// A batch of keys: one column, or the chunks of a stream.
pub(crate) struct Columns {
    hasher: KeyHasher,
    columns: Vec<Box<dyn Column>>,
    /// The number of keys before each column.
    starts: Vec<usize>,
    len: usize,
}

impl Columns {
    /// The keys of a numpy array, of anything that provides Arrow data, or of an iterable.
    pub(crate) fn new(keys: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<Self> {
        let columns = read(keys, hasher, objects::column)?;
        let (starts, len) = starts(&columns);
        Ok(Self { hasher, columns, starts, len })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The hash of the key at a position, unless it is null.
    pub(crate) fn hash(&self, position: usize) -> Option<u64> {
        // The last column that begins there or before; earlier ones can be empty.
        let number = self.starts.partition_point(|&start| start <= position).checked_sub(1)?;
        let (column, i) = (&self.columns[number], position - self.starts[number]);
        let mut hash = [0];
        column.hash(self.hasher, i, &mut hash);
        (!(column.has_nulls() && column.is_null(i))).then_some(hash[0])
    }

    /// Calls `each` for chunks of at most [`CHUNK`] of the keys in `range`, in order, with the
    /// positions of the keys and their hashes. Nulls are left out.
    pub(crate) fn for_each_chunk(
        &self,
        range: Range<usize>,
        mut each: impl FnMut(Positions<'_>, &[u64]),
    ) {
        let mut hashes = [0; CHUNK];
        let mut kept = [0; CHUNK];
        let mut first = 0;
        for column in &self.columns {
            let here = range.start.max(first)..range.end.min(first + column.len());
            for start in here.clone().step_by(CHUNK) {
                let len = CHUNK.min(here.end - start);
                column.hash(self.hasher, start - first, &mut hashes[..len]);
                if !column.has_nulls() {
                    each(Positions::All(start), &hashes[..len]);
                    continue;
                }
                let mut count = 0;
                for i in 0..len {
                    // Overwritten by the next key if this one is null.
                    (hashes[count], kept[count]) = (hashes[i], start + i);
                    count += usize::from(!column.is_null(start - first + i));
                }
                each(Positions::Some(&kept[..count]), &hashes[..count]);
            }
            first += column.len();
        }
    }

    /// The hashes of all keys that are not null, and their positions if some are.
    pub(crate) fn hashes(&self, range: Range<usize>) -> (Vec<u64>, Option<Vec<usize>>) {
        let mut hashes = Vec::with_capacity(range.len());
        let has_nulls = self.columns.iter().any(|column| column.has_nulls());
        let mut positions = has_nulls.then(Vec::new);
        self.for_each_chunk(range, |at, chunk| {
            hashes.extend_from_slice(chunk);
            if let Some(positions) = &mut positions {
                positions.extend((0..chunk.len()).map(|i| at.of(i)));
            }
        });
        (hashes, positions)
    }
}

/// The number of rows before each of some columns, and of all.
fn starts(columns: &[Box<dyn Column>]) -> (Vec<usize>, usize) {
    let mut len = 0;
    let before = columns.iter().map(|column| {
        len += column.len();
        len - column.len()
    });
    (before.collect(), len)
}

/// Where in the batch the keys of a chunk are.
#[derive(Clone, Copy)]
pub(crate) enum Positions<'a> {
    /// One after another from this one on.
    All(usize),
    /// Here, since nulls were left out.
    Some(&'a [usize]),
}

impl Positions<'_> {
    #[inline]
    pub(crate) fn of(&self, i: usize) -> usize {
        match self {
            Self::All(start) => start + i,
            Self::Some(positions) => positions[i],
        }
    }
}

/// Hashes at most [`CHUNK`] integers, which `words` writes.
fn hash_words(hasher: KeyHasher, hashes: &mut [u64], words: impl FnOnce(&mut [u64])) {
    let (mut one, mut many);
    // To fill all words with zeros takes longer than to hash one key, which a sample asks for.
    let integers = if hashes.len() == 1 {
        one = [0];
        &mut one[..]
    } else {
        many = [0; CHUNK];
        &mut many[..hashes.len()]
    };
    words(integers);
    hasher.hash_many(integers, hashes);
}

/// An integer type, and the word that is hashed for one of its values: the two's complement, so
/// that a value is one key whatever its type.
trait Integer: Copy + 'static {
    fn word(self) -> u64;
}

macro_rules! integers {
    ($($type:ty => |$value:ident| $word:expr),*) => {$(
        impl Integer for $type {
            #[inline(always)]
            fn word(self) -> u64 {
                let $value = self;
                $word
            }
        }
    )*};
}
integers! {
    u8 => |value| value.into(),
    u16 => |value| value.into(),
    u32 => |value| value.into(),
    u64 => |value| value,
    i8 => |value| i64::from(value).cast_unsigned(),
    i16 => |value| i64::from(value).cast_unsigned(),
    i32 => |value| i64::from(value).cast_unsigned(),
    i64 => |value| value.cast_unsigned()
}
