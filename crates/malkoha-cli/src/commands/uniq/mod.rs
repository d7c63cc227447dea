//! `malkoha uniq`: the first occurrences of a stream's lines.

mod counts;
mod distinct;
mod exact;
mod fingerprints;
mod shards;
mod worker;

use anyhow::Result;
use clap::{ArgGroup, Args};
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;

use super::window::WindowArgs;
use crate::arguments::{self, InputArgs, PrintArgs, SeedArgs, ThreadArgs};
use crate::failure::{Outcome, tell};
use crate::progress::Progress;
use crate::records::KeyArgs;

/// Print the first occurrence of each line, in order
#[derive(Args, Debug)]
#[command(after_help = include_str!("help.txt"))]
#[command(group = ArgGroup::new("fingerprints").args(["approximate", "within"]).multiple(true))]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArgs,

    /// Print before each line how often it occurs
    #[arg(short, long, group = "selection", conflicts_with = "within")]
    count: bool,

    /// Print only lines that occur more than once, each once
    #[arg(short = 'd', long = "duplicates", group = "selection", conflicts_with = "within")]
    duplicates: bool,

    /// Print only lines that occur once
    #[arg(short, long = "unique", group = "selection", conflicts_with = "within")]
    unique: bool,

    /// Print every occurrence of a line except the first
    #[arg(long, group = "selection")]
    repeated: bool,

    /// Keep only fingerprints: takes a third of the memory, but loses new lines at RATE
    #[arg(long, conflicts_with_all = ["count", "duplicates", "unique"])]
    approximate: bool,

    #[command(flatten)]
    window: WindowArgs,

    /// Highest probability at which --approximate or --within loses a new line [default: 1e-6]
    #[arg(long, value_name = "RATE", requires = "fingerprints")]
    fpr: Option<f64>,

    /// Distinct lines to make room for at first; it grows beyond
    #[arg(long, value_name = "LINES", default_value = "1_000_000", value_parser = arguments::count)]
    capacity: u64,

    /// With --approximate: keep RATE up to this many times --capacity, to save memory. Each
    /// doubling beyond adds RATE again [default: keep it at any size]
    #[arg(long, value_name = "FACTOR", requires = "approximate")]
    growth: Option<f64>,

    #[command(flatten)]
    seed: SeedArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    print: PrintArgs,

    /// At the end, print lines, distinct lines and memory on stderr
    #[arg(long)]
    stats: bool,

    /// Print the statistics as a JSON record on stderr
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    keys: KeyArgs,
}

/// The report on a run.
struct Stats {
    lines: u64,
    distinct: u64,
    printed: u64,
    bytes: u64,
    /// The probability at which the next new line is lost; none if lines are compared or hashes
    /// make it negligible.
    fpr: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let side = arguments.input.side(&arguments.keys)?;
    let total = side.inputs.total_bytes();
    let progress = Progress::unless_terminal("Reading", total);
    let stats = if arguments.approximate || arguments.window.within.is_some() {
        fingerprints::run(arguments, &side, &progress)?
    } else {
        exact::run(arguments, side, &progress)?
    };
    drop(progress);
    arguments.report(&stats);
    Ok(Outcome::found_if(stats.printed > 0))
}

impl Arguments {
    fn report(&self, stats: &Stats) {
        let &Stats { lines, distinct, bytes, fpr, .. } = stats;
        if self.json {
            let record = json!({
                "lines": lines,
                "distinct": distinct,
                "bytes": bytes,
                "fpr": fpr.unwrap_or(0.0),
            });
            tell(&record.to_string());
        } else if self.stats {
            let fpr = fpr.map_or(String::new(), |fpr| format!(", fpr {fpr:.2e}"));
            #[expect(clippy::cast_precision_loss, reason = "for display")]
            let bits = 8.0 * bytes as f64 / distinct.max(1) as f64;
            tell(&format!(
                "{} lines, {} distinct, {} ({bits:.1} bits per distinct line){fpr}",
                HumanCount(lines),
                HumanCount(distinct),
                HumanBytes(bytes),
            ));
        }
    }
}
