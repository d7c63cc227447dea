//! Room on the device under loads that never end: the log is a fixed number of times its live
//! records.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use malkoha_store::{Batch, Durability, Options, Store};

use crate::support::{Dir, Random, key};

/// Bytes of a record of these tests: head, key of at most 16, value of 400, to a multiple of 8.
const RECORD: u64 = 432;
const KEYS: u32 = 40_000;

/// Bytes that a directory takes on the device.
fn on_device(dir: &Dir) -> u64 {
    let files = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap());
    // One that is removed meanwhile takes none.
    files.filter_map(|file| file.metadata().ok()).map(|file| file.blocks() * 512).sum()
}

fn below(random: &mut Random, n: u32) -> u32 {
    u32::try_from(random.below(n.into())).unwrap()
}

/// A change of one key.
enum Step {
    Put(u32),
    Delete(u32),
}

/// Fills a store, then does steps for `rounds` times as many bytes as live: at each look, the
/// directory is less than 1.6 times the live records, and 6 MiB for files that are just made or
/// removed, and checkpoints.
fn stays_small(rounds: u32, mut next: impl FnMut(u32, &mut Random) -> Step) {
    let dir = Dir::new();
    let options = Options::new().durability(Durability::System).seed(1);
    let store = Store::open(dir.path(), &options).unwrap();
    for n in 0..KEYS {
        store.put(&key(n), &[1; 400]).unwrap();
    }
    let mut random = Random(7);
    let mut most: f64 = 0.0;
    for step in 0..KEYS * rounds {
        let done = next(step, &mut random);
        match done {
            Step::Put(n) => store.put(&key(n), &[2; 400]).unwrap(),
            Step::Delete(n) => drop(store.delete(&key(n)).unwrap()),
        }
        if step % 1000 == 0 {
            let ratio = || {
                let live = store.len() * RECORD;
                let taken = on_device(&dir).saturating_sub(6 << 20);
                #[expect(clippy::cast_precision_loss, reason = "a ratio")]
                let ratio = taken as f64 / live as f64;
                ratio
            };
            // Deletes take next to nothing, and wait for nothing: what lives can become less faster
            // than compaction gets to run next to other tests.
            if matches!(done, Step::Delete(_)) {
                let until = Instant::now() + Duration::from_secs(20);
                while ratio() >= 1.6 && Instant::now() < until {
                    thread::sleep(Duration::from_millis(5));
                }
            }
            let ratio = ratio();
            most = most.max(ratio);
            let metrics = store.metrics();
            assert!(ratio < 1.6, "{ratio} in step {step}: {metrics:?}");
        }
    }
    eprintln!("at most {most}; {:?}", store.metrics());
    assert!(store.background_error().is_none());
    assert!(store.verify().unwrap().damage.is_empty());
}

/// Without an end to the growth of the log it was at 2.26 and rising.
#[test]
fn under_uniform_overwrites() {
    stays_small(3, |_, random| Step::Put(below(random, KEYS)));
}

/// A few keys get nearly all writes: files are dead soon, or never.
#[test]
fn under_skewed_overwrites() {
    stays_small(3, |step, random| {
        Step::Put(if step % 10 == 0 { below(random, KEYS) } else { below(random, KEYS / 50) })
    });
}

/// Overwrites in the order of the log.
#[test]
fn under_overwrites_in_turn() {
    stays_small(3, |step, _| Step::Put(step % KEYS));
}

/// Keys that come and go next to many that stay: tombstones must go although older files live.
#[test]
fn under_keys_that_come_and_go() {
    stays_small(3, |step, _| {
        let n = KEYS + step / 2;
        if step % 2 == 0 { Step::Put(n) } else { Step::Delete(n) }
    });
}

/// Nine keys of ten go, and then all that is left is written again and again.
#[test]
fn under_deletes() {
    stays_small(3, |step, random| {
        if step < KEYS * 9 / 10 {
            Step::Delete(step / 9 * 10 + step % 9)
        } else {
            Step::Put(below(random, KEYS / 10) * 10 + 9)
        }
    });
}

/// Overwrites a few keys while another thread does something else again and again: the log has its
/// permitted excess, and what is made and removed at the moment.
fn stays_small_beside(other: impl Fn(&Store) + Sync) {
    let dir = Dir::new();
    let options = Options::new().durability(Durability::System).seed(1);
    let options = options.file_bytes(1 << 16).checkpoint_bytes(1 << 20);
    let store = Store::open(dir.path(), &options).unwrap();
    let done = AtomicBool::new(false);
    let most = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                other(&store);
            }
        });
        let mut most = 0;
        for n in 0..40_000 {
            store.put(&key(n % 500), &[1; 400]).unwrap();
            if n % 1000 == 0 {
                most = most.max(on_device(&dir));
            }
        }
        done.store(true, Ordering::Release);
        most
    });
    assert!(most < 12 << 20, "{most} bytes: {:?}", store.metrics());
}

