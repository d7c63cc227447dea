//! Command-line options, shared by `lab` and `lab-peers`.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::grow::SOAK_KINDS;
use crate::machine::Machine;
use crate::maps;
use crate::ours::{self, DEFAULT_LAYOUTS, Ours};
use crate::peer;
use crate::report::Report;
use crate::results::Results;
use crate::subject::Contender;
use crate::workload::{self, Settings};

/// Options of a benchmark.
#[derive(Args, Clone, Debug)]
pub struct BenchArgs {
    /// Keys in each filter, such as 100000, 10M or 1.2e8; several separated by commas
    #[arg(long, value_delimiter = ',', value_parser = parse_count,
          default_value = "100k,10M,127.78M")]
    pub keys: Vec<u64>,
    /// Our layouts, each with the bits of a fingerprint if not the usual ones: bucketed:12
    #[arg(long, value_delimiter = ',', default_value = DEFAULT_LAYOUTS)]
    pub layouts: Vec<Ours>,
    /// Shared objects with other people's filters, to be measured beside ours
    #[arg(long = "peer", value_name = "FILE")]
    pub peers: Vec<PathBuf>,
    /// Beside the layouts, our sets that grow: they, and the peers, are built for this many keys
    #[arg(long, value_name = "KEYS", value_parser = parse_count)]
    pub start: Option<u64>,
    /// False-positive rate of sets that grow
    #[arg(long, default_value_t = 0.002)]
    pub fpr: f64,
    /// Repetitions, of which the median is taken
    #[arg(long, default_value_t = 3)]
    pub runs: u32,
    /// Queries of each kind; unless told, as many as keys but 4 to 16 million
    #[arg(long, value_parser = parse_count)]
    pub lookups: Option<u64>,
    /// Keys handed to a filter at a time
    #[arg(long, default_value_t = 32768)]
    pub batch: usize,
    /// Threads of a parallel build; 1 leaves it out
    #[arg(long, default_value_t = 2)]
    pub threads: usize,
    /// Seed of the keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// One run with few queries: to see that all works, not to quote
    #[arg(long)]
    pub quick: bool,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help's heading")]
    pub output: OutputArgs,
}

/// Where results go.
#[derive(Args, Clone, Debug)]
pub struct OutputArgs {
    /// Write the results to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the results to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Date to note, instead of the clock's
    #[arg(long)]
    pub date: Option<String>,
}

impl BenchArgs {
    fn settings(&self, keys: u64) -> Settings {
        let lookups = if self.quick { 1 << 18 } else { keys.clamp(4_000_000, 16_000_000) };
        Settings {
            keys,
            runs: if self.quick { 1 } else { self.runs },
            lookups: self.lookups.unwrap_or(lookups),
            batch: self.batch,
            threads: self.threads,
            seed: self.seed,
        }
    }

    /// Our contenders.
    pub fn ours(&self) -> impl Iterator<Item = Contender> {
        let growing = self.start.into_iter().flat_map(|start| ours::growing(start, self.fpr));
        self.layouts.iter().cloned().map(Ours::contender).chain(growing)
    }

    /// The contenders of shared objects.
    ///
    /// # Errors
    ///
    /// As [`peer::contender`].
    pub fn peers(&self) -> Result<Vec<Contender>> {
        self.peers.iter().map(|path| peer::contender(path, self.start)).collect()
    }

