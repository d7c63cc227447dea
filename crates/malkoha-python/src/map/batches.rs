//! Maps and many keys at once.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::PyMap;
use crate::batch::{self, Mask, Refused};
use crate::columns::{Columns, refuse_masked};

#[pymethods]
impl PyMap {
    /// Adds a value for each of many keys. Pairs whose key is null are left out.
    ///
    /// `values` is what numpy makes an array of uint64 of, as long as `keys`. If some pairs are
    /// refused, an InsertError names their positions, and all others are in.
    fn add_many(&self, keys: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = keys.py();
        let keys = Columns::new(keys, self.hasher)?;
        let values = numbers(values, keys.len())?;
        let mut refused = Refused::default();
        batch::in_rounds(py, &keys, batch::insert_round(&keys), |range| {
            self.change(py, |map| {
                py.detach(|| {
                    let start = range.start;
                    let insert = |hashes: &[u64], positions: Option<&[usize]>, _| {
                        let position = |i: usize| positions.map_or(start + i, |all| all[i]);
                        let pairs = hashes.iter().enumerate();
                        let pairs: Vec<(u64, u64)> =
                            pairs.map(|(i, &hash)| (hash, values[position(i)])).collect();
                        map.insert_hashes(&pairs)
                    };
                    batch::insert(&keys, range, None, &mut refused, insert);
                });
            })
        })?;
        refused.raise()
    }

    /// The candidate values of many keys: two numpy arrays of uint64 of equal length, the positions
    /// of the keys, ascending, and a candidate of each. A key has as many places in them as it has
    /// candidates, and none if it is null or not in.
    #[pyo3(signature = (keys, /))]
    fn get_many<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = keys.py();
        let keys = Columns::new(keys, self.hasher)?;
        let (mut found, mut chunk): (Vec<(u64, u64)>, Vec<_>) = Default::default();
        batch::in_rounds(py, &keys, batch::ROUND, |range| {
            self.look_up(py, |map| {
                py.detach(|| {
                    keys.for_each_chunk(range, |at, hashes| {
                        let mut note = |i, value| chunk.push((at.of(i) as u64, value));
                        map.get_hashes(hashes, &mut note);
                        chunk.sort_unstable();
                        // A value that has several slots comes once for each.
                        chunk.dedup();
                        found.append(&mut chunk);
                    });
                });
            });
            Ok(())
        })?;
        let column = |of: fn(&(u64, u64)) -> u64| {
            batch::numbers(py, found.len(), |numbers| {
                numbers.iter_mut().zip(&found).for_each(|(number, pair)| *number = of(pair));
            })
        };
        Ok((column(|pair| pair.0)?, column(|pair| pair.1)?))
    }

    /// Removes one copy of each of many pairs that were added, in their order; returns a numpy
    /// array of booleans that says which were in.
    fn remove_many<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        values: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        let keys = Columns::new(keys, self.hasher)?;
        let values = numbers(values, keys.len())?;
        let mut mask = Mask::new(py, keys.len())?;
        let answers = mask.as_mut_slice();
        batch::in_rounds(py, &keys, batch::ROUND, |range| {
            self.change(py, |map| {
                py.detach(|| {
                    keys.for_each_chunk(range, |at, hashes| {
                        for (i, &hash) in hashes.iter().enumerate() {
                            answers[at.of(i)] = map.remove_hash(hash, values[at.of(i)]);
                        }
                    });
                });
            })
        })?;
        mask.into_array()
    }
}

/// The values of a batch of this many keys, copied: copying costs little compared with the map's
/// work.
fn numbers(values: &Bound<'_, PyAny>, keys: usize) -> PyResult<Vec<u64>> {
    let py = values.py();
    refuse_masked(values)?;
    let array = py.import("numpy")?.call_method1("ascontiguousarray", (values,))?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let len: usize = array.getattr("size")?.extract()?;
    if len != keys {
        return Err(PyValueError::new_err(format!("there are {keys} keys, but {len} values")));
    }
    let is_negative = kind == 'i' && len > 0 && array.call_method0("min")?.lt(0)?;
    if !matches!(kind, 'u' | 'i' | 'b') && len > 0 || is_negative {
        let found =
            if is_negative { "negative".into() } else { array.getattr("dtype")?.to_string() };
        return Err(PyValueError::new_err(format!(
            "values are integers from 0 to 2**64 - 1, not {found}"
        )));
    }
    let words = array.call_method1("astype", ("uint64",))?;
    pyo3::buffer::PyBuffer::<u64>::get(&words)?.to_vec(py)
}
