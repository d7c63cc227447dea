//! Full devices whose store is ended at any of its changes of the disk, again and again.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use malkoha_store::storage::{OsStorage, Storage};
use malkoha_store::{Error, Result, Store};

use crate::full::{fill_with, full_options, halves, some};
use crate::mounts::Loop;
use crate::support::{Random, key};
use crate::wrapped::{Hooks, Wrapped};

/// The number of changes of the disk until all of them fail, as if the process were killed.
struct Left(AtomicI64);

impl Left {
    fn is_none(&self) -> bool {
        self.0.load(Ordering::Relaxed) < 0
    }
}

impl Hooks for Left {
    fn change(&self) -> io::Result<()> {
        let is_left = self.0.fetch_sub(1, Ordering::Relaxed) > 0;
        if is_left { Ok(()) } else { Err(io::Error::other("killed")) }
    }
}

/// A store whose process is killed after so many changes of the disk.
fn open(path: &Path, changes: i64, background: bool) -> (Result<Store>, Arc<Left>) {
    let options = full_options().background(background).compact_rate(1 << 22);
    let (storage, left) = Wrapped::new(path, Left(AtomicI64::new(changes)));
    (Store::open_in(storage, None, &options), left)
}

/// What is put, deleted, and killed how often.
struct Case {
    mebibytes: u64,
    value: usize,
    /// Keys of a batch.
    sizes: Box<dyn Iterator<Item = u32>>,
    /// Every second put is followed by the delete of an earlier key.
    deletes: bool,
    background: bool,
    /// The most changes of the disk from one kill to the next, as a power of two.
    bits: u64,
    seed: u64,
}

/// A copy that was interrupted had used the room that is kept for one. The next opening gave away
/// what was left of it, or copied its tombstones again until there was no room for them: then
/// neither keys could be deleted, nor anything be compacted, ever again.
#[test]
fn a_full_store_that_is_killed_again_and_again_can_be_emptied() {
    let case = |mebibytes, value, sizes, bits| {
        let (deletes, background, seed) = (false, false, 1);
        Case { mebibytes, value, sizes, deletes, background, bits, seed }
    };
    let eights = || Box::new(std::iter::repeat(8));
    let cases = [
        case(12, 100, Box::new(halves(7000)), 13),
        case(12, 30, eights(), 15),
        Case { background: true, ..case(12, 30, eights(), 15) },
        case(12, 100, eights(), 12),
        Case { deletes: true, seed: 2, ..case(24, 30, eights(), 14) },
    ];
    for case in some(1, cases) {
        let Some(device) = Loop::new(&["mkfs.ext4"], case.mebibytes) else { return };
        empty(device.path(), case);
    }
}

/// When the copy began, values had ended, and it got no room for them. The next opening took them
/// for present ones, which did not fit, and did not end the copy.
#[test]
fn a_kill_while_ended_values_are_compacted_leaves_room_for_deletes() {
    const ENDS: Duration = Duration::from_millis(2500);
    // One in twenty, anywhere.
    let ends = |n: u32| n.wrapping_mul(2_654_435_761) >> 16 < 3277;
    for changes in some(1, [300, 777]) {
        let Some(device) = Loop::new(&["mkfs.ext4"], 12) else { return };
        let path = device.path();
        let store = open(path, i64::MAX, false).0.unwrap();
        let begin = Instant::now();
        let full = fill_with(&store, std::iter::repeat(20), |batch, n| {
            if ends(n) {
                let rest = ENDS.saturating_sub(begin.elapsed()).max(Duration::from_millis(1));
                batch.put_for(&key(n), &[7], rest).unwrap();
            } else {
                batch.put(&key(n), &[7]).unwrap();
            }
        });
        store.close().unwrap();
        std::thread::sleep((ENDS + Duration::from_millis(300)).saturating_sub(begin.elapsed()));
        let (store, left) = open(path, changes, false);
        let compacted = store.unwrap().compact();
        assert!(compacted.is_err() && left.is_none(), "{compacted:?}");
        let store = open(path, i64::MAX, false).0.unwrap();
        let order = (0..4999).flat_map(|first| (first..full).step_by(4999));
        for n in order.filter(|&n| !ends(n)).take(60_000) {
            let deleted = store.delete(&key(n));
            assert!(deleted.as_ref().is_ok_and(|it| *it), "{n} of {full}: {deleted:?}");
        }
    }
}

fn empty(path: &Path, case: Case) {
    let most_kills = u32::try_from(some(20, 0..120).count()).unwrap();
    const FAR: u32 = 5000;
    let store = open(path, i64::MAX, false).0.unwrap();
    let full = fill_with(&store, case.sizes, |batch, n| {
        batch.put(&key(n), &vec![7; case.value]).unwrap();
        if case.deletes && n >= FAR && n % 2 == 0 {
            batch.delete(&key(n - FAR)).unwrap();
        }
    });
    let order = (0..97).flat_map(|first| (first..full).step_by(97));
    let order: Vec<u32> = order.filter(|&n| store.get(&key(n)).unwrap().is_some()).collect();
    store.close().unwrap();
    let mut random = Random(case.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (mut done, mut kills) = (0, 0);
    while done < order.len() {
        let bits = random.below(case.bits) + 1;
        let changes =
            if kills < most_kills { random.below(1 << bits).cast_signed() } else { i64::MAX };
        let (store, left) = open(path, changes, case.background);
        kills += 1;
        let assert_killed = |error: Error, done: usize| {
            let room = OsStorage::open(path).unwrap().room();
            assert!(left.is_none(), "{error}: {done} of {full}, {kills} kills, {room:?}");
        };
        let store = match store {
            Ok(store) => store,
            Err(error) => {
                assert_killed(error, done);
                continue;
            }
        };
        // What was not answered is done or not.
        let remaining = order.len() - done;
        done += usize::from(store.len() < remaining as u64);
        assert_eq!(store.len(), (order.len() - done) as u64);
        while let Some(&n) = order.get(done) {
            match store.delete(&key(n)) {
                Ok(was_there) => assert!(was_there),
                Err(error) => {
                    assert_killed(error, done);
                    break;
                }
            }
            done += 1;
        }
    }
    let store = open(path, i64::MAX, false).0.unwrap();
    store.compact().unwrap();
    assert!(store.is_empty());
}
