//! `malkoha check`: lines that are in a filter file.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::arguments::{InputArgs, NowArgs, PlaceArgs, SelectArgs, ThreadArgs};
use crate::failure::Outcome;
use crate::filter;
use crate::progress::Progress;
use crate::records::KeyArgs;
use crate::screen::{Approximate, Selecting, StoreKeys, print_selected};

/// Print the lines that are in a filter file
#[derive(Args, Debug)]
#[command(after_help = include_str!("check.txt"))]
pub(crate) struct Arguments {
    /// Filter file, or directory of a store, which is exact
    filter: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    /// Trust a filter of fixed size: do not compare its checksums first
    #[arg(long)]
    no_verify: bool,

    #[command(flatten)]
    now: NowArgs,

    #[command(flatten)]
    places: PlaceArgs,

    #[command(flatten)]
    keys: KeyArgs,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let Arguments { filter, input, select, threads, no_verify, places, keys, now } = arguments;
    let (side, threads) = (places.side(input, keys)?, threads.threads());
    let selecting = Selecting { select, places, lists: None };
    let total = side.inputs.total_bytes();
    let checking = || Progress::beside_lines("Checking", total);
    if let Some(stored) = StoreKeys::at(filter)? {
        return print_selected(&side, stored, selecting, threads, &checking());
    }
    let open = if *no_verify { filter::open } else { filter::open_verified };
    let filter = Approximate(open(filter, now.now)?);
    print_selected(&side, filter, selecting, threads, &checking())
}
