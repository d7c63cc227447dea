//! `malkoha uniq`: the first occurrences of a stream's lines.

mod approximate;
mod counts;
mod distinct;
mod exact;
mod shards;
mod within;

use anyhow::Result;
use clap::{ArgGroup, Args};
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;

use super::window::WindowArgs;
use crate::cli::{self, InputArgs, PrintArgs, SeedArgs, ThreadArgs};
use crate::failure::Outcome;
use crate::keys::KeyArgs;
use crate::output::tell;
use crate::progress::Progress;

/// The rate of fingerprints that no other was asked for.
const DEFAULT_FPR: f64 = 1e-6;

const AFTER_HELP: &str = "\
Like awk '!seen[$0]++', in a fraction of its memory: the order is kept and
output begins at once.

Every line that differs from all before it is printed. Of regular files, which
are mapped and must not be cut short meanwhile, it keeps where each distinct
line begins, in about 8 bytes, and compares the lines. Of a stream it keeps
over 96 bits of two keyed hashes of each distinct line, in about 13 bytes:
among 10^9 distinct lines, one is taken for another with a probability below
10^-10.

With --approximate it keeps only fingerprints, 4 bytes or so a distinct line. A
new line is then taken for an old one, and lost, with a probability below RATE.
No line is ever printed twice.

With -k and the like, lines are equal if what is compared is, and what is
printed is the first such line. Files are read as streams are then.

With --within a line is new again when that time has passed since it was printed,
or with --renew since it was there last: TIME, and at most a fifteenth more. It
keeps fingerprints as with --approximate, of the lines within that time alone,
about 5 bytes each, so that it can run for years. The time is that of arrival,
or with --time-field what the lines say; one that goes back is taken as the
latest before it. With --disorder 10m lines may come up to ten minutes late:
they wait so long, and are printed in the order of their times. One that is
later still is taken as ten minutes late, and counted on stderr at the end.

-c and -u print when all is read, in the order of first occurrences. Distinct
lines of a stream are kept in a temporary file meanwhile. -d prints a line when
it occurs the second time.

Examples:
  malkoha uniq access.txt > distinct.txt
  malkoha uniq --stats logs/*.gz | wc -l
  malkoha uniq -c words.txt | sort -rn | head
  malkoha uniq -d ids.txt                    lines that are there more than once
  tail -F log | malkoha uniq --within 24h    each line once a day
  malkoha uniq --within 1h --time-field 1 -t ' ' -k 2- old.log
  malkoha uniq --csv -k 2 users.csv          the first line of each value of column 2";

/// Print the first occurrence of each line, in order
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
#[command(group = ArgGroup::new("fingerprints").args(["approximate", "within"]).multiple(true))]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArgs,

    /// Print how often each line occurs, in front of it
    #[arg(short, long, group = "selection", conflicts_with = "within")]
    count: bool,

    /// Print only lines that occur more than once, each once
    #[arg(short = 'd', long = "duplicates", group = "selection", conflicts_with = "within")]
    duplicates: bool,

    /// Print only lines that occur once
    #[arg(short, long = "unique", group = "selection", conflicts_with = "within")]
    unique: bool,

    /// Print every occurrence of a line but the first
    #[arg(long, group = "selection")]
    repeated: bool,

    /// Keep fingerprints alone: a third of the memory, and new lines are lost at RATE
    #[arg(long, conflicts_with_all = ["count", "duplicates", "unique"])]
    approximate: bool,

    #[command(flatten)]
    window: WindowArgs,

    /// Highest probability at which --approximate or --within loses a new line [default: 1e-6]
    #[arg(long, value_name = "RATE", requires = "fingerprints")]
    fpr: Option<f64>,

    /// Distinct lines to make room for at the start; it grows beyond them
    #[arg(long, value_name = "LINES", default_value = "1_000_000", value_parser = cli::count)]
    capacity: u64,

    /// With --approximate: keep RATE up to this many times --capacity; each doubling beyond adds
    /// RATE once more, and less memory is needed [default: keep it at any size]
    #[arg(long, value_name = "FACTOR", requires = "approximate")]
    growth: Option<f64>,

    #[command(flatten)]
    seed: SeedArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    print: PrintArgs,

    /// At the end, tell lines, distinct lines and memory on stderr
    #[arg(long)]
    stats: bool,

    /// The statistics as a JSON record on stderr
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    keys: KeyArgs,
}

/// What is told of a run.
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
    let inputs = arguments.keys.of(arguments.input.inputs());
    let progress = Progress::beside_lines("Reading", inputs.total_bytes(), arguments.input.quiet);
    let stats = if let Some(within) = arguments.window.within {
        within::run(arguments, within, &inputs, &progress)?
    } else if arguments.approximate {
        approximate::run(arguments, &inputs, &progress)?
    } else {
        exact::run(arguments, inputs, &progress)?
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
                "{} lines, {} distinct, {} ({bits:.1} bits a distinct line){fpr}",
                HumanCount(lines),
                HumanCount(distinct),
                HumanBytes(bytes),
            ));
        }
    }
}
