//! Values that are stored compressed.

use malkoha_store::{Batch, Compression, Store, Swap};

use crate::support::{Contents, Dir, assert_holds, delete_all, key, options};

/// Some that compression shortens, some that it does not, and some that are too short for it.
fn value(n: u32) -> Vec<u8> {
    let random =
        |i: u32| (n + 1).wrapping_mul(2_654_435_761).wrapping_mul(i ^ 0x5bd1).to_le_bytes()[3];
    match n % 4 {
        0 => format!("{{\"number\": {n}, \"name\": \"malkoha\"}}").repeat(9).into_bytes(),
        1 => (1..300).map(|i| random(i * i)).collect(),
        2 => vec![7; n as usize % 80],
        _ => vec![b'v'; 20_000],
    }
}

#[test]
fn values_are_read_whichever_way_they_are_stored() {
    let (plain, packed) = (Dir::new(), Dir::new());
    let with = options().compression(Compression::Lz4);
    let mut expected = Contents::new();
    for (dir, options) in [(&plain, &options()), (&packed, &with)] {
        let store = Store::open(dir.path(), options).unwrap();
        let mut batch = Batch::new();
        for n in 0..600 {
            batch.put(&key(n), &value(n)).unwrap();
            expected.insert(key(n), value(n));
            if n % 3 == 0 {
                store.put(&key(n), &value(n)).unwrap();
            }
        }
        store.apply(&batch).unwrap();
        assert_holds(&store, &expected);
        store.close().unwrap();
    }
    let bytes = |dir: &Dir| Store::open_read_only(dir.path()).unwrap().stats().log_bytes;
    assert!(bytes(&packed) < bytes(&plain) / 4, "{} {}", bytes(&packed), bytes(&plain));

    // Compressed values stay compressed when they are copied, and can be read without the option.
    let store = packed.open();
    let old = value(3);
    assert_eq!(store.compare_and_swap(&key(3), Some(&old), Some(b"new")).unwrap(), Swap::Done);
    let found = store.compare_and_swap(&key(0), Some(b"other"), None).unwrap();
    assert_eq!(found, Swap::Found(Some(value(0))));
    expected.insert(key(3), b"new".to_vec());
    delete_all(&store, &mut expected, (0..600).filter(|n| n % 5 > 0));
    store.compact().unwrap();
    assert_holds(&store, &expected);
    let snapshot = store.snapshot();
    assert_eq!(snapshot.get(&key(0)).unwrap().as_deref(), Some(&value(0)[..]));
    for entry in snapshot.prefix(b"key 1").unwrap().map(Result::unwrap) {
        assert_eq!(expected[&*entry.key], *entry.value);
    }
    drop(snapshot);
    assert!(bytes(&packed) < bytes(&plain) / 4);
    store.close().unwrap();
    packed.remove("CHECKPOINT");
    let store = packed.open();
    assert_holds(&store, &expected);
    assert!(store.verify().unwrap().damage.is_empty());
}
