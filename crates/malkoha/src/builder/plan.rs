//! The choice of a geometry, with its cost.

use core::fmt;

use super::Options;
use crate::error::BuildError;
use crate::geometry::{Geometry, Layout, MAX_KICKS_LIMIT};
use crate::key::KeyHasher;
use crate::params;

/// The paper's 500 (section 2.2) are steps of a random walk, each of which waits for memory. The
/// places of a breadth-first search are cheap, and this many fill a table further.
const DEFAULT_MAX_KICKS: u32 = 8_000;
/// The paper's layout, with the bucket size that it recommends.
pub(super) const PAPER: Layout = Layout::Bucketed { bucket_size: 4 };
/// Expected number of keys in the whole table that short fingerprints may leave without a place.
const OVERFULL_TOLERANCE: f64 = 1e-3;

/// The geometry that a builder chose, and its cost when the filter holds its capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Keys the filter is for.
    pub capacity: u64,
    /// The shape of the table.
    pub geometry: Geometry,
    /// Evictions that an insert considers before it gives up.
    pub max_kicks: u32,
    /// The hash of its keys.
    pub hasher: KeyHasher,
    /// False-positive rate with `capacity` keys (paper, eq. 5).
    pub fpr: f64,
    /// Share of the slots that `capacity` keys occupy.
    pub load: f64,
    /// Bytes of the table.
    pub bytes: u64,
    /// Bits of the table for each of `capacity` keys (paper, eq. 4).
    pub bits_per_key: f64,
    /// Expected number of keys without a place because their fingerprints are too short
    /// (paper, eq. 3). Well below 1 in every geometry chosen from a false-positive rate.
    pub expected_failures: f64,
}

impl Options {
    pub(super) fn plan(&self, value_bits: u32, layout: Option<Layout>) -> Result<Plan, BuildError> {
        let hasher = self.hasher;
        let capacity = self.capacity.ok_or(BuildError::Option {
            kind: "filter of fixed size",
            option: "default capacity",
            remedy: "give one",
        })?;
        let max_kicks = self.max_kicks.unwrap_or(DEFAULT_MAX_KICKS);
        if max_kicks > MAX_KICKS_LIMIT {
            return Err(BuildError::MaxKicks(max_kicks));
        }
        let geometry = match (self.fpr, self.fingerprint_bits) {
            (Some(fpr), None) => match layout {
                Some(layout) => smallest(capacity, layout, value_bits, fpr)?,
                None => smallest_of_all(capacity, fpr)?,
            },
            (None, Some(bits)) => {
                Geometry::for_capacity(capacity, layout.unwrap_or(PAPER), bits, value_bits)?
            }
            _ => return Err(BuildError::Precision),
        };
        let keys = params::float(capacity);
        let load = keys / params::float(geometry.slots());
        let bytes = geometry.table_bytes().unwrap_or(u64::MAX);
        Ok(Plan {
            capacity,
            geometry,
            max_kicks,
            hasher,
            fpr: geometry.fpr_at(load),
            load,
            bytes,
            bits_per_key: params::float(bytes) * 8.0 / keys,
            expected_failures: geometry.expected_failures(capacity),
        })
    }
}

/// The geometry of any layout that meets `fpr` in the fewest bytes.
fn smallest_of_all(capacity: u64, fpr: f64) -> Result<Geometry, BuildError> {
    // Of equal sizes the first wins. Semi-sorted tables are as small as gap windows, but slower.
    let bucketed = |bucket_size| Layout::Bucketed { bucket_size };
    let all = [Layout::GapWindows, bucketed(4), bucketed(2), bucketed(8)];
    let mut choices = all.map(|layout| smallest(capacity, layout, 0, fpr)).into_iter();
    let first = choices.next().expect("several layouts");
    // A layout that cannot reach the rate does not stop another that can.
    choices.fold(first, |least, choice| match (&least, &choice) {
        (Ok(a), Ok(b)) if b.table_bytes() < a.table_bytes() => choice,
        (Err(_), Ok(_)) => choice,
        (
            Err(BuildError::FprTooSmall { reachable: a, .. }),
            Err(BuildError::FprTooSmall { reachable: b, .. }),
        ) if b < a => choice,
        _ => least,
    })
}

/// The smallest geometry of `layout` that meets `fpr`. It does not always have the shortest
/// fingerprints: very short ones need much emptier tables.
fn smallest(
    capacity: u64,
    layout: Layout,
    value_bits: u32,
    fpr: f64,
) -> Result<Geometry, BuildError> {
    // Written so that a NaN is refused too.
    if !(fpr > 0.0 && fpr < 1.0) {
        return Err(BuildError::Fpr(fpr));
    }
    let (mut smallest, mut reachable) = (None::<Geometry>, f64::INFINITY);
    for bits in layout.least_fingerprint_bits()..=32 {
        let geometry = Geometry::for_capacity(capacity, layout, bits, value_bits)?;
        let load = params::float(capacity) / params::float(geometry.slots());
        if geometry.expected_failures(capacity) >= OVERFULL_TOLERANCE {
            continue;
        }
        let rate = geometry.fpr_at(load);
        reachable = reachable.min(rate);
        if rate <= fpr && smallest.is_none_or(|least| geometry.table_bytes() < least.table_bytes())
        {
            smallest = Some(geometry);
        }
    }
    smallest.ok_or(BuildError::FprTooSmall { asked: fpr, reachable })
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { capacity, geometry, bits_per_key, load, fpr, bytes, .. } = self;
        write!(
            f,
            "{capacity} keys in {bytes} bytes: {bits_per_key:.2} bits a key, \
             fpr {fpr:.3e} at load {load:.3} ({}, {}-bit fingerprints)",
            geometry.layout, geometry.fingerprint_bits
        )
    }
}

#[cfg(test)]
mod tests {
    use core::iter::successors;

    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::geometry::MAX_CAPACITY;

    /// Pinned, for builds with `std` and without it: other functions of `f64` must not give another
    /// geometry, with which a filter would have other bytes.
    #[test]
    #[cfg_attr(miri, ignore = "many geometries, and loads nothing")]
    fn every_math_library_leads_to_the_same_geometries() {
        let bucketed = |bucket_size| Layout::Bucketed { bucket_size };
        let kinds = [
            (None, 0),
            (Some(bucketed(1)), 0),
            (Some(bucketed(4)), 20),
            (Some(Layout::SemiSorted), 0),
            (Some(Layout::Words), 0),
        ];
        let capacities = successors(Some(1), |n| Some(n + n / 3 + 1));
        let mut geometries = Vec::new();
        for capacity in capacities.take_while(|&n| n <= MAX_CAPACITY) {
            // Products are the same everywhere.
            for fpr in successors(Some(0.5), |fpr| Some(fpr * 0.6)).take(45) {
                for (layout, value_bits) in kinds {
                    let chosen = match layout {
                        Some(layout) => smallest(capacity, layout, value_bits, fpr),
                        None => smallest_of_all(capacity, fpr),
                    };
                    let Ok(Geometry { layout, fingerprint_bits, segments, places, .. }) = chosen
                    else {
                        geometries.push(0);
                        continue;
                    };
                    geometries.extend(layout.name().bytes());
                    let slots = layout.probed_slots(fingerprint_bits);
                    let numbers = [slots, fingerprint_bits, segments, places];
                    geometries.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
                }
            }
        }
        assert_eq!(xxh3_64(&geometries), 0xdc91_17dd_2f88_621e);
    }
}
