//! Operations on a whole table while threads change it: emptying and copying, segment by segment.
//!
//! Each segment is *frozen* while its words are read or emptied, for some tens of microseconds:
//! nothing is moved, removed or spilled in it. Lookups continue. Between two segments everything
//! continues.

use std::sync::atomic::Ordering::Relaxed;

use crate::addressing::Probe;
use crate::entries::Entry;
use crate::layout::bits::LaneFormat;
use crate::locks::Locking;
use crate::spill::SpillKey;

use super::table::Table;
use crate::sync::Ordering;

/// One segment of a table as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) segment: u64,
    /// The buckets in their order, each with its occupied lanes first.
    pub(crate) words: Vec<u64>,
    /// Spilled copies, in order. Each has an equal in `words`.
    pub(crate) spilled: Vec<(SpillKey, u64)>,
    /// Occupied lanes and spilled copies.
    pub(crate) copies: u64,
}

impl Piece {
    /// Everything in the piece: slot by slot, then the spilled copies.
    pub(crate) fn entries(self, lanes: LaneFormat<u64>) -> impl Iterator<Item = Entry> {
        let Self { segment, words, spilled, .. } = self;
        let entry = move |key, copies| Entry::new(key, copies, lanes.bits);
        let slots = (0..).zip(words).flat_map(move |(first, word)| {
            let probe = move |fingerprint| Probe { segment, first, second: first, fingerprint };
            lanes.fingerprints(word).map(move |f| entry(SpillKey::of(&probe(f), 0), 1))
        });
        slots.chain(spilled.into_iter().map(move |(key, copies)| entry(key, copies)))
    }
}

impl<P: Locking> Table<P> {
    /// Copies of all segments, which together have
    ///
    /// * every key whose insert had returned before the first was asked for, unless it is removed
    ///   before the last is returned;
    /// * no key whose removal had returned before the first was asked for;
    /// * each copy of a key once, wherever it is moved.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece> {
        (0..self.buckets.segments() as u64).map(|segment| self.piece(segment))
    }

    /// The whole content, as [`pieces`](Self::pieces) has it.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.pieces().flat_map(|piece| piece.entries(self.lanes))
    }

    /// The copy of a segment.
    fn piece(&self, segment: u64) -> Piece {
        let places = usize::try_from(self.addressing.places()).expect("in memory");
        let words = Vec::with_capacity(places);
        let mut piece = Piece { segment, words, spilled: Vec::new(), copies: 0 };
        self.frozen(segment, &mut |buckets| {
            piece.words.extend(buckets.iter().map(|word| word.load(Ordering::Acquire)));
            piece.spilled = self.spilled_in(segment);
        });
        for word in &mut piece.words {
            piece.copies += u64::from(self.lanes.occupied(*word));
            *word = self.lanes.packed(*word);
        }
        for (_, copies) in &piece.spilled {
            piece.copies = piece.copies.saturating_add(*copies);
        }
        piece
    }

    /// Removes everything, and returns the number of copies.
    ///
    /// For each key, all its copies are removed as if at one moment between the call and its
    /// return. A copy that is inserted during the call may stay, and one that was inserted before
    /// is gone. The moment differs from key to key.
    pub(super) fn clear(&self) -> u64 {
        let mut copies = 0_u64;
        for segment in 0..self.buckets.segments() as u64 {
            self.frozen(segment, &mut |buckets| {
                // As for every lane that is emptied. Spilled copies go while nobody counts them.
                self.raise_versions();
                for word in buckets {
                    if word.load(Ordering::Acquire) != 0 {
                        let emptied = word.swap(0, Ordering::AcqRel);
                        copies += u64::from(self.lanes.occupied(emptied));
                    }
                }
                copies = copies.saturating_add(self.drain_spilled(segment));
                if self.buckets.has_refused() {
                    self.buckets.missing(segment).store(0, Relaxed);
                }
            });
        }
        copies
    }
}
