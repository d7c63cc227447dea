//! Single keys, and all of them.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::ops::{Bound, RangeBounds};

use anyhow::{Context, Result, bail};
use clap::Args;
use malkoha_store::{Entry, Error, MAX_KEY, MAX_VALUE, Store, Swap};
use serde_json::json;

use super::bytes::{KeyArgs, OrderArg};
use super::upkeep::{Gone, known_damage};
use super::{Lifetime, Packing, Place};
use crate::failure::{CANNOT_WRITE, Outcome, tell};
use crate::output::print_record;
use crate::output::{LineWriter, field, with_fields};

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

/// Print all keys: sorted if they are kept in order, otherwise as they were written
#[derive(Args, Debug)]
#[command(after_help = AFTER_SCAN)]
pub(super) struct Scan {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    keys: KeyArgs,

    /// Print only keys that begin with this, sorted. Unless keys are kept in order, this reads the
    /// whole store and takes memory for what it prints
    #[arg(long)]
    prefix: Option<OsString>,

    /// The same for keys from this one on
    #[arg(long, value_name = "KEY", conflicts_with = "prefix")]
    from: Option<OsString>,

    /// The same for keys below this one
    #[arg(long, value_name = "KEY", conflicts_with = "prefix")]
    until: Option<OsString>,

    /// Also print values: each line is a key, a tab and a value, both as hex digits with --hex
    #[arg(long)]
    values: bool,

    /// Print a JSON record for each key, with the length of its value
    #[arg(long)]
    json: bool,

    /// Lines end with a NUL byte instead of a newline
    #[arg(short = '0', long = "null", conflicts_with = "json")]
    null: bool,
}

const AFTER_SCAN: &str = "\
Keys are printed byte for byte, so a key with a newline takes two lines. With
--hex or --json each key takes one line, whatever its bytes. In records, a key
that is not UTF-8 is in 'key_hex'.

Example, a copy of all pairs, of any bytes:
  malkoha store scan --hex --values cuckoos | malkoha store load --hex copy";

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

impl Scan {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.reading_past_damage()?;
        let snapshot = store.snapshot();
        let table = self.place.named(self.keys.table_in(&snapshot))?;
        let mut lines = LineWriter::stdout(if self.null { 0 } else { b'\n' }, false)?;
        let (mut keys, mut bad) = (0_u64, 0_u64);
        let key = |key: &Option<OsString>| key.as_ref().map(|key| self.keys.key(key)).transpose();
        let (prefix, from, until) = (key(&self.prefix)?, key(&self.from)?, key(&self.until)?);
        let known = known_damage(&store);
        let mut tell_bad = |error: &Error| {
            tell(&format!("malkoha: {}: {error}", self.place.context()));
            bad += 1;
        };
        store.recovery().skipped.iter().for_each(&mut tell_bad);
        let range = (
            from.as_deref().map_or(Bound::Unbounded, Bound::Included),
            until.as_deref().map_or(Bound::Unbounded, Bound::Excluded),
        );
        // Without order, the library's `prefix` and `range` end at the first bad place.
        let entries = match &prefix {
            _ if !table.is_ordered() => table.iter(),
            Some(prefix) => self.place.named(table.prefix(prefix))?,
            None => self.place.named(table.range(range))?,
        };
        let sorts = !table.is_ordered() && (prefix.is_some() || from.is_some() || until.is_some());
        let mut found = Vec::new();
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) if known.contains(&error.to_string()) => continue,
                Err(error) => {
                    tell_bad(&error);
                    continue;
                }
            };
            if !sorts {
                keys += 1;
                lines.write(&self.line(&entry.key, &entry.value))?;
            } else if entry.key.starts_with(prefix.as_deref().unwrap_or_default())
                && RangeBounds::<[u8]>::contains(&range, &*entry.key)
            {
                found.push(entry);
            }
        }
        found.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        for Entry { key, value, .. } in &found {
            keys += 1;
            lines.write(&self.line(key, value))?;
        }
        lines.finish()?;
        if bad > 0 {
            if let Ok(found) = store.verify() {
                Gone::new(&store, &found).tell();
            }
            bail!(
                "{}: {bad} places could not be read; what lies in others was printed",
                self.place.context()
            );
        }
        Ok(Outcome::found_if(keys > 0))
    }

    fn line(&self, key: &[u8], value: &[u8]) -> Vec<u8> {
        if self.json {
            let record = json!({ "value_bytes": value.len() });
            let mut record = with_fields(record, [self.keys.field(key)]);
            if self.values {
                record = with_fields(record, [field("value", value, self.keys.hex)]);
            }
            return record.to_string().into_bytes();
        }
        let written = |bytes: &[u8]| {
            if self.keys.hex { hex::encode(bytes).into_bytes() } else { bytes.to_vec() }
        };
        let mut line = written(key);
        if self.values {
            line.push(b'\t');
            line.extend(written(value));
        }
        line
    }
}
