//! The intersection of two sets, without the keys.

use super::partial::Partial;
use super::segment::Position;
use super::table::{Growing, narrow};
use super::union::share;
use crate::spill::SpillKey;

impl Growing {
    /// Removes all that is not a key of `other`. A key that is in both stays, with the copies that
    /// it has here.
    pub(crate) fn intersect(&mut self, other: &Self) {
        let before = self.filled();
        for number in 0..self.segments() {
            for (at, key) in self.strangers(number, other).into_iter().rev() {
                self.drop_slot(number, at, key);
            }
        }
        let stashed = self.spill.iter().map(|(key, _)| key).filter(|key| {
            let is_stashed = self.records[key.segment as usize].stashed > 0 && !self.has_slot(key);
            is_stashed && !other.may_have(&self.partial_of(key))
        });
        for key in stashed.collect::<Vec<_>>() {
            self.spill.remove(&key);
        }
        // The share of doubles among those that are left is that among all.
        self.len = share(self.len, self.filled(), before);
    }

    /// The slots of a segment that are not keys of `other`, in order.
    fn strangers(&self, number: usize, other: &Self) -> Vec<(Position, SpillKey)> {
        let (bytes, grid) = (self.bytes(number), self.records[number].form.grid);
        let mut strangers = Vec::new();
        let segment = self.segment(number);
        for bucket in 0..grid.buckets() {
            let mut lane = 0;
            segment.for_each_in(bytes, bucket, |slot, mix| {
                if !other.may_have(&self.partial(number, slot, mix)) {
                    let place = narrow(slot.place.min(mix.alternate(slot.place)));
                    let fingerprint = narrow(slot.fingerprint);
                    let segment = narrow(number as u64);
                    let key = SpillKey { segment, place, fingerprint, value: 0 };
                    strangers.push((Position { bucket, lane }, key));
                }
                lane += 1;
            });
        }
        strangers
    }

    /// Whether a slot might be of the same key.
    fn may_have(&self, partial: &Partial) -> bool {
        match self.halves(partial) {
            Some(halves) => halves.iter().any(|half| self.may_have(half)),
            None => !self.related(&self.aim_at(partial)).is_empty(),
        }
    }

    /// Empties a slot and drops its spilled copies.
    fn drop_slot(&mut self, number: usize, at: Position, key: SpillKey) {
        self.segment(number).remove_at(self.segments.bytes_mut(number), at);
        self.records[number].len -= 1;
        self.occupied -= 1;
        self.count_out(self.known_bits(number, key.fingerprint.into()));
        self.spill.remove(&key);
    }
}