    /// Measures the contenders at every size, prints each size as soon as it is done with what
    /// `more` adds, and writes the files.
    ///
    /// # Errors
    ///
    /// If a filter cannot be built, a file cannot be written, or one of our own filters gave a
    /// wrong answer.
    pub fn run(
        &self,
        contenders: &[Contender],
        mut more: impl FnMut(&Results) -> String,
    ) -> Result<()> {
        ensure!(self.batch > 0 && self.runs > 0, "--batch and --runs must be at least 1");
        let mut report = Report::new(Machine::describe(self.output.date.clone()));
        print!("{}", report.head());
        let mut faults = Vec::new();
        for &keys in &self.keys {
            ensure!(keys >= 1000, "--keys: at least 1000, or there is nothing to time");
            let settings = self.settings(keys);
            let results = workload::run(settings, contenders)
                .with_context(|| format!("measuring with {keys} keys"))?;
            print!("{}{}", crate::report::tables(&results, &settings), more(&results));
            for (index, contender) in contenders.iter().enumerate() {
                let wrong = results.measures(index).filter(|measure| measure.is_fault());
                faults.extend(wrong.filter_map(|measure| {
                    let count: f64 = results.runs(index, measure).iter().sum();
                    (contender.ours && count > 0.0)
                        .then(|| format!("{}, {keys} keys: {measure} {count}", contender.name))
                }));
            }
            report.rows.extend(results.rows());
            // After each size, so that a long run that is interrupted leaves its results so far.
            report.write(&self.output)?;
        }
        ensure!(faults.is_empty(), "wrong answers of our own:\n{}", faults.join("\n"));
        Ok(())
    }
}

/// Options of builds.
#[derive(Args, Clone, Debug)]
pub struct BuildsArgs {
    /// Keys that each filter is built from
    #[arg(long, value_delimiter = ',', value_parser = parse_count, default_value = "990k,31.95M")]
    pub keys: Vec<u64>,
    /// Our layouts, as in `bench`
    #[arg(long, value_delimiter = ',', default_value = DEFAULT_LAYOUTS)]
    pub layouts: Vec<Ours>,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    pub threads: Vec<usize>,
    /// Shared objects with other people's filters, as in `bench`, which insert one by one
    #[arg(long = "peer", value_name = "FILE")]
    pub peers: Vec<PathBuf>,
    /// Repetitions, of which the median is taken
    #[arg(long, default_value_t = 5)]
    pub runs: u32,
    /// Seed of the keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Date to note, instead of the clock's
    #[arg(long)]
    pub date: Option<String>,
}

/// Options of the limit's measurement.
#[derive(Args, Clone, Debug)]
pub struct LimitArgs {
    /// Bytes of each table; unless told, those of 12-bit filters of the usual numbers of keys
    #[arg(long, value_delimiter = ',', value_parser = parse_count,
          default_value = "158k,15.8M,201M")]
    pub bytes: Vec<u64>,
    /// Repetitions, of which the median is taken
    #[arg(long, default_value_t = 3)]
    pub runs: u32,
    /// Steps of each kind of access
    #[arg(long, value_parser = parse_count, default_value = "4M")]
    pub steps: u64,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help's heading")]
    pub output: OutputArgs,
}

/// Options of the fills to the first failure.
#[derive(Args, Clone, Debug)]
pub struct FillArgs {
    /// Keys that each filter is built for
    #[arg(long, value_delimiter = ',', value_parser = parse_count, default_value = "1M,10M")]
    pub keys: Vec<u64>,
    /// Our layouts, as in `bench`
    #[arg(long, value_delimiter = ',', default_value = DEFAULT_LAYOUTS)]
    pub layouts: Vec<Ours>,
    /// Sets of keys that are tried
    #[arg(long, default_value_t = 20)]
    pub seeds: u64,
}

/// Options of growth.
#[derive(Args, Clone, Debug)]
pub struct GrowArgs {
    /// Keys that the filter is built to begin with
    #[arg(long, value_parser = parse_count, default_value = "10k")]
    pub start: u64,
    /// Keys that it grows to
    #[arg(long, value_parser = parse_count, default_value = "10M")]
    pub keys: u64,
    /// False-positive rate that it keeps to
    #[arg(long, default_value_t = 0.002)]
    pub fpr: f64,
    /// Sizes in each doubling at which a row is printed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub between: u32,
    /// Growth to name when it is built; without it, the rate holds at any size
    #[arg(long, value_name = "FACTOR")]
    pub growth: Option<f64>,
    /// Grow without huge pages, as filters in servers do
    #[arg(long)]
    pub ordinary_pages: bool,
    /// Repetitions of lookups, of which the median is taken
    #[arg(long, default_value_t = 5)]
    pub runs: u32,
    /// Seed of the keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write the table of doublings to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Date to note, instead of the clock's
    #[arg(long)]
    pub date: Option<String>,
}

