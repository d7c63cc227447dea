//! `lab`: benchmarks of malkoha's filters and of the machine they run on.

use anyhow::Result;
use clap::{Parser, Subcommand};
use lab::args::{
    BenchArgs, BuildsArgs, EndlessArgs, FillArgs, GrowArgs, LimitArgs, MapsArgs, SoakArgs,
    SpaceArgs, ThreadsArgs,
};
use lab::latency::{self, LatencyArgs};
use lab::page::{self, ReportArgs};
use lab::paper::lines::{self, LookupsArgs};
use lab::paper::{self, PaperArgs};
use lab::{builds, fill, grow, limit, maps, report, space, threads};

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fill, query and empty our filters, beside what the memory allows
    Bench(BenchArgs),
    /// Build our filters, beside a plain loop of partitioned writes
    Builds(BuildsArgs),
    /// How many random lines a second the memory can deliver, plain and prefetched
    Limit(LimitArgs),
    /// Fill our filters to the first insert that fails, with many sets of keys
    Fill(FillArgs),
    /// Grow a filter and a map, at every doubling: rates, space, the longest insert
    Grow(GrowArgs),
    /// Grow filters from many sizes at many rates, none of it foreseen
    Endless(EndlessArgs),
    /// Very many operations on every kind that grows, beside a model
    Soak(SoakArgs),
    /// Many threads on one filter, with each kind of lock
    Threads(ThreadsArgs),
    /// Maps and the cuckoo hash table beside ordinary hash tables
    Maps(MapsArgs),
    /// The time that a lookup takes from its key to its answer, when the next one waits for it
    Latency(LatencyArgs),
    /// Bits per key for several false-positive rates, beside the bound and Bloom filters
    Space(SpaceArgs),
    /// The tables and figures of the cuckoo-filter paper, measured again
    Paper(PaperArgs),
    /// One structure's lookups, for Valgrind to count
    #[command(hide = true)]
    Lookups(LookupsArgs),
    /// Make the report from the results of `paper`: HTML and plots
    Report(ReportArgs),
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Bench(args) => bench(&args),
        Command::Builds(args) => builds::report(&args),
        Command::Limit(args) => limit::report(&args),
        Command::Fill(args) => fill::report(&args),
        Command::Grow(args) => grow::report(&args),
        Command::Endless(args) => grow::report_endless(&args),
        Command::Soak(args) => grow::report_soak(&args),
        Command::Threads(args) => {
            let mut contenders = threads::locks();
            contenders.extend(threads::sharded());
            contenders.extend(threads::growing());
            threads::report(&args, &contenders).map(drop)
        }
        Command::Maps(args) => maps::report(&args),
        Command::Latency(args) => latency::report(&args),
        Command::Space(args) => {
            space::report(&args);
            Ok(())
        }
        Command::Paper(args) => {
            paper::run(&args)?;
            let made = |out| page::run(&ReportArgs::of(args.out.clone(), out));
            args.report.clone().map_or(Ok(()), made)
        }
        Command::Lookups(args) => lines::run(&args),
        Command::Report(args) => page::run(&args),
    }
}

fn bench(args: &BenchArgs) -> Result<()> {
    let mut contenders: Vec<_> = args.ours().collect();
    let ours: Vec<usize> = (0..contenders.len()).collect();
    contenders.extend(args.peers()?);
    let peers = ours.len()..contenders.len();
    args.run(&contenders, |results| {
        let pairs = ours.iter().skip(1).map(|&other| (other, 0));
        let mut text = report::gains(results, &ours).to_string();
        text += &report::against(results, "Our layouts against the first", pairs).to_string();
        if !peers.is_empty() {
            let pairs = ours.iter().flat_map(|&our| peers.clone().map(move |peer| (our, peer)));
            text += &report::against(results, "Ours against the peers", pairs).to_string();
        }
        text
    })
}
