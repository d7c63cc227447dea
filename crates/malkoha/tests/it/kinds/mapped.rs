//! Views of bytes, and files that are looked up in where they are.

use malkoha::{
    Builder, ConcurrentCuckooFilter, CuckooFilter, CuckooMap, FilterView, GrowableCuckooFilter,
    GrowableCuckooMap, MapView, MappedFilter, MappedMap, ReadError,
};
use tempfile::NamedTempFile;

use super::{KEYS, holds_all, present};

fn file(bytes: &[u8]) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file
}

fn pairs() -> Vec<(u64, u64)> {
    present().into_iter().map(|key| (key, key % 1_000)).collect()
}

#[test]
fn sets_of_fixed_size() {
    let mut filter = CuckooFilter::with_capacity(KEYS, 0.001).unwrap();
    filter.insert_many(&present()).unwrap();
    let bytes = filter.to_bytes();
    let view = FilterView::view(&bytes).unwrap();
    holds_all(&view);
    assert!(view == filter && view.to_owned().unwrap() == filter && view.to_bytes() == bytes);
    let file = file(&bytes);
    // SAFETY: nobody else knows the file.
    let mapped = unsafe { MappedFilter::map(file.path()) }.unwrap();
    mapped.verify().unwrap();
    holds_all(&mapped);
    assert!(mapped == filter);
}

#[test]
fn damaged_sets_of_fixed_size() {
    let mut bytes = CuckooFilter::try_from_iter(present(), 0.001).unwrap().to_bytes();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    let files = [&bytes[..], &bytes[..middle], &[]].map(file);
    // SAFETY: nobody else knows the files.
    let [damaged, cut, empty] =
        files.each_ref().map(|file| unsafe { MappedFilter::map(file.path()) });
    assert!(matches!(damaged.unwrap().verify(), Err(ReadError::SegmentChecksum { .. })));
    assert!(matches!(cut, Err(ReadError::Length { .. })) && empty.is_err());
}

#[test]
fn maps_of_fixed_size() {
    let mut map = CuckooMap::with_capacity(KEYS, 0.001, 10).unwrap();
    map.insert_many(&pairs()).unwrap();
    (0..30).for_each(|_| map.insert(7_u64, 9).unwrap());
    let bytes = map.to_bytes();
    let file = file(&bytes);
    // SAFETY: nobody else knows the file.
    let mapped = unsafe { MappedMap::map(file.path()) }.unwrap();
    mapped.verify().unwrap();
    let view = MapView::view(&bytes).unwrap();
    assert!(mapped == map && view == map);
    for (key, value) in pairs() {
        assert!(mapped.get(key).any(|found| found == value));
        assert!(view.get(key).any(|found| found == value));
    }
    assert_eq!(mapped.count_value(7_u64, 9), 30);
    assert!(matches!(FilterView::view(&bytes), Err(ReadError::Kind { .. })));
}

/// A shared set of fixed size is a set with words: its file is mapped as that.
#[test]
fn shared_sets_of_fixed_size() {
    let shared: ConcurrentCuckooFilter = Builder::new().capacity(KEYS).fpr(0.001).build().unwrap();
    shared.insert_many(&present()).unwrap();
    let file = file(&shared.to_bytes());
    // SAFETY: nobody else knows the file.
    let mapped = unsafe { MappedFilter::map(file.path()) }.unwrap();
    holds_all(&mapped);
}

/// Changes stay in the process: the file is as it was, and a second mapping too.
#[test]
fn growing_sets() {
    let mut filter = GrowableCuckooFilter::with_capacity(100, 0.001).unwrap();
    filter.insert_many(&(0..200_000_u64).collect::<Vec<_>>()).unwrap();
    (0..30).for_each(|_| filter.insert(7_u64).unwrap());
    let bytes = filter.to_bytes();
    let file = file(&bytes);
    // SAFETY: nobody else knows the file.
    let open = || unsafe { GrowableCuckooFilter::map(file.path()) }.unwrap();
    let (mut mapped, second) = (open(), open());
    assert!(mapped == filter);
    let more: Vec<u64> = (200_000..500_000).collect();
    mapped.insert_many(&more).unwrap();
    filter.insert_many(&more).unwrap();
    assert!((0..500_000_u64).all(|key| mapped.contains(key)));
    assert!((1_000..200_000_u64).all(|key| mapped.remove(key) && filter.remove(key)));
    mapped.shrink_to_fit();
    filter.shrink_to_fit();
    assert_eq!((mapped.len(), mapped.count(7_u64)), (filter.len(), filter.count(7_u64)));
    assert!(mapped.clone().to_bytes() == mapped.to_bytes());
    assert!(second.to_bytes() == bytes && std::fs::read(file.path()).unwrap() == bytes);
}

#[test]
fn growing_maps_and_damaged_files() {
    let mut map = GrowableCuckooMap::with_capacity(100, 0.001, 10).unwrap();
    map.insert_many(&pairs()).unwrap();
    let mut bytes = map.to_bytes();
    let whole = file(&bytes);
    // SAFETY: nobody else knows the file.
    let mapped = unsafe { GrowableCuckooMap::map(whole.path()) }.unwrap();
    assert!(pairs().iter().all(|(key, value)| mapped.get(key).any(|found| found == *value)));
    bytes[300] ^= 1;
    let damaged = file(&bytes);
    // SAFETY: as above.
    let read = unsafe { GrowableCuckooMap::map(damaged.path()) };
    assert!(matches!(read, Err(ReadError::SegmentChecksum { .. })));
    let cut = file(&bytes[..bytes.len() - 1]);
    // SAFETY: as above.
    assert!(unsafe { GrowableCuckooMap::map(cut.path()) }.is_err());
    let other = file(&map.to_bytes());
    // SAFETY: as above.
    assert!(unsafe { GrowableCuckooFilter::map(other.path()) }.is_err());
}
