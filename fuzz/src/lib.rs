//! The work of the fuzz targets on an input. The library's tests do the same with the inputs that
//! are kept, and with random ones.

pub mod decode;
pub mod growth;
pub mod operations;

use std::collections::HashMap;
use std::fmt::Debug;

use arbitrary::{Arbitrary, Unstructured};
use malkoha::tables::Candidates;
use malkoha::{Filter, Key, Values};

/// As many as there are bytes for.
fn all<'a, T: Arbitrary<'a>>(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Vec<T>> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(T::arbitrary(bytes)?);
    }
    Ok(all)
}

/// Whether the values of each key are among the candidates, as often as they were inserted.
fn agree<T: Candidates, K: Key + Clone + Debug>(
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
