//! The work that every contender is given: filled, queried and emptied, in runs whose order
//! alternates, with every answer checked.

mod fill;
mod find;
mod limits;
mod remove;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::keys::Keys;
use crate::measure::alternating;
use crate::results::{Measure, Results};
use crate::subject::{Contender, Subject};

/// How much work.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Keys that each filter is filled with.
    pub keys: u64,
    /// Times that everything is repeated.
    pub runs: u32,
    /// Queries of each kind, which is also the sample of the false-positive rate.
    pub lookups: u64,
    /// Keys handed over at a time.
    pub batch: usize,
    /// Threads for a parallel build, besides the build on one; 0 or 1 for none.
    pub threads: usize,
    /// Seed of the keys.
    pub seed: u64,
}

/// A filter that holds the keys that it accepted.
struct Filled {
    subject: Box<dyn Subject>,
    accepted: u64,
    refused: Vec<u64>,
}

struct Workload<'a> {
    settings: Settings,
    contenders: &'a [Contender],
    keys: Keys,
    /// The keys of the batch in hand, and the answers to them.
    batch: Vec<u64>,
    answers: Vec<bool>,
    /// All keys, for those who build from a slice; made when first needed.
    all: Vec<u64>,
    results: Results,
    progress: ProgressBar,
}

/// Gives all contenders the work, in one process, alternating.
///
/// # Errors
///
/// If a filter cannot be built, or there is no memory for the limit's tables. Wrong answers
/// are no error here: they are in the results, as [faults](Measure::is_fault).
pub fn run(settings: Settings, contenders: &[Contender]) -> Result<Results> {
    let mut workload = Workload {
        settings,
        contenders,
        keys: Keys::new(settings.seed),
        batch: vec![0; settings.batch],
        answers: vec![false; settings.batch],
        all: Vec::new(),
        results: Results::new(
            settings.keys,
            contenders.iter().map(|contender| contender.name.clone()).collect(),
        ),
        progress: progress(settings, contenders.len()),
    };
    workload.all_runs()?;
    workload.progress.finish_and_clear();
    Ok(workload.results)
}

fn progress(settings: Settings, contenders: usize) -> ProgressBar {
    // Filling, three mixes of queries, and emptying.
    let steps = u64::from(settings.runs) * (contenders as u64 * 5);
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {elapsed} {wide_msg}");
    // Drawn on stderr, and only if that is a terminal.
    ProgressBar::new(steps).with_style(style.expect("a valid template"))
}

impl Workload<'_> {
    fn all_runs(&mut self) -> Result<()> {
        let mut limits = Vec::new();
        for run in 0..self.settings.runs {
            let order = alternating(self.contenders.len(), run);
            let mut filled: Vec<Option<Filled>> = self.contenders.iter().map(|_| None).collect();
            for &contender in &order {
                self.step(contender, "filling");
                filled[contender] = Some(self.fill(contender, run)?);
            }
            let mut filled: Vec<Filled> = filled.into_iter().flatten().collect();
            if run == 0 {
                limits = self.limit_tables(&filled)?;
            }
            self.look_up(&filled, &limits, &order, run);
            for &contender in order.iter().rev() {
                self.step(contender, "emptying");
                self.empty(contender, &mut filled[contender]);
            }
        }
        Ok(())
    }

    fn step(&self, contender: usize, what: &str) {
        let name = &self.contenders[contender].name;
        self.progress.set_message(format!("{} keys, {name}: {what}", self.settings.keys));
        self.progress.inc(1);
    }

    /// Hands `from..to` over in batches of at most `size`: the batch's keys and its number.
    fn members(
        &mut self,
        from: u64,
        to: u64,
        size: usize,
        mut each: impl FnMut(&mut [u64], &mut [bool], u64),
    ) {
        let size = size.min(self.batch.len()) as u64;
        for (number, first) in (0..).zip((from..to).step_by(usize::try_from(size).unwrap_or(1))) {
            let length = usize::try_from(size.min(to - first)).unwrap_or(0);
            let batch = &mut self.batch[..length];
            self.keys.members(first, batch);
            each(batch, &mut self.answers[..length], number);
        }
    }

    fn fault(&mut self, contender: usize, measure: Measure, count: u64) {
        self.results.record(contender, measure, count as f64);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::keys::Present;
    use crate::subject::{How, Operation};

    /// Has room for so many keys; beyond that, it refuses, keeps the new key and evicts
    /// an old one.
    struct Lossy(HashSet<u64>, usize);

    impl Subject for Lossy {
        fn can(&self, _: Operation, how: How) -> bool {
            how == How::Single
        }
        fn insert(&mut self, _: How, keys: &[u64], refused: &mut Vec<u64>) {
            for &key in keys {
                if self.0.len() == self.1 {
                    let old = *self.0.iter().next().unwrap();
                    self.0.remove(&old);
                    refused.push(key);
                }
                self.0.insert(key);
            }
        }
        fn find(&self, _: How, keys: &[u64], _: &mut [bool]) -> u64 {
            keys.iter().filter(|key| self.0.contains(key)).count() as u64
        }
        fn remove(&mut self, _: How, keys: &[u64], _: &mut [bool]) -> u64 {
            keys.iter().filter(|key| self.0.remove(key)).count() as u64
        }
        fn hash(&self, _: &mut [u64]) {}
        fn bytes(&self) -> u64 {
            9000
        }
        fn load(&self) -> Option<f64> {
            None
        }
        fn expected_fpr(&self) -> Option<f64> {
            None
        }
    }

    #[test]
    fn what_a_filter_loses_is_counted_although_it_says_no() {
        let contender = Contender {
            name: "lossy".into(),
            ours: false,
            make: Box::new(|_| Ok(Box::new(Lossy(HashSet::new(), 900)))),
            build: None,
        };
        let settings =
            Settings { keys: 1000, runs: 2, lookups: 500, batch: 64, threads: 1, seed: 3 };
        let results = run(settings, &[contender]).unwrap();
        assert_eq!(results.runs(0, Measure::Refused), [100.0, 100.0]);
        // At least one accepted key made room for the first that was refused.
        let lost = results.runs(0, Measure::Lost)[0];
        assert!((1.0..=100.0).contains(&lost), "{lost}");
        assert_eq!(results.median(0, Measure::Fpr), Some(0.0));
        assert_eq!(results.median(0, Measure::BitsPerKey), Some(80.0));
        assert!(results.median(0, Measure::Find(How::Single, Present(50))).is_some());
        assert_eq!(results.median(0, Measure::Find(How::Many, Present(50))), None);
        assert!(results.limit(0, true).is_some() && results.limit(0, false).is_some());
    }

    #[test]
    fn a_filter_that_builds_is_timed_on_one_thread_and_on_more() {
        let contender = Contender {
            name: "exact".into(),
            ours: false,
            make: Box::new(|_| Ok(Box::new(Lossy(HashSet::new(), 1000)))),
            build: Some(Box::new(|keys, _| {
                Ok(Box::new(Lossy(keys.iter().copied().collect(), 1000)))
            })),
        };
        let settings =
            Settings { keys: 1000, runs: 1, lookups: 500, batch: 64, threads: 2, seed: 3 };
        let results = run(settings, &[contender]).unwrap();
        assert!(results.median(0, Measure::Build(1)).is_some_and(|rate| rate > 0.0));
        assert!(results.median(0, Measure::Build(2)).is_some_and(|rate| rate > 0.0));
        let faults = results.measures(0).filter(|measure| measure.is_fault());
        assert!(faults.flat_map(|measure| results.runs(0, measure)).all(|&count| count == 0.0));
    }
}
