//! Many pairs from standard input.

use std::borrow::Cow;
use std::io::{self, BufRead, Read, Write};

use anyhow::{Context, Result};
use clap::Args;
use malkoha_store::{Batch, Durability, MAX_KEY, MAX_VALUE, Store, Table};
use serde_json::json;

use super::bytes::{OrderArg, TableArg, from_hex};
use super::{Lifetime, Packing, Place};
use crate::failure::{CANNOT_WRITE, Outcome};
use crate::output::print_record;

/// Bytes of pairs that are written together.
const BATCH_BYTES: usize = 1 << 20;
/// A line of this many bytes is too long, in hex digits too.
const LINE_BYTES: usize = 2 * (MAX_KEY + MAX_VALUE) + 4;

/// Put the pairs of standard input: each line is a key, a tab and a value
#[derive(Args, Debug)]
#[command(after_help = "A line that is not a pair is an error; the pairs before it are stored.")]
pub(super) struct Load {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    table: TableArg,

    #[command(flatten)]
    order: OrderArg,

    #[command(flatten)]
    packing: Packing,

    #[command(flatten)]
    lifetime: Lifetime,

    /// Print each key as soon as its value is on the device, where a power cut cannot lose it
    #[arg(long)]
    echo: bool,

    /// Keys and values are hex digits, as 'scan --hex --values' prints them
    #[arg(long)]
    hex: bool,

    /// Print the number of pairs as a JSON record
    #[arg(long, conflicts_with = "echo")]
    json: bool,
}

impl Load {
    pub(super) fn run(&self) -> Result<Outcome> {
        let options = self.order.options(self.packing.options(), &self.table);
        let store = if self.echo {
            // Every write is on the device before its key is printed.
            self.place.open(options.durability(Durability::Always), true)
        } else {
            self.place.with(options, true)
        }?;
        let mut pairs = 0;
        let loaded = self.load(&store, &mut pairs);
        let closed = self.place.named(store.close());
        loaded.and(closed)?;
        if self.json {
            print_record(&json!({ "pairs": pairs }))?;
        }
        Ok(Outcome::found_if(pairs > 0))
    }

    /// Puts all pairs, up to the first line that is not one.
    fn load(&self, store: &Store, pairs: &mut u64) -> Result<()> {
        let mut input = io::stdin().lock();
        let table = self.place.named(self.table.made(store, self.order))?;
        let (mut line, mut batch) = (Vec::new(), self.batch());
        let read = loop {
            line.clear();
            let part = input.by_ref().take(LINE_BYTES as u64).read_until(b'\n', &mut line);
            match part.context("cannot read standard input") {
                Ok(0) => break Ok(()),
                Ok(_) => {}
                failed => break failed.map(|_| ()),
            }
            if let Err(error) = self.take((store, table), &mut batch, &line, pairs) {
                break Err(error);
            }
        };
        self.apply(store, &mut batch, pairs)?;
        read
    }

    /// Puts the pair of a line, or adds it to those that are put together.
    fn take(
        &self,
        (store, table): (&Store, Table<'_>),
        batch: &mut Batch,
        line: &[u8],
        pairs: &mut u64,
    ) -> Result<()> {
        let number = *pairs + batch.len() as u64 + 1;
        let at = || format!("line {number}");
        let pair = line.strip_suffix(b"\n").unwrap_or(line);
        let tab = memchr::memchr(b'\t', pair).with_context(|| {
            format!(
                "{} has no tab: write 'KEY<tab>VALUE' in each line; the pairs before it are in",
                at()
            )
        })?;
        let (mut key, mut value) = (Cow::from(&pair[..tab]), Cow::from(&pair[tab + 1..]));
        if self.hex {
            key = from_hex(&key).with_context(at)?.into();
            value = from_hex(&value).with_context(at)?.into();
        }
        if self.echo {
            self.place.named(self.lifetime.put(table, &key, &value)).with_context(at)?;
            *pairs = number;
            return self.tell_key(&pair[..tab]);
        }
        self.lifetime.add(batch, &key, &value).with_context(at)?;
        if batch.bytes() >= BATCH_BYTES {
            self.apply(store, batch, pairs)?;
        }
        Ok(())
    }

    /// Stores the pairs of a batch behind those that are stored.
    fn apply(&self, store: &Store, batch: &mut Batch, pairs: &mut u64) -> Result<()> {
        let batch = std::mem::replace(batch, self.batch());
        let applied = self.place.named(store.apply(&batch).map(drop));
        applied.with_context(|| format!("only the first {pairs} pairs are in"))?;
        *pairs += batch.len() as u64;
        Ok(())
    }

    fn batch(&self) -> Batch {
        let mut batch = Batch::new();
        batch.within(self.table.table.as_deref().unwrap_or_default());
        batch
    }

    fn tell_key(&self, key: &[u8]) -> Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(key).and_then(|()| out.write_all(b"\n")).context(CANNOT_WRITE)?;
        out.flush().context(CANNOT_WRITE)
    }
}
