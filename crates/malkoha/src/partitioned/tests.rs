//! Partitions under threads: all orders of locking under loom, random ones under shuttle, and real
//! threads without them. The tables are made so that the first insert divides a partition.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::Partitioned;
#[cfg(not(any(loom, shuttle)))]
use crate::GrowableConcurrentCuckooFilter;
use crate::concurrent::tests::{check, thread};
use crate::expiry::Expiring;
use crate::growable::{Growing, partition_number};
use crate::locks::biased::Biased;
use crate::table::source::{Hashes, Source};
use crate::table::traits::Lookup;
use crate::{Builder, GrowableCuckooFilter, GrowableExpiringCuckooFilter};

/// A table of two segments as one partition, with these keys.
fn whole(keys: &[u64]) -> Arc<Partitioned> {
    let built: Result<GrowableCuckooFilter, _> = Builder::new().capacity(33_000).fpr(0.2).build();
    let mut filter = built.expect("memory");
    filter.insert_hashes(keys).expect("it grows");
    assert_eq!(filter.segments(), 2);
    let partitioned = Partitioned::without_partitions(filter.capacity(), 0);
    partitioned.add(filter.table);
    Arc::new(partitioned)
}

/// Returns a hash of each half.
fn hashes() -> [u64; 2] {
    let spread = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    [0, 1].map(|half| {
        (1..).map(spread).find(|&hash| partition_number(hash) >> 5 == half).expect("one in two")
    })
}

fn partitions(table: &Partitioned) -> usize {
    table.partitions.iter().filter(|partition| partition.get().is_some()).count()
}

/// Keys are found while their partition splits, whichever half they go to.
#[test]
fn keys_of_a_partition_that_is_divided_are_found() {
    keys_are_found_while_a_partition_is_divided(|_| {});
}

/// The same without locks, until the partition is changed.
#[test]
fn keys_are_found_without_the_lock() {
    keys_are_found_while_a_partition_is_divided(|partition| partition.read_often());
}

fn keys_are_found_while_a_partition_is_divided(prepare: fn(&Biased<Growing>)) {
    check(move || {
        let keys = hashes();
        let table = whole(&keys);
        prepare(table.partition(0));
        let other = Arc::clone(&table);
        let parts = thread::spawn(move || other.insert(hashes()[0], 0).expect("it grows"));
        for hash in keys {
            assert!(table.contains(hash), "lost while its partition is divided");
        }
        parts.join().unwrap();
        assert_eq!((partitions(&table), table.len()), (2, 3));
        assert_eq!(keys.map(|hash| table.count(hash)), [2, 1]);
    });
}

/// A change while a partition splits is neither lost nor left in the wrong half.
#[test]
fn a_partition_can_be_divided_while_it_changes() {
    check(|| {
        let [stays, goes] = hashes();
        let table = whole(&[goes]);
        let other = Arc::clone(&table);
        let parts = thread::spawn(move || other.insert(stays, 0).expect("it grows"));
        table.insert(goes, 0).expect("it grows");
        assert!(table.remove(goes, 0));
        parts.join().unwrap();
        assert_eq!([stays, goes].map(|hash| table.count(hash)), [1, 1]);
    });
}

/// If two threads claim a key, it is new to exactly one, although the first of them divides its
/// partition.
#[test]
fn a_key_is_new_to_one_thread() {
    check(|| {
        let [_, hash] = hashes();
        let table = whole(&[]);
        let other = Arc::clone(&table);
        let claims = thread::spawn(move || other.insert_unique(hash).expect("it grows"));
        let ours = table.insert_unique(hash).expect("it grows");
        assert!(ours ^ claims.join().unwrap(), "new to both or none");
        assert_eq!((table.count(hash), partitions(&table)), (1, 2));
    });
}

/// A key with two copies is found while one copy is removed and its partition splits.
#[test]
fn a_key_is_found_while_its_copy_is_removed() {
    check(|| {
        let [parts, stays] = hashes();
        let table = whole(&[stays, stays]);
        let other = Arc::clone(&table);
        let removes = thread::spawn(move || {
            assert!(other.remove(stays, 0));
            other.insert(parts, 0).expect("it grows");
        });
        assert!(table.contains(stays), "lost with its copy");
        assert!(!table.insert_unique(stays).expect("it grows"));
        removes.join().unwrap();
        assert_eq!((table.count(stays), table.len()), (1, 2));
    });
}

