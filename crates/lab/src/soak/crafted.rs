//! Hashes chosen by an attacker who knows how tables derive places and fingerprints from them. This
//! takes only docs/FORMAT.md and a seed: keys with given XXH3-64 hashes are easy to make.

use malkoha::Geometry;

/// The multiplier between a hash and its fingerprint.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
const LOW: u64 = 0xffff_ffff;

/// Hashes for a growing set or map: half of them for one segment, however often that splits, and
/// half for two buckets of it.
pub(super) fn for_growing(hashes: usize) -> Vec<u64> {
    let hash = |n: u64, zeros| inverse_of(MIX).wrapping_mul(n.wrapping_mul(MIX) >> zeros);
    let jam = |hash: &u64| hash >> 20 & 0xfff == 77;
    let zeros = |n: usize| [8, 12, 16, 20, 26][n % 5];
    let mut jams = (0..).map(|n| hash(n, zeros((n >> 14) as usize))).filter(jam);
    let crowd = |n: usize| hash(n as u64, zeros(n));
    (0..hashes).map(|n| if n % 2 == 0 { crowd(n) } else { jams.next().unwrap_or(0) }).collect()
}

/// Hashes whose places are both in the first eighth of a table of fixed size, of one segment.
pub(super) fn for_fixed(geometry: &Geometry) -> impl Iterator<Item = u64> + use<> {
    let (places, fingerprints) = (geometry.places.into(), (1_u64 << geometry.fingerprint_bits) - 1);
    let scale = |word: u64, to: u64| ((word & LOW) * to) >> 32;
    let is_there = move |&hash: &u64| {
        let place = scale(hash, places);
        let fingerprint = scale(hash.wrapping_mul(MIX) >> 32, fingerprints) + 1;
        let sum = scale(fingerprint.wrapping_mul(0x9e37_79b1), places);
        let other = (sum + places - place) % places;
        place.max(other) < places / 8
    };
    let random = |n: u64| (n.wrapping_mul(MIX) ^ n >> 7).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (1..).map(random).filter(is_there)
}

/// Modulo 2^64, by Newton's iteration: each step doubles the bits that are right.
fn inverse_of(odd: u64) -> u64 {
    (0..6).fold(odd, |inverse: u64, _| {
        inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_as_asked() {
        let strings = for_growing(1_000).into_iter().map(|hash| hash.wrapping_mul(MIX));
        assert!(strings.into_iter().all(|string| string >> 56 == 0));
    }
}
