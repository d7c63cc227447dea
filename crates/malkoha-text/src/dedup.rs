//! Decides for each text, in the order of the input, whether it is kept.

use std::collections::HashSet;
use std::ops::Range;

use malkoha::InsertError;

use crate::bands::Signer;
use crate::exact::{Exact, Identifier, Identity};
use crate::memory::Memory;
use crate::near::Near;
use crate::options::{Method, Options, OptionsError};
use crate::paragraphs::{self, Paragraph};
use crate::words;

/// The decision on a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It is kept.
    Keep,
    /// It is kept without some paragraphs.
    Cut {
        /// The parts that stay, as places of bytes.
        kept: Vec<Range<usize>>,
        /// How many paragraphs go.
        paragraphs: u32,
    },
    /// It is dropped.
    Drop(Duplicate),
}

/// Why a text is dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplicate {
    /// The number of the kept text that it is a duplicate of, from 0 in the order of decisions.
    /// For paragraphs, the text that has the first one. `None` unless numbers are
    /// [remembered](Options::numbered), and where a text repeats only itself.
    pub of: Option<u64>,
    /// In what they are equal.
    pub reason: Reason,
}

/// In what two texts are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// In all, or in all words.
    Same,
    /// In some bands.
    Near {
        /// Bands that agree. Without numbers these might be bands of several texts.
        bands: u32,
        /// The similarity at which this many agree on average.
        similarity: f64,
    },
    /// In so many paragraphs that too little is left.
    Paragraphs {
        /// Paragraphs that occurred before.
        repeated: u32,
        /// Bytes of the other ones.
        left: u64,
    },
}

/// The part of the work on texts that threads can do in any order. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Preparer(Work);

#[derive(Clone, Debug)]
enum Work {
    Exact(Identifier),
    Words(Identifier),
    Near(Signer),
    Paragraphs(Identifier),
}

/// A text's hashes.
#[derive(Debug, Default)]
pub struct Prepared {
    identity: Option<Identity>,
    bands: Vec<u64>,
    paragraphs: Vec<Paragraph>,
    len: usize,
}

impl Prepared {
    /// The memory that they take.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of::<Self>()
            + 8 * self.bands.capacity()
            + size_of::<Paragraph>() * self.paragraphs.capacity()
    }

    /// The hashes of a near text's bands; none for other methods.
    #[must_use]
    pub fn band_keys(&self) -> &[u64] {
        &self.bands
    }

    /// Replaces them, by those that another process has computed with the same options. A key that
    /// repeats the one before it is left out, so that a text can have fewer keys than others.
    pub fn set_band_keys(&mut self, keys: &[u64]) {
        self.bands.clear();
        self.bands.extend_from_slice(keys);
        self.bands.dedup();
    }
}

