//! Unions, and what lies in which slot.

use std::collections::HashMap;

use malkoha::{Copies, CuckooFilter, Entry, FilterView, Layout, UnionError};

use crate::support::every_layout;

fn filter(layout: Layout, keys: impl IntoIterator<Item = u32>) -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(600_000).layout(layout).fingerprint_bits(14);
    let mut filter = builder.build().unwrap();
    let keys: Vec<u32> = keys.into_iter().collect();
    filter.insert_many(&keys).unwrap();
    filter
}

/// Every key of both, copies added up, in filters of several segments; also from a file's bytes.
#[test]
fn a_union_has_the_keys_of_both() {
    for layout in every_layout() {
        let mut ours = filter(layout, (0..200_000).chain([7; 50]));
        assert!(ours.geometry().segments > 1);
        let theirs = filter(layout, (100_000..350_000).chain([7; 30]));
        let bytes = theirs.to_bytes();
        ours.unite(&FilterView::view(&bytes).unwrap(), Copies::Sum).unwrap();
        assert_eq!(ours.len(), 450_080);
        assert!((0..350_000_u32).all(|key| ours.contains(key)));
        assert!((100_000..200_000_u32).all(|key| ours.count(key) >= 2));
        assert!(ours.count(7_u32) >= 81);
        assert!(CuckooFilter::read_from(&ours.to_bytes()[..]).is_ok());
        for keys in [0..200_000_u32, 100_000..350_000] {
            assert!(keys.into_iter().all(|key| ours.remove(key)));
        }
        assert!((0..80).all(|_| ours.remove(7_u32)));
        assert!(ours.is_empty() && ours.entries().next().is_none());
    }
}

#[test]
fn what_cannot_be_united_is_left_alone() {
    for layout in every_layout() {
        let mut ours = filter(layout, 0..500_000);
        let before = ours.to_bytes();
        let error = ours.unite(&filter(layout, 500_000..1_000_000), Copies::Sum).unwrap_err();
        assert_eq!(error, UnionError::Full { keys: 1_000_000, capacity: 600_000 });
        let other = CuckooFilter::builder().capacity(600_000).layout(layout).fingerprint_bits(14);
        let error = ours.unite(&other.seed(1).build().unwrap(), Copies::Sum).unwrap_err();
        assert_eq!(error, UnionError::Seed);
        let other = CuckooFilter::with_capacity(10, 0.1).unwrap();
        let error = ours.unite(&other, Copies::Sum).unwrap_err();
        assert!(error.to_string().contains("differ in geometry"), "{error}");
        assert!(before == ours.to_bytes());
    }
}

/// A filter united with itself again and again has twice as many copies each time, until they
/// cannot be counted any more.
#[test]
fn copies_that_cannot_be_counted_are_refused() {
    let mut filter = CuckooFilter::with_capacity(10, 0.01).unwrap();
    filter.insert("cuckoo").unwrap();
    for doublings in 0..63 {
        assert_eq!(filter.count("cuckoo"), 1 << doublings);
        filter.unite(&filter.clone(), Copies::Sum).unwrap();
    }
    assert_eq!(filter.unite(&filter.clone(), Copies::Sum), Err(UnionError::Copies));
    assert_eq!(filter.len(), 1 << 63);
    assert_eq!(CuckooFilter::read_from(&filter.to_bytes()[..]).unwrap().len(), 1 << 63);
}

/// Segment, place and fingerprint of each entry are what docs/FORMAT.md says of its key.
#[test]
fn entries_are_the_keys() {
    for layout in every_layout() {
        let filter = filter(layout, (0..300_000).chain(0..1_000).chain(0..1_000).chain([7; 90]));
        let geometry = *filter.geometry();
        let scale = |x: u64, n: u32| (x * u64::from(n)) >> 32;
        // (segment, lesser place, fingerprint) of a key.
        let of_key = |key: u32| {
            let hash = malkoha::Key::hash_with(&key, filter.hasher());
            let bits = geometry.fingerprint_bits - u32::from(layout == Layout::GapWindows);
            let max = (1_u32 << bits) - 1;
            let fingerprint = scale(hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32, max) + 1;
            let first = scale(hash & 0xffff_ffff, geometry.places);
            (scale(hash >> 32, geometry.segments), first, fingerprint)
        };
        let alternate = |place: u64, fingerprint: u64| {
            let places = u64::from(geometry.places);
            let h = scale((fingerprint * 0x9e37_79b1) & 0xffff_ffff, geometry.places);
            (h + places - place) % places
        };
        let mut expected: HashMap<(u64, u64, u64), u64> = HashMap::new();
        for key in (0..300_000).chain(0..1_000).chain(0..1_000).chain([7; 90]) {
            let (segment, first, fingerprint) = of_key(key);
            let place = first.min(alternate(first, fingerprint));
            *expected.entry((segment, place, fingerprint)).or_default() += 1;
        }
        let mut found: HashMap<(u64, u64, u64), u64> = HashMap::new();
        let mut spilled = 0;
        for Entry { segment, place, fingerprint, value, copies, .. } in filter.entries() {
            let (place, fingerprint) = (u64::from(place), u64::from(fingerprint));
            let lesser = place.min(alternate(place, fingerprint));
            *found.entry((segment.into(), lesser, fingerprint)).or_default() += copies;
            assert_eq!(value, 0);
            spilled += copies - 1;
        }
        assert!(found == expected, "{layout}");
        assert!(spilled >= 88, "{layout}: {spilled}");
    }
}
