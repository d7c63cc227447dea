//! The union and the intersection of two tables, without the keys.
//!
//! The path and fingerprint of a slot are the first bits of its key's string, and its bucket and
//! fingerprint determine its places. So a slot can be inserted into another table as a key can,
//! except for the bits that are no longer known: its fingerprint stays as short as it is.
//!
//! All slots of a set that match a key must stay in one chain whose longest counts for all, or
//! copies would be counted too low. A fingerprint that comes takes the longest there that begins
//! it; those there that are longer are cut down to it. They match nothing then that it does not
//! match.

use super::change::{Existing, MAX_REBUILDS};
use super::directory::Target;
use super::grid::MIX_BITS;
use super::matches::Match;
use super::partial::Partial;
use super::shape::Shape;
use super::table::{Growing, narrow};
use crate::error::UnionError;
use crate::layout::Copies;
use crate::spill::{MAX_COPIES, MAX_LEN};

/// The number of splits of a table beyond the known bits of a class up to which its copies are
/// counted in all segments where it may lie. Beyond that, each key's copies are added to what is
/// there: this counts too many, but otherwise one key would cost a look at very many segments.
const MOST_SPREAD: u32 = 6;

impl Growing {
    /// The union of both; an error if there are too many copies to count.
    pub(crate) fn united(&self, other: &Self, copies: Copies) -> Result<Self, UnionError> {
        let shape = self.united_shape(other);
        let copies_in_both = self.filled().saturating_add(other.filled());
        if copies_in_both > MAX_LEN {
            return Err(UnionError::Copies);
        }
        // The table with fewer keys is inserted into the other, if either can take the other's
        // keys.
        let (into, from) = if takes(self, other, &shape) { (self, other) } else { (other, self) };
        let mut union = Self { capacity: self.capacity, shape, ..into.clone() };
        union.segments.set_huge_pages(self.segments.has_huge_pages());
        let mut added = 0;
        // The slots first: copies are spilled only while others lie in the table.
        from.for_each_copy(|partial, value, n| match copies {
            Copies::Sum => union.adopt(partial, value, n),
            Copies::Most => added += union.reach(partial, value, from),
        });
        // Doubles are not keys of their own, except in a map: there they are pairs from now on,
        // even those of a map whose values had no bits.
        let keys = |table: &Self| if shape.copies_exhausted() { table.len } else { table.filled() };
        let of_one = keys(from);
        union.len = keys(into)
            + match copies {
                Copies::Sum => of_one,
                // The share of doubles among the added copies is that among all.
                Copies::Most => share(added, of_one, from.filled()),
            };
        Ok(union)
    }

    /// The shape of a table that can hold what is in both.
    fn united_shape(&self, other: &Self) -> Shape {
        let (ours, theirs) = (self.shape, other.shape);
        // The longer fingerprints where keys are, or else those of the table with more keys.
        let depth = self.directory.depth().max(other.directory.depth());
        let rank = |table: &Self| (table.shape.widths.at(depth), table.occupied);
        Shape {
            widths: if rank(other) > rank(self) { theirs.widths } else { ours.widths },
            roots: ours.roots.min(theirs.roots),
            value_bits: ours.value_bits.max(theirs.value_bits),
            ages: ours.ages && theirs.ages,
        }
    }

    /// Inserts copies of what is known of a key. Does not count them as keys.
    fn adopt(&mut self, partial: &Partial, value: u64, mut copies: u64) {
        let mut rebuilds = 0;
        loop {
            if let Some(halves) = self.halves(partial) {
                return halves.iter().for_each(|half| self.adopt(half, value, copies));
            }
            let target = self.aim_at(partial);
            let is_set = self.shape.value_bits == 0;
            let existing = if is_set { self.settle(&target) } else { self.existing_pairs(&target) };
            if copies == 0 {
                return;
            }
            let value_bits = u64::BITS - value.leading_zeros();
            if value_bits > target.entry.word.form().value_bits {
                self.widen(target.number(), value_bits);
            } else if existing.copies < MAX_COPIES
                && !existing.is_stashed
                && self.has_room(target.number())
                && self.insert_at(&target, existing.own, value)
            {
                copies -= 1;
            } else if self.spills(target.number(), &existing) || rebuilds == MAX_REBUILDS {
                return self.spill_copies(&target, &existing, value, copies);
            } else {
                self.grow(target.number());
                rebuilds += 1;
            }
        }
    }

    /// The copies of a map's key, of which only the target's fingerprint is known. Longer
    /// fingerprints are not among them, since other keys might have that value.
    fn existing_pairs(&self, target: &Target) -> Existing {
        let own = target.spot.fingerprint;
        let mut related = self.related(target);
        let is_longer = |found: &Match| found.fingerprint.trailing_zeros() < own.trailing_zeros();
        let related = related.longest_first();
        let begins = &related[related.partition_point(is_longer)..];
        let copies = begins.iter().map(|found| u32::from(found.has_slot())).sum();
        let is_stashed = begins.iter().any(|found| !found.has_slot());
        let longest = begins.first().map_or(own, |found| found.fingerprint);
        Existing { longest, copies, is_stashed, own }
    }

