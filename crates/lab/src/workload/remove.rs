//! Removals: every key, from full to empty.

use std::time::Duration;

use super::{Filled, Workload};
use crate::measure::timed;
use crate::subject::{Access, Operation};

/// Batches that even a small filter is emptied in.
const BATCHES: u64 = 32;

/// How far chance may go before it is called a fault.
const SIGMAS: f64 = 6.0;

impl Workload<'_> {
    /// Removes all keys. A filter that supports both ways gets them in turn, one batch one by one
    /// and the next at once, so that both see the same loads.
    pub(super) fn empty(&mut self, contender: usize, filled: &mut Filled) {
        if !filled.subject.can(Operation::Remove, Access::Single) {
            return;
        }
        let keys = self.settings.keys;
        let ways = [Access::Single, filled.subject.fastest(Operation::Remove)];
        let (mut removed, mut counts, mut times) = (0, [0; 2], [Duration::ZERO; 2]);
        let size = usize::try_from(keys.div_ceil(BATCHES)).unwrap_or(usize::MAX);
        let (size, mut turn) = (size.min(self.batch.len()), 1);
        self.keys.batches(0..keys, &mut self.batch[..size], |batch| {
            turn = 1 - turn;
            counts[turn] += batch.len() as u64;
            removed += timed(&mut times[turn], || filled.subject.remove_all(ways[turn], batch));
        });
        if ways[0] == ways[1] {
            self.rate(contender, "remove single", keys, times.iter().sum());
        } else {
            for turn in 0..2 {
                let measure = format!("remove {}", ways[turn]);
                self.rate(contender, &measure, counts[turn], times[turn]);
            }
        }
        self.fault(contender, "not removed", filled.accepted.abs_diff(removed));
        self.check_empty(contender, filled);
    }

    /// Nothing is found, except as often as the filter's own rate allows: sets that grew far keep
    /// doubles of their first keys.
    fn check_empty(&mut self, contender: usize, filled: &Filled) {
        let keys = self.settings.keys;
        if filled.accepted != keys {
            return;
        }
        let mut found = 0;
        let some = keys.min(self.batch.len() as u64);
        self.keys.batches(keys - some..keys, &mut self.batch, |batch| {
            found += filled.subject.find_all(Access::Single, batch, &mut []);
        });
        let chance = filled.subject.expected_fpr().unwrap_or(0.0) * some as f64;
        let most = chance + SIGMAS * chance.sqrt();
        self.fault(contender, "not removed", if found as f64 > most { found } else { 0 });
    }
}
