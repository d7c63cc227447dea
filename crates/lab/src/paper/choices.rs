//! Load factors of cuckoo hash tables with d choices of buckets of b slots, keys stored.

use anyhow::Result;
use malkoha::KeyHasher;
use malkoha_classic::BucketedCuckooTable;

use super::Scale;
use super::values::Value;
use crate::keys::Keys;

/// Slots of each table.
const SLOTS: u64 = 1 << 16;

/// The load in percent that an article claims for tables with several seats at each place.
const SEATS: f64 = 85.0;

/// The mean load at the first refusal after 500 kicks, with the threshold of theory and the claims.
pub(super) fn loads(scale: &Scale) -> Result<Vec<Value>> {
    let runs = scale.runs;
    // Claims: the paper's section 5.1 for two choices (b = 1, 2, 4, 8), and the article on
    // filters with deletion for four choices of one slot (95 %) and of two (99 %).
    let loads = [
        one::<2, 1>(runs, Some(50.0))?,
        one::<2, 2>(runs, Some(84.0))?,
        one::<2, 4>(runs, Some(95.0))?,
        one::<2, 8>(runs, Some(98.0))?,
        one::<3, 1>(runs, None)?,
        one::<3, 2>(runs, None)?,
        one::<4, 1>(runs, Some(95.0))?,
        one::<4, 2>(runs, Some(99.0))?,
        one::<4, 4>(runs, None)?,
    ];
    let mut values = loads.concat();
    // The article has several seats at each of two places, and does not say how many.
    values.push(Value::cell("the article, %", "d = 2, b = 2", SEATS, None));
    Ok(values)
}

/// The load of two independent hash functions for each bucket size of figure 2, which short
/// fingerprints are measured by: the least of some runs, the same for all fingerprints.
pub(super) fn independent(scale: &Scale) -> Result<Vec<Value>> {
    let loads = [
        (2, least::<2>(scale.least_of)?),
        (4, least::<4>(scale.least_of)?),
        (8, least::<8>(scale.least_of)?),
    ];
    let points = |(bucket_size, load): (usize, f64)| {
        let panel = format!("b = {bucket_size}");
        scale.bits.iter().map(move |&bits| {
            Value::point(&panel, "independent hashes, m = 2^15", f64::from(bits), load)
        })
    };
    Ok(loads.into_iter().flat_map(points).collect())
}

fn least<const B: usize>(runs: u32) -> Result<f64> {
    let mut loads = (1..=u64::from(runs)).map(|run| load::<2, B>((B as u64) << 15, run));
    loads.try_fold(1.0, |least: f64, load| Ok(least.min(load?)))
}

/// The share of this many slots that is taken when a key is refused.
fn load<const D: usize, const B: usize>(slots: u64, run: u64) -> Result<f64> {
    let (buckets, hasher) = (slots / (D * B) as u64, KeyHasher::new(run));
    let mut table = BucketedCuckooTable::<u64, (), D, B>::with_geometry(buckets, hasher)?;
    let keys = Keys::new(run);
    let mut positions = 0..;
    while positions.next().is_some_and(|at| table.insert(keys.key(at), ()).is_ok()) {}
    Ok(table.load_factor())
}

fn one<const D: usize, const B: usize>(runs: u32, claimed: Option<f64>) -> Result<[Value; 2]> {
    let mut total = 0.0;
    for run in 1..=u64::from(runs) {
        total += load::<D, B>(SLOTS, run)? * 100.0;
    }
    let threshold = BucketedCuckooTable::<u64, (), D, B>::load_threshold() * 100.0;
    let name = format!("d = {D}, b = {B}");
    Ok([
        Value::cell("load, %", &name, total / f64::from(runs), claimed),
        Value::cell("threshold, %", &name, threshold, None),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_fill_nearly_to_their_thresholds() {
        for [load, threshold] in [one::<2, 4>(1, None).unwrap(), one::<4, 2>(1, None).unwrap()] {
            assert!(load.y < threshold.y && load.y > threshold.y - 6.0, "{load:?}");
        }
    }
}
