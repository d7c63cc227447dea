//! All keys, or those of a range.

use std::ffi::OsString;
use std::ops::{Bound, RangeBounds};

use anyhow::{Result, bail};
use clap::Args;
use malkoha_store::{Entry, Error};
use serde_json::json;

use super::Place;
use super::bytes::KeyArgs;
use super::damage::{Gone, known_damage};
use crate::failure::{Outcome, tell};
use crate::output::{LineWriter, field, with_fields};

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
