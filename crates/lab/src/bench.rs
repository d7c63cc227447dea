//! `bench`: our layouts or maps with other contenders, filled, queried and emptied at every size.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::args::{OutputArgs, chosen, parse_count};
use crate::keys::Present;
use crate::maps;
use crate::ours::{DEFAULT_LAYOUTS, Ours};
use crate::peer;
use crate::report::Report;
use crate::results::FAULTS;
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
    /// Shared objects with other people's filters, to be measured with ours
    #[arg(long = "peer", value_name = "FILE")]
    pub peers: Vec<PathBuf>,
    /// Measure maps and hash tables instead of our layouts
    #[arg(long)]
    pub maps: bool,
    /// Measure these alone, named as in the tables and parted by semicolons
    #[arg(long, value_delimiter = ';', value_name = "NAMES")]
    pub only: Vec<String>,
    /// Repetitions, of which the median is taken
    #[arg(long, default_value_t = 3)]
    pub runs: u32,
    /// Queries of each kind [default: as many as keys, but 4 to 16 million]
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

    /// Ours, those in `more` and the shared objects, as far as they were asked for.
    fn contenders(&self, more: Vec<Contender>) -> Result<Vec<Contender>> {
        let layouts = self.layouts.iter().cloned().map(Ours::contender);
        let mut all = if self.maps { maps::contenders() } else { layouts.collect() };
        all.extend(more);
        for path in &self.peers {
            all.push(peer::contender(path)?);
        }
        chosen(all, &self.only, |contender| &contender.name)
    }
}

/// Measures our contenders and `more` at every size, prints each size as soon as it is done, and
/// writes the files.
///
/// # Errors
///
/// If a contender cannot be made, a file cannot be written, or one of ours gave a wrong answer.
pub fn run(args: &BenchArgs, more: Vec<Contender>) -> Result<()> {
    ensure!(args.batch > 0 && args.runs > 0, "--batch and --runs must be at least 1");
    let contenders = args.contenders(more)?;
    let mut report = Report::start(&args.output);
    let mut faults = Vec::new();
    for &keys in &args.keys {
        ensure!(keys >= 1000, "--keys: at least 1000, or there is nothing to time");
        let settings = args.settings(keys);
        let mut figures = workload::run(settings, &contenders)
            .with_context(|| format!("measuring with {keys} keys"))?;
        for (name, measures) in fastest() {
            figures.add_fastest(&name, &measures);
        }
        let title = format!("{keys} keys; medians of {} runs, worst of faults", settings.runs);
        print!("{}{}", figures.by_measure(&title), figures.ratios());
        for row in figures.rows().iter().filter(|row| row.unit == FAULTS && row.greatest > 0.0) {
            if contenders.iter().any(|contender| contender.ours && contender.name == row.contender)
            {
                faults.push(format!(
                    "{}, {keys} keys: {} {}",
                    row.contender, row.greatest, row.measure
                ));
            }
        }
        report.add(figures.rows())?;
    }
    ensure!(faults.is_empty(), "wrong answers of our own:\n{}", faults.join("\n"));
    Ok(())
}

/// Comparisons by the fastest way of each contender: their names, and the ways.
fn fastest() -> Vec<(String, Vec<String>)> {
    let ways = |ways: &[&str], end: &str| ways.iter().map(|way| format!("{way}{end}")).collect();
    let mut all = vec![
        ("insert, fastest".to_owned(), ways(&["insert single", "insert many", "build"], "")),
        ("remove, fastest".to_owned(), ways(&["remove single", "remove many"], "")),
    ];
    all.extend(Present::ALL.map(|Present(percent)| {
        let end = format!(" {percent} %");
        let finds = ways(&["find single", "find call", "find many"], &end);
        (format!("find{end}, fastest"), finds)
    }));
    all
}
