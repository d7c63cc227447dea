//! Repair saves what is whole of a damaged store, and says what is lost.

use std::fs;

use malkoha_store::{Batch, Durability, Error, LostKey, Store};

use crate::damage::{change, flip, place, refusal, seal_header, without_checkpoint};
use crate::support::{Contents, Dir, assert_holds, contents, filled, key, options};

#[test]
fn repair_keeps_what_is_whole_of_a_damaged_batch_and_nothing_of_a_torn_one() {
    let write = || {
        let dir = Dir::new();
        let store = Store::open(dir.path(), &options().durability(Durability::Always)).unwrap();
        store.put(b"before", b"1").unwrap();
        let mut batch = Batch::new();
        for n in 0..10 {
            batch.put(format!("member {n}").as_bytes(), &[5; 40]).unwrap();
        }
        store.apply(&batch).unwrap();
        (dir, store)
    };
    let (dir, store) = write();
    store.put(b"behind", b"1").unwrap();
    store.close().unwrap();
    dir.remove("CHECKPOINT");
    flip(&dir.logs()[0], b"member 4");
    refusal(&dir);
    assert_eq!(Store::repair(dir.path()).unwrap().keys, 2 + 9);
    // The same, but a crash came before its end was written.
    let (dir, store) = write();
    let log = dir.logs()[0].clone();
    let bytes = fs::read(&log).unwrap();
    drop(store);
    let mut bytes = bytes;
    let at = place(&bytes, b"member 8");
    bytes[at - 16..].fill(0);
    fs::write(&log, bytes).unwrap();
    dir.remove("CHECKPOINT");
    let repair = Store::repair(dir.path()).unwrap();
    assert_eq!((repair.keys, repair.skipped.len()), (1, 1));
    assert_eq!(repair.set_aside, ["000000000001.log.damaged"], "nothing is thrown away");
}

/// What the checkpoint says was durable, it was.
#[test]
fn repair_keeps_a_batch_that_the_checkpoint_knows() {
    let dir = Dir::new();
    let store = dir.open();
    let mut batch = Batch::new();
    for n in 0..100 {
        batch.put(&key(n), &[5; 40]).unwrap();
    }
    store.apply(&batch).unwrap();
    store.close().unwrap();
    change(&dir.logs()[0], |bytes| {
        let at = place(bytes, b"key 99");
        bytes[at - 16..].fill(0);
    });
    let repair = Store::repair(dir.path()).unwrap();
    assert_eq!((repair.keys, repair.set_aside.len()), (99, 1));
}

#[test]
fn repair_keeps_files_behind_two_damaged_places() {
    for lost in [false, true] {
        let (dir, expected) = without_checkpoint();
        let logs = dir.logs();
        // The seal of one file, and the first record of the next or its header.
        change(&logs[1], |bytes| {
            let end = bytes.iter().rposition(|&byte| byte != 0).unwrap();
            bytes[end - 8] ^= 1;
        });
        change(&logs[2], |bytes| {
            if lost {
                bytes[..64].fill(0);
            } else {
                bytes[70] ^= 1;
            }
        });
        refusal(&dir);
        let repair = Store::repair(dir.path()).unwrap();
        assert!(repair.keys >= expected.len() as u64 - 1, "{repair:?}");
        assert_eq!(repair.set_aside.len(), 2, "{repair:?}");
    }
}

