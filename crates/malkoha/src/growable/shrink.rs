//! Gives memory back when keys are gone: the halves of a split are merged again.
//!
//! The bit that a split took is the last of the path, so it can be given back. A fingerprint that
//! arrived since then has all its bits in use and drops the last one: it then matches as one that
//! arrived before the split, which the expected rate takes into account.

use super::codec::AnyCodec;
use super::directory::Directory;
use super::grid::{Grid, MAX_BUCKETS, PLACES};
use super::rebuild::{Misfit, Overflowed, pour};
use super::record::{Home, Record, most_known};
use super::segment::{Form, Segment};
use super::shape::ROOM;
use super::table::{Growing, narrow};
use crate::layout::Search;
use crate::spill::SpillKey;

/// Halves that need more buckets together stay apart, or the next insert would split them again.
const MOST_TOGETHER: u64 = PLACES + PLACES / 2;
/// Buckets of an empty table.
pub(super) const LEAST: u64 = 4;

impl Growing {
    /// Merges and rebuilds segments so that each has room for its keys and a fifth more, if not
    /// fewer buckets than a segment may have.
    pub(crate) fn shrink(&mut self) {
        for depth in (self.least_depth() + 1..=self.deepest()).rev() {
            // Backwards: merging one segment gives its number to the last, which was already
            // visited.
            for number in (0..self.segments.len()).rev() {
                let home = self.records.get(number).map(|record| record.home);
                if let Some(upper) = home.filter(|home| home.depth == depth && home.path & 1 == 1) {
                    let lower = Home { path: upper.path - 1, ..upper };
                    let sibling = self.directory.at(lower);
                    if self.records[sibling].home == lower {
                        self.merge(sibling, number);
                    }
                }
            }
        }
        let least = if self.segments.len() == 1 { LEAST } else { PLACES };
        for number in 0..self.segments.len() {
            let record = &mut self.records[number];
            (record.splits_at, record.failures) = (0, 0);
            let Record { form, len, home, .. } = *record;
            let least = if home.depth > 0 { PLACES } else { least };
            let wanted =
                self.shape.buckets_for(u64::from(len) * ROOM / 100).clamp(least, MAX_BUCKETS);
            if wanted < form.grid.buckets() {
                // If its keys do not fit, it stays as it is.
                self.resize(number, wanted);
            }
        }
        self.segments.compact();
        self.spill.shrink();
        self.search = Search::default();
        self.known.truncate(most_known(&self.shape, self.deepest()));
        self.known.shrink_to_fit();
        let within = self.directory.within();
        let directory = Directory::of(&self.records, &self.segments, &self.shape, within);
        self.directory = directory.expect("the segments cover what they covered");
    }

    /// The depth of a segment that is not a half of another: a root's depth, or that of the whole
    /// branch.
    pub(super) fn least_depth(&self) -> u32 {
        self.shape.root_depth().max(self.directory.within().depth)
    }

    /// Merges the segments of two sibling homes, if they fit; the first keeps its number, and the
    /// last segment gets that of the other one.
    pub(super) fn merge(&mut self, lower: usize, upper: usize) -> bool {
        let records = [self.records[lower], self.records[upper]];
        let len = records[0].len + records[1].len;
        let wanted = self.shape.buckets_for(u64::from(len) * ROOM / 100).max(PLACES);
        if wanted > MOST_TOGETHER {
            return false;
        }
        let value_bits = records[0].form.value_bits.max(records[1].form.value_bits);
        let form = Form { grid: Grid::new(narrow(wanted)), value_bits };
        let home = records[0].home.parent();
        let sources = [lower, upper].map(|number| self.segments.bytes(number));
        let search = &mut self.search;
        let mut overflowed = Overflowed { slots: Vec::new(), misfit: Misfit::Refuse };
        // Both halves in the same words, also where one has values of other widths.
        let halves = AnyCodec::new(&self.shape, home.depth + 1, form).wide();
        let any_codec = AnyCodec::new(&self.shape, home.depth, form);
        let [a, b] = records.map(|record| Segment::new(halves, record.form));
        let to = Segment::new(any_codec.wide(), form);
        let mut into = [to.zeroed()];
        let sources = [(a, sources[0]), (b, sources[1])];
        let fitted =
            pour(sources, &[to], &mut into, search, &mut overflowed, |half, fingerprint| {
                (0..1, halves.whole_in(to.codec, half, fingerprint))
            });
        if !fitted {
            return false;
        }
        let [bytes] = into;
        [lower, upper].into_iter().for_each(|number| self.count_slots(number, Self::count_out));
        let has_stash = [lower, upper].map(|number| self.forget_stash(number));
        self.install(lower, Record::new(home, form, len), bytes);
        self.count_slots(lower, Self::count_in);
        for (_, slot) in &overflowed.slots {
            self.count_in(self.known_bits(lower, slot.fingerprint));
        }
        for (half, number) in [lower, upper].into_iter().enumerate() {
            for (key, copies) in self.spill.drain(narrow(number as u64)) {
                let whole = halves.whole_in(any_codec.wide(), half, key.fingerprint.into());
                let fingerprint = narrow(whole);
                let segment = narrow(lower as u64);
                self.spill.add(SpillKey { segment, fingerprint, ..key }, copies);
            }
        }
        self.spill_overflowed([lower], overflowed, has_stash != [false; 2]);
        self.forget(upper);
        true
    }

    /// Adds all slots of a segment to the counts, or subtracts them.
    fn count_slots(&mut self, number: usize, count: fn(&mut Self, usize)) {
        let mut fingerprints = Vec::new();
        let each = |_, slot: super::segment::Slot, _| fingerprints.push(slot.fingerprint);
        self.segment(number).for_each_occupant(self.bytes(number), each);
        for fingerprint in fingerprints {
            count(self, self.known_bits(number, fingerprint));
        }
    }

    /// Gives this number to the last segment.
    fn forget(&mut self, number: usize) {
        let last = self.segments.len() - 1;
        self.segments.swap_remove(number);
        self.codecs.count_out(self.any_codec(number));
        self.records.swap_remove(number);
        self.refresh_fast_paths();
        if number == last {
            return;
        }
        self.point(number);
        for (key, copies) in self.spill.drain(narrow(last as u64)) {
            self.spill.add(SpillKey { segment: narrow(number as u64), ..key }, copies);
        }
    }
}
