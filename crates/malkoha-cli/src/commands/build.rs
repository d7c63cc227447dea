//! `malkoha build`: lines to a filter file.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use indicatif::{HumanBytes, HumanCount};
use malkoha::{Builder, CuckooFilter, GrowableBuilder, GrowableCuckooFilter, KeyHasher, Layout};
use serde_json::json;

use super::distinct::Hashes;
use crate::cli::{self, InputArgs, SeedArgs, ThreadArgs};
use crate::failure::Outcome;
use crate::filter::Members;
use crate::input::{Inputs, is_stdin, name};
use crate::output::{Overwrite, refuse_both, replace, tell};
use crate::progress::Progress;
use crate::screen::print_record;

const AFTER_HELP: &str = "\
Without --capacity the filter is as large as the input's distinct lines need. A line that occurs
several times is put in once, unless --copies is given. Building takes 8 bytes of memory a line
beside the filter.

With --growable the filter grows when lines are added, to any size. Its rate holds up to --growth
times --capacity, and each doubling beyond raises it by as much as the first rate.

FILE is replaced as a whole, at the end; a file that is not a filter is only with --force.

Examples:
  malkoha build -o seen.mlk urls.txt
  malkoha build -o seen.mlk --fpr 1e-6 --capacity 50M urls-*.txt
  malkoha build -o seen.mlk --growable --growth 100 urls.txt
  zcat urls.gz | malkoha build -o seen.mlk";

/// How many tables are tried.
const ATTEMPTS: u64 = 5;

const DEFAULT_FPR: f64 = 0.001;

/// Build a filter file from lines
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArgs,

    /// Filter file to write; '-' is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Highest rate at which lines that are not in are said to be [default: 0.001]
    #[arg(long, value_name = "RATE", conflicts_with = "fingerprint_bits")]
    fpr: Option<f64>,

    /// Bits a fingerprint, 4 to 32, instead of a rate
    #[arg(long, value_name = "BITS")]
    fingerprint_bits: Option<u32>,

    /// Slots a bucket of the bucketed layout: 1, 2, 4 or 8
    #[arg(long, value_name = "SLOTS")]
    bucket_size: Option<u32>,

    /// How fingerprints lie in memory [default: the smallest for the rate, or bucketed]
    #[arg(long, conflicts_with = "bucket_size")]
    layout: Option<LayoutName>,

    /// Room for this many lines, so that some can be added later; to begin with, with --growable
    #[arg(long, value_name = "LINES", value_parser = cli::count)]
    capacity: Option<u64>,

    /// Build a filter that grows
    #[arg(long, conflicts_with_all = ["fingerprint_bits", "bucket_size", "layout"])]
    growable: bool,

    /// How many times its capacity a growable filter may grow to at its rate [default: 1024]
    #[arg(long, value_name = "FACTOR", requires = "growable")]
    growth: Option<f64>,

    /// Put a line in as often as it occurs
    #[arg(long)]
    copies: bool,

    #[command(flatten)]
    seed: SeedArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    /// Overwrite FILE also if it is not a filter
    #[arg(short, long)]
    force: bool,

    /// Print the summary as a JSON record on standard output
    #[arg(long)]
    json: bool,
}

/// The layouts by the names that `malkoha info` gives them.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LayoutName {
    Bucketed,
    SemiSorted,
    GapWindows,
    Words,
}

