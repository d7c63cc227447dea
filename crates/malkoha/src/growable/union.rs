//! Two tables in one, without the keys.
//!
//! Root, path and fingerprint of a slot are the first bits of its key's string, and bucket and
//! fingerprint tell its places. So a slot can be inserted into another table as a key can, but for
//! the bits that nobody knows any more: it arrives as short as it is.
//!
//! All slots that match a key must stay in one chain whose longest counts for all, or copies would
//! be counted too low. A fingerprint that comes takes the longest there that begins it; those there
//! that are longer are cut down to it. They match nothing then that it does not match.

use super::directory::Home;
use super::grid::Mix;
use super::matches::{Match, Matches};
use super::segment::{Segment, Slot};
use super::shape::Shape;
use super::table::{GrowTable, Record, Target, birth, with_codec};
use crate::error::{InsertError, UnionError};
use crate::spill::{MAX_COPIES, MAX_LEN};

/// What a slot tells of its key.
struct Partial {
    root: u64,
    /// The first bits of the key's string, then zeros.
    string: u64,
    /// How many bits of the string are known: as many as a key's fingerprint has, or more.
    known: u32,
    places: [u64; 2],
    mix: Mix,
}

impl Partial {
    fn new(slot: Slot, mix: Mix, home: Home, shape: &Shape) -> Self {
        let Home { root, depth, path } = home;
        let zeros = slot.fingerprint.trailing_zeros();
        // Without the mark.
        let rest = slot.fingerprint & slot.fingerprint.wrapping_sub(1);
        Self {
            root: root.into(),
            // In two steps, because the depth may be 0.
            string: (path << 1 << (63 - depth)) | (rest << (63 - depth - shape.bits)),
            known: depth + shape.bits.saturating_sub(zeros),
            places: [slot.place, mix.alternate(slot.place)],
            mix,
        }
    }

    /// The fingerprint in a segment at this depth.
    fn fingerprint(&self, depth: u32, bits: u32) -> u64 {
        // Deeper than a slot knows are only damaged tables.
        let unknown = bits - self.known.saturating_sub(depth).clamp(1, bits);
        let string = (self.string << depth) >> (64 - bits) >> unknown;
        ((string << 1) | 1) << unknown
    }
}

impl GrowTable {
    /// Both in one; an error if places or fingerprints of the two do not mean the same, if the
    /// fingerprints have no bit left for another split, or if copies are beyond counting.
    pub(crate) fn united(&self, other: &Self) -> Result<Self, UnionError> {
        let (ours, theirs) = (self.shape, other.shape);
        if ours.bits != theirs.bits {
            return Err(UnionError::Fingerprints { ours: ours.bits, theirs: theirs.bits });
        }
        if !theirs.roots.is_multiple_of(ours.roots) {
            return Err(UnionError::Roots { ours: ours.roots, theirs: theirs.roots });
        }
        let len = self.len.checked_add(other.len);
        if len.is_none_or(|len| len > MAX_LEN) {
            return Err(UnionError::Copies);
        }
        // The fewer keys are inserted, if either can take the other's.
        let (into, from) = if theirs.roots == ours.roots && self.occupied < other.occupied {
            (other, self)
        } else {
            (self, other)
        };
        let mut union = Self { capacity: self.capacity, ..into.clone() };
        union.segments.set_huge_pages(self.segments.has_huge_pages());
        // The slots first: copies are spilled only while others lie in the table.
        let mut fits = true;
        let ratio = u64::from(from.shape.roots / into.shape.roots);
        let mut adopt = |partial: Partial, copies| {
            // A root of theirs is one of the parts that ours would be split into evenly.
            let partial = Partial { root: partial.root / ratio, ..partial };
            fits = fits && union.adopt(&partial, copies);
        };
        from.for_each_slot(|partial| adopt(partial, 1));
        from.for_each_spilled(&mut adopt);
        if fits { Ok(union) } else { Err(InsertError::GrownOut { len: union.len }.into()) }
    }

    fn for_each_slot(&self, mut each: impl FnMut(Partial)) {
        for (number, record) in self.records.iter().enumerate() {
            let bytes = self.bytes(number);
            with_codec!(&self.kernel, codec => {
                let segment = Segment::new(codec, record.form, record.home);
                let grid = record.form.grid;
                for bucket in scattered(grid.buckets()) {
                    segment.for_each_in(bytes, bucket, grid.stretch(bucket), |slot, mix| {
                        each(Partial::new(slot, mix, record.home, &self.shape));
                    });
                }
            });
        }
    }

    fn for_each_spilled(&self, mut each: impl FnMut(Partial, u64)) {
        for (key, copies) in self.spill.iter() {
            let home = self.records[key.segment as usize].home;
            with_codec!(&self.kernel, codec => {
                let mix = self.segment(codec, key.segment as usize).mix(key.fingerprint.into());
                let (fingerprint, place) = (key.fingerprint.into(), key.place.into());
                let slot = Slot { fingerprint, place, value: 0 };
                each(Partial::new(slot, mix, home, &self.shape), copies);
            });
        }
    }

