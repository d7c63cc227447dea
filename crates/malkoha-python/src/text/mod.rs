//! The class `Deduplicator`.

mod decide;
mod files;

use std::ptr;

use malkoha_text::{Bands, Deduplicator, Method, Options, Shingle};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::{BuildError, Raise};
use crate::lock::Lock;
use crate::options;
use crate::store::change_by;

/// Deduplicator(near=None, *, words=False, paragraphs=False, shingle=5, bands=None, rate=1e-4,
/// min_left=100, min_paragraph=0, numbered=False, seed=None, key=None)
///
/// Removes duplicates from texts, batch by batch, in their order: each text is compared with the
/// kept ones before it. It grows as needed.
///
/// Duplicates are equal texts; with `near=0.8`, texts that have about 0.8 of their runs of five
/// words in common (the Jaccard similarity); with `words=True`, texts of equal words, whatever
/// their case, punctuation, symbols and white space; with `paragraphs=True`, texts of which less than
/// `min_left` bytes are left without the lines that occurred before, of at least `min_paragraph`
/// bytes.
///
/// For `near`: `shingle` is the length of runs in words, or in characters as "13c"; `bands=(16, 8)`
/// compares 16 bands of 8 rows, instead of those that suit the similarity; `rate` is the largest
/// probability to lose a text that has no band in common with a kept one. `numbered=True` remembers
/// numbers of texts, for duplicates_of().
#[pyclass(name = "Deduplicator", module = "malkoha.text", frozen, weakref)]
pub(crate) struct PyDeduplicator {
    texts: Lock<Deduplicator>,
    options: Options,
}

#[pymethods]
impl PyDeduplicator {
    #[new]
    #[pyo3(signature = (near=None, *, words=false, paragraphs=false, shingle=None, bands=None,
        rate=None, min_left=None, min_paragraph=None, numbered=false, seed=None, key=None))]
    #[expect(clippy::too_many_arguments, reason = "Python's are named")]
    fn new(
        #[pyo3(from_py_with = crate::arguments::near)] near: Option<f64>,
        words: bool,
        paragraphs: bool,
        shingle: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = crate::arguments::bands)] bands: Option<(u32, u32)>,
        #[pyo3(from_py_with = crate::arguments::rate)] rate: Option<f64>,
        #[pyo3(from_py_with = crate::arguments::min_left)] min_left: Option<u32>,
        #[pyo3(from_py_with = crate::arguments::min_paragraph)] min_paragraph: Option<u32>,
        numbered: bool,
        #[pyo3(from_py_with = crate::arguments::seed)] seed: Option<u64>,
        key: Option<&[u8]>,
    ) -> PyResult<Self> {
        let refuse = |message| Err(PyTypeError::new_err(message));
        if near.is_none() && (shingle.is_some() || bands.is_some() || rate.is_some()) {
            return refuse("shingle, bands and rate are for similar texts: give near, such as 0.8");
        }
        if !paragraphs && (min_left.is_some() || min_paragraph.is_some()) {
            return refuse("min_left and min_paragraph are for paragraphs: give paragraphs=True");
        }
        let method = match (near, words, paragraphs) {
            (None, false, false) => Method::Exact,
            (None, true, false) => Method::Words,
            (None, false, true) => Method::Paragraphs {
                shortest: min_paragraph.unwrap_or(0),
                least_left: min_left.unwrap_or(100),
            },
            (Some(similarity), false, false) => Method::Near {
                bands: match bands {
                    Some((bands, rows)) => Bands::new(bands, rows),
                    None => Bands::for_similarity(similarity),
                }
                .map_err(Raise::raise)?,
                shingle: shingle.map_or(Ok(Shingle::Words(5)), parse_shingle)?,
                rate: rate.unwrap_or(1e-4),
            },
            _ => return refuse("near, words and paragraphs are different methods: give one"),
        };
        let options = Options::of(method).numbered(numbered).hasher(options::hasher(seed, key)?);
        Deduplicator::new(options).map(Self::of).map_err(Raise::raise)
    }

    /// Adds what another Deduplicator of the same options has kept. Texts that both kept stay;
    /// later ones are compared with those of both.
    fn unite(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        if ptr::eq(self, other.get()) {
            return Ok(());
        }
        change_by(other.py(), &self.texts, &other.get().texts, |ours, theirs| ours.unite(theirs))
            .map_err(Raise::raise)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        usize::try_from(self.kept(py)).unwrap_or(usize::MAX).min(isize::MAX.cast_unsigned())
    }

    /// Texts that were kept, nulls left out.
    #[getter]
    fn kept(&self, py: Python<'_>) -> u64 {
        self.texts.read_one(py, Deduplicator::kept)
    }

    /// Texts that were decided on, nulls included.
    #[getter]
    fn decided(&self, py: Python<'_>) -> u64 {
        self.texts.read_one(py, Deduplicator::decided)
    }

    /// Bytes of memory that the index takes.
    #[getter]
    fn size_in_bytes(&self, py: Python<'_>) -> u64 {
        self.texts.read_one(py, Deduplicator::size_in_bytes)
    }

    /// The probability that the next text is dropped without having a band in common with a kept
    /// one; 0 unless `near`.
    #[getter]
    fn expected_wrong_loss(&self, py: Python<'_>) -> f64 {
        self.texts.read(py).expected_wrong_loss()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (kept, decided) = (self.kept(py), self.decided(py));
        let bytes = self.size_in_bytes(py);
        format!("<Deduplicator that kept {kept} of {decided} texts, in {bytes} bytes>")
    }
}

impl PyDeduplicator {
    fn of(texts: Deduplicator) -> Self {
        Self { options: *texts.options(), texts: Lock::new(texts) }
    }
}

/// Runs of words, or of characters as in "13c".
fn parse_shingle(shingle: &Bound<'_, PyAny>) -> PyResult<Shingle> {
    // Python writes no number of very many digits.
    let text = shingle.str().map_or_else(|_| "too large".into(), |text| text.to_string());
    let (digits, kind): (_, fn(u32) -> Shingle) = match text.strip_suffix('c') {
        Some(digits) => (digits, Shingle::Characters),
        None => (&*text, Shingle::Words),
    };
    digits.parse().map(kind).map_err(|_| {
        BuildError::new_err(format!(
            "the shingle is {text:?}: give 5 for runs of five words, or \"13c\" for characters"
        ))
    })
}
