//! `store-peers`: our store and other people's, in one process.
//!
//! All stores stay open, and are asked in turns: a machine with neighbours slows them alike.

mod items;
mod mixed;
mod ours;
mod output;
mod peer;
mod rivals;
mod work;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use lab::args::{OutputArgs, chosen, parse_count};

use items::{GROUP, KEY, VALUE};
use work::Work;

/// Load, query and empty our store and those of other crates.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// Records: keys of 16 bytes, values of 100
    #[arg(long, default_value = "200k", value_parser = parse_count)]
    keys: u64,
    /// Lookups of each kind, store and round
    #[arg(long, default_value = "100k", value_parser = parse_count)]
    lookups: u64,
    /// Scans of 256 keys with the same prefix, of each store and round; none without this
    #[arg(long, default_value = "0", value_parser = parse_count)]
    scans: u64,
    /// Rounds of lookups
    #[arg(long, default_value_t = 3)]
    runs: u64,
    /// Synced puts one by one, and batches of 1000
    #[arg(long, default_value_t = 200)]
    synced: u64,
    /// Puts in a transaction of the load
    #[arg(long, default_value_t = 1000)]
    batch: usize,
    /// Load in the order of keys, as B-trees like best
    #[arg(long)]
    sorted: bool,
    /// Seconds of puts one by one, and of a thread that reads while another overwrites
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Bytes of the cache of each store that has one
    #[arg(long, default_value = "2G", value_parser = parse_count)]
    cache: u64,
    /// Delete nothing at the end
    #[arg(long)]
    no_deletes: bool,
    /// Only these stores, parted by semicolons
    #[arg(long, value_delimiter = ';', value_name = "NAMES")]
    only: Vec<String>,
    /// Where the stores are made
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    dir: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let directory = tempfile::Builder::new().prefix("store-peers-").tempdir_in(&cli.dir)?;
    let kinds = chosen(rivals::all(usize::try_from(cli.cache)?), &cli.only, |kind| kind.name)?;
    let title = format!("{} records, keys of {KEY} bytes, values of {VALUE}; medians", cli.keys);
    if cli.scans > 0 {
        items::group(cli.keys / GROUP);
    }
    let mut work = Work::new(&cli, directory.path());
    for kind in &kinds {
        work.put_synced(kind)?;
        work.put_one_by_one(kind)?;
    }
    let peers = kinds.iter().map(|kind| work.load(kind)).collect::<Result<Vec<_>>>()?;
    work.look_up(&kinds, &peers)?;
    work.scan(&kinds, &peers)?;
    for (kind, peer) in kinds.iter().zip(peers) {
        drop(peer);
        work.reopen(kind)?;
        work.mix(kind)?;
        if !cli.no_deletes {
            work.delete_half(kind)?;
        }
    }
    work.output.finish(&title, &cli.output)
}
