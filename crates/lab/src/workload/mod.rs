//! The work that every contender is given: filled, queried and emptied, in runs whose order
//! alternates, with every answer checked.

mod fill;
mod find;
mod remove;

use std::time::Duration;

use anyhow::Result;

use crate::keys::Keys;
use crate::measure::{alternating, progress, rate};
use crate::results::{FAULTS, Figures, RATE};
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
    figures: Figures,
}

/// Gives all contenders the work, in one process, alternating.
///
/// # Errors
///
/// If a filter cannot be built. Wrong answers are no error here: they are among the figures, as
/// [faults](FAULTS).
pub fn run(settings: Settings, contenders: &[Contender]) -> Result<Figures> {
    let mut workload = Workload {
        settings,
        contenders,
        keys: Keys::new(settings.seed),
        batch: vec![0; settings.batch],
        answers: vec![false; settings.batch],
        all: Vec::new(),
        figures: Figures::default(),
    };
    workload.all_runs()?;
    progress("");
    Ok(workload.figures)
}

impl Workload<'_> {
    fn all_runs(&mut self) -> Result<()> {
        for run in 0..self.settings.runs {
            let order = alternating(self.contenders.len(), run);
            let mut filled: Vec<Option<Filled>> = self.contenders.iter().map(|_| None).collect();
            for &contender in &order {
                self.step(contender, "filling");
                filled[contender] = Some(self.fill(contender, run)?);
            }
            let mut filled: Vec<Filled> = filled.into_iter().flatten().collect();
            self.look_up(&filled, &order, run);
            for &contender in order.iter().rev() {
                self.step(contender, "emptying");
                self.empty(contender, &mut filled[contender]);
            }
        }
        Ok(())
    }

    fn step(&self, contender: usize, what: &str) {
        let name = &self.contenders[contender].name;
        progress(format_args!("{} keys, {name}: {what}", self.settings.keys));
    }

    fn record(&mut self, contender: usize, measure: &str, unit: &str, value: f64) {
        let name = &self.contenders[contender].name;
        self.figures.add(name, self.settings.keys, measure, unit, value);
    }

    fn rate(&mut self, contender: usize, measure: &str, keys: u64, time: Duration) {
        self.record(contender, measure, RATE, rate(keys, time));
    }

    fn fault(&mut self, contender: usize, measure: &str, count: u64) {
        self.record(contender, measure, FAULTS, count as f64);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Has room for this many keys; beyond that, it refuses, keeps the new key and evicts
    /// an old one.
    struct Lossy(HashSet<u64>, usize);

    impl Subject for Lossy {
        fn insert(&mut self, key: u64) -> bool {
            let is_full = self.0.len() == self.1;
            if is_full {
                let old = *self.0.iter().next().unwrap();
                self.0.remove(&old);
            }
            self.0.insert(key);
            !is_full
        }
        fn contains(&self, key: u64) -> bool {
            self.0.contains(&key)
        }
        fn remove(&mut self, key: u64) -> bool {
            self.0.remove(&key)
        }
        fn bytes(&self) -> u64 {
            9000
        }
    }

    #[test]
    fn what_a_filter_loses_is_counted_although_it_says_no() {
        let contender = Contender::new("lossy", false, |_| Ok(Lossy(HashSet::new(), 900)));
        let settings =
            Settings { keys: 1000, runs: 2, lookups: 500, batch: 64, threads: 1, seed: 3 };
        let figures = run(settings, &[contender]).unwrap();
        let runs = |measure| figures.runs("lossy", measure);
        assert_eq!(runs("refused"), [100.0, 100.0]);
        // At least one accepted key made room for the first that was refused.
        assert!((1.0..=100.0).contains(&runs("lost")[0]), "{figures:?}");
        assert_eq!((runs("fpr"), runs("bits a key")), (&[0.0; 2][..], &[80.0; 2][..]));
        assert_eq!((runs("find single 50 %").len(), runs("find many 50 %").len()), (2, 0));
    }
}
