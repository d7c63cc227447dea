//! Figure 3: bits per item against the false-positive rate that was measured, by bucket size.

use anyhow::Result;
use malkoha::{GrowableCuckooFilter, Layout, params};

use super::Scale;
use super::structures::library;
use super::values::Value;
use super::walk::Walk;
use crate::keys::Keys;
use crate::measure::{median, progress};

/// Slots of each table, as a power of two.
const SLOTS: u32 = 17;
/// Absent keys looked up. Rates below 10^-5 would rest on fewer than 20 of them and are left out.
const QUERIES: u64 = 1 << 21;
const LEAST_FPR: f64 = 1e-5;
/// Bits of a fingerprint, at most.
const MOST_BITS: u32 = 18;

/// Medians of the runs: the paper's walk with buckets of 2, 4 and 8, and our layouts.
pub(super) fn figure3(scale: &Scale) -> Result<Vec<Value>> {
    let mut points = Vec::new();
    for (bucket_size, name) in [(2, "b = 2"), (4, "b = 4"), (8, "b = 8")] {
        points.extend(line(scale, name, 4, |bits, keys| Ok(of_walk(bucket_size, bits, keys)))?);
    }
    for (layout, name) in [
        (Layout::Bucketed { bucket_size: 4 }, "our buckets of 4"),
        (Layout::SemiSorted, "semi-sorted"),
        (Layout::GapWindows, "gap windows"),
        (Layout::Words, "concurrent"),
    ] {
        points.extend(line(scale, name, 5, |bits, keys| of_layout(layout, bits, keys))?);
    }
    // It has no shorter fingerprints.
    points.extend(line(scale, "growable", 7, of_growable)?);
    progress("");
    Ok(points)
}

/// Points (rate, cost) from the least bits of a fingerprint upwards.
fn line(
    scale: &Scale,
    name: &str,
    least_bits: u32,
    of: impl Fn(u32, Keys) -> Result<(f64, f64)>,
) -> Result<Vec<Value>> {
    progress(name);
    let mut points = Vec::new();
    for bits in least_bits..=MOST_BITS {
        let runs = (1..=scale.runs).map(|run| of(bits, Keys::new(run.into())));
        let runs = runs.collect::<Result<Vec<_>>>()?;
        let (rates, costs): (Vec<f64>, Vec<f64>) = runs.into_iter().unzip();
        let point = median(&rates).zip(median(&costs)).filter(|point| point.0 >= LEAST_FPR);
        points.extend(point.map(|(rate, cost)| Value::point("space", name, rate, cost)));
    }
    Ok(points)
}

/// The rate and the cost of an item, at these bits of a fingerprint.
fn of_walk(bucket_size: usize, bits: u32, keys: Keys) -> (f64, f64) {
    let log_buckets = SLOTS - bucket_size.ilog2();
    let mut table = Walk::new(log_buckets, bucket_size, bits);
    table.fill(keys);
    let fpr = measured(|key| table.contains(key), keys);
    (fpr, params::cuckoo_bits_per_key(bits.into(), table.load()))
}

fn of_layout(layout: Layout, bits: u32, keys: Keys) -> Result<(f64, f64)> {
    let mut filter = library(1 << SLOTS, layout, bits)?;
    let mut positions = 0..;
    while positions.next().is_some_and(|position| filter.insert(keys.key(position)).is_ok()) {}
    let fpr = measured(|key| filter.contains(key), keys);
    Ok((fpr, filter.bits_per_key()))
}

/// A growable filter with the keys that it was built for; it never refuses any. It is built for the
/// rate of buckets of 4 with fingerprints of `bits` bits.
fn of_growable(bits: u32, keys: Keys) -> Result<(f64, f64)> {
    let (capacity, fpr) = (1 << SLOTS, params::cuckoo_fpr(bits, 8, 1.0));
    let builder = GrowableCuckooFilter::builder().capacity(capacity).fpr(fpr).growth(1.0);
    let mut filter = builder.build()?;
    for position in 0..capacity {
        filter.insert(keys.key(position))?;
    }
    let fpr = measured(|key| filter.contains(key), keys);
    Ok((fpr, filter.bits_per_key()))
}

fn measured(contains: impl Fn(u64) -> bool, keys: Keys) -> f64 {
    let found = (0..QUERIES).filter(|&query| contains(keys.key(1 << 40 | query))).count();
    found as f64 / QUERIES as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_costs_what_equation_7_allows() {
        let (rate, cost) = of_walk(4, 12, Keys::new(1));
        // 4000 false positives among 2^21 queries: 1.6 % is one standard deviation.
        let theory = params::cuckoo_fpr(12, 8, 0.955);
        assert!((rate / theory - 1.0).abs() < 0.1, "{rate} against {theory}");
        assert!(cost < params::cuckoo_bits_bound(rate, 4, 0.94), "{cost}");
    }
}
