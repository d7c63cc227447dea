//! Batches: threads for lookups, numpy arrays for answers.

use std::ops::Range;
use std::thread;

use malkoha::{BatchError, InsertError};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;

use crate::columns::{CHUNK, Columns, Positions};

/// A thread is worthwhile for this many keys: starting one takes as long as this many lookups.
const PER_THREAD: usize = 1 << 16;
/// Keys of a round: in less than a second, signals are handled again.
pub(crate) const ROUND: usize = 1 << 22;

/// Keys that are inserted in a round. A larger table needs larger ones, or sorting them by segment
/// does not pay.
pub(crate) fn insert_round(keys: &Columns) -> usize {
    (keys.len() / 8).clamp(ROUND, 4 * ROUND)
}

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

/// Calls `each` for one round of a batch after another. Between them the caller holds no lock, so
/// that signals can be handled: ctrl-C ends a long batch, and what was done until then stays.
pub(crate) fn in_rounds(
    py: Python<'_>,
    keys: &Columns,
    round: usize,
    mut each: impl FnMut(Range<usize>) -> PyResult<()>,
) -> PyResult<()> {
    let mut range = 0..keys.len().min(round);
    loop {
        each(range.clone())?;
        if range.end == keys.len() {
            return Ok(());
        }
        py.check_signals()?;
        range = range.end..keys.len().min(range.end + round);
    }
}

/// Calls `answer` for chunks of hashes of the keys in `range`, to fill in one answer for each, on
/// several threads for large batches. Answers for null keys stay as they are.
pub(crate) fn look_up<R: Copy + Default + Send>(
    keys: &Columns,
    range: Range<usize>,
    asked: Option<usize>,
    answers: &mut [R],
    answer: impl Fn(&[u64], &mut [R]) + Sync,
) {
    let (start, len) = (range.start, range.len());
    let part = len.div_ceil(threads(asked, len)).next_multiple_of(CHUNK).max(1);
    let (first, others) = answers[range].split_at_mut(part.min(len));
    thread::scope(|scope| {
        for (i, answers) in others.chunks_mut(part).enumerate() {
            let (start, answer) = (start + (i + 1) * part, &answer);
            scope.spawn(move || on_one_thread(keys, start, answers, answer));
        }
        on_one_thread(keys, start, first, &answer);
    });
}

fn on_one_thread<R: Copy + Default>(
    keys: &Columns,
    start: usize,
    answers: &mut [R],
    answer: &impl Fn(&[u64], &mut [R]),
) {
    keys.for_each_chunk(start..start + answers.len(), |positions, hashes| match positions {
        Positions::All(first) => answer(hashes, &mut answers[first - start..][..hashes.len()]),
        Positions::Some(positions) => {
            let mut kept = [R::default(); CHUNK];
            answer(hashes, &mut kept[..hashes.len()]);
            for (&position, &one) in positions.iter().zip(&kept) {
                answers[position - start] = one;
            }
        }
    });
}

/// Calls `change` for chunks of hashes of the keys in `range`, in order, to fill in one answer for
/// each.
pub(crate) fn change_in_order(
    keys: &Columns,
    range: Range<usize>,
    answers: &mut [bool],
    refused: &mut Refused,
    mut change: impl FnMut(&[u64], &mut [bool]) -> Result<(), BatchError>,
) {
    keys.for_each_chunk(range, |positions, hashes| {
        let mut chunk = [false; CHUNK];
        let chunk = &mut chunk[..hashes.len()];
        if let Err(error) = change(hashes, chunk) {
            refused.note(error, |i| positions.of(i));
        }
        for (i, &one) in chunk.iter().enumerate() {
            answers[positions.of(i)] = one;
        }
    });
}

/// Inserts all keys in `range` that can be.
pub(crate) fn insert(
    keys: &Columns,
    range: Range<usize>,
    asked: Option<usize>,
    refused: &mut Refused,
    insert: impl FnOnce(&[u64], Option<&[usize]>, usize) -> Result<(), BatchError>,
) {
    let start = range.start;
    let (hashes, positions) = keys.hashes(range);
    let inserted = insert(&hashes, positions.as_deref(), threads(asked, keys.len()));
    if let Err(error) = inserted {
        refused.note(error, |i| positions.as_ref().map_or(start + i, |all| all[i]));
    }
}

/// Keys of a batch that were not inserted.
#[derive(Default)]
pub(crate) struct Refused {
    positions: Vec<usize>,
    /// Why the last of them was refused.
    error: Option<InsertError>,
}

impl Refused {
    /// Adds the keys that an error names, `position` of each in the whole batch.
    fn note(&mut self, error: BatchError, position: impl Fn(usize) -> usize) {
        self.positions.extend(error.refused.into_iter().map(position));
        self.error = Some(error.error);
    }

    /// The exception, if there are any.
    pub(crate) fn raise(self) -> PyResult<()> {
        let Self { positions, error: Some(error) } = self else { return Ok(()) };
        let message = format!(
            "{} of the batch's keys were refused and the others inserted: {error}",
            positions.len()
        );
        Err(crate::errors::InsertError::new_err((message, positions)))
    }
}
