//! `malkoha build`: lines to a filter file.

mod fill;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use indicatif::{HumanBytes, HumanCount};
use malkoha::tables::{Fixed, Growing};
use malkoha::{Builder, Filter, KeyHasher, Keys, Layout, Values};

use self::fill::Built;
use super::items::{Items, Reducing};
use crate::arguments::{self, InputArgs, ThreadArgs};
use crate::failure::{Outcome, tell_summary};
use crate::filter::{self, Lines, Table};
use crate::input::{Inputs, is_dash, name};
use crate::output::{Held, Overwrite, print_record, refuse_both, replace_held};
use crate::progress::Progress;
use crate::records::KeyArgs;
use crate::time::Now;

const DEFAULT_FPR: f64 = 0.001;

/// Options of filters of fixed size.
const FIXED: [&str; 4] = ["fixed", "fingerprint_bits", "bucket_size", "layout"];

/// Build a filter file from lines
#[derive(Args, Debug)]
#[command(after_help = include_str!("help.txt"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArgs,

    /// Filter file to write; '-' is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Highest share of other lines to find by mistake [default: 0.001]
    #[arg(long, value_name = "RATE", conflicts_with = "fingerprint_bits")]
    fpr: Option<f64>,

    /// Bits per fingerprint, 4 to 32, instead of a rate; implies --fixed
    #[arg(long, value_name = "BITS")]
    fingerprint_bits: Option<u32>,

    /// Slots per bucket of the bucketed layout: 1, 2, 4 or 8; implies --fixed
    #[arg(long, value_name = "SLOTS")]
    bucket_size: Option<u32>,

    /// How fingerprints lie in memory; implies --fixed [default: the smallest for the rate, or
    /// bucketed]
    #[arg(long, conflicts_with = "bucket_size")]
    layout: Option<LayoutName>,

    /// Make room for this many lines, to add more later; without --fixed, at first
    #[arg(long, value_name = "LINES", value_parser = arguments::count)]
    capacity: Option<u64>,

    /// Build a filter of fixed size: the smallest and fastest, if no lines are added later
    #[arg(long)]
    fixed: bool,

    /// Build a filter that grows: the default
    #[arg(long, conflicts_with_all = FIXED)]
    growable: bool,

    /// How many times its capacity the filter keeps its rate [default: once, or at any size
    /// without --capacity or with one below 65536]
    #[arg(long, value_name = "FACTOR", conflicts_with_all = FIXED)]
    growth: Option<f64>,

    /// Add a line as often as it occurs
    #[arg(long)]
    copies: bool,

    /// Build a map: each line is a key, a tab and a decimal number as value
    #[arg(long)]
    values: bool,

    /// Bits per value, 1 to 64. Larger values cannot be added [default: as many as the largest
    /// value of the input needs; 64 without --fixed, where only needed bits take memory]
    #[arg(long, value_name = "BITS", requires = "values")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=64))]
    value_bits: Option<u32>,

    #[command(flatten)]
    hash: HashArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    /// Overwrite FILE even if it is not a filter
    #[arg(short, long)]
    force: bool,

    /// If another process changes FILE, wait until it has ended
    #[arg(long)]
    wait: bool,

    /// Print the summary as a JSON record on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    keys: KeyArgs,
}

/// The hash of a filter that is kept.
#[derive(Args, Debug)]
#[group(multiple = false)]
struct HashArgs {
    /// Hash by XXH3-64 with this seed [default: 0, so equal inputs give equal files, and any two
    /// files can be united]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Hash by SipHash-1-3 with a random key, stored in FILE: for lines chosen by somebody who
    /// cannot read FILE
    #[arg(long)]
    random_seed: bool,

    /// Use the same hash as this filter file, to unite the two
    #[arg(long, value_name = "FILTER")]
    like: Option<PathBuf>,
}

