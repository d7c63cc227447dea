//! Numbers among the arguments: those that are out of range get an error with the limit, as those
//! that the library refuses do.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::errors::{BuildError, InsertError, StoreValueError};

macro_rules! arguments {
    ($($name:ident: $type:ty = $range:literal, $error:ident;)*) => {$(
        pub(crate) fn $name(value: &Bound<'_, PyAny>) -> PyResult<$type> {
            value.extract().map_err(|error: PyErr| {
                if !error.is_instance_of::<PyOverflowError>(value.py()) {
                    return error;
                }
                // Python writes no number of very many digits.
                let value = value.str().map_or_else(|_| "of that size".into(), |it| it.to_string());
                let name = stringify!($name);
                $error::new_err(format!("{name} {value} is out of range: give {}", $range))
            })
        }
    )*};
}

arguments! {
    capacity: Option<u64> = "1 to 2^36 keys", BuildError;
    fpr: f64 = "a number above 0 and below 1", BuildError;
    growth: Option<f64> = "1 to 10^9", BuildError;
    seed: Option<u64> = "0 to 2^64 - 1", BuildError;
    threads: Option<usize> = "1 or more", BuildError;
    ttl: u64 = "1 to 2^64 - 1", BuildError;
    resolution: Option<u64> = "1 to ttl", BuildError;
    now: u64 = "0 to 2^64 - 1", BuildError;
    value_bits: Option<u32> = "1 to 64", BuildError;
    value: u64 = "0 to 2^64 - 1, or less by value_bits", InsertError;
    near: Option<f64> = "a number above 0 and below 1", BuildError;
    bands: Option<(u32, u32)> = "two numbers of 1 or more", BuildError;
    rate: Option<f64> = "a number above 0 and below 1", BuildError;
    file_bytes: Option<u64> = "4096 to 2^33", StoreValueError;
    checkpoint_bytes: Option<u64> = "0 to 2^64 - 1", StoreValueError;
    compact_rate: Option<u64> = "1 to 2^64 - 1", StoreValueError;
    min_left: Option<u32> = "0 to 2^32 - 1 bytes", BuildError;
    min_paragraph: Option<u32> = "0 to 2^32 - 1 bytes", BuildError;
}
