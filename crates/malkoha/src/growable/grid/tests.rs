//! Places and buckets of all sizes of segments.

use super::*;

/// Moves keep reaching new places, and offsets are as even as possible.
#[test]
#[cfg_attr(miri, ignore = "sorts 65,536 numbers, and loads nothing")]
fn few_bits_lead_everywhere() {
    let mut offsets: Vec<u64> = (0..256).map(|prefix| Mix::computed(prefix).offset()).collect();
    offsets.sort_unstable();
    assert!(offsets.into_iter().eq(0..256));
    let alternates = |place| (0..256).map(move |prefix| Mix::computed(prefix).alternate(place));
    let mut places: Vec<u64> = alternates(1).flat_map(alternates).collect();
    places.sort_unstable();
    places.dedup();
    // Steps of equal length lead to 127.
    assert!(places.len() > 600, "{}", places.len());
}

/// For every number of buckets: the place is recovered, and no bucket is without fine places.
#[test]
fn bucket_and_fingerprint_tell_the_place() {
    let mut prefix = 1_u64;
    let (first, step) = if cfg!(miri) { (9, 2_999) } else { (200, 61) };
    let some = (1..first).chain((first..=8192).step_by(step)).chain([4095, 4096, 4097, 8192]);
    for buckets in some {
        let grid = Grid::new(buckets);
        assert_eq!(Grid::from_bits(grid.to_bits(), 1), Some(grid));
        for place in (0..PLACES).step_by(if cfg!(miri) { 501 } else { 7 }).chain([PLACES - 1]) {
            prefix = prefix.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mix = Mix::of(prefix >> 56);
            let bucket = grid.bucket(place, mix);
            assert!(bucket < buckets.into());
            let known = grid.place(grid.stretch(bucket), mix);
            assert_eq!(known, place >> grid.low_bits() << grid.low_bits(), "{grid:?}");
            assert_eq!(mix.alternate(mix.alternate(place)), place);
        }
    }
}
/// One more bucket takes keys from its own group alone, and groups share their fine places
/// evenly.
#[test]
fn a_bucket_more_changes_one_group() {
    for buckets in [4096, 5000, 6143, 6144, 8191] {
        let (before, after) = (Grid::new(buckets), Grid::new(buckets + 1));
        let group = u64::from(buckets) & (GROUPS - 1);
        assert_eq!(after.group(group).last(), Some(buckets.into()));
        let mut shares = vec![0_u32; buckets as usize + 1];
        for place in 0..PLACES {
            for mix in (0..256).map(Mix::computed) {
                let [old, new] = [before, after].map(|grid| grid.bucket(place, mix));
                assert!(old == new || old % GROUPS == group && new % GROUPS == group);
                shares[usize::try_from(new).unwrap()] += 1;
            }
        }
        assert!(shares.iter().all(|share| [128, 170, 171, 256].contains(share)));
    }
    for bits in [4095 | GROUPED, 4096, 8193 | GROUPED, 8193, 0, GROUPED] {
        assert_eq!(Grid::from_bits(bits, 1), None, "{bits}");
    }
    assert_eq!(Grid::from_bits(4095, PLACES), None);
}
