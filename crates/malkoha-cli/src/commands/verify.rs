//! `malkoha verify`: whether a filter file is whole.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::failure::Outcome;
use crate::filter;
use crate::input::name;
use crate::output::print_record;
use crate::screen::{is_index, verify_index};
use crate::time::Now;

const AFTER_HELP: &str = "\
Exit code 0 if every byte is as it was written. Otherwise 2, with a message
that tells where the damage is.

Example:
  malkoha verify seen.mlk";

/// Compare a filter file, or the index of a list, with its checksums
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Filter file, or LIST.mlx
    filter: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let path = &arguments.filter;
    if is_index(path) {
        verify_index(path).with_context(|| format!("index {} is not whole", name(path)))?;
    } else {
        let filter = filter::open(path, Now::File)?;
        filter.verify().with_context(|| format!("filter {} is not whole", name(path)))?;
    }
    print_record(&format!("{}: ok", arguments.filter.display()))?;
    Ok(Outcome::Found)
}
