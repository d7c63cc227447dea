//! Batches of texts, or of their keys: what is kept.

use std::thread;

use malkoha::InsertError;
use malkoha_text::{Decision, Deduplicator, Duplicate, Memory, Method, Prepared, Preparer};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::PyDeduplicator;
use crate::batch::{Answers, Mask, most_threads};
use crate::columns::Texts;
use crate::errors::Raise;
use crate::store::change;

#[pymethods]
impl PyDeduplicator {
    /// Decides on texts, in their order: a numpy array of booleans that says which ones to keep.
    ///
    /// Texts are a list or another iterable of str, a numpy array, or anything that gives Arrow
    /// data. A null is an error, or is kept with keep_null=True. Uses up to `threads` threads, by
    /// default as many as the process may; what is kept does not depend on them. A text is kept or
    /// dropped as a whole, even if paragraphs of it occurred before: see cut(). If ctrl-C ends it,
    /// the texts that were decided on stay so; their number has been added to `decided`.
    #[pyo3(signature = (texts, *, keep_null=false, threads=None))]
    fn keep<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        keep_null: bool,
        #[pyo3(from_py_with = crate::arguments::threads)] threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.decide(texts, keep_null, threads, |py, _, decisions| mask(py, &decisions))
    }

    /// Decides on texts as keep() does. Returns a list: each text that is kept, without paragraphs
    /// that occurred before, and None for each one that is dropped (and each null).
    #[pyo3(signature = (texts, *, keep_null=false, threads=None))]
    fn cut<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        keep_null: bool,
        #[pyo3(from_py_with = crate::arguments::threads)] threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.decide(texts, keep_null, threads, |py, rows, decisions| {
            let left = rows.iter().zip(decisions).map(|(text, decision)| match (*text, decision) {
                (Some(text), Decision::Keep) => Some(PyString::new(py, text)),
                (Some(text), Decision::Cut { kept, .. }) => {
                    let parts: String = kept.into_iter().map(|part| &text[part]).collect();
                    Some(PyString::new(py, &parts))
                }
                _ => None,
            });
            PyList::new(py, left)
        })
    }

    /// Decides on texts as keep() does. Returns a numpy array of int64: for each text that is
    /// dropped the number of the kept one that it is a duplicate of, and -1 for kept ones. Numbers
    /// count all texts since the beginning, nulls included. For paragraphs, it is the text that had
    /// the first one, which can be the same text. Needs numbered=True.
    #[pyo3(signature = (texts, *, keep_null=false, threads=None))]
    fn duplicates_of<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        keep_null: bool,
        #[pyo3(from_py_with = crate::arguments::threads)] threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !self.options.is_numbered() {
            return Err(PyTypeError::new_err(
                "numbers of texts are not remembered: make the Deduplicator with numbered=True",
            ));
        }
        self.decide(texts, keep_null, threads, |py, _, decisions| {
            let mut numbers = Answers::<i64>::new(py, decisions.len(), "int64")?;
            for (number, decision) in numbers.as_mut_slice().iter_mut().zip(decisions) {
                *number = match decision {
                    Decision::Drop(Duplicate { of: Some(of), .. }) => of.cast_signed(),
                    _ => -1,
                };
            }
            Ok(numbers.into_array())
        })
    }

    /// The keys of the bands of texts, for keep_keys(): a numpy array of uint64 with a row for each
    /// text and a column for each band. Only for `near`. Changes nothing, so that other processes
    /// can compute it, with the same options.
    #[pyo3(signature = (texts, *, threads=None))]
    fn band_keys<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = crate::arguments::threads)] threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, bands) = (texts.py(), self.bands()?);
        let texts = Texts::new(texts)?;
        let rows = py.detach(|| texts.rows(false))?;
        let mut keys = Answers::<u64>::new(py, rows.len() * bands, "uint64")?;
        let all = keys.as_mut_slice();
        let preparer = self.texts.read(py).preparer().clone();
        let part = rows.len().div_ceil(most_threads(threads)).max(64);
        py.detach(|| {
            thread::scope(|scope| {
                let mut parts = rows.chunks(part).zip(all.chunks_mut(part * bands));
                let first = parts.next();
                for (rows, keys) in parts {
                    let preparer = &preparer;
                    scope.spawn(move || sign(preparer, rows, keys));
                }
                first.into_iter().for_each(|(rows, keys)| sign(&preparer, rows, keys));
            });
        });
        keys.into_array().call_method1("reshape", ((rows.len(), bands),))
    }

    /// Decides as keep() does, on texts of which band_keys() has computed these keys. Of keys that no
    /// other text has, each can be replaced by the key before it in its row.
    fn keep_keys<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, bands) = (keys.py(), self.bands()?);
        let refuse = || {
            PyTypeError::new_err(format!(
                "these are no keys of texts: give a numpy array of uint64 with {bands} columns"
            ))
        };
        // Those of other processes can lie at any address.
        let aligned = py.import("numpy")?.call_method1("require", (keys, py.None(), "A"))?;
        let buffer = PyBuffer::<u64>::get(&aligned).map_err(|_| refuse())?;
        if !matches!(buffer.shape(), [_, columns] if *columns == bands) {
            return Err(refuse());
        }
        let keys = buffer.to_vec(py)?;
        let decisions = change(py, &self.texts, |seen| {
            let mut prepared = Prepared::default();
            let decide = |keys| {
                prepared.set_band_keys(keys);
                seen.decide(&prepared)
            };
            keys.chunks_exact(bands).map(decide).collect::<Result<Vec<_>, _>>()
        });
        mask(py, &decisions.map_err(Raise::raise)?)
    }
}

