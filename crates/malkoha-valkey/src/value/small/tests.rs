use proptest::prelude::*;

use super::super::StoredFilter;
use super::super::chunks::sealed;
use super::*;

pub(in crate::value) const PROPERTIES: Properties = Properties {
    capacity: 1024,
    error_rate: 0.01,
    growth: 1024.0,
    bucket_size: 2,
    max_iterations: 20,
    expansion: 1,
};

fn small(properties: Properties, hasher: KeyHasher) -> Option<Box<Small>> {
    match StoredFilter::create(properties, None, hasher) {
        Ok(StoredFilter::Small(small)) => Some(small),
        _ => None,
    }
}

fn name(item: u16) -> [u8; 2] {
    item.to_le_bytes()
}

#[test]
fn fifty_items_fit_with_the_defaults() {
    let mut filter = small(PROPERTIES, KeyHasher::sip13(1)).unwrap();
    for item in 0..50 {
        assert_eq!(filter.insert(&name(item), true), Some(true));
    }
    assert_eq!(filter.insert(&name(50), false), None);
    assert!((0..50).all(|item| filter.contains(&name(item))));
    for other in
        [Properties { capacity: 5000, ..PROPERTIES }, Properties { expansion: 0, ..PROPERTIES }]
    {
        assert!(small(other, KeyHasher::new(0)).is_none(), "{other:?}");
    }
}

#[test]
fn damaged_chunks_are_refused() {
    let mut filter = small(PROPERTIES, KeyHasher::new(7)).unwrap();
    for item in 0..49 {
        filter.insert(&name(item), false);
    }
    let chunk = filter.chunk();
    assert!(Small::from_chunk(&chunk).is_ok() && Small::is_chunk(&chunk));
    for at in 0..chunk.len() {
        for bit in 0..8 {
            let mut damaged = chunk.clone();
            damaged[at] ^= 1 << bit;
            assert!(Small::from_chunk(&damaged).is_err(), "bit {bit} of byte {at}");
            // With a matching checksum again: whatever is accepted can be used.
            let damaged = sealed(damaged[..damaged.len() - 8].to_vec());
            if let Ok(mut odd) = Small::from_chunk(&damaged) {
                assert_eq!(odd.chunk(), damaged);
                odd.insert(b"a", true);
                odd.remove(b"a");
                assert_eq!(odd.table().len(0), odd.len());
            }
        }
        assert!(Small::from_chunk(&chunk[..at]).is_err(), "{at} bytes");
    }
}

proptest! {
    /// Items are added and deleted until there are too many: counts are those of the table.
    #[test]
    fn it_is_what_its_table_is(
        rate in 1e-6..0.3, key: u128,
        changes in proptest::collection::vec((0..60_u16, 0..4_u8), 1..120),
    ) {
        let properties = Properties { error_rate: rate, ..PROPERTIES };
        let Ok(mut filter) = StoredFilter::create(properties, None, KeyHasher::sip13(key)) else {
            return Ok(());
        };
        for (item, what) in changes {
            let item = name(item);
            let before = filter.count(&item, 0);
            let changed = match what {
                0 => filter.insert(&item, false, u64::MAX) == Ok(true),
                1 => filter.insert(&item, true, u64::MAX) == Ok(true),
                2 => filter.remove(&item),
                _ => filter.contains(&item, 0),
            };
            let after = filter.count(&item, 0);
            match what {
                0 => prop_assert!(changed && after == before + 1),
                1 => prop_assert!(changed == (before == 0) && after == before.max(1)),
                2 => prop_assert!(changed == (before > 0) && after == before.saturating_sub(1)),
                _ => prop_assert!(changed == (before > 0) && after == before),
            }
            if let StoredFilter::Small(small) = &filter {
                let copy = Small::from_chunk(&small.chunk()).unwrap();
                prop_assert_eq!(copy.chunk(), small.chunk());
                prop_assert_eq!(small.table().count(small.hasher().hash_bytes(&item), 0), after);
                prop_assert_eq!(small.table().len(0), small.len());
            }
        }
    }
}