impl HashArgs {
    fn hasher(&self) -> Result<KeyHasher> {
        match (&self.like, self.random_seed) {
            (Some(path), _) => Ok(filter::open(path, Now::File)?.hasher()),
            (None, true) => Ok(KeyHasher::random()),
            (None, false) => Ok(KeyHasher::new(self.seed.unwrap_or(0))),
        }
    }
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
    match (arguments.is_fixed(), arguments.values) {
        (true, false) => build::<Fixed, Keys>(arguments),
        (true, true) => build::<Fixed, Values>(arguments),
        (false, false) => build::<Growing, Keys>(arguments),
        (false, true) => build::<Growing, Values>(arguments),
    }
}

fn build<T: Table, C: Lines>(arguments: &Arguments) -> Result<Outcome>
where
    Filter<T, C>: Built<C::Item>,
{
    let side = arguments.input.side(&arguments.keys)?.all_needed();
    refuse_to_overwrite_input(arguments, &side.inputs)?;
    let hasher = arguments.hash.hasher()?;
    // Impossible options fail before the input is read.
    Filter::<T, C>::plan(arguments, hasher)?;
    let mut held = Held::of(&arguments.output, arguments.wait)?;

    let progress = Progress::new("Reading", side.inputs.total_bytes());
    let how = Reducing {
        hasher,
        value_bits: arguments.value_bits.unwrap_or(u64::BITS),
        copies: arguments.copies,
        looks: false,
    };
    let threads = arguments.threads.threads();
    let items = Items::read(&side, how, threads, &progress)?;
    drop(progress);
    side.settle()?;

    let filter = Filter::<T, C>::of(arguments, hasher, &items, threads)?;
    let overwrite = if arguments.force { Overwrite::Anything } else { Overwrite::Filters };
    replace_held(&arguments.output, overwrite, &mut held, &filter)?;
    summarise(arguments, items.lines, &filter)?;
    Ok(Outcome::Found)
}

impl Arguments {
    fn is_fixed(&self) -> bool {
        let needs_it = self.fingerprint_bits.or(self.bucket_size).is_some();
        self.fixed || needs_it || self.layout.is_some()
    }

    /// Everything but the capacity.
    fn builder<F>(&self, hasher: KeyHasher) -> Builder<F> {
        let builder = Builder::new().with_hasher(hasher);
        let mut builder = match self.fingerprint_bits {
            Some(bits) => builder.fingerprint_bits(bits),
            None => builder.fpr(arguments::built_rate(self.fpr.unwrap_or(DEFAULT_FPR))),
        };
        if let Some(name) = self.layout {
            builder = builder.layout(name.layout());
        }
        if let Some(slots) = self.bucket_size {
            builder = builder.bucket_size(slots);
        }
        if let Some(bits) = self.value_bits {
            builder = builder.value_bits(bits);
        }
        builder
    }

    /// The same for what grows. If nobody named a capacity, the rate holds at any size.
    fn growing<F>(&self, hasher: KeyHasher) -> Builder<F> {
        let without_end = self.capacity.is_none().then_some(f64::INFINITY);
        self.growth.or(without_end).into_iter().fold(self.builder(hasher), Builder::growth)
    }
}

fn refuse_to_overwrite_input(arguments: &Arguments, inputs: &Inputs) -> Result<()> {
    let output = &arguments.output;
    if is_dash(output) {
        return refuse_both(output, arguments.json);
    }
    if output.is_file() && inputs.include(output) {
        bail!("{} is both input and output: name another output file", name(output));
    }
    Ok(())
}

fn summarise<T: Table, C: Lines>(
    arguments: &Arguments,
    lines: u64,
    filter: &Filter<T, C>,
) -> Result<()> {
    let value_bits = filter.value_bits();
    if arguments.json {
        let mut record = filter::figures(filter);
        record["lines"] = lines.into();
        if arguments.values {
            record["value_bits"] = value_bits.into();
        }
        return print_record(&record);
    }
    let values = if arguments.values {
        format!(", values of up to {value_bits} bits")
    } else {
        String::new()
    };
    tell_summary(&format!(
        "{}: {} of {} {} in {}, fpr {:.2e}{values}",
        arguments.output.display(),
        HumanCount(filter.len()),
        HumanCount(lines),
        C::ITEMS,
        HumanBytes(filter.size_in_bytes()),
        filter.expected_fpr(),
    ));
    Ok(())
}
