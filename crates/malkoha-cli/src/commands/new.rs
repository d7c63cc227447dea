//! `malkoha new`: the lines that are not in a filter file, which are in it from then on.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::HumanCount;
use malkoha::{Filter, GrowableCuckooFilter};

use crate::cli::{InputArgs, PrintArgs, ThreadArgs};
use crate::failure::{CANNOT_WRITE, Outcome};
use crate::filter::{FilterFile, Lines, Table, Task};
use crate::input::{Block, Hashed, Inputs, name};
use crate::keys::KeyArgs;
use crate::output::{LineWriter, Overwrite, replace, tell};
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;

const AFTER_HELP: &str = "\
Prints each line that is not in FILTER, once, and adds it. All in one pass,
while FILTER is locked: of two that run at once, one prints a line. A FILTER
that is not there is made; it grows, and loses a new line with a probability
below 1e-6, whoever chooses the lines: it hashes by a random key, so make it
with 'malkoha build' if it is to be united with others. One that was made so
loses new lines at its rate, which 'malkoha info' tells.

FILTER is replaced as a whole, at the end. If the end is not reached, or if the
output is closed before, it stays as it was, and the lines will be printed
again.

Exit code 1 if no line is new.

Examples:
  malkoha new seen.mlk today.txt > fresh.txt
  crawl | malkoha new seen.mlk | fetch
  malkoha new --json-field id seen.mlk events.jsonl";

/// Print the lines that are not in a filter file, and add them to it
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Filter file to change, or to make
    filter: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    print: PrintArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    keys: KeyArgs,
}

/// Of filters that this command makes.
const FPR: f64 = 1e-6;
const CAPACITY: u64 = 1000;

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let path = &arguments.filter;
    // A link that leads nowhere is not there either.
    if !path.exists() {
        let builder = GrowableCuckooFilter::builder().capacity(CAPACITY).fpr(FPR);
        let empty = builder.random_seed().build()?;
        replace(path, Overwrite::Nothing, &empty)?;
    }
    FilterFile::open_locked(path)?.run(arguments)
}

impl Task for &Arguments {
    fn run<T: Table, C: Lines>(self, filter: Filter<T, C>) -> Result<Outcome> {
        let path = &self.filter;
        let inputs = self.input.inputs();
        if inputs.include(path) {
            bail!("{} is named as input too, and has no lines: leave it out there", name(path));
        }
        let New { filter, out, lines, added, .. } = self.print_new(filter, &inputs)?;
        out.finish().context(CANNOT_WRITE)?;
        if added > 0 {
            replace(path, Overwrite::Filters, &filter)?;
        }
        if !self.input.quiet {
            tell(&format!(
                "{}: {} of {} lines were new, holds {}",
                path.display(),
                HumanCount(added),
                HumanCount(lines),
                HumanCount(filter.len()),
            ));
        }
        Ok(Outcome::found_if(added > 0))
    }
}

impl Arguments {
    fn print_new<T: Table, C: Lines>(
        &self,
        filter: Filter<T, C>,
        inputs: &Inputs,
    ) -> Result<New<T, C>> {
        let (hasher, separator) = (filter.hasher(), inputs.separator());
        let progress = Progress::beside_lines("Reading", inputs.total_bytes(), self.input.quiet);
        let out = LineWriter::stdout(separator, self.print.line_buffered)?;
        let new = New { filter, new: Vec::new(), out, lines: 0, added: 0 };
        let keys = self.keys.keys();
        let work = move |block: &Block, hashed: &mut Hashed| {
            hashed.fill(block.lines(), separator, &keys, hasher)
        };
        in_order(inputs, &progress, self.threads.threads(), work, new)
            .with_context(|| format!("{} is unchanged", name(&self.filter)))
    }
}

/// Adds lines and prints those that are new.
struct New<T: Table, C: Lines> {
    filter: Filter<T, C>,
    /// Which lines of a block are new.
    new: Vec<bool>,
    out: LineWriter,
    lines: u64,
    added: u64,
}

impl<T: Table, C: Lines> Sink for New<T, C> {
    type Made = Hashed;

    fn take(&mut self, block: &mut Hashed) -> Result<()> {
        self.new.resize(block.hashes.len(), false);
        C::insert_new(&mut self.filter, &block.hashes, &mut self.new)?;
        for (line, _) in block.lines().zip(&self.new).filter(|&(_, &new)| new) {
            self.added += 1;
            self.out.write(line).context(CANNOT_WRITE)?;
        }
        self.lines += block.hashes.len() as u64;
        block.clear();
        self.out.end_batch().context(CANNOT_WRITE)
    }
}
