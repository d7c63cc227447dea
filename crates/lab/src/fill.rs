//! How full a filter gets: inserts keys until the first insert that fails.

use std::ops::RangeInclusive;

use anyhow::{Result, ensure};
use malkoha::CuckooFilter;

use crate::args::FillArgs;
use crate::keys::Keys;
use crate::measure::median;
use crate::ours::Ours;
use crate::report::Grid;

/// Keys handed over at a time: enough to fill segments of the largest filter in cache.
const BATCH: usize = 1 << 21;

/// Where a fill ended.
#[derive(Clone, Copy, Debug, PartialEq)]
struct End {
    /// Share of the slots that were occupied when an insert failed.
    load: f64,
    /// Whether all the keys that the filter was built for were in by then.
    reached: bool,
}

/// Fills every layout with every set of keys and prints where it ended.
///
/// # Errors
///
/// If a filter cannot be built, or one of them did not hold the keys that it was built for.
pub fn report(args: &FillArgs) -> Result<()> {
    ensure!(args.seeds > 0, "--seeds must be at least 1");
    let head = ["", "keys", "bits/key", "stated load %", "least %", "median %", "held all keys"];
    let mut grid = Grid::new("Load at the first failure", head);
    let mut short = Vec::new();
    for &keys in &args.keys {
        for layout in &args.layouts {
            let plan = layout.builder(keys).plan()?;
            let ends = ends(layout, keys, 1..=args.seeds)?;
            let loads: Vec<f64> = ends.iter().map(|end| end.load).collect();
            let least = loads.iter().copied().fold(f64::INFINITY, f64::min);
            let held = ends.iter().filter(|end| end.reached).count();
            let percent = |share: f64| format!("{:.2}", share * 100.0);
            grid.row([
                layout.name.clone(),
                keys.to_string(),
                format!("{:.3}", plan.bits_per_key),
                percent(plan.load),
                percent(least),
                percent(median(&loads).unwrap_or(f64::NAN)),
                format!("{held} of {}", ends.len()),
            ]);
            if held < ends.len() {
                short.push(format!("{}, {keys} keys", layout.name));
            }
        }
    }
    print!("{grid}");
    ensure!(short.is_empty(), "filters that did not hold their keys: {}", short.join("; "));
    Ok(())
}

fn ends(layout: &Ours, keys: u64, seeds: RangeInclusive<u64>) -> Result<Vec<End>> {
    seeds.map(|seed| Ok(fill(layout.builder(keys).build()?, keys, Keys::new(seed)))).collect()
}

/// Inserts in batches up to the capacity, because they are faster, then one by one.
fn fill(mut filter: CuckooFilter, capacity: u64, keys: Keys) -> End {
    let mut batch = vec![0; BATCH];
    for first in (0..capacity).step_by(BATCH) {
        let length = usize::try_from(capacity - first).map_or(BATCH, |left| left.min(BATCH));
        keys.members(first, &mut batch[..length]);
        if filter.insert_many(&batch[..length]).is_err() {
            return End { load: filter.load_factor(), reached: false };
        }
    }
    let mut more = capacity..;
    while more.next().is_some_and(|position| filter.insert(keys.key(position)).is_ok()) {}
    End { load: filter.load_factor(), reached: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_fills_beyond_its_capacity_and_not_for_ever() {
        let layout: Ours = "bucketed".parse().unwrap();
        let ends = ends(&layout, 50_000, 1..=3).unwrap();
        assert!(ends.iter().all(|end| end.reached && (0.95..1.0).contains(&end.load)), "{ends:?}");
        // Different keys end at different loads.
        assert!(ends[0] != ends[1] || ends[1] != ends[2], "{ends:?}");
    }

    #[test]
    fn a_failure_before_the_capacity_is_seen() {
        let filter = CuckooFilter::builder().capacity(1000).fingerprint_bits(12).build().unwrap();
        let end = fill(filter, 2000, Keys::new(1));
        assert!(!end.reached && end.load > 0.9, "{end:?}");
    }
}
