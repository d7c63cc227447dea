//! `malkoha check`: lines that are in a filter file.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::arguments::{InputArgs, NowArgs, PlaceArgs, SelectArgs, ThreadArgs};
use crate::failure::Outcome;
use crate::filter;
use crate::input::name;
use crate::progress::Progress;
use crate::records::KeyArgs;
use crate::screen::{Approximate, Digests, Matcher, Selecting, StoreKeys, print_selected};

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
    let selecting = Selecting { select, places, lists: None, known: Some(name(filter)) };
    let matcher: Box<dyn Matcher> = match StoreKeys::at(filter)? {
        Some(stored) => Box::new(stored),
        None => {
            let open = if *no_verify { filter::open } else { filter::open_verified };
            Box::new(Approximate(open(filter, now.now)?))
        }
    };
    let matcher = if keys.has_digest() { Box::new(Digests(matcher)) } else { matcher };
    let progress = Progress::unless_terminal("Checking", side.inputs.total_bytes());
    print_selected(&side, vec![matcher], selecting, threads, &progress)
}
