//! Rates of a store on this machine.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use malkoha_store::{Durability, MAX_VALUE, Options, Store};
use serde_json::json;

use crate::failure::{Outcome, tell};
use crate::output::print_record;

/// Bytes of a key.
const KEY: usize = 20;

/// Create a store with keys of 20 bytes in a directory, measure it and remove it
#[derive(Args, Debug)]
pub(super) struct Bench {
    /// Directory for the store
    #[arg(default_value = ".")]
    directory: PathBuf,

    /// Number of records
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u64).range(1000..=1 << 36))]
    keys: u64,

    /// Bytes per value
    #[arg(long, value_name = "BYTES", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(..=MAX_VALUE as i64))]
    value_bytes: u32,

    /// Number of synced puts
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    synced: u64,

    /// Print the result as a JSON record
    #[arg(long)]
    json: bool,
}

/// A key that looks random: all of them differ.
fn key(n: u64) -> [u8; KEY] {
    let mut key = [b'k'; KEY];
    key[..8].copy_from_slice(&n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    key
}

/// The measurements, in order: a name, a number, its unit.
type Figures = Vec<(&'static str, f64, &'static str)>;

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn per_second(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

impl Bench {
    pub(super) fn run(&self) -> Result<Outcome> {
        let made = tempfile::Builder::new().prefix("malkoha-bench-").tempdir_in(&self.directory);
        let made = made.with_context(|| {
            format!("cannot make a directory in '{}'", self.directory.display())
        })?;
        let mut figures = Figures::new();
        self.synced(made.path().join("synced"), &mut figures)?;
        let path = made.path().join("store");
        self.load(Store::open(&path, &options(Durability::System))?, &mut figures)?;
        for (name, checkpoint) in [("open_checkpoint", true), ("open_log", false)] {
            if !checkpoint {
                std::fs::remove_file(path.join("CHECKPOINT"))?;
            }
            let start = Instant::now();
            let store = Store::open_read_only(&path)?;
            figures.push((name, per_second(store.len(), start.elapsed()), "records/s"));
        }
        self.empty(Store::open(&path, &options(Durability::System))?, &mut figures)?;
        if self.json {
            let record = figures.iter().map(|&(name, value, _)| (name.to_owned(), json!(value)));
            print_record(&serde_json::Value::Object(record.collect()))?;
        } else {
            for (name, value, unit) in figures {
                tell(&format!("{:<16} {value:>16.2} {unit}", name.replace('_', " ")));
            }
        }
        Ok(Outcome::Found)
    }

    fn value(&self) -> Vec<u8> {
        vec![b'v'; self.value_bytes as usize]
    }

    fn synced(&self, path: PathBuf, figures: &mut Figures) -> Result<()> {
        let (store, value) = (Store::open(path, &options(Durability::Always))?, self.value());
        let start = Instant::now();
        (0..self.synced).try_for_each(|n| store.put(&key(n), &value))?;
        figures.push(("put_synced", per_second(self.synced, start.elapsed()), "/s"));
        Ok(store.close()?)
    }

    /// Fills a store and looks everything up.
    fn load(&self, store: Store, figures: &mut Figures) -> Result<()> {
        let (keys, value, mut longest) = (self.keys, self.value(), Duration::ZERO);
        let start = Instant::now();
        for n in 0..keys {
            let begin = Instant::now();
            store.put(&key(n), &value)?;
            longest = longest.max(begin.elapsed());
        }
        figures.push(("put", per_second(keys, start.elapsed()), "/s"));
        figures.push(("longest_put", longest.as_secs_f64() * 1e3, "ms"));
        let logical = keys * (KEY as u64 + u64::from(self.value_bytes));
        figures.push(("index", ratio(store.stats().index_bytes, keys), "bytes per key"));
        figures.push(("log", ratio(store.stats().log_bytes, logical), "of keys and values"));
        // In random order; some more than once.
        let order = (0..keys).map(|n| n.wrapping_mul(0x5851_f42d_4c95_7f2d) % keys);
        let present: Vec<_> = order.clone().map(key).collect();
        let absent: Vec<_> = order.map(|n| key(n + keys)).collect();
        for (name, keys) in [("get_present", &present), ("get_absent", &absent)] {
            let start = Instant::now();
            for key in keys {
                black_box(store.get_with(key, |value| value.len())?);
            }
            figures.push((name, per_second(self.keys, start.elapsed()), "/s"));
        }
        for (name, keys) in [("get_many_present", &present), ("get_many_absent", &absent)] {
            let start = Instant::now();
            let mut found = 0_u64;
            store.get_many(keys, |_, value| found += u64::from(black_box(value).is_some()))?;
            figures.push((name, per_second(self.keys, start.elapsed()), "/s"));
            let expected = if name == "get_many_present" { self.keys } else { 0 };
            ensure!(found == expected, "{found} keys of {expected} were found: report this");
        }
        Ok(store.close()?)
    }

    /// Removes every second key, and returns the space.
    fn empty(&self, store: Store, figures: &mut Figures) -> Result<()> {
        let half = self.keys.div_ceil(2);
        let start = Instant::now();
        for n in (0..self.keys).step_by(2) {
            store.delete(&key(n))?;
        }
        figures.push(("delete", per_second(half, start.elapsed()), "/s"));
        let start = Instant::now();
        store.compact()?;
        figures.push(("compact", start.elapsed().as_secs_f64() * 1e3, "ms"));
        let live = (self.keys - half) * (KEY as u64 + u64::from(self.value_bytes));
        figures.push(("log_compacted", ratio(store.stats().log_bytes, live), "of live data"));
        Ok(store.close()?)
    }
}

fn options(durability: Durability) -> Options {
    Options::new().durability(durability).background(false)
}
