//! Rates of a store with keys of 20 bytes and values of 100, in a temporary directory.
//! `cargo run --release -p malkoha-store --example rates -- 5000000`

use std::env;
use std::hint::black_box;
use std::time::Instant;

use malkoha_store::{Durability, Options, Result, Store};

fn key(n: u64) -> [u8; 20] {
    let mut key = [b'k'; 20];
    key[..8].copy_from_slice(&n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    key
}

/// Processor time of the process in seconds: of the program, and of the system for it.
fn processor() -> [f64; 2] {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        stat.split(' ').skip(13).take(2).filter_map(|text| text.parse().ok()).collect();
    [0, 1].map(|i| fields.get(i).copied().unwrap_or(f64::NAN) / 100.0)
}

fn rate(what: &str, count: u64, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let before = processor();
    let start = Instant::now();
    work()?;
    let elapsed = start.elapsed().as_secs_f64();
    let after = processor();
    let [user, system] = [0, 1].map(|i| after[i] - before[i]);
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let millions = count as f64 / elapsed / 1e6;
    println!(
        "{what:<28} {millions:>8.2} M/s  {:>9.1} ms, user {:.1} ms, system {:.1} ms",
        elapsed * 1e3,
        user * 1e3,
        system * 1e3
    );
    Ok(())
}

#[inline(never)]
fn get(store: &Store, keys: &[[u8; 20]]) -> Result<()> {
    keys.iter().try_for_each(|key| {
        store
            .get_with(key, |value| {
                black_box(value);
            })
            .map(drop)
    })
}

#[inline(never)]
fn get_many(store: &Store, keys: &[[u8; 20]]) -> Result<()> {
    store.get_many(keys, |_, value| {
        black_box(value);
    })
}

fn main() -> Result<()> {
    let keys: u64 =
        env::args().nth(1).map_or(1_000_000, |text| text.parse().expect("a number of keys"));
    let directory = tempfile::tempdir().expect("a temporary directory");
    let options = Options::new().durability(Durability::System).background(false);
    let store = Store::open(directory.path(), &options)?;
    let mut longest = 0.0_f64;
    rate("put", keys, || {
        (0..keys).try_for_each(|n| {
            let start = Instant::now();
            store.put(&key(n), &[7; 100])?;
            longest = longest.max(start.elapsed().as_secs_f64());
            Ok(())
        })
    })?;
    println!("longest put {:.2} ms", longest * 1e3);
    let stats = store.stats();
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let (index, disk) =
        (stats.index_bytes as f64 / keys as f64, stats.log_bytes as f64 / (keys * 120) as f64);
    println!("index {index:.2} bytes a key, log {disk:.3} of keys and values");
    let order: Vec<u64> = (0..keys).map(|n| n.wrapping_mul(7_368_787) % keys).collect();
    let shuffled: Vec<_> = order.iter().map(|&n| key(n)).collect();
    let absent: Vec<_> = order.iter().map(|&n| key(n + keys)).collect();
    rate("get, present", keys, || get(&store, &shuffled))?;
    rate("get, absent", keys, || get(&store, &absent))?;
    rate("get_many, present", keys, || get_many(&store, &shuffled))?;
    rate("get_many, absent", keys, || get_many(&store, &absent))?;
    store.close()?;
    rate("open, from the checkpoint", keys, || Store::open_read_only(directory.path()).map(drop))?;
    std::fs::remove_file(directory.path().join("CHECKPOINT")).expect("a checkpoint");
    rate("open, from the log", keys, || Store::open_read_only(directory.path()).map(drop))?;
    let store = Store::open(directory.path(), &options)?;
    rate("delete every second", keys / 2, || {
        (0..keys).step_by(2).try_for_each(|n| store.delete(&key(n)).map(drop))
    })?;
    rate("compact", keys / 2, || store.compact())?;
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let disk = store.stats().log_bytes as f64 / (keys / 2 * 120) as f64;
    println!("log {disk:.3} of live keys and values");
    Ok(())
}