/// While somebody else than the store's own thread compacted or waited for a checkpoint, writes did
/// not wait for room: such a store of 200 KB took 180 MiB. Then it took 34 MiB next to other work,
/// because writes passed the limit whenever a checkpoint ended; that needs a busy machine to show.
#[test]
fn beside_checkpoints_and_compactions() {
    stays_small_beside(|store| {
        store.checkpoint().unwrap();
        store.compact().unwrap();
    });
    stays_small_beside(|store| store.checkpoint().unwrap());
}

/// While a backup made links and synced its directory, writes did not wait for room, although it
/// needs no time, or nothing of the store's: such a store of 200 KB took 36 MiB next to other work.
#[test]
fn beside_backups() {
    let copies = Dir::new();
    let copy = copies.path().join("copy");
    stays_small_beside(|store| {
        store.backup(&copy).unwrap();
        fs::remove_dir_all(&copy).unwrap();
    });
}

/// Keys that end counted as live until compaction met them, and nothing led it to them: the log
/// grew without end.
#[test]
fn under_keys_that_end() {
    let dir = Dir::new();
    let options = Options::new().durability(Durability::System).seed(1);
    let store = Store::open(dir.path(), &options).unwrap();
    for n in 0..160_000 {
        // No key comes twice, and at most 40 MiB a second.
        store.put_for(&key(n), &[1; 400], Duration::from_millis(100)).unwrap();
        if n % 500 == 0 {
            thread::sleep(Duration::from_millis(5));
            let taken = on_device(&dir);
            assert!(taken < 40 << 20, "{taken} bytes after {n} keys: {:?}", store.metrics());
        }
    }
    assert!(store.background_error().is_none());
    assert!(store.verify().unwrap().damage.is_empty());
}

/// When records end is known after opening again, from a checkpoint and from the log.
#[test]
fn what_has_ended_is_given_back_after_opening_again() {
    for checkpointed in [true, false] {
        let dir = Dir::new();
        let store = dir.open();
        for n in 0..1000 {
            store.put(&key(n), &[1; 400]).unwrap();
        }
        for n in 0..2000 {
            let time = Duration::from_millis(u64::from(n / 100));
            store.put_for(&key(500 + n), &[2; 400], time).unwrap();
        }
        store.close().unwrap();
        if !checkpointed {
            dir.remove("CHECKPOINT");
        }
        thread::sleep(Duration::from_millis(150));
        let store = dir.open();
        store.compact().unwrap();
        let stats = store.stats();
        assert_eq!(stats.keys, 500);
        // Until older files are gone, tombstones hide what the keys had before.
        let log = stats.log_bytes - stats.tombstone_bytes;
        assert!(log < 500 * RECORD * 5 / 4, "{stats:?}");
    }
}

/// What a store that is opened again reserves is little, too: its first writes waited for
/// compaction.
#[test]
fn a_small_store_that_is_opened_again_stays_small() {
    let dir = Dir::new();
    for round in 0..3 {
        let store = Store::open(dir.path(), &Options::new().seed(1)).unwrap();
        for n in 0..100 {
            store.put(&key(n), &[round; 400]).unwrap();
        }
        assert_eq!(store.metrics().held_back, Duration::ZERO);
        assert!(on_device(&dir) < 4 << 20, "{} bytes", on_device(&dir));
        store.close().unwrap();
    }
}

/// Somebody else has the right to remove files: writes do not wait for that.
#[test]
fn writes_go_on_where_compaction_cannot() {
    let dir = Dir::new();
    let store = Store::open(dir.path(), &Options::new().seed(1)).unwrap();
    let mut batch = Batch::new();
    for n in 0..5000 {
        batch.put(&key(n), &[1; 400]).unwrap();
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                assert!(store.verify().unwrap().damage.is_empty());
            }
        });
        for _ in 0..20 {
            store.apply(&batch).unwrap();
        }
        done.store(true, Ordering::Release);
    });
    let held_back = store.metrics().held_back;
    assert!(held_back < Duration::from_secs(20), "{held_back:?}");
    assert_eq!(store.len(), 5000);
}
