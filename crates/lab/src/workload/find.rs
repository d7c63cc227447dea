//! Lookups: three mixes of present and absent keys, asked in every way that a filter offers.

use std::time::Duration;

use super::{Filled, Workload};
use crate::keys::Present;
use crate::measure::{rate, timed};
use crate::results::RATE;
use crate::subject::{Access, Operation};

const WAYS: [Access; 6] =
    [Access::Single, Access::Call, Access::Chain, Access::Hash, Access::Many, Access::Hashes];
/// Where the queries that warm the caches come from: far from those that are timed.
const WARM_UP: u64 = 1 << 40;

impl Workload<'_> {
    /// All contenders in turn for each kind of query, so that compared figures are seconds apart.
    pub(super) fn look_up(&mut self, filled: &[Filled], order: &[usize], run: u32) {
        let first = u64::from(run) * self.settings.lookups;
        for present in Present::ALL {
            let mut found: Vec<Vec<(Access, u64, f64)>> = vec![Vec::new(); filled.len()];
            for access in WAYS {
                for &contender in order {
                    if filled[contender].subject.can(Operation::Find, access) {
                        let (count, time) =
                            self.queries(&filled[contender], access, present, first);
                        found[contender].push((access, count, rate(self.settings.lookups, time)));
                    }
                }
            }
            for (contender, found) in found.iter().enumerate() {
                self.step(contender, "looked up");
                for &(access, _, rate) in found {
                    let measure = format!("find {access} {} %", present.0);
                    self.record(contender, &measure, RATE, rate);
                }
                // A chain looks up a choice of the keys.
                let all = found.iter().filter(|found| found.0 != Access::Chain);
                let counts: Vec<u64> = all.map(|found| found.1).collect();
                self.check_found(contender, &filled[contender], present, &counts);
            }
        }
    }

    /// How many of the queries were found, and the time that took.
    fn queries(
        &mut self,
        filled: &Filled,
        access: Access,
        present: Present,
        first: u64,
    ) -> (u64, Duration) {
        let lookups = self.settings.lookups;
        self.ask(filled, access, present, WARM_UP..WARM_UP + lookups / 8);
        self.ask(filled, access, present, first..first + lookups)
    }

    fn ask(
        &mut self,
        filled: &Filled,
        access: Access,
        present: Present,
        range: std::ops::Range<u64>,
    ) -> (u64, Duration) {
        let (mut found, mut time) = (0, Duration::ZERO);
        let (members, answers) = (self.settings.keys, &mut self.answers);
        self.keys.query_batches(present, members, range, &mut self.batch, |batch| {
            if matches!(access, Access::Hash | Access::Hashes) {
                filled.subject.hash(batch);
            }
            let answers = &mut answers[..batch.len()];
            found += timed(&mut time, || filled.subject.find_all(access, batch, answers));
        });
        (found, time)
    }

    /// All ways of asking must have the same answers; absent keys measure the false-positive rate,
    /// and present ones must be found.
    fn check_found(&mut self, contender: usize, filled: &Filled, present: Present, found: &[u64]) {
        let Some(&single) = found.first() else { return };
        let differing = found.iter().map(|count| count.abs_diff(single)).sum();
        self.fault(contender, "disagreements", differing);
        let lookups = self.settings.lookups;
        if present == Present(0) {
            let percent = single as f64 * 100.0 / lookups as f64;
            self.record(contender, "fpr", "%", percent);
        }
        if present == Present(100) && filled.accepted == self.settings.keys {
            self.fault(contender, "lost", lookups - single);
        }
    }
}
