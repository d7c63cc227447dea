//! Single keys, and all of them.

use std::io::{self, Read, Write};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;

use super::Place;
use crate::failure::{CANNOT_WRITE, Outcome};
use crate::output::LineWriter;
use crate::screen::print_record;

/// Give a key a value
#[derive(Args, Debug)]
pub(super) struct Put {
    #[command(flatten)]
    place: Place,

    /// Key
    key: String,

    /// Value; none is standard input, to its end
    value: Option<String>,
}

/// Print the value of a key, byte for byte
#[derive(Args, Debug)]
pub(super) struct Get {
    #[command(flatten)]
    place: Place,

    /// Key
    key: String,
}

/// Remove keys; exit code 1 if none was there
#[derive(Args, Debug)]
pub(super) struct Del {
    #[command(flatten)]
    place: Place,

    /// Keys
    #[arg(required = true)]
    keys: Vec<String>,
}

/// Print all keys, in the order in which they were written
#[derive(Args, Debug)]
pub(super) struct Scan {
    #[command(flatten)]
    place: Place,

    /// Print a JSON record for each key, with the length of its value
    #[arg(long)]
    json: bool,

    /// Lines end with a NUL byte, not with a newline
    #[arg(short = '0', long = "null")]
    null: bool,
}

impl Put {
    pub(super) fn run(&self) -> Result<Outcome> {
        let value = match &self.value {
            Some(value) => value.as_bytes().to_vec(),
            None => {
                let mut value = Vec::new();
                // One byte more than a value may have is enough to be refused.
                let most = malkoha_store::MAX_VALUE as u64 + 1;
                let input = io::stdin().lock().take(most).read_to_end(&mut value);
                input.context("cannot read standard input")?;
                value
            }
        };
        let store = self.place.writing(true)?;
        self.place.named(store.put(self.key.as_bytes(), &value))?;
        self.place.named(store.close())?;
        Ok(Outcome::Found)
    }
}

impl Get {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.reading()?;
        let write = |value: &[u8]| {
            let mut out = io::stdout().lock();
            out.write_all(value).and_then(|()| out.flush()).context(CANNOT_WRITE)
        };
        let written = self.place.named(store.get_with(self.key.as_bytes(), write))?;
        let found = written.is_some();
        written.transpose()?;
        Ok(Outcome::found_if(found))
    }
}

impl Del {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.writing(false)?;
        let mut found = false;
        for key in &self.keys {
            found |= self.place.named(store.delete(key.as_bytes()))?;
        }
        self.place.named(store.close())?;
        Ok(Outcome::found_if(found))
    }
}

impl Scan {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.reading()?;
        let snapshot = store.snapshot();
        let mut lines =
            (!self.json).then(|| LineWriter::stdout(if self.null { 0 } else { b'\n' }, false));
        for entry in snapshot.iter() {
            let entry = self.place.named(entry)?;
            match &mut lines {
                Some(lines) => lines.write(entry.key).context(CANNOT_WRITE)?,
                None => print_record(&json!({
                    "key": String::from_utf8_lossy(entry.key),
                    "value_bytes": entry.value.len(),
                }))?,
            }
        }
        if let Some(lines) = lines {
            lines.finish().context(CANNOT_WRITE)?;
        }
        Ok(Outcome::found_if(!snapshot.is_empty()))
    }
}
