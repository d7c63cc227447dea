//! `malkoha verify`: whether a filter file is whole.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::failure::Outcome;
use crate::filter;
use crate::input::name;
use crate::screen::print_record;

const AFTER_HELP: &str = "\
Exit code 0 if every byte is as it was written; 2, and where the damage is, if
not.

Example:
  malkoha verify seen.mlk";

/// Compare a filter file with its checksums
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Filter file
    filter: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let filter = filter::open(&arguments.filter)?;
    filter.verify().with_context(|| format!("filter {} is not whole", name(&arguments.filter)))?;
    print_record(&format!("{}: ok", arguments.filter.display()))?;
    Ok(Outcome::Found)
}