#[test]
fn repair_reads_a_file_whose_header_is_damaged() {
    for number in 0..4 {
        let some = [0..1, 9..10, 20..21, 24..25, 30..31, 24..32, 32..33, 40..41, 50..51, 61..62];
        for at in some.into_iter().chain(std::iter::once(0..64)) {
            let (dir, expected) = without_checkpoint();
            let is_blank = at.len() == 64;
            change(&dir.logs()[number], |bytes| {
                let to = |byte: u8| if is_blank { 0 } else { !byte };
                bytes[at.clone()].iter_mut().for_each(|byte| *byte = to(*byte));
            });
            let told = refusal(&dir);
            assert!(!is_blank || told.contains("damaged at byte 0: its header is blank"), "{told}");
            assert_eq!(dir.logs().len(), 4, "nothing was removed");
            let repair = Store::repair(dir.path()).unwrap();
            assert_eq!(
                (repair.keys, repair.set_aside.len()),
                (expected.len() as u64, 1),
                "file {number}, bytes {at:?}: {repair:?}"
            );
            assert_holds(&dir.open(), &expected);
        }
    }
}

#[test]
fn what_was_set_aside_before_stays() {
    let (dir, _) = filled();
    for (n, left) in [("key 250", 599), ("key 10", 598)] {
        let (log, at) = dir
            .logs()
            .into_iter()
            .find_map(|path| {
                let bytes = fs::read(&path).unwrap();
                let at = bytes.windows(n.len()).position(|part| part == n.as_bytes());
                at.map(|at| (path, at))
            })
            .unwrap();
        flip(&log, n.as_bytes());
        dir.remove("CHECKPOINT");
        let told = refusal(&dir);
        assert!(told.contains(&format!("is damaged at byte {}: ", at - 16)), "{told}");
        fs::write(dir.path().join("000000000002.log.damaged"), "older").unwrap();
        let repair = Store::repair(dir.path()).unwrap();
        assert_eq!((repair.keys, repair.skipped.len(), repair.set_aside.len()), (left, 1, 1));
        assert!(dir.path().join(&repair.set_aside[0]).metadata().unwrap().len() > 5);
    }
    let older = fs::read(dir.path().join("000000000002.log.damaged")).unwrap();
    assert_eq!(older, b"older");
}

/// Only the checkpoint knows that something is missing: the log itself looks whole.
#[test]
fn a_lost_file_is_damage_wherever_damage_is_skipped() {
    for number in 0..4 {
        for how in ["removed", "empty", "blank"] {
            let (dir, expected) = filled();
            let log = dir.logs()[number].clone();
            match how {
                "removed" => fs::remove_file(&log).unwrap(),
                "empty" => fs::write(&log, []).unwrap(),
                _ => change(&log, |bytes| bytes.fill(0)),
            }
            let name = log.file_name().unwrap().to_str().unwrap();
            assert!(refusal(&dir).contains(name), "{number} {how}");
            let store = Store::open_past_damage(dir.path()).unwrap();
            let skipped = &store.recovery().skipped;
            assert!(skipped[0].to_string().contains(name), "{number} {how}: {skipped:?}");
            drop(store);
            let repair = Store::repair(dir.path()).unwrap();
            assert_eq!(repair.skipped.len(), 1, "{number} {how}: {repair:?}");
            assert_eq!(repair.set_aside.len(), usize::from(how != "removed"), "{number} {how}");
            let found = contents(&dir.open());
            assert!(found.len() as u64 == repair.keys && found.len() < expected.len());
        }
    }
}

#[test]
fn a_store_whose_log_is_missing_can_be_begun_anew() {
    let (dir, _) = without_checkpoint();
    dir.open().close().unwrap();
    dir.logs().iter().for_each(|path| fs::remove_file(path).unwrap());
    assert!(refusal(&dir).contains("missing"));
    let repair = Store::repair(dir.path()).unwrap();
    assert_eq!((repair.keys, &repair.set_aside[..]), (0, &["CHECKPOINT.damaged".to_owned()][..]));
    let store = dir.open();
    store.put(b"key", b"value").unwrap();
    drop(store);
    assert_eq!(dir.open().len(), 1);
}

#[test]
fn repair_finds_nothing_wrong_with_an_empty_store() {
    let dir = Dir::new();
    dir.open().close().unwrap();
    let repair = Store::repair(dir.path()).unwrap();
    assert!(repair.skipped.is_empty() && repair.set_aside.is_empty(), "{repair:?}");
    assert!(dir.open().is_empty());
}

