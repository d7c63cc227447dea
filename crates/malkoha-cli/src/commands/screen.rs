//! `malkoha screen`: the lines of a stream that are in a list.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use crate::cli::{InputArgs, SeedArgs, SelectArgs, ThreadArgs};
use crate::failure::Outcome;
use crate::input::{List, is_stdin};
use crate::progress::Progress;
use crate::screen::{Approximate, Exact, StoreKeys, filter_of, print_selected};

const AFTER_HELP: &str = "\
Prints the same lines as 'LC_ALL=C grep -aFxf LIST INPUT', in 5 to 7 bytes of memory a line of
LIST. A regular file LIST is mapped, not read, and must not change meanwhile: if it is cut short,
the program is stopped (SIGBUS). A LIST that is a pipe is kept in memory.

With --approximate only fingerprints of LIST are kept, in about 2 bytes a line; then RATE of the
lines that are not in LIST are taken for lines of it.

Examples:
  malkoha screen --list blocked.txt access.txt       lines that are in the list
  malkoha screen -v --list known.txt < all.txt       lines that are not
  find . -print0 | malkoha screen -0 --list paths.bin";

/// Print the lines that are in a list
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// List of lines, or directory of a store, whose keys are the lines; '-' is standard input
    #[arg(short, long)]
    list: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    seed: SeedArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    /// Do not confirm hits against the list
    #[arg(long)]
    approximate: bool,

    /// Rate of false hits with --approximate
    #[arg(long, value_name = "RATE", default_value_t = 0.001, requires = "approximate")]
    fpr: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let Arguments { list, input, select, seed, threads, approximate, fpr } = arguments;
    let (inputs, threads) = (input.inputs(), threads.threads());
    if is_stdin(list) && inputs.use_stdin() {
        bail!("list and input are both standard input: name a file for one of them");
    }
    let screening = || Progress::beside_lines("Screening", inputs.total_bytes(), input.quiet);
    if let Some(keys) = StoreKeys::at(list)? {
        if *approximate {
            bail!("a store answers without error: leave --approximate away");
        }
        return print_selected(&inputs, keys, select, threads, &screening());
    }
    let separator = input.separator();
    let list = List::open(list)?;
    if *approximate {
        let filter = filter_of(&list, separator, *fpr, seed.hasher())?;
        drop(list);
        print_selected(&inputs, Approximate(Box::new(filter)), select, threads, &screening())
    } else {
        let indexing = Progress::new("Indexing", Some(list.len() as u64), input.quiet);
        let exact = Exact::build(list, separator, seed.hasher(), threads, &indexing)?;
        drop(indexing);
        print_selected(&inputs, exact, select, threads, &screening())
    }
}
