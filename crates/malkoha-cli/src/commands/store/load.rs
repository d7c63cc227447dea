//! Many pairs from standard input.

use std::io::{self, BufRead, Write};

use anyhow::{Context, Result, ensure};
use clap::Args;
use malkoha_store::{Batch, Store};

use super::Place;
use crate::failure::{CANNOT_WRITE, Outcome};

/// Bytes of pairs that are written together.
const BATCH_BYTES: usize = 1 << 20;

/// Put the pairs of standard input: a key, a tab and a value in each line
#[derive(Args, Debug)]
pub(super) struct Load {
    #[command(flatten)]
    place: Place,

    /// Print each key as soon as its value is on the device, and lose none of these in a power cut
    #[arg(long)]
    echo: bool,
}

impl Load {
    pub(super) fn run(&self) -> Result<Outcome> {
        let mut input = io::stdin().lock();
        let store = if self.echo { self.place.durable()? } else { self.place.writing(true)? };
        let (mut line, mut batch, mut number) = (Vec::new(), Batch::new(), 0_u64);
        loop {
            line.clear();
            let bytes = input.read_until(b'\n', &mut line).context("cannot read standard input")?;
            if bytes == 0 {
                break;
            }
            number += 1;
            let pair = line.strip_suffix(b"\n").unwrap_or(&line);
            let tab = memchr::memchr(b'\t', pair);
            ensure!(tab.is_some(), "line {number} has no tab: write 'KEY<tab>VALUE' in each line");
            let (key, value) = pair.split_at(tab.unwrap_or_default());
            let value = &value[1..];
            if self.echo {
                self.put_and_tell(&store, key, value, number)?;
                continue;
            }
            batch.put(key, value).with_context(|| format!("line {number}"))?;
            if batch.bytes() >= BATCH_BYTES {
                self.place.named(store.apply(&batch))?;
                batch.clear();
            }
        }
        self.place.named(store.apply(&batch))?;
        self.place.named(store.close())?;
        Ok(Outcome::found_if(number > 0))
    }

    fn put_and_tell(&self, store: &Store, key: &[u8], value: &[u8], line: u64) -> Result<()> {
        store.put(key, value).with_context(|| format!("{}, line {line}", self.place.context()))?;
        let mut out = io::stdout().lock();
        out.write_all(key).and_then(|()| out.write_all(b"\n")).context(CANNOT_WRITE)?;
        out.flush().context(CANNOT_WRITE)
    }
}
