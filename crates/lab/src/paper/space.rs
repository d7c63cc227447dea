//! Figure 3: bits per item against the false-positive rate that was measured, by bucket size.

use anyhow::Result;
use malkoha::{GrowableCuckooFilter, Layout, params};

use super::structures::library;
use super::values::Value;
use super::walk::Walk;
use super::{Scale, median_of_runs};
use crate::keys::Keys;
use crate::measure::progress;

/// Slots of each table, as a power of two.
const SLOTS: u32 = 17;
/// Absent keys looked up. Rates below 10^-5 would rest on fewer than 20 of them and are left out.
const QUERIES: u64 = 1 << 21;
const LEAST_FPR: f64 = 1e-5;
/// Bits of a fingerprint.
const BITS: std::ops::RangeInclusive<u32> = 4..=18;

/// Medians of the runs: the paper's walk with buckets of 2, 4 and 8, and our layouts.
pub(super) fn figure3(scale: &Scale) -> Result<Vec<Value>> {
    let mut runs = Vec::new();
    for run in 1..=u64::from(scale.runs) {
        let keys = Keys::new(run);
        let mut values = Vec::new();
        for (bucket_size, name) in [(2, "b = 2"), (4, "b = 4"), (8, "b = 8")] {
            progress(name);
            values.extend(BITS.flat_map(|bits| of_walk(bucket_size, name, bits, keys)));
        }
        for (layout, name) in [
            (Layout::Bucketed { bucket_size: 4 }, "our buckets of 4"),
            (Layout::SemiSorted, "semi-sorted"),
            (Layout::GapWindows, "gap windows"),
            (Layout::Words, "concurrent"),
        ] {
            progress(name);
            for bits in BITS.skip_while(|&bits| bits < 5) {
                values.extend(of_layout(layout, name, bits, keys)?);
            }
        }
        progress("figure 3: growable");
        // It has no shorter fingerprints.
        for bits in BITS.skip_while(|&bits| bits < 7) {
            values.extend(of_growable(bits, keys)?);
        }
        runs.push(values);
    }
    progress("");
    Ok(as_curve(median_of_runs(runs)))
}

/// The two halves of a point: rate and cost, both at these bits of a fingerprint.
fn halves(name: &str, bits: u32, fpr: f64, cost: f64) -> [Value; 2] {
    let bits = f64::from(bits);
    [Value::point("fpr", name, bits, fpr), Value::point("cost", name, bits, cost)]
}

fn of_walk(bucket_size: usize, name: &str, bits: u32, keys: Keys) -> [Value; 2] {
    let log_buckets = SLOTS - bucket_size.ilog2();
    let mut table = Walk::new(log_buckets, bucket_size, bits);
    table.fill(keys);
    let fpr = measured(|key| table.contains(key), keys);
    halves(name, bits, fpr, params::cuckoo_bits_per_key(bits.into(), table.load()))
}

fn of_layout(layout: Layout, name: &str, bits: u32, keys: Keys) -> Result<[Value; 2]> {
    let mut filter = library(1 << SLOTS, layout, bits)?;
    let mut positions = 0..;
    while positions.next().is_some_and(|position| filter.insert(keys.key(position)).is_ok()) {}
    let fpr = measured(|key| filter.contains(key), keys);
    Ok(halves(name, bits, fpr, filter.bits_per_key()))
}

/// A growable filter with the keys that it was built for; it never refuses any. It is built for the
/// rate of buckets of 4 with fingerprints of `bits` bits.
fn of_growable(bits: u32, keys: Keys) -> Result<[Value; 2]> {
    let (capacity, fpr) = (1 << SLOTS, params::cuckoo_fpr(bits, 8, 1.0));
    let builder = GrowableCuckooFilter::builder().capacity(capacity).fpr(fpr).growth(1.0);
    let mut filter = builder.build()?;
    for position in 0..capacity {
        filter.insert(keys.key(position))?;
    }
    let fpr = measured(|key| filter.contains(key), keys);
    Ok(halves("growable", bits, fpr, filter.bits_per_key()))
}

fn measured(contains: impl Fn(u64) -> bool, keys: Keys) -> f64 {
    let found = (0..QUERIES).filter(|&query| contains(keys.key(1 << 40 | query))).count();
    found as f64 / QUERIES as f64
}

/// Points (rate, cost), in the order of the fingerprints' bits.
fn as_curve(medians: Vec<Value>) -> Vec<Value> {
    let (rates, costs): (Vec<Value>, Vec<Value>) =
        medians.into_iter().partition(|value| value.group == "fpr");
    let pairs = rates.into_iter().zip(costs);
    let point = |(rate, cost): (Value, Value)| {
        (rate.y >= LEAST_FPR).then(|| Value::point("space", &rate.series, rate.y, cost.y))
    };
    pairs.filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_costs_what_equation_7_allows() {
        let [rate, cost] = of_walk(4, "b = 4", 12, Keys::new(1));
        // 4000 false positives among 2^21 queries: 1.6 % is one standard deviation.
        let theory = params::cuckoo_fpr(12, 8, 0.955);
        assert!((rate.y / theory - 1.0).abs() < 0.1, "{} against {theory}", rate.y);
        assert!(cost.y < params::cuckoo_bits_bound(rate.y, 4, 0.94), "{}", cost.y);
    }
}