impl Preparer {
    /// Hashes a text, in the place of another one.
    pub fn prepare(&self, text: &str, memory: &mut Memory, prepared: &mut Prepared) {
        prepared.len = text.len();
        match &self.0 {
            Work::Exact(identifier) => {
                prepared.identity = Some(identifier.identify(text.as_bytes()));
            }
            Work::Words(identifier) => {
                memory.bytes.clear();
                words(text, |word| {
                    memory.bytes.extend_from_slice(word.as_bytes());
                    memory.bytes.push(b' ');
                });
                if memory.bytes.is_empty() {
                    memory.bytes.extend_from_slice(text.trim().as_bytes());
                }
                prepared.identity = Some(identifier.identify(&memory.bytes));
            }
            Work::Near(signer) => signer.sign(text, memory, &mut prepared.bands),
            Work::Paragraphs(identifier) => {
                paragraphs::split(text, *identifier, &mut prepared.paragraphs);
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Index {
    Exact(Exact),
    Near(Near),
}

/// Removes duplicates from a sequence of texts.
///
/// Each text is compared with the kept ones before it, so every dropped text has a duplicate that
/// is kept. The decisions depend on the texts and their order alone: not on threads, nor on how
/// the sequence is divided among calls, runs and [saved](Self::write_to) states.
///
/// ```
/// use malkoha_text::{Decision, Deduplicator, Options};
///
/// let mut seen = Deduplicator::new(Options::near(0.8)?)?;
/// let texts = ["The koel lays its eggs in the nests of crows and drongos.",
///     "A magpie builds a nest.",
///     "the koel lays its eggs in the nests of crows, and drongos"];
/// let kept = seen.decide_many(&texts, 2)?;
/// assert!(kept[0] == Decision::Keep && kept[1] == Decision::Keep);
/// assert!(matches!(kept[2], Decision::Drop(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Deduplicator {
    pub(crate) options: Options,
    pub(crate) index: Index,
    preparer: Preparer,
    /// Texts that were decided on, and those that were kept.
    pub(crate) decided: u64,
    pub(crate) kept: u64,
    found: Vec<u64>,
    pairs: Vec<(u64, u64)>,
    within: HashSet<Identity>,
}

impl Deduplicator {
    /// One that has seen no text.
    ///
    /// # Errors
    ///
    /// If the options cannot be had.
    pub fn new(options: Options) -> Result<Self, OptionsError> {
        let options = options.check()?;
        let Options { method, numbered, documents, hasher } = options;
        let documents = documents.clamp(1, 1 << 32);
        let index = match method {
            Method::Near { bands, rate, .. } => {
                let bands = u64::from(bands.bands());
                #[expect(clippy::cast_precision_loss, reason = "at most 4096")]
                let fpr = -((-rate).ln_1p() / bands as f64).exp_m1();
                Index::Near(Near::new(hasher, documents * bands, fpr, numbered)?)
            }
            _ => Index::Exact(Exact::new(hasher, documents, numbered)),
        };
        Ok(Self::with(options, index))
    }

    pub(crate) fn with(options: Options, index: Index) -> Self {
        let identifier = Identifier::new(options.hasher);
        let preparer = Preparer(match options.method {
            Method::Exact => Work::Exact(identifier),
            Method::Words => Work::Words(identifier),
            Method::Near { bands, shingle, .. } => {
                Work::Near(Signer::new(options.hasher, shingle, bands))
            }
            Method::Paragraphs { .. } => Work::Paragraphs(identifier),
        });
        let (found, pairs, within) = (Vec::new(), Vec::new(), HashSet::new());
        Self { options, index, preparer, decided: 0, kept: 0, found, pairs, within }
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Prepares texts for [`decide`](Self::decide).
    #[must_use]
    pub fn preparer(&self) -> &Preparer {
        &self.preparer
    }

    /// The number of texts that were decided on or [skipped](Self::skip).
    #[must_use]
    pub fn decided(&self) -> u64 {
        self.decided
    }

    /// The number of texts that were kept.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// The size of the index.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        match &self.index {
            Index::Exact(exact) => exact.size_in_bytes(),
            Index::Near(near) => near.size_in_bytes(),
        }
    }

    /// The probability that the next text is dropped without having a band in common with a kept
    /// one. 0 for other methods.
    #[must_use]
    pub fn expected_wrong_loss(&self) -> f64 {
        match (&self.index, self.options.method) {
            (Index::Near(near), Method::Near { bands, .. }) => {
                -(f64::from(bands.bands()) * (-near.expected_fpr()).ln_1p()).exp_m1()
            }
            _ => 0.0,
        }
    }

    /// Passes over a number, as that of a record without a text.
    pub fn skip(&mut self) {
        self.decided += 1;
    }

    /// Requests the memory that [`decide`](Self::decide) will read for a text, except for
    /// paragraphs. The requests of 8 to 64 texts before their decisions overlap.
    pub fn prefetch(&self, prepared: &Prepared) {
        match &self.index {
            Index::Near(near) => near.prefetch(&prepared.bands),
            Index::Exact(exact) => {
                prepared.identity.iter().for_each(|&identity| exact.prefetch(identity));
            }
        }
    }

    /// Decides on the next text, which this one's [`preparer`](Self::preparer) has prepared. Takes
    /// time in proportion to bands or paragraphs.
    ///
    /// # Errors
    ///
    /// If the system lacks the memory to remember the text. Of a text with paragraphs, some can be
    /// remembered.
    pub fn decide(&mut self, prepared: &Prepared) -> Result<Decision, InsertError> {
        let decision = match (&mut self.index, self.options.method) {
            (Index::Near(near), Method::Near { bands, .. }) => {
                match near.find(&prepared.bands, &mut self.found) {
                    None => {
                        near.insert(&prepared.bands, self.decided, &mut self.pairs)?;
                        Decision::Keep
                    }
                    Some(found) => Decision::Drop(Duplicate {
                        of: self.options.numbered.then_some(found.number),
                        reason: Reason::Near {
                            bands: found.bands,
                            similarity: bands.similarity_of(found.bands),
                        },
                    }),
                }
            }
            (Index::Exact(exact), Method::Paragraphs { shortest, least_left }) => {
                let limits = (shortest as usize, u64::from(least_left));
                let of = (self.decided, self.options.numbered);
                judge(exact, prepared, limits, of, &mut self.within)?
            }
            (Index::Exact(exact), _) => {
                let identity = prepared.identity.expect("prepared by the same options");
                match exact.find(identity) {
                    None => {
                        exact.insert(identity, self.decided)?;
                        Decision::Keep
                    }
                    Some(number) => Decision::Drop(Duplicate {
                        of: self.options.numbered.then_some(number),
                        reason: Reason::Same,
                    }),
                }
            }
            (Index::Near(_), _) => unreachable!("the index is that of the method"),
        };
        self.decided += 1;
        self.kept += u64::from(!matches!(decision, Decision::Drop(_)));
        Ok(decision)
    }
}

/// Finds the paragraphs of a text that occurred before. Adds the others, if the text is kept.
fn judge(
    exact: &mut Exact,
    prepared: &Prepared,
    (shortest, least_left): (usize, u64),
    (number, numbered): (u64, bool),
    within: &mut HashSet<Identity>,
) -> Result<Decision, InsertError> {
    let paragraphs = &prepared.paragraphs;
    paragraphs.iter().for_each(|paragraph| exact.prefetch(paragraph.identity));
    within.clear();
    let (mut new, mut cut, mut left, mut of) = (Vec::new(), Vec::new(), 0, None);
    for Paragraph { place, len, identity } in paragraphs {
        let compared = *len >= shortest;
        let before = if compared { exact.find(*identity) } else { None };
        of = of.or(before);
        if before.is_some() || compared && !within.insert(*identity) {
            cut.push(place.clone());
        } else {
            left += *len as u64;
            new.extend(compared.then_some(*identity));
        }
    }
    let repeated = u32::try_from(cut.len()).unwrap_or(u32::MAX);
    if repeated > 0 && left < least_left {
        let reason = Reason::Paragraphs { repeated, left };
        return Ok(Decision::Drop(Duplicate { of: of.filter(|_| numbered), reason }));
    }
    for identity in new {
        exact.insert(identity, number)?;
    }
    if repeated == 0 {
        return Ok(Decision::Keep);
    }
    let kept = paragraphs::remainder(prepared.len, &cut);
    Ok(Decision::Cut { kept, paragraphs: repeated })
}
