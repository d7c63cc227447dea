//! Why a table of short fingerprints refuses a key long before one of long fingerprints would:
//! counted, run by run, with the prediction of equation 3 of the paper.

use anyhow::Result;

use super::values::Value;
use super::walk::{Refusal, Walk};
use super::{Scale, of_runs};
use crate::keys::Keys;
use crate::measure::progress;

/// Binary logarithm of the buckets, slots per bucket, bits of a fingerprint.
const TABLES: [(u32, usize, u32); 11] = [
    (15, 2, 4),
    (15, 2, 5),
    (15, 2, 6),
    (18, 2, 5),
    (18, 2, 6),
    (18, 2, 7),
    (20, 2, 6),
    (15, 4, 2),
    (15, 4, 3),
    (15, 4, 4),
    (15, 4, 12),
];
/// Runs of each table, for each run of the other experiments.
const RUNS: u64 = 10;

/// Shares of the runs by the kind of their first refusal, and the loads at it.
pub(super) fn refusals(scale: &Scale) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    for (log_buckets, bucket_size, bits) in TABLES {
        let name = format!("m = 2^{log_buckets}, b = {bucket_size}, f = {bits}");
        progress(&name);
        let runs = u64::from(scale.runs) * RUNS;
        let bytes = Walk::bytes(log_buckets, bucket_size);
        let mut ends = of_runs(runs, bytes, |seed| run(log_buckets, bucket_size, bits, seed));
        ends.sort_by(|a, b| a.load.total_cmp(&b.load));
        let share = |of: fn(Refusal) -> bool| {
            let count = ends.iter().filter(|end| of(end.refusal)).count();
            count as f64 / ends.len() as f64 * 100.0
        };
        let pair = share(|refusal| refusal == Refusal::Group { buckets: 2 });
        let larger = share(|refusal| matches!(refusal, Refusal::Group { buckets } if buckets != 2));
        let given_up = share(|refusal| refusal == Refusal::GivenUp);
        // Where the table would have ended without groups: as far as the fullest run came.
        let end = ends.last().map_or(0.0, |end| end.load);
        let groups = pair_groups(log_buckets, bucket_size, bits, end);
        for (column, value) in [
            ("pair of buckets, %", pair),
            ("foreseen, %", (1.0 - (-groups).exp()) * 100.0),
            ("larger group, %", larger),
            ("walk gave up, %", given_up),
            ("least load, %", ends[0].load * 100.0),
            ("median load, %", ends[ends.len() / 2].load * 100.0),
        ] {
            values.push(Value::cell(column, &name, value, None));
        }
    }
    progress("");
    Ok(values)
}

struct End {
    refusal: Refusal,
    load: f64,
}

fn run(log_buckets: u32, bucket_size: usize, bits: u32, seed: u64) -> End {
    let mut table = Walk::new(log_buckets, bucket_size, bits);
    let refusal = table.fill(Keys::new(seed));
    End { refusal, load: table.load() }
}

/// Groups of 2b + 1 keys that have both buckets in common which are expected at a load: equation 3
/// of the paper, C(n, 2b+1) * (2 / (2^f * m))^2b.
fn pair_groups(log_buckets: u32, bucket_size: usize, bits: u32, load: f64) -> f64 {
    let pairs = f64::from(log_buckets + bits - 1).exp2();
    let keys = load * bucket_size as f64 * f64::from(log_buckets).exp2();
    let sets: f64 = (0..=2 * bucket_size).map(|i| (keys - i as f64) / (i + 1) as f64).product();
    sets * pairs.powf(-2.0 * bucket_size as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_3_has_its_known_values() {
        // m = 2^20, b = 2, f = 6, full: 2^25 pairs, each with 2^21 / 2^25 keys on average.
        let poisson = 2f64.powi(25) * (1f64 / 16.0).powi(5) / 120.0;
        assert!((pair_groups(20, 2, 6, 1.0) / poisson - 1.0).abs() < 1e-4);
        assert!((pair_groups(20, 2, 6, 0.5) * 32.0 / poisson - 1.0).abs() < 1e-4);
    }

    #[test]
    fn short_fingerprints_end_in_groups_and_long_ones_do_not() {
        let groups = |bits| {
            let ends = (1..=20).map(|seed| run(12, 2, bits, seed));
            ends.filter(|end| matches!(end.refusal, Refusal::Group { .. })).count()
        };
        assert_eq!((groups(1), groups(16)), (20, 0));
    }
}