    /// Ensures that what is known of a key of `from` matches here, and that this table has
    /// as many copies as `from` of all that might be the same key. Returns how many were added.
    fn reach(&mut self, partial: &Partial, value: u64, from: &Self) -> u64 {
        if let Some([low, high]) = self.halves(partial) {
            return self.reach(&low, value, from).max(self.reach(&high, value, from));
        }
        // The shortest there that might be the same key stands for all of them. A shorter one might
        // be here.
        let least = self.aim_at(partial).entry.word.depth() + MIX_BITS;
        let shortest = partial.cut(from.shortest(partial).max(least));
        let class = shortest.cut(self.shortest(&shortest).max(least));
        let present = self.copies_in(partial, &class, value);
        let spread = from.aim_at(partial).entry.word.depth() + MIX_BITS;
        let missing = if spread <= class.known + MOST_SPREAD {
            from.copies_of(&class, value).saturating_sub(present)
        } else {
            from.copies_in(partial, &class, value)
        };
        // All copies that were counted must match all keys of the class, also what continues the
        // class on another branch than this key.
        self.settle(&self.aim_at(&class));
        self.adopt(&shortest, value, missing);
        missing
    }

    /// The fewest bits that a slot which begins this knows of its string; what this knows, if there
    /// is none.
    fn shortest(&self, partial: &Partial) -> u32 {
        let target = self.aim_at(partial);
        let found = self.find(&target);
        let known = |fingerprint| narrow(target.known_bits(fingerprint) as u64);
        found.fingerprints().map(known).fold(partial.known, u32::min)
    }

    /// Copies with this value of all that begins or continues `class` in the segment of `partial`.
    fn copies_in(&self, partial: &Partial, class: &Partial, value: u64) -> u64 {
        let mut target = self.aim_at(partial);
        target.spot.fingerprint = class.fingerprint(&self.shape, target.entry.word.depth());
        let related = self.related(&target);
        let in_slots = related.values().filter(|&found| found == value).count() as u64;
        let spilled = |fingerprint| self.spill.count(&target.spill_key(fingerprint, value));
        related.fingerprints().map(spilled).fold(in_slots, u64::saturating_add)
    }

    /// Copies with this value of all that begins or continues `class`, in all segments where that
    /// might be: copies that lie in several segments can be counted more than once.
    fn copies_of(&self, class: &Partial, value: u64) -> u64 {
        match self.halves(class) {
            Some(halves) => halves.iter().map(|half| self.copies_of(half, value)).sum(),
            None => self.copies_in(class, class, value),
        }
    }

    /// The copies of a set's key, of which only the target's fingerprint is known. Cuts longer
    /// fingerprints down to it.
    fn settle(&mut self, target: &Target) -> Existing {
        let own = target.spot.fingerprint;
        let mut related = self.related(target);
        let is_stashed = related.is_stashed();
        let is_longer = |found: &Match| found.fingerprint.trailing_zeros() < own.trailing_zeros();
        let related = related.longest_first();
        let (longer, others) = related.split_at(related.partition_point(is_longer));
        let longest = others.first().map_or(own, |found| found.fingerprint);
        let is_like = |found: &&Match| found.has_slot();
        let alike = others.iter().filter(|found| found.fingerprint == longest);
        let copies = alike.chain(longer).filter(is_like).count();
        for found in longer {
            self.cut(target, found, longest);
        }
        // At most 8.
        let copies = u32::try_from(copies).unwrap_or(MAX_COPIES);
        Existing { longest, copies, is_stashed, own: longest }
    }

    /// Gives a slot and its spilled copies a fingerprint that begins its own.
    fn cut(&mut self, target: &Target, found: &Match, fingerprint: u64) {
        let number = target.number();
        let segment = self.segment(number);
        if found.has_slot() {
            let bytes = self.segments.bytes_mut(number);
            segment.set_fingerprint(bytes, found.at, fingerprint);
            self.count_out(target.known_bits(found.fingerprint));
            self.count_in(target.known_bits(fingerprint));
        }
        let [from, to] = [found.fingerprint, fingerprint].map(|f| target.spill_key(f, 0));
        self.spill.rename(from, to);
    }
}

/// The part of `added` that `part` is of `all`, rounded down, and at most `part`.
pub(super) fn share(added: u64, part: u64, all: u64) -> u64 {
    let share = u128::from(added) * u128::from(part) / u128::from(all.max(1));
    u64::try_from(share).map_or(part, |share| share.min(part))
}

/// Whether `ours` is the one of two tables that takes the other's keys.
fn takes(ours: &Growing, theirs: &Growing, shape: &Shape) -> bool {
    let can = |table: &Growing| table.shape.widths == shape.widths;
    can(ours) && (!can(theirs) || ours.occupied >= theirs.occupied)
}

impl Growing {
    /// Removes all that is not a key of `other`. A key that is in both stays, with the copies that
    /// it has here.
    pub(crate) fn intersect(&mut self, other: &Self) {
        let before = self.filled();
        let shape = self.shape;
        for number in 0..self.segments() {
            let home = self.records[number].home;
            self.retain(number, |slot, mix| other.may_have(&Partial::new(slot, mix, home, &shape)));
        }
        // The share of doubles among those that are left is that among all.
        self.len = share(self.len, self.filled(), before);
    }

    /// Whether a slot might be of the same key.
    fn may_have(&self, partial: &Partial) -> bool {
        match self.halves(partial) {
            Some(halves) => halves.iter().any(|half| self.may_have(half)),
            None => !self.related(&self.aim_at(partial)).is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
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
}