/// Options of growth from many sizes at many rates.
#[derive(Args, Clone, Debug)]
pub struct EndlessArgs {
    /// Keys that each filter grows to
    #[arg(long, value_parser = parse_count, default_value = "2.5M")]
    pub keys: u64,
    /// Keys that filters are built to begin with
    #[arg(long, value_delimiter = ',', value_parser = parse_count, default_value = "1,100,1000,100k")]
    pub starts: Vec<u64>,
    /// False-positive rates that they keep to
    #[arg(long, value_delimiter = ',', default_value = "0.03,0.001,1e-6")]
    pub rates: Vec<f64>,
    /// Seed of the keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write the table to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Date to note, instead of the clock's
    #[arg(long)]
    pub date: Option<String>,
}

/// Options of very many operations.
#[derive(Args, Clone, Debug)]
pub struct SoakArgs {
    /// Operations on each kind
    #[arg(long, value_parser = parse_count, default_value = "100M")]
    pub operations: u64,
    /// Run these kinds alone, named as in the table and parted by semicolons
    #[arg(long, value_delimiter = ';', value_parser = SOAK_KINDS)]
    pub only: Vec<String>,
    /// Seed of the keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Date to note, instead of the clock's
    #[arg(long)]
    pub date: Option<String>,
}

/// What its tables say.
const THREADS_HELP: &str = "\
Each filter is filled in part, then all threads begin at once; half of the lookups are of keys that
are in. In the tables, \"gain\" is the rate with the last number of threads over that with the first,
and \"of the first\" the last rate over that of the first filter.";

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

/// Options of maps beside hash tables.
#[derive(Args, Clone, Debug)]
pub struct MapsArgs {
    /// Keys of each map
    #[arg(long, value_delimiter = ',', value_parser = parse_count, default_value = "3M,100M")]
    pub keys: Vec<u64>,
    /// Measure these maps alone, named as in the tables and parted by semicolons; all that are
    /// measured are held in memory at once, those of 100 million keys in some 23 GB
    #[arg(long, value_delimiter = ';', value_parser = maps::names())]
    pub only: Vec<String>,
    /// Candidates of a key that is not in, on average
    #[arg(long, default_value_t = 0.002)]
    pub fpr: f64,
    /// Lookups of each kind
    #[arg(long, value_parser = parse_count, default_value = "4M")]
    pub lookups: u64,
    /// Repetitions, of which the median is taken
    #[arg(long, default_value_t = 5)]
    pub runs: u32,
    /// Seed of the keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Date to note, instead of the clock's
    #[arg(long)]
    pub date: Option<String>,
}

/// Options of the table of sizes.
#[derive(Args, Clone, Debug)]
pub struct SpaceArgs {
    /// Keys that the filters are for
    #[arg(long, value_parser = parse_count, default_value = "127.78M")]
    pub keys: u64,
}

/// A count such as `20000`, `100k`, `127.78M` or `1.2e8`.
///
/// # Errors
///
/// If the text is not a count, or not a positive whole number.
pub fn parse_count(text: &str) -> Result<u64> {
    let (digits, factor) = match text.char_indices().last() {
        Some((end, 'k')) => (&text[..end], 1e3),
        Some((end, 'M')) => (&text[..end], 1e6),
        Some((end, 'G')) => (&text[..end], 1e9),
        _ => (text, 1.0),
    };
    let number: f64 = digits.parse().with_context(|| format!("{text:?} is not a number"))?;
    let count = (number * factor).round();
    ensure!((1.0..1e15).contains(&count), "{text:?} is out of range");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let count = count as u64;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_as_people_write_them() {
        assert_eq!(parse_count("20000").unwrap(), 20_000);
        assert_eq!(parse_count("100k").unwrap(), 100_000);
        assert_eq!(parse_count("127.78M").unwrap(), 127_780_000);
        assert_eq!(parse_count("1.2e8").unwrap(), 120_000_000);
        for wrong in ["", "k", "-1", "0", "NaN", "1e20", "10 M"] {
            assert!(parse_count(wrong).is_err(), "{wrong:?}");
        }
    }
}
