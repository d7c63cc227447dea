//! `malkoha store`: an exact key-value store in a directory.

mod bench;
mod bytes;
mod export;
mod files;
mod import;
mod keys;
mod load;
mod names;
mod restore;
mod tree;
mod upkeep;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use malkoha_store::{Durability, Options, Store};

use crate::failure::Outcome;

const AFTER_HELP: &str = "\
STORE is a directory, made by 'put', 'load' and 'import' if it is not there. One process at a time
writes to it; others may read meanwhile.

Keys and values are any bytes. Every command prints a JSON record with --json. In it, what is UTF-8
is a string in 'key', 'value', 'name' or 'target'; what is not is hex digits in 'key_hex' and so on.

Exit codes: 0 something was found, or done; 1 nothing was; 2 an error, told on stderr.

Examples:
  malkoha store put cuckoos koel 'Eudynamys scolopaceus'
  malkoha store get cuckoos koel
  malkoha store load cuckoos < pairs.tsv
  malkoha screen --list cuckoos sightings.txt     lines that are keys of the store
  malkoha store import backup.store photos/ && malkoha store ls backup.store
  malkoha store export backup.store --into restored/
  malkoha store compact backup.store";

/// Keep keys and values, or whole files, in a store on disk
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Put(keys::Put),
    Get(keys::Get),
    Del(keys::Del),
    Load(load::Load),
    Scan(keys::Scan),
    Import(import::Import),
    Export(export::Export),
    Ls(files::Ls),
    Rm(files::Rm),
    Gc(files::Gc),
    Stats(upkeep::Stats),
    Compact(upkeep::Compact),
    Verify(upkeep::Verify),
    Repair(upkeep::Repair),
    Backup(upkeep::Backup),
    Bench(bench::Bench),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    match &arguments.command {
        Command::Put(arguments) => arguments.run(),
        Command::Get(arguments) => arguments.run(),
        Command::Del(arguments) => arguments.run(),
        Command::Load(arguments) => arguments.run(),
        Command::Scan(arguments) => arguments.run(),
        Command::Import(arguments) => arguments.run(),
        Command::Export(arguments) => arguments.run(),
        Command::Ls(arguments) => arguments.run(),
        Command::Rm(arguments) => arguments.run(),
        Command::Gc(arguments) => arguments.run(),
        Command::Stats(arguments) => arguments.run(),
        Command::Compact(arguments) => arguments.run(),
        Command::Verify(arguments) => arguments.run(),
        Command::Repair(arguments) => arguments.run(),
        Command::Backup(arguments) => arguments.run(),
        Command::Bench(arguments) => arguments.run(),
    }
}

/// The store that a command is about.
#[derive(Args, Debug)]
struct Place {
    /// Directory of the store
    store: PathBuf,
}

impl Place {
    fn writing(&self, create: bool) -> Result<Store> {
        // Closing syncs, so a command that ends well has everything on disk.
        let options =
            Options::new().durability(Durability::System).background(false).create(create);
        Store::open(&self.store, &options).with_context(|| self.context())
    }

    /// For writing, with every write on the device before it is answered.
    fn durable(&self) -> Result<Store> {
        let options = Options::new().durability(Durability::Always).background(false);
        Store::open(&self.store, &options).with_context(|| self.context())
    }

    fn reading(&self) -> Result<Store> {
        Store::open_read_only(&self.store).with_context(|| self.context())
    }

    fn context(&self) -> String {
        format!("store '{}'", self.store.display())
    }

    /// What `result` says, with the store's name.
    fn named<T>(&self, result: malkoha_store::Result<T>) -> Result<T> {
        result.with_context(|| self.context())
    }
}

/// A line on standard output.
fn print_line(line: &str) -> Result<()> {
    use std::io::Write;
    writeln!(std::io::stdout(), "{line}").context(crate::failure::CANNOT_WRITE)
}
