//! The cuckoo-filter paper's tables and figures, measured again: Fan, Andersen, Kaminsky and
//! Mitzenmacher, *Cuckoo Filter: Practically Better Than Bloom* (CoNEXT 2014).
//!
//! Each experiment gives [`values::Value`]s, which are written to one CSV file; the report
//! is made from these files alone.

mod choices;
mod formulas;
pub mod lines;
mod load;
mod passes;
mod refusals;
mod resume;
mod space;
mod structures;
mod tables;
mod throughput;
pub mod values;
mod walk;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

use crate::machine::Machine;
use crate::measure::median;
use crate::report::write_csv;
use resume::Steps;
use values::Value;

/// Bytes that runs side by side may hold together.
const MEMORY: u64 = 4 << 30;

/// A table or figure that can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Experiment {
    /// Properties of the structures: space, cache lines a lookup fetches (with Valgrind), deletion
    Table1,
    /// Space and lookup cost by the formulas, with measured loads
    Table2,
    /// Items, bits per item, false-positive rate and construction speed at one size
    Table3,
    /// Load factor against fingerprint bits
    Figure2,
    /// Why tables with short fingerprints refuse keys early
    Refusals,
    /// Bits per item against measured false-positive rate, by bucket size
    Figure3,
    /// False-positive rate against bits per item, by the formulas and measured
    Figure4,
    /// Lookups by the share of present keys
    Figure5,
    /// Lookups by occupancy
    Figure6,
    /// Inserts by occupancy
    Figure7,
    /// Removals by occupancy
    Figure8,
    /// Load factors of d choices of buckets of b slots
    Choices,
    /// The load of independent hashes, for figure 2
    Independent,
}

impl Experiment {
    /// The name on the command line and of the file.
    #[must_use]
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether it is read off the passes over all structures.
    const fn is_of_passes(self) -> bool {
        matches!(
            self,
            Self::Table1
                | Self::Table3
                | Self::Figure5
                | Self::Figure6
                | Self::Figure7
                | Self::Figure8
        )
    }
}

/// Options of the reproduction.
#[derive(Args, Clone, Debug)]
pub struct PaperArgs {
    /// Tables and figures to reproduce [default: all]
    #[arg(value_enum)]
    pub experiments: Vec<Experiment>,
    /// The paper's sizes: 2^27 slots (192 MB), 2^15, 2^20 and 2^25 buckets, 10 runs. Takes hours
    #[arg(long)]
    pub full: bool,
    /// Slots of every table, as a power of two [default: 21; with --full: 27]
    #[arg(long, value_name = "LOG2")]
    pub slots: Option<u32>,
    /// Buckets in figure 2, each as a power of two [default: 12,15,17; with --full: 15,20,25]
    #[arg(long, value_name = "LOG2", value_delimiter = ',')]
    pub buckets: Vec<u32>,
    /// Bits of a fingerprint in figure 2 [default: 1 to 20]
    #[arg(long, value_delimiter = ',')]
    pub bits: Vec<u32>,
    /// Slots of a bucket in figure 2 [default: 2,4,8]
    #[arg(long, value_delimiter = ',', default_values_t = [2, 4, 8])]
    pub bucket_sizes: Vec<usize>,
    /// Runs with different keys [default: 3, in figure 2: 10; with --full: 10]
    #[arg(long)]
    pub runs: Option<u32>,
    /// Only these structures, in tables 1 and 3 and figures 5 to 8, by their names there
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Folder for the results, a CSV file an experiment
    #[arg(long, value_name = "FOLDER", default_value = "paper")]
    pub out: PathBuf,
    /// Go on where a run into this folder was stopped: each filter's pass, each point of figure
    /// 2 and each other experiment that it finished is kept, if program and machine are the same
    #[arg(long)]
    pub resume: bool,
    /// Make the report of these results in this folder at the end, as `lab report --data` does
    #[arg(long, value_name = "FOLDER")]
    pub report: Option<PathBuf>,
    /// Date to note, instead of the clock's
    #[arg(long)]
    pub date: Option<String>,
}

/// How large, and how often.
#[derive(Clone, Debug, Default)]
struct Scale {
    /// Slots of the structures of table 3, and of a table that stands for them.
    slots: u64,
    /// Binary logarithms of the numbers of buckets in figure 2.
    buckets: Vec<u32>,
    /// Bits of a fingerprint in figure 2.
    bits: Vec<u32>,
    /// Slots of a bucket in figure 2.
    bucket_sizes: Vec<usize>,
    /// Runs of which the median is taken.
    runs: u32,
    /// Runs of which figure 2 takes the least.
    least_of: u32,
    /// Names of the structures of table 3, all if none.
    only: Vec<String>,
}

