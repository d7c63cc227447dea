//! A bitmap for keys that are small integers, beside a filter: a reader's objection. It is exact,
//! and smaller where the keys are dense among the numbers that they come from.

use std::time::Duration;

use anyhow::Result;
use malkoha::{CuckooFilter, Layout};

use crate::keys::{Keys, scale as scaled};
use crate::measure::{alternating, median, rate, timed};
use crate::paper::Scale;
use crate::paper::structures::library;
use crate::paper::values::Value;

/// Keys in both, as a power of two.
const KEYS: u32 = 20;
/// Numbers for each key.
const SPARSE: [u64; 8] = [2, 4, 8, 12, 16, 64, 256, 1024];
const QUERIES: u64 = 1 << 20;
const BATCH: u64 = 256;

struct Bitmap(Vec<u64>);

impl Bitmap {
    fn contains(&self, number: u64) -> bool {
        let word = usize::try_from(number / 64).unwrap_or(usize::MAX);
        self.0[word] >> (number % 64) & 1 != 0
    }
}

/// Bits per key of both, false positives of the filter, and lookups of the bitmap over its.
pub(in crate::paper) fn beside_ours(scale: &Scale) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    for sparse in SPARSE {
        let (bitmap, filter, keys) = both(sparse)?;
        let name = format!("1 key in {sparse} numbers");
        let numbers = keys * sparse;
        let wrong = (0..numbers.min(QUERIES)).map(|n| scaled(Keys::new(2).key(n), numbers));
        let (mut absent, mut found) = (0_u64, 0_u64);
        for number in wrong {
            absent += u64::from(!bitmap.contains(number));
            found += u64::from(!bitmap.contains(number) && filter.contains(number));
        }
        let ratios: Vec<f64> =
            (0..scale.runs).map(|run| faster(&bitmap, &filter, numbers, run)).collect();
        let mut cell = |column, value| values.push(Value::cell(column, &name, value, None));
        cell("bitmap, bits a key", bitmap.0.len() as f64 * 64.0 / keys as f64);
        cell("exact set at best", exact(1.0 / sparse as f64) * sparse as f64);
        cell("ours, bits a key", filter.size_in_bytes() as f64 * 8.0 / keys as f64);
        cell("ours, fpr, %", found as f64 / absent.max(1) as f64 * 100.0);
        cell("lookups, bitmap over ours", median(&ratios).unwrap_or(f64::NAN));
    }
    Ok(values)
}

fn both(sparse: u64) -> Result<(Bitmap, CuckooFilter, u64)> {
    let (count, random) = (1_u64 << KEYS, Keys::new(1));
    let mut bitmap = Bitmap(vec![0; usize::try_from((count * sparse).div_ceil(64))?]);
    let mut filter = library(count, Layout::GapWindows, 11)?;
    // One key in each group of numbers: no number is drawn twice.
    let keys = count * 9 / 10;
    for group in 0..keys {
        let number = group * sparse + scaled(random.key(group), sparse);
        bitmap.0[usize::try_from(number / 64)?] |= 1 << (number % 64);
        filter.insert(number)?;
    }
    bitmap.0.truncate(usize::try_from((keys * sparse).div_ceil(64))?);
    Ok((bitmap, filter, keys))
}

/// The bitmap's speed over the filter's, for lookups of random numbers one by one.
fn faster(bitmap: &Bitmap, filter: &CuckooFilter, numbers: u64, run: u32) -> f64 {
    let mut speeds = [0.0; 2];
    for side in alternating(2, run) {
        let mut time = Duration::ZERO;
        for first in (0..QUERIES).step_by(usize::try_from(BATCH).unwrap_or(1)) {
            let key = |n| scaled(Keys::new(u64::from(run) + 3).key(n), numbers);
            let batch: Vec<u64> = (first..first + BATCH).map(key).collect();
            let count = |contains: &dyn Fn(&[u64]) -> usize| contains(&batch);
            let found = timed(&mut time, || match side {
                0 => count(&|keys| keys.iter().filter(|&&key| bitmap.contains(key)).count()),
                _ => count(&|keys| keys.iter().filter(|&&key| filter.contains(key)).count()),
            });
            std::hint::black_box(found);
        }
        speeds[side] = rate(QUERIES, time);
    }
    speeds[0] / speeds[1]
}

/// The fewest bits per number if this share of all numbers are keys: the entropy.
fn exact(share: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    term(share) + term(1.0 - share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_have_the_same_keys() {
        let (bitmap, filter, keys) = both(3).unwrap();
        let members: Vec<u64> = (0..keys * 3).filter(|&number| bitmap.contains(number)).collect();
        assert_eq!(members.len() as u64, keys);
        assert!(members.iter().all(|&number| filter.contains(number)));
        assert!((exact(0.5) - 1.0).abs() < 1e-12 && exact(0.0) == 0.0);
    }
}
