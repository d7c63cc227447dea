//! Single keys.

use std::ffi::OsString;
use std::io::{self, Read, Write};

use anyhow::{Context, Result};
use clap::Args;
use malkoha_store::{Error, MAX_KEY, MAX_VALUE, Store, Swap};
use serde_json::json;

use super::bytes::{KeyArgs, OrderArg};
use super::{Lifetime, Packing, Place};
use crate::failure::{CANNOT_WRITE, Outcome};
use crate::output::{field, print_record, with_fields};

/// Set the value of a key; exit code 1 if a condition does not hold
#[derive(Args, Debug)]
pub(super) struct Put {
    #[command(flatten)]
    place: Place,

    /// Key, of any bytes
    key: OsString,

    /// Value, of any bytes; '-' is standard input [default: -]
    value: Option<OsString>,

    #[command(flatten)]
    lifetime: Lifetime,

    /// Only if the key has no value
    #[arg(long, conflicts_with_all = ["if_value", "ttl"])]
    if_absent: bool,

    /// Only if the key has this value; makes neither a store nor a table
    #[arg(long, value_name = "OLD", conflicts_with = "ttl")]
    if_value: Option<OsString>,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    order: OrderArg,

    #[command(flatten)]
    packing: Packing,

    /// Print what was put as a JSON record
    #[arg(long)]
    json: bool,
}

/// Print the value of a key, byte for byte
#[derive(Args, Debug)]
pub(super) struct Get {
    #[command(flatten)]
    place: Place,

    /// Key, of any bytes
    key: OsString,

    #[command(flatten)]
    keys: KeyArgs,

    /// Print a JSON record, with the value in 'value', or in 'value_hex' if it is not UTF-8
    #[arg(long)]
    json: bool,
}

/// Remove keys; exit code 1 if none was found
#[derive(Args, Debug)]
pub(super) struct Del {
    #[command(flatten)]
    place: Place,

    /// Keys, of any bytes
    #[arg(required = true, value_name = "KEY")]
    given: Vec<OsString>,

    #[command(flatten)]
    keys: KeyArgs,

    /// Print the number of removed keys as a JSON record
    #[arg(long)]
    json: bool,
}

impl Put {
    pub(super) fn run(&self) -> Result<Outcome> {
        let key = self.keys.key(&self.key)?;
        if key.len() > MAX_KEY {
            // Before a store is created in vain.
            return self.place.named(Err(Error::KeyTooLong(key.len())));
        }
        let value = match &self.value {
            Some(value) if value != "-" => value.as_encoded_bytes().to_vec(),
            _ => {
                let mut value = Vec::new();
                // One byte more than the limit is enough to be refused.
                let input = io::stdin().lock().take(MAX_VALUE as u64 + 1).read_to_end(&mut value);
                input.context("cannot read standard input")?;
                value
            }
        };
        let options = self.order.options(self.packing.options(), &self.keys.table);
        let store = self.place.with(options, self.if_value.is_none())?;
        let put = self.place.named(self.put(&store, &key, &value))?;
        self.place.named(store.close())?;
        if self.json {
            let record = json!({ "value_bytes": value.len(), "put": put });
            print_record(&with_fields(record, [self.keys.field(&key)]))?;
        }
        Ok(Outcome::found_if(put))
    }

    /// Whether the key had the expected value.
    fn put(&self, store: &Store, key: &[u8], value: &[u8]) -> malkoha_store::Result<bool> {
        if let Some(old) = &self.if_value {
            // Creates neither a store nor a table for a key that cannot exist.
            let table = self.keys.table(store)?;
            let swap = table.compare_and_swap(key, Some(old.as_encoded_bytes()), Some(value))?;
            return Ok(swap == Swap::Done);
        }
        let table = self.keys.table.made(store, self.order)?;
        if self.if_absent {
            return table.put_if_absent(key, value);
        }
        self.lifetime.put(table, key, value).map(|()| true)
    }
}

impl Get {
    pub(super) fn run(&self) -> Result<Outcome> {
        let key = self.keys.key(&self.key)?;
        let store = self.place.reading()?;
        let write = |value: &[u8]| {
            if self.json {
                let record = json!({ "found": true, "value_bytes": value.len() });
                let fields = [self.keys.field(&key), field("value", value, self.keys.hex)];
                return print_record(&with_fields(record, fields));
            }
            let mut out = io::stdout().lock();
            out.write_all(value).and_then(|()| out.flush()).context(CANNOT_WRITE)
        };
        let table = self.place.named(self.keys.table(&store))?;
        let written = self.place.named(table.get_with(&key, write))?;
        let found = written.is_some();
        written.transpose()?;
        if self.json && !found {
            print_record(&with_fields(json!({ "found": false }), [self.keys.field(&key)]))?;
        }
        Ok(Outcome::found_if(found))
    }
}

impl Del {
    pub(super) fn run(&self) -> Result<Outcome> {
        let keys: Result<Vec<_>> = self.given.iter().map(|key| self.keys.key(key)).collect();
        let keys = keys?;
        let store = self.place.writing()?;
        let table = self.place.named(self.keys.table(&store))?;
        let mut removed = 0;
        for key in &keys {
            removed += u64::from(self.place.named(table.delete(key))?);
        }
        self.place.named(store.close())?;
        if self.json {
            print_record(&json!({ "asked": keys.len(), "removed": removed }))?;
        }
        Ok(Outcome::found_if(removed > 0))
    }
}
