//! Figure 2: the load at the first refusal against the bits of a fingerprint.

use anyhow::Result;
use malkoha::Layout;

use super::resume::Steps;
use super::structures::library;
use super::values::Value;
use super::walk::Walk;
use super::{Scale, of_runs};
use crate::keys::Keys;
use crate::measure::progress;

/// Our search is shown for tables of this many slots, as a power of two.
const OURS_SLOTS: u32 = 17;
/// The least bits of its fingerprints that all layouts have.
const OURS_BITS: u32 = 5;
/// Sets of keys for it.
const OURS_RUNS: u64 = 3;

/// The paper's walk for every size and bucket, then the layouts of the library with their own
/// search. Each point is a step.
pub(super) fn figure2(scale: &Scale, steps: &mut Steps) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    for &bucket_size in &scale.bucket_sizes {
        for &log_buckets in &scale.buckets {
            progress(format_args!("figure 2: b = {bucket_size}, 2^{log_buckets} buckets"));
            for &bits in &scale.bits {
                let (panel, line) = (format!("b = {bucket_size}"), format!("m = 2^{log_buckets}"));
                let step = format!("{panel}, {line}, f = {bits}, least of {}", scale.least_of);
                let load = steps.get_or(&step, || {
                    Ok(least_load(log_buckets, bucket_size, bits, scale.least_of))
                })?;
                values.push(Value::point(&panel, &line, f64::from(bits), load));
            }
        }
    }
    progress("figure 2: our layouts");
    let name = format!("our layouts, {:?}", scale.bits);
    values.extend(steps.get_or(&name, || ours(&scale.bits))?);
    progress("");
    Ok(values)
}

/// The least load, of some runs, at which an insert needed more than 500 kicks.
fn least_load(log_buckets: u32, bucket_size: usize, bits: u32, runs: u32) -> f64 {
    let loads = of_runs(runs.into(), Walk::bytes(log_buckets, bucket_size), |seed| {
        let mut table = Walk::new(log_buckets, bucket_size, bits);
        table.fill(Keys::new(seed));
        table.load()
    });
    loads.into_iter().fold(1.0, f64::min)
}

fn ours(bits: &[u32]) -> Result<Vec<Value>> {
    let layouts = [
        ("buckets of 2", Layout::Bucketed { bucket_size: 2 }),
        ("buckets of 4", Layout::Bucketed { bucket_size: 4 }),
        ("buckets of 8", Layout::Bucketed { bucket_size: 8 }),
        ("semi-sorted", Layout::SemiSorted),
        ("gap windows", Layout::GapWindows),
        ("concurrent", Layout::Words),
    ];
    let mut values = Vec::new();
    for (name, layout) in layouts {
        for &bits in bits.iter().filter(|&&bits| bits >= OURS_BITS) {
            let mut load: f64 = 1.0;
            for seed in 1..=OURS_RUNS {
                let mut filter = library(1 << OURS_SLOTS, layout, bits)?;
                let keys = Keys::new(seed);
                // Copies are counted outside the table: few different fingerprints never fill it.
                let mut positions = 0..1 << OURS_SLOTS;
                while positions.next().is_some_and(|at| filter.insert(keys.key(at)).is_ok()) {}
                load = load.min(filter.load_factor());
            }
            values.push(Value::point("our search", name, f64::from(bits), load));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By sections 4 and 5.1, figure 2 shows 84 % at b = 2, 95 % at b = 4 and 98 % at b = 8
    /// with long enough fingerprints; six bits are enough at b = 4; one bit is far too little.
    #[test]
    fn the_curves_meet_what_the_paper_says_of_them() {
        let load = |bucket_size, bits| least_load(15, bucket_size, bits, 3);
        assert!((0.82..0.88).contains(&load(2, 16)), "{}", load(2, 16));
        assert!((0.94..0.97).contains(&load(4, 12)), "{}", load(4, 12));
        assert!((0.975..0.99).contains(&load(8, 12)), "{}", load(8, 12));
        assert!(load(4, 6) > 0.94, "{}", load(4, 6));
        assert!(load(4, 1) < 0.5 && load(8, 1) < 0.6);
    }

    /// The least f for a good load grows with the table, and shrinks with the bucket.
    #[test]
    fn short_fingerprints_fail_in_large_tables_first() {
        assert!(least_load(8, 2, 6, 3) > least_load(14, 2, 6, 3));
        assert!(least_load(14, 8, 4, 3) > least_load(14, 4, 4, 3));
    }
}