/// Hashes that are sorted, with others than another batch has.
fn batch(number: u64) -> Vec<u64> {
    let spread = |n: u64| (2 * n + number + 2).wrapping_mul(0x9fb2_1c65_1e98_df25);
    (0..2_200).map(spread).collect()
}

/// Two batches, of which the first part that gets in divides the partition, and a concurrent lookup
/// of a key.
#[test]
fn batches_that_meet_are_all_in() {
    check(|| {
        let [key, _] = hashes();
        let table = whole(&[key]);
        let other = Arc::clone(&table);
        let fills = thread::spawn(move || other.insert_all(&Hashes(&batch(0))));
        assert!(table.insert_all(&Hashes(&batch(1))).is_empty());
        assert!(table.contains(key), "lost while others insert batches");
        assert!(fills.join().unwrap().is_empty());
        for number in [0, 1] {
            let (hashes, mut found) = (batch(number), vec![false; 2_200]);
            table.contains_batch(&hashes, &mut found);
            assert!(found.into_iter().all(|found| found));
        }
        assert_eq!((table.len(), partitions(&table)), (4_401, 2));
        assert_eq!(table.coming.load(Relaxed), 0);
        assert_eq!(table.batches.load(Relaxed), 2, "both were sorted");
    });
}

/// A batch that is small compared with the table waits for nobody who changes other partitions.
#[cfg(not(any(loom, shuttle)))]
#[test]
#[cfg_attr(miri, ignore = "many keys")]
fn small_batches_wait_for_their_own_branches_alone() {
    let built = Builder::new().capacity(2_000_000).fpr(0.2).build();
    let filter: GrowableConcurrentCuckooFilter = built.expect("memory");
    let table = Arc::new(filter.table);
    assert_eq!(partitions(&table), 64);
    let [_, elsewhere] = hashes();
    let other = Arc::clone(&table);
    let (tells, told) = std::sync::mpsc::channel();
    let held = table.write(0);
    thread::spawn(move || {
        assert!(other.insert_all(&Hashes(&[elsewhere; 5_000])).is_empty());
        tells.send(()).expect("the test waits");
    });
    let is_done = told.recv_timeout(std::time::Duration::from_secs(20));
    drop(held);
    is_done.expect("it waits for a partition that has none of its keys");
}

/// Else batches that come later would make room for it twice.
#[cfg(not(any(loom, shuttle)))]
#[test]
fn what_has_come_is_not_expected_any_more() {
    struct Watched<'a>(Hashes<'a>, &'a Partitioned, RefCell<Vec<u64>>);
    impl Source for Watched<'_> {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn hashes(
            &self,
            range: std::ops::Range<usize>,
            _: usize,
            mut each: impl FnMut(usize, &[u64]),
        ) {
            for start in range.step_by(1 << 14) {
                self.2.borrow_mut().push(self.1.coming.load(Relaxed));
                each(start, &self.0.0[start..][..(self.len() - start).min(1 << 14)]);
            }
        }
        fn hash(&self, position: usize) -> Option<u64> {
            self.0.hash(position)
        }
    }
    let table = whole(&[]);
    let spread = |n: u64| n.wrapping_mul(0x9fb2_1c65_1e98_df25);
    let hashes: Vec<u64> = (1..44_000).map(spread).collect();
    let watched = Watched(Hashes(&hashes), &table, RefCell::default());
    table.insert_all_unique(&watched, &mut vec![false; hashes.len()]);
    let coming = watched.2.into_inner();
    let (first, last) = (coming[0], coming[coming.len() - 1]);
    assert!(first > 30_000 && last < first / 2, "{first}, then {last}");
    assert_eq!(table.coming.load(Relaxed), 0);
}

/// Else a set to which threads give the same keys ends with room for all their batches, which it
/// does not need.
#[cfg(not(any(loom, shuttle)))]
#[test]
#[cfg_attr(miri, ignore = "many keys")]
fn room_for_the_same_keys_is_made_once() {
    use crate::table::traits::Fill;
    const KEYS: usize = 100_000;
    let (table, keys) = (whole(&[]), KEYS as u64);
    let hash = |n: usize| Some((n as u64 + 1).wrapping_mul(0x9fb2_1c65_1e98_df25));
    let filling_of = |keys: usize, hash: &dyn Fn(usize) -> Option<u64>| {
        let mut filling = table.filling();
        filling.make_room(keys, &mut |number| hash(number));
        filling
    };
    let filling = |hash: &dyn Fn(usize) -> Option<u64>| filling_of(KEYS, hash);
    let expected = |batches: u64| {
        let coming = table.coming.load(Relaxed);
        assert!(coming.abs_diff(batches * keys) < keys / 3, "{coming} for {batches}");
    };
    let mut fillings = vec![filling(&hash)];
    expected(1);
    let size = table.size_in_bytes();
    // In any order.
    for step in [1, 7, KEYS - 1] {
        fillings.push(filling(&|n| hash(n * step % KEYS)));
    }
    expected(1);
    assert_eq!(table.size_in_bytes(), size);
    fillings.push(filling(&|n| hash(n + KEYS)));
    expected(2);
    // Half of these are those of one batch, half of another.
    fillings.push(filling(&|n| hash(n + KEYS / 2)));
    expected(2);
    fillings.push(filling(&|n| hash(n + KEYS * 7 / 4)));
    expected(3);
    fillings.clear();
    expected(0);
    // Nobody brings them any more.
    fillings.push(filling_of(6 * KEYS, &hash));
    expected(6);
}

