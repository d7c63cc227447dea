//! Keys and values on the command line, where not all bytes are text.

use std::ffi::OsStr;

use anyhow::{Context, Result};
use clap::Args;
use malkoha_store::{Error, Options, Snapshot, Store, Table, TableSnapshot};
use serde_json::Value;

use crate::output::field;

/// Which keys are meant, and how they are spelled.
#[derive(Args, Debug)]
pub(super) struct KeyArgs {
    #[command(flatten)]
    pub(super) table: TableArg,

    /// Keys are hex digits, in and out, two a byte: for keys with any bytes
    #[arg(long)]
    pub(super) hex: bool,
}

impl KeyArgs {
    /// The bytes of a key as it was given: on Windows, those of UTF-8.
    pub(super) fn key(&self, text: &OsStr) -> Result<Vec<u8>> {
        let bytes = text.as_encoded_bytes();
        if self.hex { from_hex(bytes) } else { Ok(bytes.to_vec()) }
    }

    /// The table of these keys, which must exist.
    pub(super) fn table<'s>(&self, store: &'s Store) -> malkoha_store::Result<Table<'s>> {
        self.table.of(store)
    }

    /// The same in a snapshot.
    pub(super) fn table_in<'s>(
        &self,
        snapshot: &'s Snapshot,
    ) -> malkoha_store::Result<TableSnapshot<'s>> {
        let Some(name) = &self.table.table else { return Ok(snapshot.main()) };
        snapshot.table(name).ok_or_else(|| Error::NoTable(name.clone()))
    }

    /// The field of a record that has a key.
    pub(super) fn field(&self, key: &[u8]) -> (String, Value) {
        field("key", key, self.hex)
    }
}

/// A table of a store.
#[derive(Args, Debug)]
pub(super) struct TableArg {
    /// Keys of this table, apart from those of others and of the store itself; 'put' and 'load'
    /// make it if it is not there
    #[arg(long, value_name = "NAME", value_parser = name_of_table)]
    pub(super) table: Option<String>,
}

impl TableArg {
    /// The table, which must exist.
    pub(super) fn of<'s>(&self, store: &'s Store) -> malkoha_store::Result<Table<'s>> {
        let Some(name) = &self.table else { return Ok(store.main()) };
        store.find_table(name).ok_or_else(|| Error::NoTable(name.clone()))
    }

    /// The same; creates the table if it does not exist.
    pub(super) fn made<'s>(
        &self,
        store: &'s Store,
        order: OrderArg,
    ) -> malkoha_store::Result<Table<'s>> {
        match &self.table {
            None => Ok(store.main()),
            Some(name) if order.ordered => store.ordered_table(name),
            Some(name) => store.table(name),
        }
    }
}

/// Whether keys are in order.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct OrderArg {
    /// Keep the keys of a new store or table in order: 'scan' then prints them sorted, and reads
    /// only what it prints. 'order' does this for one that exists
    #[arg(long)]
    ordered: bool,
}

impl OrderArg {
    /// The options of the store that has the table.
    pub(super) fn options(self, options: Options, table: &TableArg) -> Options {
        if self.ordered && table.table.is_none() { options.ordered(true) } else { options }
    }
}

/// Checks a table's name, before a store is created for an invalid one.
fn name_of_table(text: &str) -> Result<String, &'static str> {
    match text.len() {
        1..=255 => Ok(text.to_owned()),
        _ => Err("the name of a table has 1 to 255 bytes"),
    }
}

/// The bytes of hex digits.
pub(super) fn from_hex(digits: &[u8]) -> Result<Vec<u8>> {
    /// This many bytes are enough to find the place.
    const SHOWN: usize = 40;
    hex::decode(digits).with_context(|| {
        let text = String::from_utf8_lossy(&digits[..digits.len().min(SHOWN)]);
        let rest = if digits.len() > SHOWN { "..." } else { "" };
        format!("'{text}{rest}' is not hex digits, two a byte")
    })
}

/// Bytes as C writes them, for a line on a terminal: nothing in it ends the line or is a command to
/// the terminal.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let octal = |text: &mut String, bytes: &[u8]| {
        bytes.iter().for_each(|byte| text.push_str(&format!("\\{byte:03o}")));
    };
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                _ if character.is_control() => {
                    octal(&mut text, character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => text.push(character),
            }
        }
        octal(&mut text, chunk.invalid());
    }
    text
}
