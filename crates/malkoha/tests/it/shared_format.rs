//! Files of sets that threads share are those of one owner.

use malkoha::locks::{McsLock, Striped};
use malkoha::{
    Builder, ConcurrentCuckooFilter, ConcurrentCuckooFilterWith, CuckooFilter, FileKind,
    GrowableConcurrentCuckooFilter, GrowableCuckooFilter, Layout, ReadError,
};

/// A shared set of fixed size is a set with words, and no other can be shared.
#[test]
fn a_shared_set_of_fixed_size_is_a_set_with_words() {
    let shared = ConcurrentCuckooFilter::with_capacity(1_000, 0.01).unwrap();
    shared.insert_many(&(0..1_000_u64).collect::<Vec<_>>()).unwrap();
    let plain = CuckooFilter::from_bytes(&shared.to_bytes()).unwrap();
    assert!(plain.geometry().layout == Layout::Words && plain == shared.to_filter().unwrap());
    let back: ConcurrentCuckooFilter = Builder::new().capacity(1).fpr(0.1).build().unwrap();
    assert!(back != shared);
    let back: ConcurrentCuckooFilter =
        ConcurrentCuckooFilter::from_bytes(&plain.to_bytes()).unwrap();
    assert!(back == shared);
    let other = CuckooFilter::with_capacity(10, 0.01).unwrap().to_bytes();
    let error = ConcurrentCuckooFilterWith::<Striped<McsLock>>::from_bytes(&other).unwrap_err();
    assert!(matches!(error, ReadError::Layout("gap-windows")), "{error}");
}

/// Every fixture of a growable set of one owner opens as a shared one, whose files open as either.
#[test]
fn a_shared_growing_set_is_a_growable_set() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let mut read = 0;
    for file in std::fs::read_dir(fixtures).unwrap() {
        let path = file.unwrap().path();
        if !path.file_name().unwrap().to_str().unwrap().starts_with("growable-set") {
            continue;
        }
        let alone = GrowableCuckooFilter::open(&path).unwrap();
        let shared = GrowableConcurrentCuckooFilter::open(&path).unwrap();
        assert_eq!((shared.len(), shared.spilled()), (alone.len(), alone.spilled()), "{path:?}");
        assert_eq!(shared.fingerprint_bits(), alone.fingerprint_bits());
        let rates = [shared.expected_fpr(), alone.expected_fpr()];
        assert!((rates[0] - rates[1]).abs() <= 1e-9 * rates[1], "{rates:?}");
        let keys: Vec<u64> = (0..20_000).collect();
        assert_eq!(shared.contains_many(&keys), alone.contains_many(&keys));
        shared.insert_many(&keys).unwrap();
        let bytes = shared.to_bytes();
        assert_eq!(FileKind::of(&bytes).unwrap(), FileKind::GrowableSet);
        assert!(GrowableConcurrentCuckooFilter::from_bytes(&bytes).unwrap() == shared);
        assert!(GrowableCuckooFilter::from_bytes(&bytes).unwrap() == shared.to_filter());
        read += 1;
    }
    assert!(read == 5, "{read} files");
}