/// Compaction, as repair does it, began with the number in the header, and so with the second
/// record: the index had the first one, and no file did.
#[test]
fn repair_keeps_the_first_record_of_a_file_that_says_it_is_older() {
    for number in 1..4 {
        let (dir, expected) = without_checkpoint();
        change(&dir.logs()[number], |bytes| {
            bytes[24] -= 1;
            seal_header(bytes);
        });
        refusal(&dir);
        assert_eq!(Store::repair(dir.path()).unwrap().keys, expected.len() as u64);
        assert_holds(&dir.open(), &expected);
    }
}

/// Gives the records from `offset` on other flags, one each, and checksums that match.
fn set_flags(bytes: &mut [u8], mut offset: usize, flags: &[u8]) {
    let seed = crc32c::crc32c_append(crc32c::crc32c(&bytes[40..48]), &bytes[16..24]);
    for &flags in flags {
        let word = u64::from_le_bytes(*bytes[offset + 8..].first_chunk().unwrap());
        let (value, key) = (word & 0x7fff_ffff, word >> 31 & 0x1_ffff);
        let end = offset + usize::try_from(16 + key + value).unwrap().next_multiple_of(8);
        bytes[offset + 14] = flags;
        let sum = crc32c::crc32c_append(seed, &bytes[offset + 4..end]);
        bytes[offset..offset + 4].copy_from_slice(&sum.to_le_bytes());
        offset = end;
    }
}

/// A seal inside a batch, which no store writes: the index had what came behind it, and repair did
/// not copy that.
#[test]
fn repair_reads_nothing_behind_a_seal() {
    let (dir, _) = without_checkpoint();
    change(&dir.logs()[1], |bytes| set_flags(bytes, 64, &[1 | 4, 3]));
    refusal(&dir);
    let keys = Store::repair(dir.path()).unwrap().keys;
    let store = dir.open();
    assert_eq!(store.verify().unwrap().damage.len(), 0);
    assert_eq!(contents(&store).len() as u64, keys);
}

/// A repair names the keys of what it skips, unless they were written again later; what reads past
/// damage shows the same, and changes nothing.
#[test]
fn repair_names_what_is_lost() {
    let names = |lost: &[LostKey]| {
        lost.iter().map(|it| (it.table.clone(), it.key.clone())).collect::<Vec<_>>()
    };
    for (damaged, lost) in [("older", None), ("newer", Some(b"koel"))] {
        let dir = Dir::new();
        let store = dir.open();
        store.put(b"koel", b"older").unwrap();
        store.put(b"magpie", b"whole").unwrap();
        store.put(b"koel", b"newer").unwrap();
        store.close().unwrap();
        flip(&dir.logs()[0], damaged.as_bytes());
        dir.remove("CHECKPOINT");
        refusal(&dir);
        let before = fs::read(&dir.logs()[0]).unwrap();
        let past = Store::open_past_damage(dir.path()).unwrap();
        assert!(matches!(past.put(b"koel", b""), Err(Error::ReadOnly)));
        let found = past.recovery();
        let expected: Vec<_> = lost.iter().map(|key| (None, key.to_vec())).collect();
        assert_eq!((names(&found.lost_keys), found.skipped.len()), (expected, 1), "{damaged}");
        assert_eq!(fs::read(&dir.logs()[0]).unwrap(), before);
        let repair = Store::repair(dir.path()).unwrap();
        assert_eq!(names(&repair.lost_keys), names(&found.lost_keys), "{damaged}");
        assert_eq!(repair.skipped.len(), 1);
        let snapshot = past.snapshot();
        let whole = snapshot.iter().flatten();
        let whole: Contents = whole.map(|it| (it.key.to_vec(), it.value.to_vec())).collect();
        assert_eq!(contents(&dir.open()), whole, "{damaged}");
    }
}
