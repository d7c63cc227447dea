//! `lab`: benchmarks of malkoha's filters and of the machine they run on.

use anyhow::Result;
use clap::{Parser, Subcommand};
use lab::args::BenchArgs;
use lab::report;

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
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Bench(args) => bench(&args),
    }
}

fn bench(args: &BenchArgs) -> Result<()> {
    let contenders: Vec<_> = args.ours().collect();
    let all: Vec<usize> = (0..contenders.len()).collect();
    args.run(&contenders, |results| {
        // The first layout that was named is what the others are measured against.
        let compared = all.iter().skip(1).map(|&other| report::against(results, other, &[0]));
        let compared: String = compared.map(|grid| grid.to_string()).collect();
        report::gains(results, &all).to_string() + &compared
    })
}
