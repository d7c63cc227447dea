//! Bits per key at given false-positive rates, and how full filters get: keys are inserted until
//! the first insert that fails.

use anyhow::{Result, ensure};
use clap::Args;
use malkoha::{CuckooFilter, params};

use crate::args::parse_count;
use crate::keys::Keys;
use crate::measure::median;
use crate::ours::{DEFAULT_LAYOUTS, Ours};
use crate::report::Grid;

/// The false-positive rates of the table.
const RATES: [f64; 4] = [0.03, 0.01, 0.001, 0.0001];
/// Keys handed over at a time: enough to fill segments of the largest filter in cache.
const BATCH: usize = 1 << 21;

/// Options of the tables of sizes.
#[derive(Args, Clone, Debug)]
pub struct SpaceArgs {
    /// Keys that the filters are for
    #[arg(long, value_parser = parse_count, default_value = "127.78M")]
    pub keys: u64,
    /// Also fill each of the layouts to the first failure, with this many sets of keys
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub fill: u64,
    /// Our layouts to fill, as in `bench`
    #[arg(long, value_delimiter = ',', default_value = DEFAULT_LAYOUTS)]
    pub layouts: Vec<Ours>,
}

/// Prints the tables.
///
/// # Errors
///
/// If a filter cannot be built, or one of them did not hold the keys that it was built for.
pub fn report(args: &SpaceArgs) -> Result<()> {
    print!("{}", table(args.keys));
    if args.fill == 0 { Ok(()) } else { fills(args) }
}

/// Nothing is allocated: the sizes are the builder's plans.
fn table(keys: u64) -> Grid {
    let heads = RATES.map(|rate| format!("fpr {} %", rate * 100.0));
    let title = format!("Bits per key for {keys} keys (in brackets: bits of a fingerprint)");
    let mut grid = Grid::new(title, [String::new()].into_iter().chain(heads));
    let mut formula = |name: &str, bits: fn(f64) -> f64| {
        let cells = RATES.map(|rate| format!("{:.2}     ", bits(rate)));
        grid.row([name.to_owned()].into_iter().chain(cells));
    };
    formula("information bound", params::information_bound);
    formula("Bloom, best case", params::bloom_bits_per_key);
    let every = Ours::every_layout().map(|ours| (ours.layout.to_string(), Some(ours.layout)));
    for (name, layout) in every.chain([("the builder's choice".to_owned(), None)]) {
        let mut cells = vec![name];
        for rate in RATES {
            let builder = CuckooFilter::builder().capacity(keys).fpr(rate);
            let builder = layout.map_or(builder.clone(), |layout| builder.layout(layout));
            // A layout need not reach every rate; then its cell stays empty.
            cells.push(builder.plan().map_or(String::new(), |plan| {
                let fingerprint = plan.geometry.fingerprint_bits;
                format!("{:.2} ({fingerprint:>2})", plan.bits_per_key)
            }));
        }
        grid.row(cells);
    }
    grid
}

/// Where a fill ended.
#[derive(Clone, Copy, Debug, PartialEq)]
struct End {
    /// Share of the slots that were occupied when an insert failed.
    load: f64,
    /// Whether all the keys that the filter was built for were in by then.
    reached: bool,
}

/// Fills every layout with every set of keys and prints where that ended.
fn fills(args: &SpaceArgs) -> Result<()> {
    let head = ["", "bits/key", "stated load %", "least %", "median %", "held all keys"];
    let mut grid = Grid::new(format!("Load of {} keys at the first failure", args.keys), head);
    let mut short = Vec::new();
    for layout in &args.layouts {
        let plan = layout.builder(args.keys).plan()?;
        let ends = ends(layout, args.keys, args.fill)?;
        let loads: Vec<f64> = ends.iter().map(|end| end.load).collect();
        let held = ends.iter().filter(|end| end.reached).count();
        let percent = |share: f64| format!("{:.2}", share * 100.0);
        grid.row([
            layout.name.clone(),
            format!("{:.3}", plan.bits_per_key),
            percent(plan.load),
            percent(loads.iter().copied().fold(f64::INFINITY, f64::min)),
            percent(median(&loads).unwrap_or(f64::NAN)),
            format!("{held} of {}", ends.len()),
        ]);
        if held < ends.len() {
            short.push(&*layout.name);
        }
    }
    print!("{grid}");
    ensure!(short.is_empty(), "filters that did not hold their keys: {}", short.join("; "));
    Ok(())
}

fn ends(layout: &Ours, keys: u64, seeds: u64) -> Result<Vec<End>> {
    (1..=seeds).map(|seed| Ok(fill(layout.builder(keys).build()?, keys, Keys::new(seed)))).collect()
}

/// Inserts in batches up to the capacity, because they are faster, then one by one.
fn fill(mut filter: CuckooFilter, capacity: u64, keys: Keys) -> End {
    let mut reached = true;
    keys.batches(0..capacity, &mut vec![0; BATCH], |batch| {
        reached = reached && filter.insert_many(batch).is_ok();
    });
    if !reached {
        return End { load: filter.load_factor(), reached };
    }
    let mut more = capacity..;
    while more.next().is_some_and(|position| filter.insert(keys.key(position)).is_ok()) {}
    End { load: filter.load_factor(), reached }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_is_listed_with_the_bound() {
        let text = table(1_000_000).to_string();
        let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
        assert!(line("information bound").contains("9.97"), "{text}");
        assert!(line("Bloom").contains("14.38"), "{text}");
        assert!(line("gap windows").contains("12.63 (12)"), "{text}");
        // log2(1/0.001) + log2(8), rounded up to a whole bit, over the load.
        assert!(line("bucketed, 4 slots").contains("13.69 (13)"), "{text}");
    }

    #[test]
    fn a_filter_fills_beyond_its_capacity_and_not_for_ever() {
        let layout: Ours = "bucketed".parse().unwrap();
        let ends = ends(&layout, 50_000, 3).unwrap();
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
