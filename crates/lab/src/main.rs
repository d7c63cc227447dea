//! `lab`: benchmarks of malkoha's filters.

use anyhow::Result;
use clap::{Parser, Subcommand};
use lab::bench::{self, BenchArgs};
use lab::grow::{self, GrowArgs};
use lab::paper::lines::{self, LookupsArgs};
use lab::paper::{self, PaperArgs};
use lab::plots::{self, ReportArgs};
use lab::soak::{self, SoakArgs};
use lab::space::{self, SpaceArgs};
use lab::texts::{self, TextsArgs};
use lab::threads::{self, ThreadsArgs};

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fill, query and empty our filters or maps
    Bench(BenchArgs),
    /// Grow sets and maps: inserts in every way, latencies, space and rates, threads
    Grow(GrowArgs),
    /// Very many operations on every kind, checked against a model
    Soak(SoakArgs),
    /// Many threads on one filter, with each kind of lock
    Threads(ThreadsArgs),
    /// Bits per key at several false-positive rates, with the bound and Bloom filters; how full
    /// filters get
    Space(SpaceArgs),
    /// The cost of a text while deduplicators of texts grow: time and memory, with plots
    Texts(TextsArgs),
    /// The tables and figures of the cuckoo-filter paper, measured again
    Paper(PaperArgs),
    /// One structure's lookups, for Valgrind to count
    #[command(hide = true)]
    Lookups(LookupsArgs),
    /// Draw the plots of the report from the results of `paper`
    Report(ReportArgs),
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Bench(args) => bench::run(&args, vec![]),
        Command::Grow(args) => grow::report(&args, |_, _| vec![]),
        Command::Soak(args) => soak::report(&args),
        Command::Threads(args) => {
            let mut contenders = threads::locks();
            contenders.extend(threads::others());
            threads::report(&args, contenders)
        }
        Command::Space(args) => space::report(&args),
        Command::Texts(args) => texts::report(&args),
        Command::Paper(args) => {
            paper::run(&args)?;
            let made = |out| plots::run(&ReportArgs::of(args.out.clone(), out));
            args.report.clone().map_or(Ok(()), made)
        }
        Command::Lookups(args) => lines::run(&args),
        Command::Report(args) => plots::run(&args),
    }
}
