//! Crafted keys, damaged files, repeatable random numbers, kept files.

pub(crate) mod crafted;
pub(crate) mod mutate;
pub(crate) mod random;
pub(crate) mod xxh3;

use std::collections::HashMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

use malkoha::tables::Candidates;
use malkoha::{Filter, Key, Layout, Values};

pub(crate) fn every_layout() -> impl Iterator<Item = Layout> {
    let bucketed = [1, 2, 4, 8].map(|bucket_size| Layout::Bucketed { bucket_size });
    bucketed.into_iter().chain([Layout::SemiSorted, Layout::GapWindows, Layout::Words])
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The fixture of this name, which must be these bytes. Set `MALKOHA_WRITE_FIXTURES` to add one for
/// a new version; never to change an old one.
pub(crate) fn fixture(name: &str, bytes: &[u8]) -> Vec<u8> {
    let path = fixtures().join(name);
    if std::env::var_os("MALKOHA_WRITE_FIXTURES").is_some() && !path.exists() {
        std::fs::write(&path, bytes).unwrap();
    }
    let stored = std::fs::read(&path).unwrap();
    assert!(stored == bytes, "{name}: the format has changed");
    stored
}

/// Whether the values of each key are among the candidates, as often as they were inserted.
pub(crate) fn agree<T: Candidates, K: Key + Clone + Debug>(
    map: &Filter<T, Values>,
    model: &HashMap<K, Vec<u64>>,
) {
    assert_eq!(map.len(), model.values().map(|values| values.len() as u64).sum::<u64>());
    assert_eq!(map.entries().map(|entry| entry.copies).sum::<u64>(), map.len());
    let keys: Vec<K> = model.keys().cloned().collect();
    let mut batched = vec![Vec::new(); keys.len()];
    map.get_many(&keys, |i, value| batched[i].push(value));
    let singly: Vec<bool> = keys.iter().map(|key| map.contains(key)).collect();
    assert_eq!(map.contains_many(&keys), singly);
    for ((key, inserted), batched) in model.iter().zip(batched) {
        let candidates: Vec<u64> = map.get(key).collect();
        assert_eq!(candidates, batched, "single and batched lookups differ");
        let values = map.values(key);
        assert_eq!(values.iter().map(|&(_, copies)| copies).sum::<u64>(), map.count(key));
        assert!(values.is_sorted_by(|a, b| a.0 < b.0), "each value once");
        assert!(candidates.iter().all(|value| values.iter().any(|pair| pair.0 == *value)));
        // In a small table that grows, `contains` also finds fingerprints of other places.
        assert!(map.contains(key) || candidates.is_empty());
        for value in inserted {
            let copies = inserted.iter().filter(|other| *other == value).count() as u64;
            assert!(map.count_value(key, *value) >= copies);
            let pair = (*value, map.count_value(key, *value));
            assert!(values.contains(&pair), "{key:?} lost {value}");
        }
    }
}
