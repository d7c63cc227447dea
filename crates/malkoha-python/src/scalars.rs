//! Keys that are neither text, bytes, integers nor tuples: dates, decimals, numpy's scalars.

use malkoha::KeyHasher;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDate, PyDateTime, PyDelta, PyFloat, PyInt, PyTime, PyType};

use crate::key;
use crate::numbers::{self, Wide};
use crate::parts::Part;

/// The count of numpy and pandas for "not a time".
const NOT_A_TIME: u64 = i64::MIN.cast_unsigned();

#[cold]
pub(crate) fn part(key: &Bound<'_, PyAny>, hasher: KeyHasher, depth: usize) -> PyResult<Part> {
    if is_null(key) {
        return Ok(Part::Null);
    }
    let py = key.py();
    if let Ok(time) = key.getattr(intern!(py, "asm8")) {
        // pandas' times have the unit of their column in numpy's.
        return of_numpy(&time, hasher, depth);
    }
    if key.hasattr(intern!(py, "dtype"))? {
        return of_numpy(key, hasher, depth);
    }
    if key.hasattr(intern!(py, "__index__"))? {
        return of_index(key, hasher);
    }
    if let Some(count) = count(key)? {
        return Ok(Part::Word(count.cast_unsigned()));
    }
    static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if key.is_instance(DECIMAL.import(py, "decimal", "Decimal")?)? {
        return decimal(key, hasher);
    }
    static UUID: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if key.is_instance(UUID.import(py, "uuid", "UUID")?)? {
        return key::part(&key.getattr("bytes")?, hasher, depth);
    }
    match name(key).as_str() {
        // pandas' own, as in Arrow columns that are made of them.
        "Period" if is_of(key, "pandas") => return of_index(&key.getattr("ordinal")?, hasher),
        "Interval" if is_of(key, "pandas") => {
            let ends = vec![key.getattr("left")?, key.getattr("right")?];
            return key::tuple(ends.into_iter(), hasher, depth);
        }
        _ => {}
    }
    match PyBuffer::<u8>::get(key).and_then(|buffer| buffer.to_vec(py)) {
        Ok(bytes) => Ok(Part::Hash(hasher.hash_bytes(&bytes))),
        Err(_) => Err(no_key(key)),
    }
}

/// `None`, and what pandas has for it in columns of objects.
pub(crate) fn is_null(key: &Bound<'_, PyAny>) -> bool {
    key.is_none()
        || key.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan())
        || key.get_type().name().is_ok_and(|name| name == "NAType" || name == "NaTType")
}

/// Whether its type is of this package.
pub(crate) fn is_of(object: &Bound<'_, PyAny>, package: &str) -> bool {
    let module = object.get_type().module();
    module.is_ok_and(|module| module.to_string().split('.').next() == Some(package))
}

/// The name of its type.
pub(crate) fn name(key: &Bound<'_, PyAny>) -> String {
    key.get_type().name().map_or_else(|_| "this object".into(), |name| name.to_string())
}

fn no_key(key: &Bound<'_, PyAny>) -> PyErr {
    let name = name(key);
    PyTypeError::new_err(format!(
        "{name} is no key: give a str, bytes, an int, a Decimal, a date or a tuple of these, or \
         encode it as bytes"
    ))
}