impl PyDeduplicator {
    /// Calls `then` with the texts and a decision for each. Nulls are kept. Texts that repeat only
    /// themselves are their own duplicates.
    fn decide<'py, R>(
        &self,
        texts: &Bound<'py, PyAny>,
        keep_null: bool,
        threads: Option<usize>,
        then: impl FnOnce(Python<'py>, &[Option<&str>], Vec<Decision>) -> PyResult<R>,
    ) -> PyResult<R> {
        let py = texts.py();
        let texts = Texts::new(texts)?;
        let rows = py.detach(|| texts.rows(keep_null))?;
        let mut decisions = Vec::with_capacity(rows.len());
        for (number, round) in rows.chunks(ROUND).enumerate() {
            // Without the lock.
            if number > 0 {
                py.check_signals()?;
            }
            let decided = change(py, &self.texts, |seen| decide_round(seen, round, threads));
            decisions.append(&mut decided.map_err(InsertError::raise)?);
        }
        then(py, &rows, decisions)
    }

    fn bands(&self) -> PyResult<usize> {
        match self.options.method() {
            Method::Near { bands, .. } => Ok(bands.bands() as usize),
            _ => Err(PyTypeError::new_err("only similar texts have band keys: give near")),
        }
    }
}

/// Texts of a round: in less than a second, signals are handled again.
const ROUND: usize = 1 << 16;

fn decide_round(
    seen: &mut Deduplicator,
    rows: &[Option<&str>],
    threads: Option<usize>,
) -> Result<Vec<Decision>, InsertError> {
    let first = seen.decided();
    let mut decisions = Vec::with_capacity(rows.len());
    for run in rows.chunk_by(|a, b| a.is_some() == b.is_some()) {
        let texts: Vec<&str> = run.iter().copied().flatten().collect();
        if texts.is_empty() {
            run.iter().for_each(|_| seen.skip());
            decisions.resize(decisions.len() + run.len(), Decision::Keep);
        } else {
            decisions.append(&mut seen.decide_many(&texts, most_threads(threads))?);
        }
    }
    for (decision, own) in decisions.iter_mut().zip(first..) {
        if let Decision::Drop(Duplicate { of: of @ None, .. }) = decision {
            *of = Some(own);
        }
    }
    Ok(decisions)
}

/// Writes the band keys of each text.
fn sign(preparer: &Preparer, rows: &[Option<&str>], keys: &mut [u64]) {
    let (mut memory, mut prepared) = (Memory::default(), Prepared::default());
    let mut keys = keys.iter_mut();
    for text in rows.iter().flatten() {
        preparer.prepare(text, &mut memory, &mut prepared);
        prepared.band_keys().iter().zip(keys.by_ref()).for_each(|(band, key)| *key = *band);
    }
}

fn mask<'py>(py: Python<'py>, decisions: &[Decision]) -> PyResult<Bound<'py, PyAny>> {
    let mut mask = Mask::new(py, decisions.len())?;
    for (keep, decision) in mask.as_mut_slice().iter_mut().zip(decisions) {
        *keep = !matches!(decision, Decision::Drop(_));
    }
    mask.into_array()
}