impl LayoutName {
    fn layout(self) -> Layout {
        match self {
            Self::Bucketed => Layout::Bucketed { bucket_size: 4 },
            Self::SemiSorted => Layout::SemiSorted,
            Self::GapWindows => Layout::GapWindows,
            Self::Words => Layout::Words,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let inputs = arguments.input.inputs();
    refuse_to_overwrite_input(arguments, &inputs)?;
    let seed = arguments.seed.seed();
    // What is impossible shall fail before the input is read.
    if arguments.growable {
        arguments.growable(seed).capacity(arguments.capacity.unwrap_or(1)).build()?;
    } else {
        arguments.fixed(seed).capacity(arguments.capacity.unwrap_or(1)).plan()?;
    }

    let quiet = arguments.input.quiet;
    let progress = Progress::new("Reading", inputs.total_bytes(), quiet);
    let hasher = KeyHasher::new(seed);
    let (copies, threads) = (arguments.copies, arguments.threads.threads());
    let Hashes { hashes, lines } = Hashes::read(&inputs, hasher, copies, threads, &progress)?;
    drop(progress);

    let filter = if arguments.growable {
        let capacity = arguments.capacity.unwrap_or(distinct(&hashes)).max(1);
        let mut filter = arguments.growable(seed).capacity(capacity).build()?;
        filter.insert_hashes(&hashes)?;
        Members::Growable(filter)
    } else {
        Members::Fixed(fill(&arguments.fixed(seed), arguments.capacity, &hashes, threads)?)
    };
    let overwrite = if arguments.force { Overwrite::Anything } else { Overwrite::Filters };
    replace(&arguments.output, overwrite, &filter)?;
    summarise(arguments, lines, &filter)?;
    Ok(Outcome::Found)
}

impl Arguments {
    /// Everything about a growable filter but its capacity.
    fn growable(&self, seed: u64) -> GrowableBuilder {
        let builder = GrowableCuckooFilter::builder().fpr(self.fpr.unwrap_or(DEFAULT_FPR));
        let builder = self.growth.into_iter().fold(builder, GrowableBuilder::growth);
        builder.seed(seed)
    }

    /// Everything about a filter of fixed size but its capacity.
    fn fixed(&self, seed: u64) -> Builder {
        let builder = CuckooFilter::builder().seed(seed);
        let builder = match self.fingerprint_bits {
            Some(bits) => builder.fingerprint_bits(bits),
            None => builder.fpr(self.fpr.unwrap_or(DEFAULT_FPR)),
        };
        match (self.layout, self.bucket_size) {
            (Some(name), _) => builder.layout(name.layout()),
            (None, Some(slots)) => builder.bucket_size(slots),
            (None, None) => builder,
        }
    }
}

fn fill(
    builder: &Builder,
    capacity: Option<u64>,
    hashes: &[u64],
    threads: usize,
) -> Result<CuckooFilter> {
    let lines = distinct(hashes);
    if let Some(capacity) = capacity.filter(|&capacity| capacity < lines) {
        bail!("the input has {lines} lines to put in, more than --capacity {capacity}: raise it");
    }
    let wanted = capacity.unwrap_or(lines).max(1);
    let mut refused = 0;
    for attempt in 0..ATTEMPTS {
        // A small table can be unlucky with its lines. Some more room helps, if anything does.
        let room = wanted.saturating_add((wanted / 16 + 2) * attempt);
        let mut filter = builder.clone().capacity(room).build()?;
        match filter.insert_hashes_with_threads(hashes, threads) {
            Ok(()) => return Ok(filter),
            Err(error) => refused = error.refused.len(),
        }
    }
    bail!("{refused} of {lines} lines found no place: raise the capacity or the fingerprint bits");
}

/// How many different ones there are among sorted hashes: copies need no room.
fn distinct(hashes: &[u64]) -> u64 {
    hashes.chunk_by(|a, b| a == b).count() as u64
}

fn refuse_to_overwrite_input(arguments: &Arguments, inputs: &Inputs) -> Result<()> {
    let output = &arguments.output;
    if is_stdin(output) {
        return refuse_both(output, arguments.json);
    }
    for input in inputs.paths().iter().filter(|path| !is_stdin(path)) {
        if same_file::is_same_file(input, output).unwrap_or(false) && output.is_file() {
            bail!("{} is both input and output: name another output file", name(output));
        }
    }
    Ok(())
}

fn summarise(arguments: &Arguments, lines: u64, filter: &Members) -> Result<()> {
    if arguments.json {
        return print_record(&json!({
            "lines": lines,
            "keys": filter.len(),
            "capacity": filter.capacity(),
            "fpr": filter.expected_fpr(),
            "table_bytes": filter.size_in_bytes(),
        }));
    }
    if !arguments.input.quiet {
        tell(&format!(
            "{}: {} of {} lines in {}, fpr {:.2e}",
            arguments.output.display(),
            HumanCount(filter.len()),
            HumanCount(lines),
            HumanBytes(filter.size_in_bytes()),
            filter.expected_fpr(),
        ));
    }
    Ok(())
}