/// Objects that convert to an integer.
fn of_index(key: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<Part> {
    match key.call_method0(intern!(key.py(), "__index__")) {
        Ok(integer) => key::of_integer(integer.cast::<PyInt>()?, hasher),
        // An array has the method too, and refuses.
        Err(error) if error.is_instance_of::<PyTypeError>(key.py()) => Err(no_key(key)),
        Err(error) => Err(error),
    }
}

/// A scalar of numpy.
fn of_numpy(key: &Bound<'_, PyAny>, hasher: KeyHasher, depth: usize) -> PyResult<Part> {
    let kind = || {
        let is_scalar = key.getattr("ndim")?.extract::<usize>()? == 0;
        let kind = key.getattr("dtype")?.getattr("kind")?.extract::<char>()?;
        Ok::<_, PyErr>(is_scalar.then_some(kind))
    };
    match kind() {
        Ok(Some('i' | 'u')) => of_index(key, hasher),
        Ok(Some('b')) => Ok(Part::Word(key.is_truthy()?.into())),
        Ok(Some('M' | 'm')) => match of_index(&key.call_method1("view", ("i8",))?, hasher)? {
            Part::Word(NOT_A_TIME) => Ok(Part::Null),
            count => Ok(count),
        },
        // A row of a structured array.
        Ok(Some('V')) if key.len().is_ok() => {
            let fields = key.try_iter()?.collect::<PyResult<Vec<_>>>()?;
            match &fields[..] {
                [] => Err(no_key(key)),
                [field] => key::part(field, hasher, depth + 1),
                _ => key::tuple(fields.into_iter(), hasher, depth),
            }
        }
        _ => Err(no_key(key)),
    }
}

/// The unit of dates and times in Arrow columns that are made of them: days, or microseconds.
fn count(key: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    let field = |name| key.getattr(name)?.extract::<i64>();
    let of_day = || -> PyResult<i64> {
        let seconds = (field("hour")? * 60 + field("minute")?) * 60 + field("second")?;
        Ok(seconds * 1_000_000 + field("microsecond")?)
    };
    let days =
        || -> PyResult<i64> { Ok(key.call_method0("toordinal")?.extract::<i64>()? - DAYS_TO_1970) };
    Ok(Some(if key.is_instance_of::<PyDateTime>() {
        let offset = key.call_method0("utcoffset")?;
        let ahead = if offset.is_none() { 0 } else { delta(&offset)? };
        days()? * MICROSECONDS + of_day()? - ahead
    } else if key.is_instance_of::<PyDate>() {
        days()?
    } else if key.is_instance_of::<PyTime>() {
        of_day()?
    } else if key.is_instance_of::<PyDelta>() {
        delta(key)?
    } else {
        return Ok(None);
    }))
}

const DAYS_TO_1970: i64 = 719_163;
const MICROSECONDS: i64 = 24 * 60 * 60 * 1_000_000;

/// Microseconds.
fn delta(time: &Bound<'_, PyAny>) -> PyResult<i64> {
    let field = |name| time.getattr(name)?.extract::<i64>();
    let of_day = field("seconds")? * 1_000_000 + field("microseconds")?;
    let count = field("days")?.checked_mul(MICROSECONDS).and_then(|days| days.checked_add(of_day));
    count.ok_or_else(|| {
        PyOverflowError::new_err("a timedelta of 2**63 microseconds or more is no key: give an int")
    })
}

fn decimal(key: &Bound<'_, PyAny>, hasher: KeyHasher) -> PyResult<Part> {
    let parts = key.call_method0("as_tuple")?;
    let Ok(exponent) = parts.getattr("exponent")?.extract::<i64>() else {
        return if key.call_method0("is_nan")?.is_truthy()? {
            Ok(Part::Null)
        } else {
            Err(PyTypeError::new_err("an infinite Decimal is no key: give it as text"))
        };
    };
    let digits: Vec<u8> = parts.getattr("digits")?.extract::<Vec<u8>>()?;
    let zeros = digits.iter().rev().take_while(|&&digit| digit == 0).count();
    let mut words: Option<Wide> = Some([0; 4]);
    for &digit in &digits[..digits.len() - zeros] {
        words = words.and_then(|words| numbers::times_ten_plus(words, digit));
    }
    let words = words.ok_or_else(|| {
        PyOverflowError::new_err("a Decimal of more than 76 digits is no key: give it as text")
    })?;
    let is_negative = parts.getattr("sign")?.is_truthy()?;
    let words = if is_negative { numbers::negated(words) } else { words };
    let scale = exponent.saturating_neg().saturating_sub_unsigned(zeros as u64);
    Ok(numbers::decimal(words, scale, hasher))
}
