//! Word-parallel kernels against the lane-by-lane one: the same bytes after every operation.

mod agreement;

use proptest::prelude::*;

use super::Fixed;
use super::fixed::Kernel;
use super::traits::{Change, Fill, Lookup};
use crate::geometry::{Geometry, Layout};
use crate::layout::Lanes;

fn table(geometry: Geometry, max_kicks: u32) -> Fixed {
    Fixed::new(geometry, max_kicks, 1).unwrap()
}

fn lanes_twin(geometry: Geometry) -> Fixed {
    let mut twin = table(geometry, 100);
    twin.kernel = Kernel::BucketedLanes(Lanes::new(&geometry));
    twin
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn words_and_lanes_agree(
        bucket_size in prop_oneof![Just(1), Just(2), Just(4), Just(8)],
        fingerprint_bits in 4..=32_u32,
        capacity in 1..600_u64,
        hashes in proptest::collection::vec(any::<u64>(), 1..800),
    ) {
        let layout = Layout::Bucketed { bucket_size };
        let geometry = Geometry::for_capacity(capacity, layout, fingerprint_bits, 0).unwrap();
        let (mut words, mut lanes) = (table(geometry, 100), lanes_twin(geometry));
        for (i, &hash) in hashes.iter().enumerate() {
            prop_assert_eq!(words.insert(hash, 0), lanes.insert(hash, 0));
            if i % 3 == 0 {
                let earlier = hashes[i / 2];
                prop_assert_eq!(words.count(earlier), lanes.count(earlier));
                prop_assert_eq!(words.remove(earlier, 0), lanes.remove(earlier, 0));
            }
        }
        let batches = [&mut words, &mut lanes].map(|table| {
            let mut refused = Vec::new();
            table.insert_batch(&hashes, |_| 0, |i| refused.push(i));
            let mut inserted = Vec::new();
            table.insert_unique_batch(&hashes, |_, result| inserted.push(result));
            (refused, inserted)
        });
        prop_assert_eq!(&batches[0], &batches[1]);
        prop_assert!(words.bytes() == lanes.bytes());
        prop_assert_eq!(words.occupied(), lanes.occupied());
        prop_assert_eq!(words.spill(), lanes.spill());
        let (mut found, mut twin_found) = (vec![false; hashes.len()], vec![false; hashes.len()]);
        words.contains_batch(&hashes, &mut found);
        lanes.contains_batch(&hashes, &mut twin_found);
        prop_assert_eq!(&found, &twin_found);
        for (&hash, found) in hashes.iter().zip(found) {
            // Single lookups are compiled for the baseline: the oracle of the vectorised batches.
            prop_assert_eq!(words.contains(hash), found);
        }
    }
}
