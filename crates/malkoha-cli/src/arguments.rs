//! The arguments that several commands share.

use std::num::NonZero;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use malkoha::KeyHasher;

use crate::input::{Inputs, Side, Texts, at_most_one_stdin, files_below};
use crate::records::KeyArgs;
use crate::time::Now;

/// The input of every command that reads lines.
#[derive(Args, Debug)]
pub(crate) struct InputArgs {
    /// Files of lines; '-' or none is standard input
    #[arg(value_name = "INPUT")]
    paths: Vec<PathBuf>,

    /// Lines end with a NUL byte instead of a newline, in input and output
    #[arg(short = '0', long = "null")]
    null: bool,
}

/// How many threads work.
#[derive(Args, Debug)]
pub(crate) struct ThreadArgs {
    /// Number of threads; the results do not depend on it [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    threads: Option<u16>,
}

/// A larger number is a mistake.
const MAX_THREADS: i64 = 1024;

impl ThreadArgs {
    pub(crate) fn threads(&self) -> usize {
        self.threads.map_or_else(
            || std::thread::available_parallelism().map_or(1, NonZero::get),
            usize::from,
        )
    }
}

/// The time of lookups and changes in filters whose lines expire.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct NowArgs {
    /// If lines of FILTER expire: set its time to this, given as seconds since 1970 or as
    /// 2026-11-22T08:30:00Z, or 'file' for the latest time in FILTER [default: the clock's]
    #[arg(long, value_name = "TIME", value_parser = Now::parse, default_value = "clock", hide_default_value = true)]
    pub(crate) now: Now,
}

/// Lists that a command merges, and those of exceptions.
#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// Lists, in any syntax; '-' is standard input
    #[arg(value_name = "LIST", required = true)]
    lists: Vec<PathBuf>,

    /// Take what is in this list out; can be given several times
    #[arg(long, value_name = "LIST")]
    allow: Vec<PathBuf>,

    #[command(flatten)]
    keys: KeyArgs,
}

impl MergeArgs {
    /// Calls `each` with the lists, and with those of exceptions. Their records are counted.
    pub(crate) fn read(&self, mut each: impl FnMut(&Texts, bool) -> Result<()>) -> Result<()> {
        at_most_one_stdin(self.lists.iter().chain(&self.allow))?;
        for (paths, allowed) in [(&self.lists, false), (&self.allow, true)] {
            let inputs = Inputs::of_files(paths.clone(), b'\n').all_needed();
            let side = Side::new(inputs, self.keys.keys(b'\n')?, true, self.keys.strict);
            each(&Texts::open(&side)?, allowed)?;
            side.settle()?;
        }
        Ok(())
    }
}

/// How lines are printed.
#[derive(Args, Clone, Debug)]
pub(crate) struct PrintArgs {
    /// Print each line at once instead of many together: for slow input
    #[arg(long)]
    pub(crate) line_buffered: bool,
}

impl InputArgs {
    pub(crate) fn inputs(&self) -> Inputs {
        Inputs::new(self.paths.clone(), self.separator())
    }

    /// The input, and what of it is compared.
    pub(crate) fn side(&self, keys: &KeyArgs) -> Result<Side> {
        side(self.inputs(), keys)
    }

    pub(crate) fn separator(&self) -> u8 {
        if self.null { 0 } else { b'\n' }
    }
}

/// Which lines to print, and how.
#[derive(Args, Clone, Debug)]
pub(crate) struct SelectArgs {
    /// Print the lines that are not found
    #[arg(short = 'v', long = "invert-match")]
    pub(crate) invert: bool,

    /// Print only how many lines would be printed
    #[arg(short, long)]
    pub(crate) count: bool,

    /// Print the count as a JSON record
    #[arg(long, requires = "count")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

/// File names, line numbers and limits, as in grep.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Files and places")]
pub(crate) struct PlaceArgs {
    /// Read all files below an INPUT that is a directory
    #[arg(short, long)]
    recursive: bool,

    /// Print the file name before each line; with -c, the count of each file
    #[arg(short = 'H', long = "with-filename")]
    pub(crate) file: bool,

    /// Print the line number before each line
    #[arg(short = 'n', long)]
    pub(crate) line_number: bool,

    /// Print only the names of files with a line that would be printed
    #[arg(short = 'l', long, conflicts_with = "count")]
    pub(crate) files_with_matches: bool,

    /// Stop reading a file after printing this many of its lines
    #[arg(short, long, value_name = "NUM", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_count: Option<u64>,
}

impl PlaceArgs {
    /// The files that are read.
    pub(crate) fn side(&self, input: &InputArgs, keys: &KeyArgs) -> Result<Side> {
        let inputs = if self.recursive {
            Inputs::of_files(files_below(&input.paths), input.separator())
        } else {
            input.inputs()
        };
        side(inputs.numbered(self.line_number), keys)
    }
}

fn side(inputs: Inputs, keys: &KeyArgs) -> Result<Side> {
    let separator = inputs.separator();
    Ok(Side::new(inputs, keys.keys(separator)?, false, keys.strict))
}

/// The hash of a filter that ends with the process.
#[derive(Args, Debug)]
pub(crate) struct SeedArgs {
    /// Hash by XXH3-64 with this seed, which is faster and the same in every run. Unless lines are
    /// compared, somebody who chooses the lines can then choose some that collide [default:
    /// SipHash-1-3 with a random key]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl SeedArgs {
    pub(crate) fn hasher(&self) -> KeyHasher {
        self.seed.map_or_else(KeyHasher::random, KeyHasher::new)
    }
}

/// The rate that is built when this one is requested. Higher rates would make filters larger,
/// because more of their short fingerprints fit nowhere and are kept outside the table.
pub(crate) fn built_rate(asked: f64) -> f64 {
    const LOOSEST: f64 = 0.1;
    // An invalid rate is reported as it was written.
    if (LOOSEST..1.0).contains(&asked) { LOOSEST } else { asked }
}

/// Parses a number of lines: `1000000`, `1_000_000`, `1e6`, `1M`.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let wrong = || "write it as 10000000, 10_000_000, 10M or 1e7".to_owned();
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    let (number, zeros) = match digits.to_ascii_lowercase() {
        text if text.ends_with('k') => (text[..text.len() - 1].to_owned(), 3),
        text if text.ends_with('m') => (text[..text.len() - 1].to_owned(), 6),
        text if text.ends_with('g') => (text[..text.len() - 1].to_owned(), 9),
        text => match text.split_once('e') {
            Some((number, zeros)) => (number.to_owned(), zeros.parse().map_err(|_| wrong())?),
            None => (text, 0),
        },
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    10_u64.checked_pow(zeros).and_then(|power| number.checked_mul(power)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_several_spellings() {
        for text in ["10000000", "10_000_000", "10M", "10m", "10000k", "1e7"] {
            assert_eq!(count(text), Ok(10_000_000), "{text}");
        }
        for text in ["", "M", "-1", "1.5", "1e", "e7", "1e30", "ten", "1é"] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
