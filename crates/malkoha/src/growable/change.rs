//! Inserting, removing and replacing.

use super::directory::Home;
use super::matches::Match;
use super::segment::Segment;
use super::shape::full;
use super::table::{Growing, MAX_KICKS, Record, Target, with_codec};
use crate::addressing::Probe;
use crate::layout;
use crate::spill::MAX_COPIES;

/// Copies of a key that is to be inserted.
///
/// A set takes the fingerprint that is there: it makes nothing more match by chance, and copies of
/// a key are alike. A map does so only for what it spills, so that its keys meet no more
/// candidates than they must.
struct Likeness {
    longest: u64,
    copies: u32,
    /// The fingerprint to insert.
    own: u64,
}

impl Growing {
    /// Inserts a copy of a key. `false` if there is no room and the fingerprints have no bit left
    /// for another split; nothing has changed then but that segments may have grown.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64, value: u64) -> bool {
        let inserted = self.try_insert(hash, value);
        self.len += u64::from(inserted);
        inserted
    }

    #[inline]
    fn try_insert(&mut self, hash: u64, value: u64) -> bool {
        loop {
            let target = self.target(hash);
            let value_bits = u64::BITS - value.leading_zeros();
            if value_bits > target.entry.form().value_bits {
                if !self.widen(target.number(), value_bits) {
                    return false;
                }
                continue;
            }
            let fresh =
                Likeness { longest: target.fingerprint, copies: 0, own: target.fingerprint };
            let has_like = self.has_match(&target);
            let Likeness { longest, copies, own } =
                if has_like { self.likeness(&target) } else { fresh };
            if copies < MAX_COPIES
                && self.has_room(target.number())
                && self.insert_at(&target, own, value)
            {
                return true;
            }
            if self.spills(&target, copies) {
                self.spill.add(target.spill_key(longest, value), 1);
                return true;
            }
            if !self.grow(target.number()) {
                return false;
            }
        }
    }

    /// What is there of a key that may be there already.
    #[cold]
    fn likeness(&self, target: &Target) -> Likeness {
        let found = self.find(target);
        let longest = found.longest().unwrap_or(target.fingerprint);
        if self.shape.value_bits > 0 {
            Likeness { longest, copies: found.len(), own: target.fingerprint }
        } else {
            Likeness { longest, copies: found.copies(longest), own: longest }
        }
    }

    /// Whether a copy that got no slot is spilled, with so many in slots.
    #[inline(always)]
    pub(super) fn spills(&self, target: &Target, copies: u32) -> bool {
        copies >= MAX_COPIES || (copies > 0 && !self.is_crowded(target.number()))
    }

    /// Whether a segment should take more keys before it grows.
    #[inline(always)]
    pub(super) fn has_room(&self, number: usize) -> bool {
        let Record { form, len, .. } = self.records[number];
        u64::from(len) < full(form.grid.buckets(), self.is_first()) || !self.can_grow(number)
    }

    /// Whether a copy that finds no place shall make a segment grow: where there is much room
    /// elsewhere, or no more to be had, it is spilled.
    fn is_crowded(&self, number: usize) -> bool {
        let Record { form, len, .. } = self.records[number];
        u64::from(len) * 4 >= full(form.grid.buckets(), false) * 3 && self.can_grow(number)
    }

    /// Puts a fingerprint into a slot of the target's buckets, which are its own too: it matches
    /// the target's, if it is not that.
    #[inline]
    pub(super) fn insert_at(&mut self, target: &Target, fingerprint: u64, value: u64) -> bool {
        let number = target.number();
        let (bytes, form) = (self.segments.bytes_mut(number), target.entry.form());
        let inserted = with_codec!(&self.kernel, codec => {
            // The buckets are known: what the home tells is not asked for.
            let segment = Segment::new(codec, form, Home::ROOT);
            segment.push_to_one(bytes, target.places, target.buckets, fingerprint, value)
        }) || self.insert_with_moves(target, fingerprint, value);
        if inserted {
            self.records[number].len += 1;
            self.occupied += 1;
            self.count_in(target.entry.depth(), fingerprint);
        }
        inserted
    }

    #[cold]
    #[inline(never)]
    fn insert_with_moves(&mut self, target: &Target, fingerprint: u64, value: u64) -> bool {
        let Record { home, form, .. } = self.records[target.number()];
        let (bytes, search) = (self.segments.bytes_mut(target.number()), &mut self.search);
        let [first, second] = target.places;
        let probe = Probe { segment: 0, first, second, fingerprint };
        with_codec!(&self.kernel, codec => {
            let segment = Segment::new(codec, form, home);
            layout::insert_with_moves(&segment, bytes, search, &probe, value, MAX_KICKS)
        })
    }

    /// Removes one copy with this value of a key.
    pub(super) fn remove(&mut self, hash: u64, value: u64) -> bool {
        let removed = self.try_remove(hash, value);
        self.len = self.len.saturating_sub(removed.into());
        if removed && self.len == 0 && self.occupied > 0 {
            // All that is left are the doubles of spent fingerprints.
            self.clear();
        }
        removed
    }

    fn try_remove(&mut self, hash: u64, value: u64) -> bool {
        let target = self.target(hash);
        for found in self.find(&target).longest_first() {
            if self.spill.take(&target.spill_key(found.fingerprint, value)) {
                return true;
            }
            if found.value == value {
                self.remove_at(&target, found);
                return true;
            }
        }
        false
    }

    fn remove_at(&mut self, target: &Target, found: &Match) {
        let number = target.number();
        let Record { home, form, .. } = self.records[number];
        let other = self.spill.pop(target.spill_key(found.fingerprint, 0));
        let bytes = self.segments.bytes_mut(number);
        with_codec!(&self.kernel, codec => {
            let segment = Segment::new(codec, form, home);
            match other {
                // Copies are spilled only while others lie in the table.
                Some(other) => segment.set_value(bytes, found.at, other),
                None => segment.remove_at(bytes, found.at),
            }
        });
        if other.is_none() {
            self.records[number].len -= 1;
            self.occupied -= 1;
            self.count_out(home.depth, found.fingerprint);
        }
    }

    /// Replaces one value of a key; answers whether it was found.
    pub(super) fn update(&mut self, hash: u64, old: u64, new: u64) -> bool {
        let target = self.target(hash);
        let number = target.number();
        let key = |found: &Match| target.spill_key(found.fingerprint, old);
        let mut found = self.find(&target);
        let found = found.longest_first();
        let is_it = |found: &&mut Match| found.value == old || self.spill.count(&key(found)) > 0;
        let Some(found) = found.iter_mut().find(is_it) else { return false };
        let value_bits = u64::BITS - new.leading_zeros();
        // All slots stay where they are.
        if value_bits > self.records[number].form.value_bits && !self.widen(number, value_bits) {
            return false;
        }
        if found.value == old {
            let Record { home, form, .. } = self.records[number];
            with_codec!(&self.kernel, codec => {
                let segment = Segment::new(codec, form, home);
                segment.set_value(self.segments.bytes_mut(number), found.at, new);
            });
        } else if self.spill.take(&key(found)) {
            self.spill.add(target.spill_key(found.fingerprint, new), 1);
        }
        true
    }

    /// Removes all keys. Keeps the segments.
    pub(super) fn clear(&mut self) {
        self.segments.clear();
        self.records.iter_mut().for_each(|record| record.len = 0);
        self.len = 0;
        self.occupied = 0;
        self.known.fill(0);
        self.spill.clear();
    }
}
