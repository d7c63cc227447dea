//! Removals: every key, from full to empty.

use std::time::Duration;

use super::{Filled, Workload};
use crate::measure::{rate, timed};
use crate::results::Measure;
use crate::subject::{How, Operation};

/// Batches that even a small filter is emptied in.
const BATCHES: u64 = 32;

/// How far chance may go before it is called a fault.
const SIGMAS: f64 = 6.0;

impl Workload<'_> {
    /// Removes all keys. A filter that supports both ways gets them in turn, one batch one by one
    /// and the next at once, so that both see the same loads.
    pub(super) fn empty(&mut self, contender: usize, filled: &mut Filled) {
        if !filled.subject.can(Operation::Remove, How::Single) {
            return;
        }
        let keys = self.settings.keys;
        let ways = [How::Single, filled.fastest(Operation::Remove)];
        let (mut removed, mut counts, mut times) = (0, [0; 2], [Duration::ZERO; 2]);
        let size = usize::try_from(keys.div_ceil(BATCHES)).unwrap_or(usize::MAX);
        self.members(0, keys, size, |batch, answers, number| {
            let turn = usize::from(number % 2 == 1);
            counts[turn] += batch.len() as u64;
            removed +=
                timed(&mut times[turn], || filled.subject.remove(ways[turn], batch, answers));
        });
        if ways[0] == ways[1] {
            let rate = rate(keys, times.iter().sum());
            self.results.record(contender, Measure::Remove(How::Single), rate);
        } else {
            for turn in 0..2 {
                let rate = rate(counts[turn], times[turn]);
                self.results.record(contender, Measure::Remove(ways[turn]), rate);
            }
        }
        self.fault(contender, Measure::NotRemoved, filled.accepted.abs_diff(removed));
        self.check_empty(contender, filled);
    }

    /// Nothing is found, but for chance in what a filter says that removals leave: sets that grew
    /// far keep doubles of their first keys.
    fn check_empty(&mut self, contender: usize, filled: &Filled) {
        let keys = self.settings.keys;
        if filled.accepted != keys {
            return;
        }
        let mut found = 0;
        let some = keys.min(self.batch.len() as u64);
        self.members(keys - some, keys, usize::MAX, |batch, answers, _| {
            found += filled.subject.find(How::Single, batch, answers);
        });
        let chance = filled.subject.expected_fpr().unwrap_or(0.0) * some as f64;
        let most = chance + SIGMAS * chance.sqrt();
        self.fault(contender, Measure::NotRemoved, if found as f64 > most { found } else { 0 });
    }
}
