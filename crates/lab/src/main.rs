//! `lab`: benchmarks of malkoha's filters and of the machine they run on.

use anyhow::Result;
use clap::{Parser, Subcommand};
use lab::args::{
    BenchArgs, BuildsArgs, CopiesArgs, EndlessArgs, FillArgs, GrowArgs, HashArgs, LimitArgs,
    MapsArgs, SoakArgs, SpaceArgs, StreamArgs, ThreadsArgs,
};
use lab::flash::{self, FlashArgs};
use lab::latency::{self, LatencyArgs};
use lab::page::{self, ReportArgs};
use lab::paper::lines::{self, LookupsArgs};
use lab::paper::{self, PaperArgs};
use lab::{builds, copies, fill, grow, hash, limit, maps, report, space, stream, threads};

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
    /// Count a stream with many copies in filters of fixed size
    Copies(CopiesArgs),
    /// Grow a filter and a map, at every doubling: rates, space, the longest insert
    Grow(GrowArgs),
    /// Grow filters from many sizes at many rates, none of it foreseen
    Endless(EndlessArgs),
    /// Very many operations on every kind that grows, beside a model
    Soak(SoakArgs),
    /// A stream without end through sets whose keys expire: space over time, the longest work
    Stream(StreamArgs),
    /// Many threads on one filter, with each kind of lock
    Threads(ThreadsArgs),
    /// The hash functions: nanoseconds per key, and what the keyed one costs lookups
    Hash(HashArgs),
    /// Maps and the cuckoo hash table beside ordinary hash tables
    Maps(MapsArgs),
    /// The time that a lookup takes from its key to its answer, when the next one waits for it
    Latency(LatencyArgs),
    /// The store on a model of flash: what is written for what is put, and how blocks wear
    Flash(FlashArgs),
    /// Bits per key for several false-positive rates, beside the bound and Bloom filters
    Space(SpaceArgs),
    /// The tables and figures of the cuckoo-filter paper, measured again
    Paper(PaperArgs),
    /// One structure's lookups, for Valgrind to count
    #[command(hide = true)]
    Lookups(LookupsArgs),
    /// Make the report from the results of `paper`: HTML, Markdown and plots
    Report(ReportArgs),
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Bench(args) => bench(&args),
        Command::Builds(args) => builds::report(&args),
        Command::Limit(args) => limit::report(&args),
        Command::Fill(args) => fill::report(&args),
        Command::Copies(args) => copies::report(&args),
        Command::Grow(args) => grow::report(&args),
        Command::Endless(args) => grow::report_endless(&args),
        Command::Soak(args) => grow::report_soak(&args),
        Command::Stream(args) => stream::report(&args),
        Command::Threads(args) => {
            let mut contenders = threads::locks();
            contenders.extend(threads::sharded());
            contenders.extend(threads::growing());
            threads::report(&args, &contenders).map(drop)
        }
        Command::Maps(args) => maps::report(&args),
        Command::Latency(args) => latency::report(&args),
        Command::Flash(args) => flash::report(&args),
        Command::Hash(args) => hash::report(&args),
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