impl PaperArgs {
    fn scale(&self) -> Result<Scale> {
        let slots = self.slots.unwrap_or(if self.full { 27 } else { 21 });
        ensure!((12..=32).contains(&slots), "--slots {slots}: give 12 to 32, a power of two");
        let usual = if self.full { vec![15, 20, 25] } else { vec![12, 15, 17] };
        let buckets = if self.buckets.is_empty() { usual } else { self.buckets.clone() };
        for &log in &buckets {
            ensure!((8..=30).contains(&log), "--buckets {log}: give 8 to 30, powers of two");
        }
        let bits = if self.bits.is_empty() { (1..=20).collect() } else { self.bits.clone() };
        for &bits in &bits {
            ensure!((1..=20).contains(&bits), "--bits {bits}: give 1 to 20");
        }
        let runs = self.runs.unwrap_or(if self.full { 10 } else { 3 });
        ensure!(runs > 0, "--runs must be at least 1");
        let least_of = self.runs.unwrap_or(10);
        let bucket_sizes = self.bucket_sizes.clone();
        for &slots in &bucket_sizes {
            ensure!([1, 2, 4, 8].contains(&slots), "--bucket-sizes {slots}: give 1, 2, 4 or 8");
        }
        let only = self.only.clone();
        Ok(Scale { slots: 1 << slots, buckets, bits, bucket_sizes, runs, least_of, only })
    }
}

/// Runs the experiments and writes a file for each as soon as it is done.
///
/// # Errors
///
/// If a size is out of range, a structure cannot be built, or a file cannot be written.
pub fn run(args: &PaperArgs) -> Result<()> {
    let scale = args.scale()?;
    let all = || Experiment::value_variants().to_vec();
    let wanted = if args.experiments.is_empty() { all() } else { args.experiments.clone() };
    let machine = Machine::describe(args.date.clone());
    let mut steps = Steps::open(&args.out, &machine, args.resume)?;
    if steps.len() > 0 {
        println!("going on after {} finished steps", steps.len());
    }
    let mut begin = Instant::now();
    // Made for the first experiment that is read off them.
    let mut passes = None;
    for &experiment in &wanted {
        if experiment.is_of_passes() && passes.is_none() {
            passes = Some(passes::all(&scale, &mut steps)?);
        }
        let passes = passes.as_deref().unwrap_or(&[]);
        let values = match experiment {
            Experiment::Table1 => tables::table1(passes, &mut steps)?,
            Experiment::Table3 => tables::table3(passes, &scale),
            Experiment::Figure2 => load::figure2(&scale, &mut steps)?,
            of_passes if of_passes.is_of_passes() => throughput::figure(of_passes, passes),
            other => {
                let step = format!("{}, {scale:?}", other.name());
                steps.get_or(&step, || alone(other, &scale))?
            }
        };
        let path = args.out.join(format!("{}.csv", experiment.name()));
        let seconds = begin.elapsed().as_secs_f64();
        begin = Instant::now();
        write_csv(&path, &format!("{}# seconds: {seconds:.1}\n", machine.head()), &values)?;
        println!("{}: {} values, {seconds:.1} s", path.display(), values.len());
    }
    Ok(())
}

/// The values of an experiment that is one step.
fn alone(experiment: Experiment, scale: &Scale) -> Result<Vec<Value>> {
    match experiment {
        Experiment::Table2 => tables::table2(scale),
        Experiment::Refusals => refusals::refusals(scale),
        Experiment::Figure3 => space::figure3(scale),
        Experiment::Figure4 => Ok(formulas::figure4()),
        Experiment::Independent => choices::independent(scale),
        _ => choices::loads(scale),
    }
}

/// The results of runs 1, 2, and so on, in no order, on all processors: only for experiments that
/// are not timed. A run takes `bytes` bytes of memory.
fn of_runs<T: Send>(runs: u64, bytes: u64, run: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let fitting = usize::try_from(MEMORY / bytes.max(1)).unwrap_or(processors);
    let threads = processors.min(fitting).max(1);
    thread::scope(|scope| {
        let run = &run;
        let some =
            |first: u64| move || (first..=runs).step_by(threads).map(run).collect::<Vec<T>>();
        let workers: Vec<_> = (1..).take(threads).map(|first| scope.spawn(some(first))).collect();
        let found = workers.into_iter().map(|worker| worker.join());
        found.flat_map(|found| found.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// The median of each point over the runs: points are the same when group, series and x are.
fn median_of_runs(runs: Vec<Vec<Value>>) -> Vec<Value> {
    let mut order: Vec<Value> = Vec::new();
    let mut points: BTreeMap<(String, String, u64), Vec<f64>> = BTreeMap::new();
    let key = |value: &Value| (value.group.clone(), value.series.clone(), value.x.to_bits());
    for value in runs.into_iter().flatten() {
        let found = points.entry(key(&value)).or_default();
        found.push(value.y);
        if found.len() == 1 {
            order.push(value);
        }
    }
    for value in &mut order {
        value.y = median(&points[&key(value)]).unwrap_or(value.y);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_made_once_whatever_the_memory() {
        for bytes in [0, MEMORY / 2, u64::MAX] {
            let mut seeds = of_runs(5, bytes, |seed| seed);
            seeds.sort_unstable();
            assert_eq!(seeds, [1, 2, 3, 4, 5]);
        }
    }
}
