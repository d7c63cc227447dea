//! Many threads on one filter: the rate of each mix of operations by number of threads.

mod mix;
mod ours;

pub use mix::Mix;
pub use ours::{Sharded, locks, others};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::args::{OutputArgs, chosen, parse_count};
use crate::measure::alternating;
use crate::report::Report;
use crate::results::{Figures, RATE};
use crate::subject::{Access, Operation, Subject};

/// The meaning of the tables.
const THREADS_HELP: &str = "\
Each filter is filled in part, then all threads begin at once; half of the lookups are of keys that
are in. \"gain\" is the rate with the last number of threads over that with the first.";

/// Options of filters that threads share.
#[derive(Args, Clone, Debug)]
#[command(after_help = THREADS_HELP)]
pub struct ThreadsArgs {
    /// Keys that each filter is built for
    #[arg(long, value_parser = parse_count, default_value = "15M")]
    pub keys: u64,
    /// Numbers of threads, each 1 to 1024
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,8")]
    pub threads: Vec<usize>,
    /// Measure these filters alone, named as in the tables and parted by semicolons
    #[arg(long, value_delimiter = ';')]
    pub only: Vec<String>,
    /// Repetitions, of which the median is taken
    #[arg(long, default_value_t = 3)]
    pub runs: u32,
    /// Seed of the keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help's heading")]
    pub output: OutputArgs,
}

/// A filter that threads share.
pub trait Shared: Sync {
    /// One thread's access to it.
    fn handle(&self) -> Box<dyn Subject + '_>;
}

impl<T: Sync> Shared for T
where
    for<'a> &'a T: Subject,
{
    fn handle(&self) -> Box<dyn Subject + '_> {
        Box::new(self)
    }
}

/// A filter by name, and how an empty one is made for a number of keys.
pub struct SharedContender {
    /// The name in tables.
    pub name: String,
    /// Makes one.
    pub build: Box<dyn Fn(u64) -> Result<Box<dyn Shared>>>,
}

impl SharedContender {
    /// One that `make` makes.
    pub fn new<T: Shared + 'static>(name: &str, make: impl Fn(u64) -> Result<T> + 'static) -> Self {
        let build = move |keys| Ok(Box::new(make(keys)?) as Box<dyn Shared>);
        Self { name: name.to_owned(), build: Box::new(build) }
    }
}

/// The ways to work: one by one, and some thousands at a time.
const WAYS: [(&str, Access); 2] = [("one by one", Access::Single), ("in batches", Access::Many)];
/// More threads than this are taken for a mistake.
const MOST_THREADS: usize = 1024;

/// Measures all contenders, alternating, and prints rates and the gain of more threads.
///
/// # Errors
///
/// If a filter cannot be built, refuses a key, or misses one; or a file cannot be written.
pub fn report(args: &ThreadsArgs, contenders: Vec<SharedContender>) -> Result<()> {
    let possible = |threads: &usize| (1..=MOST_THREADS).contains(threads);
    ensure!(
        args.runs > 0 && args.threads.iter().all(possible),
        "ask for --runs of at least 1, and for 1 to {MOST_THREADS} --threads"
    );
    let contenders = chosen(contenders, &args.only, |contender| &contender.name)?;
    let mut report = Report::start(&args.output);
    for mix in Mix::ALL {
        for (way, access) in WAYS {
            let figures = measure(args, &contenders, mix, way, access)?;
            let title = format!("{mix}, {way}: million operations per second by the clock");
            print!("{}{}", figures.by_measure(&title), figures.ratios());
            report.add(figures.rows())?;
        }
    }
    Ok(())
}

/// A figure for each number of threads of each contender that supports the way, and the rate with
/// the last number over that with the first.
fn measure(
    args: &ThreadsArgs,
    contenders: &[SharedContender],
    mix: Mix,
    way: &str,
    access: Access,
) -> Result<Figures> {
    let mut figures = Figures::default();
    for run in 0..args.runs {
        for index in alternating(contenders.len(), run) {
            let SharedContender { name, build } = &contenders[index];
            let mut rates = vec![0.0; args.threads.len()];
            for turn in alternating(args.threads.len(), run) {
                let (filter, threads) = (build(args.keys)?, args.threads[turn]);
                if filter.handle().can(Operation::Insert, access) {
                    let rate = mix.run(&*filter, args.keys, threads, access, args.seed);
                    rates[turn] = rate.with_context(|| name.clone())?;
                    let measure = format!("{mix}, {way}, {threads} threads");
                    figures.add(name, args.keys, &measure, RATE, rates[turn]);
                }
            }
            if let [first, .., last] = rates[..]
                && last > 0.0
            {
                let measure = format!("{mix}, {way}, gain");
                figures.add(name, args.keys, &measure, "of the first", last / first);
            }
        }
    }
    Ok(figures)
}
