//! `lab-peers`: the lab's work on other people's filters, in the same process as ours.

mod counted;
mod expiry;
mod rivals;
mod threads;

use anyhow::Result;
use clap::{Parser, Subcommand};
use lab::bench::{self, BenchArgs};
use lab::grow::{self, GrowArgs};
use lab::threads::ThreadsArgs;

use expiry::ExpiryArgs;
use rivals::FPR;

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fill, query and empty our filters and those of other crates, and print the ratios
    Bench {
        #[command(flatten)]
        bench: BenchArgs,
        /// Add the classic structures: Bloom, quotient and so on
        #[arg(long)]
        classic: bool,
        /// False-positive rate that others are asked for, where they can be asked
        #[arg(long, default_value_t = FPR)]
        fpr: f64,
    },
    /// Grow our sets and maps and filters of other crates
    Grow(GrowArgs),
    /// Let threads look up and insert in our shared filter and in those of other crates
    Threads(ThreadsArgs),
    /// Sets whose keys expire, of ours and of others
    Expiry(ExpiryArgs),
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Bench { bench, classic, fpr } => {
            let mut more = if classic { lab::classic::contenders(fpr) } else { vec![] };
            more.extend(rivals::fixed(fpr));
            bench::run(&bench, more)
        }
        Command::Grow(args) => grow::report(&args, rivals::growing),
        Command::Threads(args) => threads::report(&args),
        Command::Expiry(args) => expiry::report(&args),
    }
}
