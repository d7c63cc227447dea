//! A stream in which few keys come very often, into filters of fixed size: their counts compared
//! with the true ones, and what counting costs.

use std::time::Duration;

use anyhow::{Result, ensure};
use malkoha::CuckooFilter;

use crate::args::CopiesArgs;
use crate::keys::Keys;
use crate::machine::Machine;
use crate::measure::{rate, timed};
use crate::ours::Ours;
use crate::report::{Grid, Report, number};
use crate::zipf::Zipf;

const EXPONENT: f64 = 1.1;

/// A stream, and how often each of its keys comes.
struct Stream {
    keys: Vec<u64>,
    /// Each key once, with its number of copies.
    truth: Vec<(u64, u64)>,
}

impl Stream {
    fn new(length: u64, seed: u64) -> Result<Self> {
        let (names, uniform) = (Keys::new(seed), Keys::new(seed + 1));
        let (zipf, mut position) = (Zipf::new(length, EXPONENT), 0);
        let mut copies = vec![0; usize::try_from(length)? + 1];
        let mut keys = Vec::new();
        for _ in 0..length {
            let rank = zipf.rank(|| {
                position += 1;
                uniform.key(position) as f64 / 2_f64.powi(64)
            });
            copies[usize::try_from(rank)?] += 1;
            keys.push(names.key(rank));
        }
        let truth = (0..).zip(copies).filter(|&(_, copies)| copies > 0);
        Ok(Self { keys, truth: truth.map(|(rank, copies)| (names.key(rank), copies)).collect() })
    }
}

/// Runs the stream through a filter of each layout that has room for its distinct keys.
///
/// # Errors
///
/// If a filter refused a key, counted one too low, or did not remove all copies.
pub fn report(args: &CopiesArgs) -> Result<()> {
    print!("{}", Report::new(Machine::describe(args.date.clone())).head());
    let stream = Stream::new(args.stream, args.seed)?;
    let most = stream.truth.iter().map(|&(_, copies)| copies).max().unwrap_or(0);
    let title = format!(
        "Stream of {} keys, Zipf {EXPONENT}: {} distinct, the commonest {most} times",
        args.stream,
        stream.truth.len(),
    );
    let head = [
        "layout",
        "too low",
        "too high",
        "share",
        "fpr",
        "load",
        "bits a distinct key",
        "bits a key",
        "inserts, M/s",
        "distinct keys only, M/s",
    ];
    let mut grid = Grid::new(title, head);
    for layout in &args.layouts {
        grid.row(row(layout, &stream)?);
    }
    print!("{grid}");
    Ok(())
}

fn row(layout: &Ours, stream: &Stream) -> Result<[String; 10]> {
    let distinct = stream.truth.len() as u64;
    let mut plain = layout.builder(distinct).build()?;
    let once: Vec<u64> = stream.truth.iter().map(|&(key, _)| key).collect();
    let plain_rate = insert_all(&mut plain, &once)?;
    let mut filter = layout.builder(distinct).build()?;
    let rate = insert_all(&mut filter, &stream.keys)?;
    let (mut low, mut high) = (0_u64, 0_u64);
    for &(key, copies) in &stream.truth {
        let count = filter.count(key);
        low += u64::from(count < copies);
        high += u64::from(count > copies);
    }
    ensure!(low == 0, "{low} keys were counted too low");
    let row = [
        layout.name.clone(),
        low.to_string(),
        high.to_string(),
        format!("{:.6}", high as f64 / distinct as f64),
        format!("{:.6}", plain.expected_fpr()),
        format!("{:.4}", filter.load_factor()),
        format!("{:.2}", filter.size_in_bytes() as f64 * 8.0 / distinct as f64),
        format!("{:.2}", filter.bits_per_key()),
        number(Some(rate)),
        number(Some(plain_rate)),
    ];
    ensure!(remove_all(&mut filter, &stream.keys), "some copies could not be removed");
    Ok(row)
}

/// Inserts one by one. Returns the rate in million inserts per second.
fn insert_all(filter: &mut CuckooFilter, keys: &[u64]) -> Result<f64> {
    let mut time = Duration::ZERO;
    timed(&mut time, || keys.iter().try_for_each(|key| filter.insert(key)))?;
    Ok(rate(keys.len() as u64, time))
}

fn remove_all(filter: &mut CuckooFilter, keys: &[u64]) -> bool {
    let removed = filter.remove_many(keys);
    removed.into_iter().all(|removed| removed) && filter.is_empty() && filter.load_factor() == 0.0
}
