//! Any bytes, read as filters and maps of every kind: an error, or something that every operation
//! works on and that its own file gives again; and no panic.
//!
//! The library takes all checksums for right when a fuzzer runs it, or the fuzzer would never get
//! past them.
use malkoha::{AnyFilter, Copies, FilterView, MapView};

/// Reads what was changed again: it is accepted.
macro_rules! reopened {
    ($any:path, $filter:expr) => {
        match AnyFilter::from_bytes(&$filter.to_bytes()).expect("its own bytes") {
            $any(filter) => filter,
            _ => panic!("it is of another kind"),
        }
    };
}

macro_rules! operate {
    ($any:path, $filter:expr, $entries:expr, $remove:expr) => {{
        let keys: Vec<u64> = (0..64).collect();
        let _ = $filter.insert_many(&$entries);
        $filter.contains_many(&keys);
        keys.iter().for_each(|key| _ = $filter.count(key));
        $filter.entries().take(1 << 12).for_each(drop);
        let _ = reopened!($any, $filter);
        let _ = $remove;
        let _ = reopened!($any, $filter);
    }};
}

macro_rules! set {
    ($any:path, $filter:expr) => {{
        let keys: Vec<u64> = (0..64).collect();
        let _ = $filter.insert_unique_many(&keys);
        operate!($any, $filter, keys, $filter.remove_many(&keys));
    }};
}

macro_rules! map {
    ($any:path, $map:expr) => {{
        let pairs: Vec<(u64, u64)> = (0..64).map(|key| (key, key & 1)).collect();
        let _ = $map.insert_many(&pairs);
        for &(key, value) in &pairs {
            $map.get(key).for_each(drop);
            let _ = $map.update(key, value, value ^ 1);
        }
        operate!($any, $map, pairs, $map.remove_many(&pairs));
    }};
}

/// The union with itself, as sets and as sums.
macro_rules! unite {
    ($any:path, $filter:expr) => {{
        let other = reopened!($any, $filter);
        for copies in [Copies::Most, Copies::Sum] {
            let mut union = $filter.clone();
            if union.unite(&other, copies).is_ok() {
                let _ = reopened!($any, union);
            }
        }
    }};
}

/// Time goes on, to all epochs of the window and past it.
macro_rules! age {
    ($any:path, $filter:expr) => {{
        for _ in 0..3 {
            set!($any, $filter);
            $filter.age(5_u64);
            $filter.advance($filter.now().saturating_add($filter.ttl() / 2 + 1));
        }
    }};
}

/// One input.
pub fn run(bytes: &[u8]) {
    if let Ok(view) = FilterView::view(bytes) {
        view.contains_many(&[1_u8, 2, 3]);
    }
    if let Ok(view) = MapView::view(bytes) {
        view.get_many(&[1_u8, 2, 3], |_, _| {});
    }
    let Ok(any) = AnyFilter::from_bytes(bytes) else { return };
    // Near 2^63 copies further ones are refused, and sums too.
    if any.len() > 1 << 60 {
        return;
    }
    match any {
        AnyFilter::Set(mut filter) => {
            unite!(AnyFilter::Set, filter);
            set!(AnyFilter::Set, filter);
        }
        AnyFilter::Map(mut map) => {
            unite!(AnyFilter::Map, map);
            map!(AnyFilter::Map, map);
        }
        AnyFilter::GrowableSet(mut filter) => {
            unite!(AnyFilter::GrowableSet, filter);
            let other = reopened!(AnyFilter::GrowableSet, filter);
            filter.intersect_with(&other).expect("the same places");
            set!(AnyFilter::GrowableSet, filter);
            filter.shrink_to_fit();
            let _ = reopened!(AnyFilter::GrowableSet, filter);
        }
        AnyFilter::GrowableMap(mut map) => {
            unite!(AnyFilter::GrowableMap, map);
            map!(AnyFilter::GrowableMap, map);
            map.shrink_to_fit();
            let _ = reopened!(AnyFilter::GrowableMap, map);
        }
        AnyFilter::ExpiringSet(mut filter) => age!(AnyFilter::ExpiringSet, filter),
        AnyFilter::GrowableExpiringSet(mut filter) => age!(AnyFilter::GrowableExpiringSet, filter),
        other => panic!("nothing is tried on a {}", other.kind().name()),
    }
}
