//! `malkoha count`: how often lines are in a filter file.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::cli::{self, InputArgs, PrintArgs};
use crate::failure::{CANNOT_WRITE, Outcome};
use crate::filter::Lookup;
use crate::output::LineWriter;
use crate::progress::Progress;
use crate::screen::Hashed;

const AFTER_HELP: &str = "\
Prints each line of the input behind its count and a tab. Counts are of fingerprints: never too low,
and too high for the filter's rate of lines, which 'malkoha info' tells. Of a map, the number of
values is printed.

Exit code 1 if no line is printed.

Examples:
  malkoha build --copies -o visits.mlk access.txt
  malkoha count visits.mlk pages.txt
  malkoha count --min 100 visits.mlk pages.txt | sort -rn";

/// Print how often lines are in a filter file
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Filter file
    filter: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    /// Print only lines that are in at least so often
    #[arg(long, value_name = "COPIES", default_value = "0", value_parser = cli::count)]
    min: u64,

    #[command(flatten)]
    print: PrintArgs,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let filter = Lookup::open_verified(&arguments.filter)?;
    let hasher = filter.hasher();
    let inputs = arguments.input.inputs();
    let progress = Progress::beside_lines("Counting", inputs.total_bytes(), arguments.input.quiet);
    let mut out = LineWriter::stdout(inputs.separator(), arguments.print.line_buffered);
    let (mut hashes, mut found) = (Vec::new(), Vec::new());
    let (mut record, mut printed) = (Vec::new(), false);
    inputs.for_each_batch(&progress, |batch| {
        hashes.clear();
        hashes.extend(batch.iter().map(|line| hasher.hash_bytes(line)));
        found.clear();
        found.resize(batch.len(), false);
        // All at once, so that cache misses overlap; only what is in is counted then.
        filter.contains_hashes(&hashes, &mut found);
        for ((line, &hash), &found) in batch.iter().zip(&hashes).zip(&found) {
            let count = if found { filter.count_hash(hash) } else { 0 };
            if count >= arguments.min {
                printed = true;
                record.clear();
                write!(record, "{count}\t").context(CANNOT_WRITE)?;
                record.extend_from_slice(line);
                out.write(&record).context(CANNOT_WRITE)?;
            }
        }
        out.end_batch().context(CANNOT_WRITE)
    })?;
    out.finish().context(CANNOT_WRITE)?;
    Ok(Outcome::found_if(printed))
}
