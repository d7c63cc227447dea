//! Every operation on every kind: the cells of the table in the crate's documentation.
//!
//! `sets::KIND::TEST` and `maps::KIND::TEST` run one list for fixed, growing, shared, and growing
//! and shared ones; `mapped::TEST` is for views and mapped files. What is not here is in the files
//! named.
//!
//! | operations | tests |
//! | --- | --- |
//! | `contains`, `count`, and many at once | `lookups_and_numbers`, `copies`; `mapped` |
//! | `get`, `values`, and many at once | `maps`: `lookups_and_numbers`, `copies_and_values`; `mapped` |
//! | `insert`, `remove`, and many at once | `inserts_one_by_one_and_removals`, `batches_of_hashes_and_removals`, `refused_keys_of_a_batch_are_named`; `maps`: `inserts_updates_and_removals` |
//! | `insert_unique`, and many at once | `unique_inserts`; of several threads, concurrent.rs |
//! | `update` | `maps`: `inserts_updates_and_removals` |
//! | `clear`, `clone`, `==` | `clear_clone_and_equality`; `mapped` |
//! | `entries`, `lookups` | `copies`, `lookups_and_numbers` |
//! | `par_contains_many` | parallel.rs |
//! | `save`, `open`, `to_bytes`, `from_bytes` | `files`; `mapped`; format.rs, growable_format.rs, corpus.rs |
//! | serde | serde.rs |
//! | `map` | `mapped` |
//! | `union_with`, `unite` | union.rs, growable_union.rs, map.rs, jammed.rs |
//! | `intersect_with` | union.rs, growable_union.rs |
//! | `build_from` | filter.rs |
//! | `reserve` | growable_map.rs, shared_map.rs: `what_was_reserved_need_not_grow`, `room_beforehand_saves_growing` |
//! | `shrink_to_fit` | growable.rs, growable_map.rs, shared_map.rs |

#[cfg(all(feature = "mmap", any(unix, windows)))]
mod mapped;
mod maps;
mod sets;

use malkoha::tables::Lookup;
use malkoha::{Content, Filter};

/// Keys that go in; as many others do not.
const KEYS: u64 = 3_000;

fn present() -> Vec<u64> {
    (0..KEYS).collect()
}

fn absent() -> Vec<u64> {
    (1 << 40..(1 << 40) + KEYS).collect()
}

fn hashes<T: Lookup, C: Content>(filter: &Filter<T, C>, keys: &[u64]) -> Vec<u64> {
    keys.iter().map(|&key| malkoha::Key::hash_with(&key, filter.hasher())).collect()
}

/// What is the same for sets and maps that hold the present keys.
fn holds_all<T: Lookup, C: Content>(filter: &Filter<T, C>) {
    assert!(present().iter().all(|key| filter.contains(key) && filter.count(key) > 0));
    assert!(filter.contains_many(&present()).iter().all(|&found| found));
    let (keys, mut found) = (present(), vec![false; present().len()]);
    filter.contains_hashes(&hashes(filter, &keys), &mut found);
    assert!(found.iter().all(|&found| found));
    assert!(filter.lookups(present()).all(|(_, found)| found));
    let wrong = filter.contains_many(&absent()).into_iter().filter(|&found| found).count();
    assert!(wrong < 60, "{wrong} of 3000 at 0.001");
    assert!(hashes(filter, &keys).into_iter().all(|hash| filter.has_copy_hash(hash)));
}

/// Numbers that agree with each other.
fn tells_its_size<T: Lookup, C: Content>(filter: &Filter<T, C>) {
    assert_eq!(filter.len(), KEYS);
    assert!(!filter.is_empty() && filter.capacity() <= KEYS);
    assert!((0.0..=1.0).contains(&filter.load_factor()) && filter.load_factor() > 0.01);
    assert!(filter.expected_fpr() > 0.0 && filter.expected_fpr() <= 0.001);
    assert!(filter.expected_candidates() >= filter.expected_fpr());
    assert!((4..=32).contains(&filter.fingerprint_bits()));
    let bits = filter.size_in_bytes() as f64 * 8.0 / filter.len() as f64;
    assert!((filter.bits_per_key() - bits).abs() < 1e-9);
    let copies: u64 = filter.entries().map(|entry| entry.copies).sum();
    assert_eq!(copies, filter.len());
    let spilled: u64 = filter.entries().map(|entry| entry.copies - 1).sum();
    assert!(spilled <= filter.spilled());
    let shown = format!("{filter:?}");
    assert!(shown.contains("len: 3000") && shown.len() < 300, "{shown}");
}
