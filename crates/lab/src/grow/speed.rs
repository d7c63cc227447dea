//! The grown filter beside filters of fixed size for as many keys.

use std::time::Duration;

use anyhow::Result;
use malkoha::{CuckooFilter, GrowableCuckooFilter, Layout};

use super::BATCH;
use super::doublings::each_batch;
use crate::args::GrowArgs;
use crate::keys::{Keys, Present};
use crate::measure::{alternating, median, rate, timed};
use crate::report::{Grid, number};

/// Keys asked for in a run.
const LOOKUPS: u64 = 4_000_000;

pub(super) fn report(args: &GrowArgs, grown: &GrowableCuckooFilter) -> Result<()> {
    let builder = CuckooFilter::builder().capacity(args.keys).fpr(args.fpr);
    let mut fixed = [
        builder.clone().layout(Layout::Bucketed { bucket_size: 4 }).build()?,
        builder.layout(Layout::GapWindows).build()?,
    ];
    for fixed in &mut fixed {
        let mut refused = Ok(());
        each_batch(Keys::new(args.seed), args.keys, |batch| {
            if let Err(error) = fixed.insert_many(batch) {
                refused = Err(error);
            }
        });
        refused?;
    }
    let head = [
        "present %",
        "grown, M/s",
        "buckets, M/s",
        "gap windows, M/s",
        "grown / buckets",
        "grown / gap windows",
    ];
    let mut grid = Grid::new("Batched lookups, grown and fixed in turn, medians", head);
    for present in Present::ALL {
        let mut runs: [Vec<f64>; 3] = Default::default();
        for run in 0..args.runs {
            for side in alternating(3, run) {
                let find = |keys: &[u64], found: &mut [bool]| match side {
                    0 => grown.contains_hashes(keys, found),
                    side => fixed[side - 1].contains_hashes(keys, found),
                };
                runs[side].push(lookups(args, present, &hashes_of(grown), find));
            }
        }
        let ratio = |other: usize| {
            let ratios: Vec<f64> = runs[0].iter().zip(&runs[other]).map(|(a, b)| a / b).collect();
            number(median(&ratios))
        };
        grid.row([
            present.0.to_string(),
            number(median(&runs[0])),
            number(median(&runs[1])),
            number(median(&runs[2])),
            ratio(1),
            ratio(2),
        ]);
    }
    print!("{grid}");
    Ok(())
}

/// All three hash alike: the same function with the same seed.
fn hashes_of(filter: &GrowableCuckooFilter) -> impl Fn(&[u64], &mut [u64]) {
    let hasher = filter.hasher();
    move |keys, hashes| {
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = malkoha::Key::hash_with(key, hasher);
        }
    }
}

fn lookups(
    args: &GrowArgs,
    present: Present,
    hash: &impl Fn(&[u64], &mut [u64]),
    find: impl Fn(&[u64], &mut [bool]),
) -> f64 {
    let (mut keys, mut hashes, mut found) = (vec![0; BATCH], vec![0; BATCH], vec![false; BATCH]);
    let mut time = Duration::ZERO;
    for first in (0..LOOKUPS).step_by(BATCH) {
        Keys::new(args.seed).queries(present, args.keys, first, &mut keys);
        hash(&keys, &mut hashes);
        timed(&mut time, || find(&hashes, &mut found));
    }
    rate(LOOKUPS.next_multiple_of(BATCH as u64), time)
}
