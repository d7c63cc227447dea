//! What concerns the whole of a table that threads change: emptying and copying it, part by part.
//!
//! Each part is *frozen* for the time that it takes to read or to empty its words, some tens of
//! microseconds: nothing is moved, removed or spilled in it. Lookups go on. Between one part and
//! the next everything goes on, and parts that were not reached yet may be split. A part ends where
//! it ended before, however often it is split, so each fingerprint is met once.

use std::sync::atomic::Ordering::Relaxed;

use crate::addressing::Probe;
use crate::entries::Entry;
use crate::locks::Locking;
use crate::spill::SpillKey;

use super::beyond::Child;
use super::bucket::Lanes;
use super::space::{Buckets, Extent};
use super::sync::Ordering;
use super::table::Table;

/// One part of a table as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Of a table of fixed size, the number of the segment, and 0.
    pub(crate) extent: Extent,
    pub(crate) segment: u64,
    /// The buckets in their order, each with its occupied lanes first.
    pub(crate) words: Vec<u64>,
    /// Copies beside the table, in order. Each has an equal in `words`, or found no place.
    pub(crate) spilled: Vec<(SpillKey, u64)>,
    /// Occupied lanes and spilled copies.
    pub(crate) copies: u64,
}

impl Piece {
    /// The names of those of some pieces that cannot be split: a table may lie below these.
    pub(super) fn spent<'a>(pieces: impl IntoIterator<Item = &'a Self>) -> Vec<usize> {
        let extents = pieces.into_iter().map(|piece| piece.extent);
        extents.filter(|extent| extent.span == 0).map(|extent| extent.name).collect()
    }

    /// All that is in the piece, slot by slot and then the spilled copies.
    pub(crate) fn entries(self, lanes: Lanes) -> impl Iterator<Item = Entry> {
        let Self { segment, words, spilled, .. } = self;
        let entry = move |key, copies| Entry::new(key, copies, lanes.bits());
        let slots = (0..).zip(words).flat_map(move |(first, word)| {
            let probe = move |fingerprint| Probe { segment, first, second: first, fingerprint };
            lanes.fingerprints(word).map(move |f| entry(SpillKey::of(&probe(f), 0), 1))
        });
        slots.chain(spilled.into_iter().map(move |(key, copies)| entry(key, copies)))
    }
}

impl<P: Locking, S: Buckets> Table<P, S> {
    /// Copies of all parts, which together have
    ///
    /// * every key whose insert had returned before the first was asked for, unless it is removed
    ///   before the last is returned;
    /// * no key whose removal had returned before the first was asked for;
    /// * each copy of a key once, wherever it is moved.
    ///
    /// Tables below have pieces of their own, of which the same is true: no key moves between them.
    /// Of one that was opened when its part had been copied already, all keys came later.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece> {
        let mut name = 0;
        std::iter::from_fn(move || {
            (name < self.space.names()).then(|| {
                let piece = self.piece(name);
                name = piece.extent.end();
                piece
            })
        })
    }

    /// The tables below the parts that were copied as [`spent`](Piece::spent), by ascending names.
    pub(super) fn children_of(&self, spent: &[usize]) -> impl Iterator<Item = (usize, &Child<P>)> {
        self.children().filter(|(name, _)| spent.binary_search(name).is_ok())
    }

    /// All that is in, as [`pieces`](Self::pieces) has it.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let below: Box<dyn Iterator<Item = Entry>> =
            Box::new(self.children().flat_map(|(_, child)| child.entries()));
        self.pieces().flat_map(|piece| piece.entries(self.lanes)).chain(below)
    }

    /// The part that begins with this name.
    fn piece(&self, name: usize) -> Piece {
        let places = usize::try_from(self.addressing.places()).expect("in memory");
        let (segment, words) = (self.space.segment(name), Vec::with_capacity(places));
        let mut piece =
            Piece { extent: Extent::default(), segment, words, spilled: Vec::new(), copies: 0 };
        self.frozen(name, &mut |extent, part| {
            piece.extent = extent;
            piece.words.extend(part.iter().map(|word| word.load(Ordering::Acquire)));
            piece.spilled = self.spilled_in(extent);
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

    /// Takes everything out, and returns how many copies that were. No part goes away, nor a table
    /// below.
    ///
    /// For each key it is as if all its copies were removed at one moment, between the call and its
    /// return: one that is inserted meanwhile may stay, and one that was inserted before is gone.
    /// The moment differs from key to key.
    pub(super) fn clear(&self) -> u64 {
        let (mut name, mut copies) = (0, 0_u64);
        while name < self.space.names() {
            self.frozen(name, &mut |extent, part| {
                // As for every lane that is emptied. Spilled copies go while nobody counts them.
                self.raise_versions();
                for word in part {
                    if word.load(Ordering::Acquire) != 0 {
                        let emptied = word.swap(0, Ordering::AcqRel);
                        copies += u64::from(self.lanes.occupied(emptied));
                    }
                }
                copies = copies.saturating_add(self.drain_spilled(extent));
                if self.space.is_owing() {
                    let owed = self.space.owed(self.space.segment(extent.name));
                    owed.inspect(|owed| owed.store(0, Relaxed));
                }
                name = extent.end();
            });
        }
        let below = self.children().map(|(_, child)| child.clear());
        below.fold(copies, u64::saturating_add)
    }
}
