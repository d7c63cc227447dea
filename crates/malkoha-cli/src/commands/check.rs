//! `malkoha check`: lines that are in a filter file.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::cli::{InputArgs, SelectArgs};
use crate::failure::Outcome;
use crate::filter::Lookup;
use crate::progress::Progress;
use crate::screen::{Approximate, StoreKeys, print_selected};

const AFTER_HELP: &str = "\
A line that was put in is always found. Of the others, the filter's rate are found too; 'malkoha
info' tells it. Where that must not be, use 'malkoha screen', which has no such errors.

Examples:
  malkoha check seen.mlk urls.txt           lines that are in
  malkoha check -v seen.mlk urls.txt        lines that certainly are not
  malkoha check -c --json seen.mlk < urls.txt";

/// Print the lines that are in a filter file
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Filter file, or directory of a store, whose keys are found without error
    filter: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    select: SelectArgs,

    /// Trust a filter of fixed size: do not compare its checksums first
    #[arg(long)]
    no_verify: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let inputs = arguments.input.inputs();
    let checking =
        || Progress::beside_lines("Checking", inputs.total_bytes(), arguments.input.quiet);
    if let Some(mut keys) = StoreKeys::at(&arguments.filter)? {
        return print_selected(&inputs, &mut keys, &arguments.select, &checking());
    }
    let filter = if arguments.no_verify {
        Lookup::open(&arguments.filter)?
    } else {
        Lookup::open_verified(&arguments.filter)?
    };
    print_selected(&inputs, &mut Approximate::new(filter), &arguments.select, &checking())
}