/// Otherwise the new room of a table would be copied as well.
#[cfg(not(any(loom, shuttle)))]
#[test]
#[cfg_attr(miri, ignore = "many keys")]
fn a_table_is_divided_before_it_has_room() {
    let (table, keys) = (whole(&[]), 3_000_000);
    table.change_all(|partition| partition.split_for_room(keys));
    let (parted, small) = (partitions(&table), table.size_in_bytes());
    table.change_all(|partition| partition.make_room_to(keys));
    assert_eq!([parted, partitions(&table)], [64; 2]);
    assert!(small * 2 < table.size_in_bytes(), "{small} of {}", table.size_in_bytes());
}

/// A copy has each key once, whether its partition is divided before, after or during the copy.
#[test]
fn keys_are_copied_once() {
    check(|| {
        let keys = hashes();
        let table = whole(&keys);
        let other = Arc::clone(&table);
        let parts = thread::spawn(move || other.insert(hashes()[0], 0).expect("it grows"));
        let copy: Growing = table.to_one();
        parts.join().unwrap();
        let copies = keys.map(|hash| copy.count(hash));
        assert!(copies == [1, 1] || copies == [2, 1], "{copies:?}");
        assert_eq!(copy.len(), copies[0] + 1);
    });
}

const TTL: u64 = 150;
/// More than one step of the resolution.
const LATER: u64 = 20;

/// A set whose keys expire, in two partitions.
fn expiring() -> Arc<Partitioned<Expiring<Growing>>> {
    let built: Result<GrowableExpiringCuckooFilter, _> =
        Builder::new().capacity(33_000).fpr(0.2).expire_after(TTL).build();
    let table = Partitioned::of(built.expect("memory").table);
    assert_eq!(table.segments(), 2);
    Arc::new(table)
}

/// If two threads claim a key that expires, it is new to exactly one.
#[test]
fn a_key_that_expires_is_new_to_one_thread() {
    check(|| {
        let (table, [hash, _]) = (expiring(), hashes());
        let other = Arc::clone(&table);
        let claims = thread::spawn(move || other.see(hash, false));
        let ours = table.see(hash, false).expect("it grows");
        let theirs = claims.join().unwrap().expect("it grows");
        assert!(ours ^ theirs, "new to {}", u8::from(ours) + u8::from(theirs));
    });
}

/// A copy shows one time, although time advances during the copy and keys are seen in both
/// partitions.
#[test]
fn a_copy_is_of_one_time() {
    check(|| {
        let (table, hashes) = (expiring(), hashes());
        let other = Arc::clone(&table);
        let goes_on = thread::spawn(move || {
            other.see(hashes[0], true).expect("it grows");
            other.advance(LATER);
            other.see(hashes[1], true).expect("it grows");
        });
        let (copy, mut times) = (Partitioned::clone(&table), Vec::new());
        copy.for_each(|partition| times.push(partition.times.now()));
        goes_on.join().unwrap();
        assert!(times == [0, 0] || times == [LATER, LATER], "copied at {times:?}");
    });
}

/// A key lives as long as promised, whichever partitions time has reached.
#[test]
fn a_key_is_found_while_time_goes_on() {
    check(|| {
        let (table, hashes) = (expiring(), hashes());
        let other = Arc::clone(&table);
        let goes_on = thread::spawn(move || other.advance(TTL));
        for hash in hashes {
            table.see(hash, false).expect("it grows");
            assert!(table.age(hash).is_some(), "forgotten early");
        }
        goes_on.join().unwrap();
        assert!(hashes.iter().all(|&hash| table.age(hash).is_some()), "forgotten early");
        assert_eq!(table.now(), TTL);
    });
}
