//! Files that are damaged, cut, of another version, or without room.

use std::fs;

use malkoha_store::{Error, Store};

use crate::damage::{change, seal_header};
use crate::support::{Dir, assert_holds, each_file, filled, key, options};

/// A flipped bit is reported, or makes no difference; no answer is wrong.
#[test]
fn no_flipped_bit_is_served() {
    let (dir, expected) = filled();
    let mut detected = 0;
    for name in ["CHECKPOINT", "000000000001.log", "000000000003.log"] {
        let path = dir.path().join(name);
        let intact = fs::read(&path).unwrap();
        let step = intact.len() / 60 + 1;
        for at in (0..64).chain((64..intact.len()).step_by(step)) {
            let mut bytes = intact.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).unwrap();
            let store = match Store::open_read_only(dir.path()) {
                Err(error) => {
                    assert!(matches!(error, Error::Damaged { .. }), "{error}");
                    detected += 1;
                    continue;
                }
                Ok(store) => store,
            };
            assert!(at >= 64 || name == "CHECKPOINT", "the header of {name}, at {at}");
            for (key, value) in &expected {
                match store.get(key) {
                    Ok(found) => assert_eq!(found.as_ref(), Some(value), "{name} at {at}"),
                    Err(error) => assert!(error.is_damage(), "{error}"),
                }
            }
            detected += usize::from(!store.verify().unwrap().damage.is_empty());
        }
        fs::write(&path, &intact).unwrap();
    }
    assert!(detected > 100, "{detected}");
    assert_holds(&dir.open(), &expected);
}

#[test]
fn a_missing_file_is_told() {
    let (dir, _) = filled();
    dir.remove("000000000002.log");
    let error = Store::open(dir.path(), &options()).err().unwrap();
    assert!(matches!(&error, Error::Damaged { file, .. } if file == "000000000002.log"), "{error}");
}

/// Nothing told of a file that was missing among those written after the checkpoint: its keys were
/// gone, or had their values of before.
#[test]
fn a_missing_file_behind_the_checkpoint_is_told() {
    let (dir, _) = filled();
    let known = dir.logs().len();
    let store = dir.open();
    (0..600).for_each(|n| store.put(&key(n), &[2; 50]).unwrap());
    store.sync().unwrap();
    // As a crash leaves it.
    let left = Dir::new();
    each_file(dir.path(), left.path(), fs::copy);
    let missing = left.logs()[known].clone();
    assert!(left.logs().len() > known + 1);
    fs::remove_file(&missing).unwrap();
    let error = Store::open(left.path(), &options()).err().expect("a file is missing");
    assert!(error.is_damage(), "{error}");
    assert!(error.to_string().contains(missing.file_name().unwrap().to_str().unwrap()), "{error}");
}

#[test]
fn other_versions_are_refused() {
    for (name, checksum_follows) in [("000000000001.log", true), ("CHECKPOINT", false)] {
        let (dir, _) = filled();
        change(&dir.path().join(name), |bytes| {
            bytes[8] = 9;
            if checksum_follows {
                seal_header(bytes);
            } else {
                bytes[70] ^= 1;
            }
        });
        let error = Store::open(dir.path(), &options()).err().unwrap();
        let Error::Version { found, supported, .. } = error else { panic!("{name}: {error}") };
        assert_eq!((found, supported), (9, 1), "{name}");
    }
}

/// A damaged checkpoint is not used: the log has the same content. Every place in the head and in
/// the list of files; a few in each part of the index.
#[test]
fn no_part_of_a_checkpoint_may_be_missing_or_changed() {
    let (dir, expected) = filled();
    let path = dir.path().join("CHECKPOINT");
    let whole = fs::read(&path).unwrap();
    let open = |checkpoint: &[u8]| {
        fs::write(&path, checkpoint).unwrap();
        Store::open_read_only(dir.path())
    };
    assert!(open(&whole).unwrap().recovery().checkpoint.is_none());
    let refused = |bytes: &[u8], what: &str| {
        let store = open(bytes).unwrap();
        let damage = store.recovery().checkpoint.as_ref();
        assert!(matches!(damage, Some(Error::Damaged { .. })), "{what}: {damage:?}");
        assert_eq!(store.len(), expected.len() as u64, "{what}");
    };
    for at in (0..340).chain((340..whole.len()).step_by(499)) {
        if at % 8 == 0 {
            refused(&whole[..at], &format!("{at} bytes"));
        }
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        refused(&changed, &format!("byte {at} changed"));
    }
    refused(&[&whole[..], &[0]].concat(), "one byte more");
    let numbers = [1 << 26, 1 << 58, 1 << 60, 1 << 63, u64::MAX];
    // How many files there are; how many ends the first one has, and the second.
    for (at, number) in [32, 64 + 56, 128 + 56].into_iter().flat_map(|at| numbers.map(|n| (at, n)))
    {
        let mut changed = whole.clone();
        changed[at..at + 8].copy_from_slice(&u64::to_le_bytes(number));
        refused(&changed, &format!("{number} at byte {at}"));
    }
}
