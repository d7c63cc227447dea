//! Batches: threads for lookups, numpy arrays for answers.

use std::convert::Infallible;
use std::ops::Range;
use std::thread;

use malkoha::{BatchError, InsertError};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;

use crate::columns::{CHUNK, Columns, Positions};

/// A thread is worthwhile for this many keys: starting one takes as long as this many lookups.
const PER_THREAD: usize = 1 << 16;
/// The least and the most hashes that are inserted at a time; between these, an eighth of a batch.
/// A larger table needs larger rounds, or sorting them by segment does not pay.
const ROUND: (usize, usize) = (1 << 22, 1 << 24);

/// The requested number of threads, or as many as the process may use.
pub(crate) fn most_threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// The same, and fewer for a small batch. How many the process may use takes the system longer than
/// a small batch takes.
fn threads(asked: Option<usize>, keys: usize) -> usize {
    match keys / PER_THREAD {
        0 | 1 => 1,
        most => most_threads(asked).min(most),
    }
}

/// A numpy array for one answer to each key.
pub(crate) struct Answers<'py, T> {
    array: Bound<'py, PyAny>,
    buffer: PyBuffer<T>,
}

impl<'py, T: Element> Answers<'py, T> {
    pub(crate) fn new(py: Python<'py>, len: usize, dtype: &str) -> PyResult<Self> {
        let array = py.import("numpy")?.call_method1("zeros", (len, dtype))?;
        let buffer = PyBuffer::get(&array)?;
        Ok(Self { array, buffer })
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        let slice = self.buffer.as_slice_ptr().expect("numpy makes contiguous arrays");
        // SAFETY: the array was made here and nobody else has it yet; its zeros are a value of
        // every type of elements.
        unsafe { &mut *slice.as_ptr() }
    }

    pub(crate) fn into_array(self) -> Bound<'py, PyAny> {
        self.array
    }
}

/// A mask: a numpy array of booleans, one for each key.
pub(crate) struct Mask<'py>(Answers<'py, u8>);

impl<'py> Mask<'py> {
    pub(crate) fn new(py: Python<'py>, len: usize) -> PyResult<Self> {
        Answers::new(py, len, "uint8").map(Self)
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [bool] {
        let bytes: *mut [u8] = self.0.as_mut_slice();
        // SAFETY: a boolean has the layout of a byte, and all of them are 0 so far.
        unsafe { &mut *(bytes as *mut [bool]) }
    }

    pub(crate) fn into_array(self) -> PyResult<Bound<'py, PyAny>> {
        self.0.into_array().call_method1("view", ("bool",))
    }
}

/// Numbers, one for each key.
pub(crate) fn numbers<'py>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u64]),
) -> PyResult<Bound<'py, PyAny>> {
    let mut numbers = Answers::new(py, len, "uint64")?;
    fill(numbers.as_mut_slice());
    Ok(numbers.into_array())
}

/// Calls `answer` for chunks of hashes, to fill in one answer for each, on several threads for
/// large batches. Answers for null keys stay as they are.
pub(crate) fn look_up<R: Copy + Default + Send>(
    keys: &Columns,
    asked: Option<usize>,
    answers: &mut [R],
    answer: impl Fn(&[u64], &mut [R]) + Sync,
) {
    let part = keys.len().div_ceil(threads(asked, keys.len())).next_multiple_of(CHUNK).max(1);
    let (first, others) = answers.split_at_mut(part.min(answers.len()));
    thread::scope(|scope| {
        for (i, answers) in others.chunks_mut(part).enumerate() {
            let (start, answer) = ((i + 1) * part, &answer);
            scope.spawn(move || on_one_thread(keys, start, answers, answer));
        }
        on_one_thread(keys, 0, first, &answer);
    });
}

fn on_one_thread<R: Copy + Default>(
    keys: &Columns,
    start: usize,
    answers: &mut [R],
    answer: &impl Fn(&[u64], &mut [R]),
) {
    one_by_one(keys, start..start + answers.len(), answers, |hashes, answers| {
        answer(hashes, answers);
        Ok::<(), Infallible>(())
    })
    .unwrap_or_else(|never| match never {});
}

/// Calls `answer` for chunks of hashes of the keys in `range`, in order.
fn one_by_one<R: Copy + Default, E>(
    keys: &Columns,
    range: Range<usize>,
    answers: &mut [R],
    mut answer: impl FnMut(&[u64], &mut [R]) -> Result<(), E>,
) -> Result<(), E> {
    let first = range.start;
    keys.for_each_chunk(range, |positions, hashes| match positions {
        Positions::All(start) => answer(hashes, &mut answers[start - first..][..hashes.len()]),
        Positions::Some(positions) => {
            let mut kept = [R::default(); CHUNK];
            answer(hashes, &mut kept[..hashes.len()])?;
            for (&position, &one) in positions.iter().zip(&kept) {
                answers[position - first] = one;
            }
            Ok(())
        }
    })
}

/// Calls `change` for chunks of hashes in order, to fill in one answer for each.
pub(crate) fn change_in_order(
    keys: &Columns,
    answers: &mut [bool],
    mut change: impl FnMut(&[u64], &mut [bool]) -> Result<(), BatchError>,
) -> Result<(), Refused> {
    let mut refused = None;
    keys.for_each_chunk(0..keys.len(), |positions, hashes| {
        let mut chunk = [false; CHUNK];
        let chunk = &mut chunk[..hashes.len()];
        if let Err(error) = change(hashes, chunk) {
            note(&mut refused, error, |i| positions.of(i));
        }
        for (i, &one) in chunk.iter().enumerate() {
            answers[positions.of(i)] = one;
        }
        Ok::<(), Infallible>(())
    })
    .unwrap_or_else(|never| match never {});
    all_but(refused)
}

/// Inserts all keys that can be, in rounds.
pub(crate) fn insert(
    keys: &Columns,
    asked: Option<usize>,
    mut insert: impl FnMut(&[u64], Range<usize>, Option<&[usize]>, usize) -> Result<(), BatchError>,
) -> Result<(), Refused> {
    let threads = threads(asked, keys.len());
    let mut refused = None;
    let round = (keys.len() / 8).clamp(ROUND.0, ROUND.1);
    for start in (0..keys.len()).step_by(round) {
        let range = start..keys.len().min(start + round);
        let (hashes, positions) = keys.hashes(range.clone());
        if let Err(error) = insert(&hashes, range, positions.as_deref(), threads) {
            note(&mut refused, error, |i| positions.as_ref().map_or(start + i, |all| all[i]));
        }
    }
    all_but(refused)
}

/// Keys of a batch that were not inserted.
pub(crate) struct Refused {
    pub(crate) positions: Vec<usize>,
    /// Why the last of them was refused.
    pub(crate) error: InsertError,
}

/// Adds the keys that an error names, `position` of each in the whole batch.
fn note(refused: &mut Option<Refused>, error: BatchError, position: impl Fn(usize) -> usize) {
    let noted =
        refused.get_or_insert_with(|| Refused { positions: Vec::new(), error: error.error });
    noted.positions.extend(error.refused.into_iter().map(position));
    noted.error = error.error;
}

fn all_but(refused: Option<Refused>) -> Result<(), Refused> {
    refused.map_or(Ok(()), Err)
}