    /// Inserts copies of a key of another table; `false` as [`insert`](Self::insert).
    fn adopt(&mut self, partial: &Partial, copies: u64) -> bool {
        loop {
            let target = self.target_of(partial);
            let (fingerprint, present) = self.settle(&target);
            let inserted = present < MAX_COPIES
                && self.has_room(target.number())
                && self.insert_at(&target, fingerprint, 0);
            if inserted || self.spills(&target, present) {
                let spilled = copies - u64::from(inserted);
                if spilled > 0 {
                    self.spill.add(target.spill_key(fingerprint, 0), spilled);
                }
                self.len += copies;
                return true;
            }
            if !self.grow(target.number()) {
                return false;
            }
        }
    }

    fn target_of(&self, partial: &Partial) -> Target {
        let entry = self.directory.find(partial.root, partial.string);
        let fingerprint = partial.fingerprint(entry.depth(), self.shape.bits);
        self.aim(entry, partial.places, partial.mix, fingerprint)
    }

    /// The fingerprint that copies of this key shall have, and how many slots have it. Those that
    /// continue the key's own are cut down to it.
    fn settle(&mut self, target: &Target) -> (u64, u32) {
        let own = target.fingerprint;
        let mut related = self.related(target);
        let zeros = own.trailing_zeros();
        let is_longer = |found: &Match| found.fingerprint.trailing_zeros() < zeros;
        let related = related.longest_first();
        let (longer, others) = related.split_at(related.partition_point(is_longer));
        let fingerprint = others.first().map_or(own, |found| found.fingerprint);
        let alike = others.iter().filter(|found| found.fingerprint == fingerprint).count();
        for found in longer {
            self.cut(target, found, fingerprint);
        }
        // At most 8.
        let present = u32::try_from(alike + longer.len()).unwrap_or(MAX_COPIES);
        (fingerprint, present)
    }

    /// The slots at the key's places whose fingerprints begin its own or continue it.
    fn related(&self, target: &Target) -> Matches {
        let number = target.number();
        let bytes = self.bytes(number);
        let mut found = Matches::default();
        with_codec!(&self.kernel, codec => {
            let segment = self.segment(codec, number);
            segment.for_each_related(bytes, target.places, target.fingerprint, |at| {
                found.push(Match { fingerprint: segment.fingerprint(bytes, at), value: 0, at });
            });
        });
        found
    }

    /// Gives a slot and the copies beside it a fingerprint that begins its own.
    fn cut(&mut self, target: &Target, found: &Match, fingerprint: u64) {
        let number = target.number();
        let Record { home, form, .. } = self.records[number];
        let bytes = self.segments.bytes_mut(number);
        with_codec!(&self.kernel, codec => {
            Segment::new(codec, form, home).set_fingerprint(bytes, found.at, fingerprint);
        });
        let before = &mut self.born[birth(home.depth, found.fingerprint)];
        *before = before.saturating_sub(1);
        self.born[birth(home.depth, fingerprint)] += 1;
        let [from, to] = [found.fingerprint, fingerprint].map(|f| target.spill_key(f, 0));
        self.spill.rename(&from, to);
    }
}

/// All buckets, each far from those before it: keys that came in their order would crowd one end of
/// a segment, where none may be left room, before the other end gets any.
fn scattered(buckets: u64) -> impl Iterator<Item = u64> {
    let is_coprime = |&step: &u64| {
        let (mut a, mut b) = (buckets, step);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    // The golden ratio's steps stay farthest apart.
    let step = (buckets * 5 / 8..).find(is_coprime).unwrap_or(1);
    (0..buckets).map(move |number| number * step % buckets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::GrowableCuckooFilter;

    /// Whichever of the two the copy is made of.
    #[test]
    fn the_choice_of_pages_stays() {
        let of = |keys: std::ops::Range<u32>, huge: bool| {
            let mut filter = GrowableCuckooFilter::with_capacity(10, 0.01).unwrap();
            filter.insert_many(&keys.collect::<Vec<_>>()).unwrap();
            filter.set_huge_pages(huge);
            filter
        };
        for huge in [true, false] {
            for (ours, theirs) in [(0..10, 10..30), (0..30, 30..40)] {
                let mut union = of(ours, huge);
                union.union_with(&of(theirs, !huge)).unwrap();
                assert_eq!(union.table.segments.has_huge_pages(), huge);
            }
        }
    }

    #[test]
    fn every_bucket_comes_once() {
        for buckets in (1..300).chain([4096, 6930, 8191, 8192]) {
            let mut seen: Vec<u64> = scattered(buckets).collect();
            assert!(buckets < 100 || seen[0].abs_diff(seen[1]) > buckets / 4);
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..buckets), "{buckets}");
        }
    }
}
