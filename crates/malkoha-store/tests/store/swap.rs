//! Conditional writes, and counts.

use std::collections::BTreeMap;
use std::time::Duration;

use malkoha_store::{Batch, Durability, Error, Options, Store, Swap};

use crate::support::{Dir, contents, key, options};

#[test]
fn swaps_do_what_they_say_at_each_durability() {
    for durability in [Durability::System, Durability::Always] {
        let dir = Dir::new();
        let options = options().durability(durability);
        let store = Store::open(dir.path(), &options).unwrap();
        let swap = |old: Option<&[u8]>, new: Option<&[u8]>| {
            store.compare_and_swap(b"key", old, new).unwrap()
        };
        assert_eq!(swap(Some(b"1"), Some(b"2")), Swap::Found(None));
        assert_eq!(swap(None, None), Swap::Done);
        assert!(store.is_empty());
        assert!(store.put_if_absent(b"key", b"1").unwrap());
        assert!(!store.put_if_absent(b"key", b"2").unwrap());
        assert_eq!(swap(Some(b"2"), Some(b"3")), Swap::Found(Some(b"1".to_vec())));
        assert_eq!(swap(Some(b"1"), Some(b"")), Swap::Done);
        assert_eq!(swap(None, Some(b"1")), Swap::Found(Some(Vec::new())));
        assert_eq!(swap(Some(b""), None), Swap::Done);
        assert_eq!(swap(Some(b""), None), Swap::Found(None));
        // A key that has ended has no value.
        store.put_for(b"key", b"short", Duration::ZERO).unwrap();
        assert!(store.put_if_absent(b"key", b"long").unwrap());
        let long = vec![0; 1 << 17];
        assert!(matches!(store.put_if_absent(&long, b""), Err(Error::KeyTooLong(_))));
        let expected = contents(&store);
        store.close().unwrap();
        assert_eq!(contents(&Store::open(dir.path(), &options).unwrap()), expected);
        assert_eq!(expected.get(&b"key"[..]), Some(&b"long".to_vec()));
    }
}

/// Threads count up by swapping: no step is lost or done twice.
#[test]
fn swaps_of_threads_follow_each_other() {
    const THREADS: u32 = 4;
    for (durability, steps) in [(Durability::System, 3000), (Durability::Always, 60)] {
        let dir = Dir::new();
        let store = Store::open(dir.path(), &options().durability(durability)).unwrap();
        let add = || {
            let mut found = store.get(b"sum").unwrap();
            loop {
                let sum =
                    found.as_deref().map_or(0, |sum| u32::from_le_bytes(sum.try_into().unwrap()));
                let new = (sum + 1).to_le_bytes();
                match store.compare_and_swap(b"sum", found.as_deref(), Some(&new)).unwrap() {
                    Swap::Done => return,
                    Swap::Found(other) => found = other,
                }
            }
        };
        let mut firsts = 0;
        std::thread::scope(|scope| {
            let run = |thread: u32| {
                let firsts = (0..steps).filter(|&n| {
                    add();
                    store.put_if_absent(&key(n), &thread.to_le_bytes()).unwrap()
                });
                firsts.count()
            };
            let threads: Vec<_> = (0..THREADS).map(|n| scope.spawn(move || run(n))).collect();
            firsts = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        });
        let sum = store.get(b"sum").unwrap().unwrap();
        assert_eq!(u32::from_le_bytes(sum.try_into().unwrap()), THREADS * steps);
        assert_eq!(firsts, steps as usize);
        store.close().unwrap();
    }
}

#[test]
fn metrics_can_be_read_by_their_specification() {
    let dir = Dir::new();
    let store = Store::open(dir.path(), &Options::new().background(false)).unwrap();
    let mut batch = Batch::new();
    for n in 0..100 {
        batch.put(&key(n), &[1; 1000]).unwrap();
    }
    store.apply(&batch).unwrap();
    store.apply(&batch).unwrap();
    store.put(b"one", b"more").unwrap();
    store.delete(b"one").unwrap();
    store.sync().unwrap();
    store.compact().unwrap();
    let metrics = store.metrics();
    let text = metrics.prometheus("a \"place\" in C:\\stores\nand more");
    // With the three escapes of the text format.
    let label = r#"{store="a \"place\" in C:\\stores\nand more"} "#;
    assert!(text.ends_with('\n'));
    let mut samples = BTreeMap::new();
    for lines in text.lines().collect::<Vec<_>>().chunks(3) {
        let (name, value) = lines[2].split_once(label).unwrap();
        assert!(name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_'), "{name}");
        assert!(lines[0].starts_with(&format!("# HELP {name} ")), "{}", lines[0]);
        let kind = lines[1].strip_prefix(&format!("# TYPE {name} ")).unwrap();
        assert_eq!(kind, if name.ends_with("_total") { "counter" } else { "gauge" });
        let value: f64 = value.parse().unwrap();
        assert!(samples.insert(name, value).is_none());
    }
    let value = |name: &str| samples[&*format!("malkoha_store_{name}")];
    assert_eq!((value("keys"), value("written_records_total")), (100.0, 202.0));
    assert_eq!((value("copied_records_total"), value("removed_files_total")), (100.0, 1.0));
    assert!(value("syncs_total") >= 1.0 && value("sync_seconds_total") > 0.0);
    assert!(value("checkpoints_total") >= 1.0 && value("removed_bytes_total") > 2e5);
    assert_eq!(metrics.stats, store.stats());
}
