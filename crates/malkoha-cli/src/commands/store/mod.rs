//! `malkoha store`: an exact key-value store in a directory.

mod bench;
mod bytes;
mod damage;
mod export;
mod files;
mod import;
mod keys;
mod load;
mod names;
mod order;
#[cfg_attr(windows, path = "restore_windows.rs")]
mod restore;
mod scan;
mod tables;
mod tree;
mod upkeep;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use malkoha_store::{Batch, Compression, Cut, Durability, Error, Options, Recovery, Store, Table};

use crate::failure::{Outcome, tell};

/// Keep keys and values, or whole files, in a store on disk
#[derive(Args, Debug)]
#[command(after_help = include_str!("help.txt"))]
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
    Scan(scan::Scan),
    Tables(tables::Tables),
    Order(order::Order),
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
        Command::Tables(arguments) => arguments.run(),
        Command::Order(arguments) => arguments.run(),
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

/// How values are stored.
#[derive(Args, Clone, Copy, Debug)]
struct Packing {
    /// Compress values of 64 bytes or more with LZ4, if that saves an eighth. Reading needs no
    /// option
    #[arg(long)]
    compress: bool,
}

impl Packing {
    fn options(self) -> Options {
        Options::new().compression(if self.compress { Compression::Lz4 } else { Compression::None })
    }
}

/// How long values are kept.
#[derive(Args, Clone, Copy, Debug)]
struct Lifetime {
    /// Values end after this time, such as 90s, 24h or 30days
    #[arg(long, value_name = "TIME", value_parser = crate::time::duration)]
    ttl: Option<u64>,
}

impl Lifetime {
    fn put(self, table: Table<'_>, key: &[u8], value: &[u8]) -> malkoha_store::Result<()> {
        match self.ttl.map(Duration::from_millis) {
            Some(time) => table.put_for(key, value, time),
            None => table.put(key, value),
        }
    }

    fn add(self, batch: &mut Batch, key: &[u8], value: &[u8]) -> malkoha_store::Result<()> {
        match self.ttl.map(Duration::from_millis) {
            Some(time) => batch.put_for(key, value, time),
            None => batch.put(key, value),
        }
        .map(drop)
    }
}

/// The store that a command is about.
#[derive(Args, Debug)]
struct Place {
    /// Directory of the store
    store: PathBuf,
}

impl Place {
    fn writing(&self) -> Result<Store> {
        self.with(Options::new(), false)
    }

    fn with(&self, options: Options, create: bool) -> Result<Store> {
        // Closing syncs, so a command that succeeds has everything on disk.
        self.open(options.durability(Durability::System), create)
    }

    fn open(&self, options: Options, create: bool) -> Result<Store> {
        let options = options.background(false).create(false);
        let store = match Store::open(&self.store, &options) {
            Err(Error::NoStore(_)) if create => {
                self.check_room()?;
                self.named(Store::open(&self.store, &options.create(true)))
            }
            opened => self.named(opened),
        }?;
        self.tell_recovery(store.recovery());
        Ok(store)
    }

    /// Reports damage that closing will hide.
    fn tell_recovery(&self, recovery: &Recovery) {
        let place = self.context();
        if let Some(Error::Damaged { file, offset, what }) = &recovery.checkpoint {
            tell(&format!(
                "malkoha: {place}: '{file}' is damaged at byte {offset}: {what}; it is rebuilt \
                 from the log"
            ));
        }
        if let Some(Cut { file, offset, bytes, .. }) = &recovery.cut {
            tell(&format!(
                "malkoha: {place}: the last {bytes} bytes of '{file}', from byte {offset} on, are \
                 of a write that a crash left unfinished: they are cut off"
            ));
        }
        for Cut { file, bytes, .. } in &recovery.cut_files {
            tell(&format!(
                "malkoha: {place}: '{file}', {bytes} bytes, lies behind the end of the log, of writes \
                 that a crash left unfinished: it is removed"
            ));
        }
    }

    /// Checks that a new store would not be among other people's files.
    fn check_room(&self) -> Result<()> {
        if !self.store.exists() {
            return Ok(());
        }
        if !self.store.is_dir() {
            bail!("{}: it is no directory, and a store is one", self.context());
        }
        for entry in fs::read_dir(&self.store).with_context(|| self.context())? {
            let name = entry.with_context(|| self.context())?.file_name();
            if !LEFTOVERS.iter().any(|leftover| name == *leftover) {
                bail!(
                    "{}: it has other files and no store: name an empty or new directory",
                    self.context()
                );
            }
        }
        Ok(())
    }

    fn reading(&self) -> Result<Store> {
        self.named(Store::open_read_only(&self.store))
    }

    /// The same for what shows all that can be read of a damaged store.
    fn reading_past_damage(&self) -> Result<Store> {
        match Store::open_read_only(&self.store) {
            Err(Error::Damaged { .. } | Error::Io { action: "read", .. }) => {
                self.named(Store::open_past_damage(&self.store))
            }
            opened => self.named(opened),
        }
    }

    fn context(&self) -> String {
        format!("store '{}'", self.store.display())
    }

    /// Adds the store's name to an error that has no name of it.
    fn named<T>(&self, result: malkoha_store::Result<T>) -> Result<T> {
        match result {
            Err(error @ Error::NoStore(_)) => Err(error.into()),
            result => result.with_context(|| self.context()),
        }
    }
}

/// Removes what is left of a store that was only begun.
const LEFTOVERS: [&str; 3] = ["LOCK", "CHECKPOINT.new", "RESERVE"];
