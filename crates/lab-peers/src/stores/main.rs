//! `store-peers`: our store beside other people's, in one process.
//!
//! All stores stay open, and are asked in turns: a machine with neighbours slows them alike.

mod array;
mod durable;
mod items;
mod mixed;
mod ours;
mod output;
mod peer;
mod rivals;
mod work;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;

use output::Output;
use peer::{Kind, Peer};
use work::Work;

/// Load, query and empty our store and those of other crates.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// Records: keys of 16 bytes, values of 100
    #[arg(long, default_value = "200k", value_parser = lab::args::parse_count)]
    keys: u64,
    /// Lookups of each kind, store and round
    #[arg(long, default_value = "100k", value_parser = lab::args::parse_count)]
    lookups: u64,
    /// Rounds of lookups
    #[arg(long, default_value_t = 3)]
    runs: u64,
    /// Synced puts one by one, and batches of 1000
    #[arg(long, default_value_t = 200)]
    synced: u64,
    /// Puts in a transaction of the load
    #[arg(long, default_value_t = 1000)]
    batch: u64,
    /// Load in the order of keys, as B-trees like best
    #[arg(long)]
    sorted: bool,
    /// Seconds of puts one by one, and of a thread that reads beside one that overwrites
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Bytes of the cache of each store that has one
    #[arg(long, default_value = "2G", value_parser = lab::args::parse_count)]
    cache: u64,
    /// Look up in an array in memory too, which checks nothing but the key: a bound, nearly
    #[arg(long)]
    limit: bool,
    /// Delete nothing at the end
    #[arg(long)]
    no_deletes: bool,
    /// Only these stores
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Where the stores are made; the current directory unless told
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    dir: PathBuf,
    /// Write all figures into this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let directory = tempfile::Builder::new().prefix("store-peers-").tempdir_in(&cli.dir)?;
    let chosen = |kind: &Kind| cli.only.is_empty() || cli.only.iter().any(|name| name == kind.name);
    let mut kinds: Vec<Kind> =
        rivals::all(usize::try_from(cli.cache)?).into_iter().filter(chosen).collect();
    let seconds = Duration::from_secs(cli.seconds);
    let Cli { keys, lookups, runs, batch, sorted, .. } = cli;
    let work = Work { keys, lookups, runs, batch, sorted, seconds };
    let mut output = Output::default();
    for kind in &kinds {
        durable::run(kind, directory.path(), cli.synced, &mut output)?;
        work.put_one_by_one(kind, directory.path(), &mut output)?;
    }
    let mut peers: Vec<Box<dyn Peer>> = Vec::new();
    for kind in &kinds {
        peers.push(work.load(kind, directory.path(), &mut output)?);
    }
    let stores = kinds.len();
    if cli.limit {
        kinds.push(Kind { name: "array", opener: array::open, cache: 0 });
        peers.push(work.load(&kinds[stores], directory.path(), &mut output)?);
    }
    work.look_up(&kinds, &peers, &mut output)?;
    for (kind, peer) in kinds.iter().zip(peers).take(stores) {
        let peer = work.reopen(kind, peer, directory.path(), &mut output)?;
        let peer = work.mix(kind, peer, directory.path(), &mut output)?;
        if !cli.no_deletes {
            work.delete_half(kind, peer, directory.path(), &mut output)?;
        }
    }
    output.print(&kinds, cli.keys);
    cli.csv.map_or(Ok(()), |path| output.write_csv(&path, cli.keys))
}
