//! The shape of a table in parts.

use super::depth::Deep;
use crate::error::BuildError;
use crate::geometry::{Geometry, Layout, MAX_CAPACITY, word_lanes};
use crate::params;

/// Buckets of a part, nearly at most: 128 KiB, which a split reads and writes from a core's own
/// cache.
const MAX_PLACES: f64 = 16_384.0;
/// Room in a part for more keys than are expected makes them these at most: 2.7 % more.
pub(crate) const MOST_PLACES: u64 = 16_825;
/// Places of a part, at least: 8 KiB. Three keys with fingerprints that begin alike, whose places
/// are all the same bucket of two slots, are refused however often their part is split. Among few
/// places they are not rare: of 20,000 filters with 95, two refused a key before they had grown 180
/// times.
const LEAST_PLACES: f64 = 1024.0;
/// Room of a part for more keys than the expected, in standard deviations of their number: less
/// than one part in a million needs more.
const SIGMAS: f64 = 5.0;
/// Slots of a part beyond that, since few places even out badly.
const SPARE: f64 = 32.0;
/// Names of parts in all: some 0.9 GB of directory.
const MOST_NAMES: f64 = 16_777_216.0;
/// The most doublings: each segment has that many names for parts.
pub(crate) const MAX_DOUBLINGS: u32 = 16;

/// Doublings of a filter whose growth was not named, before tables below its parts are opened.
const DEFAULT_GROWTH: f64 = 1024.0;
/// These doublings at least, where fingerprints are too short for more.
const LEAST_GROWTH: f64 = 16.0;

/// The shape of a filter that begins with room for `capacity` keys and grows to `growth` times as
/// many at this rate, or without end if that is not named: the one of the fewest bits a key. Also
/// the number of doublings.
///
/// The lower the rate, the more bits are compared, and the fewer doublings are possible: without a
/// named growth there are then fewer before tables below are opened.
pub(crate) fn plan(
    capacity: u64,
    fpr: f64,
    growth: Option<f64>,
) -> Result<(Geometry, u32), BuildError> {
    let Some(growth) = growth else {
        let mut growth = DEFAULT_GROWTH;
        loop {
            match planned(capacity, fpr, growth, Deep::all_levels) {
                Err(BuildError::FprTooSmall { .. }) if growth > LEAST_GROWTH => growth /= 2.0,
                plan => return plan,
            }
        }
    };
    planned(capacity, fpr, growth, params::cuckoo_fpr)
}

/// The same where `rate` is that of so many bits compared in so many slots of such a load.
fn planned(
    capacity: u64,
    fpr: f64,
    growth: f64,
    rate: fn(u32, u32, f64) -> f64,
) -> Result<(Geometry, u32), BuildError> {
    if !(1..=MAX_CAPACITY).contains(&capacity) {
        return Err(BuildError::Capacity(capacity));
    }
    // Written so that a NaN is refused too.
    if !(fpr > 0.0 && fpr < 1.0) {
        return Err(BuildError::Fpr(fpr));
    }
    let most_growth = f64::from(1 << MAX_DOUBLINGS);
    if !(growth >= 1.0 && growth <= most_growth) {
        return Err(BuildError::Growth { asked: growth, most: most_growth });
    }
    // At most 16.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    let doublings = growth.log2().ceil() as u32;
    let load = |bits| Layout::Words.load(bits);
    let rate = |bits: u32| rate(bits - doublings, Layout::Words.probed_slots(bits), load(bits));
    let price = |bits: &u32| 1.0 / (f64::from(word_lanes(*bits)) * load(*bits));
    // What is left when a part cannot be split any more is less than a slot of a level below.
    let most = if doublings == 0 { 31 } else { 32 };
    let widths = (doublings + 4).max(Layout::Words.least_fingerprint_bits())..=most;
    let enough = widths.filter(|&bits| rate(bits) <= fpr);
    let bits = enough
        .min_by(|a, b| price(a).total_cmp(&price(b)))
        .ok_or(BuildError::FprTooSmall { asked: fpr, reachable: rate(most) })?;
    let lanes = f64::from(word_lanes(bits));
    let segments = (params::float(capacity) / load(bits) / lanes / MAX_PLACES).ceil();
    // A part's number of keys scatters, and the last split leaves it as it is.
    let keys = params::float(capacity) / segments;
    let slots = keys / load(bits) + SIGMAS * keys.sqrt() + SPARE;
    let places = (slots / lanes).ceil().max(LEAST_PLACES);
    // Segments of a capacity of 2^36 keys, and places of a part.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    let narrow = |number: f64| number as u32;
    // The whole directory is made at once, for whole doublings.
    if segments * f64::from(1 << doublings) > MOST_NAMES {
        let most = (MOST_NAMES / segments).max(1.0).log2().floor().exp2();
        return Err(BuildError::Growth { asked: growth, most });
    }
    let geometry = Geometry {
        layout: Layout::Words,
        fingerprint_bits: bits,
        value_bits: 0,
        segments: narrow(segments),
        places: narrow(places),
    };
    Ok((geometry, doublings))
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// An error names the most growth that is possible, and `plan` accepts that, also where it is
    /// rounded to whole doublings.
    #[test]
    fn the_growth_that_an_error_names_can_be_had() {
        let mut refused = 0;
        for capacity in (20..=36).map(|bits| 1 << bits) {
            for growth in (0..16).map(|doublings| 1.5 * f64::from(1 << doublings)) {
                let Err(error) = plan(capacity, 0.01, Some(growth)) else { continue };
                let BuildError::Growth { most, .. } = error else { panic!("{error}") };
                assert!(
                    most < growth && plan(capacity, 0.01, Some(most)).is_ok(),
                    "{capacity}: {error}"
                );
                refused += 1;
            }
        }
        assert!(refused > 20, "only {refused} have too many parts");
    }

    #[test]
    fn parts_have_no_more_places_than_is_said() {
        let mut most = 0;
        for fpr in (1..80).map(|n| 0.75_f64.powi(n)) {
            for capacity in (0..=28).map(|bits| (1 << bits) * 11 / 10) {
                for growth in [Some(1.0), None] {
                    let Ok((geometry, _)) = plan(capacity, fpr, growth) else { continue };
                    most = most.max(geometry.places.into());
                }
            }
        }
        assert!((16_384..=MOST_PLACES).contains(&most), "{most}");
    }
}
