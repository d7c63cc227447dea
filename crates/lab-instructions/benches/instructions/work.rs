//! The work on each kind: operations on tables and keys that were prepared beforehand.

use lab_keys::{Keys, Present};
use malkoha::Key;

use crate::kinds::{Map, Set, Table};

/// Keys that a table is built for, and holds when full: at load 0.95 in most fixed layouts.
const CAPACITY: u64 = 100_000;
/// Operations of most benchmarks: a tenth of the capacity.
const OPERATIONS: u64 = CAPACITY / 10;
/// Of the keys that are looked up, found at least: a little less than the half that is present.
const FOUND: u64 = OPERATIONS * 48 / 100;
/// Keys that a table of several segments is built from.
const BUILT: u64 = 600_000;
/// Keys that a table beyond the caches is built for.
const FAR: u64 = 6_000_000;
/// Keys that a growing table is built for.
const SMALL: u64 = 1_000;
const SEED: u64 = 1;

/// A benchmark, which counts [`run`](Self::run) and nothing else.
pub(crate) trait Work {
    fn run(&mut self);
    /// Panics if less was done than there was to do.
    fn check(&self);
}

/// Fails the benchmark if its operations failed. Is not counted.
pub(crate) fn check(work: Box<dyn Work>) {
    work.check();
}

struct Prepared<T, I> {
    table: T,
    input: Vec<I>,
    /// The answers of a batch.
    answers: Vec<bool>,
    /// Returns how many operations succeeded, unless `answers` tell.
    run: fn(&mut T, &[I], &mut [bool]) -> u64,
    done: u64,
    /// How many must succeed.
    least: u64,
}

impl<T, I> Work for Prepared<T, I> {
    fn run(&mut self) {
        self.done = (self.run)(&mut self.table, &self.input, &mut self.answers);
    }

    fn check(&self) {
        let answers = self.answers.iter().map(|&answer| u64::from(answer)).sum::<u64>();
        let (done, least) = (self.done + answers, self.least);
        assert!(done >= least, "{done} operations succeeded of at least {least}");
    }
}

/// Boxes the work, and prints its number of operations for who divides by it.
fn prepare<T: 'static, I: 'static>(
    table: T,
    input: Vec<I>,
    least: u64,
    run: fn(&mut T, &[I], &mut [bool]) -> u64,
) -> Box<dyn Work> {
    println!("operations: {}", input.len());
    let answers = vec![false; input.len()];
    Box::new(Prepared { table, input, answers, run, done: 0, least })
}

fn hash<T: Table>(table: &T, key: u64) -> u64 {
    key.hash_with(table.hasher())
}

/// The keys at these positions of the sequence, as they are inserted.
fn entries<T: Table>(table: &T, first: u64, end: u64) -> Vec<T::Entry> {
    (first..end).map(|position| T::entry(hash(table, Keys::new(SEED).key(position)))).collect()
}

/// A table for `capacity` keys that holds the first `held` ones.
fn filled<T: Table>(make: impl FnOnce(u64) -> T, capacity: u64, held: u64) -> T {
    let mut table = make(capacity);
    let entries = entries(&table, 0, held);
    assert!(table.insert_batch(&entries), "a table holds its capacity");
    table
}

/// A table for `capacity` keys, and keys to look up, half of which are present.
fn queried<T: Table>(make: impl FnOnce(u64) -> T, capacity: u64) -> (T, Vec<u64>) {
    let mut keys: Vec<u64> = (0..OPERATIONS).collect();
    Keys::new(SEED).queries(Present(50), CAPACITY, 0, &mut keys);
    (filled(make, capacity, CAPACITY), keys)
}

/// As [`queried`], of a full table, hashed.
fn queried_hashes<T: Table>(make: impl FnOnce(u64) -> T) -> (T, Vec<u64>) {
    hashed(queried(make, CAPACITY))
}

fn hashed<T: Table>((table, keys): (T, Vec<u64>)) -> (T, Vec<u64>) {
    let hashes = keys.iter().map(|&key| hash(&table, key)).collect();
    (table, hashes)
}

pub(crate) fn lookup<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    let (table, hashes) = queried_hashes(make);
    prepare(table, hashes, FOUND, |table, hashes, _| {
        hashes.iter().map(|&hash| u64::from(table.contains(hash))).sum()
    })
}

pub(crate) fn lookup_key<T: Set>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    let (table, keys) = queried(make, CAPACITY);
    prepare(table, keys, FOUND, |table, keys, _| {
        keys.iter().map(|&key| u64::from(table.contains_key(key))).sum()
    })
}

pub(crate) fn lookup_batch<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    lookup_hashes(queried_hashes(make))
}

pub(crate) fn lookup_batch_far<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    lookup_hashes(hashed(queried(make, FAR)))
}

fn lookup_hashes<T: Table>((table, hashes): (T, Vec<u64>)) -> Box<dyn Work> {
    prepare(table, hashes, FOUND, |table, hashes, found| {
        table.contains_batch(hashes, found);
        0
    })
}

pub(crate) fn get<T: Map>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    let (table, hashes) = queried_hashes(make);
    prepare(table, hashes, FOUND, |table, hashes, _| {
        hashes.iter().map(|&hash| table.get(hash)).sum()
    })
}

pub(crate) fn get_batch<T: Map>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    let (table, hashes) = queried_hashes(make);
    prepare(table, hashes, FOUND, |table, hashes, _| table.get_batch(hashes))
}

/// Inserts the keys from position `held` to `end` one by one.
fn insert<T: Table>(table: T, held: u64, end: u64) -> Box<dyn Work> {
    let entries = entries(&table, held, end);
    insert_all(table, entries)
}

fn insert_all<T: Table>(table: T, entries: Vec<T::Entry>) -> Box<dyn Work> {
    let least = entries.len() as u64;
    prepare(table, entries, least, |table, entries, _| {
        entries.iter().map(|&entry| u64::from(table.insert(entry))).sum()
    })
}

/// As [`insert`], in one batch.
fn insert_batch<T: Table>(table: T, held: u64, end: u64) -> Box<dyn Work> {
    let entries = entries(&table, held, end);
    prepare(table, entries, 1, |table, entries, _| u64::from(table.insert_batch(entries)))
}

pub(crate) fn insert_half<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    insert(make(CAPACITY), 0, CAPACITY / 2)
}

pub(crate) fn insert_half_batch<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    insert_batch(make(CAPACITY), 0, CAPACITY / 2)
}

pub(crate) fn insert_last<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    let held = CAPACITY - OPERATIONS;
    insert(filled(make, CAPACITY, held), held, CAPACITY)
}

pub(crate) fn insert_last_batch<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    let held = CAPACITY - OPERATIONS;
    insert_batch(filled(make, CAPACITY, held), held, CAPACITY)
}

pub(crate) fn build<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    insert_batch(make(BUILT), 0, BUILT)
}

pub(crate) fn grow<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    insert(filled(make, SMALL, SMALL), SMALL, CAPACITY)
}

pub(crate) fn grow_batch<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    insert_batch(filled(make, SMALL, SMALL), SMALL, CAPACITY)
}

/// As [`grow`], by hashes in ascending order.
pub(crate) fn grow_sorted<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    grow_chosen(make, |hash| hash)
}

/// As [`grow`], by hashes that all belong to one segment of the table that others grow: the 4 bits
/// behind the first 8 of `hash * MULTIPLIER` are equal, as growing tables divide keys by these.
pub(crate) fn grow_segment<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    /// Its inverse modulo 2^64.
    const INVERSE: u64 = 0xf1de_83e1_9937_733d;
    const { assert!(MULTIPLIER.wrapping_mul(INVERSE) == 1) };
    grow_chosen(make, |hash| (hash & !(0xf << 52)).wrapping_mul(INVERSE))
}

fn grow_chosen<T: Table>(
    make: impl FnOnce(u64) -> T,
    choose: impl Fn(u64) -> u64,
) -> Box<dyn Work> {
    let table = make(SMALL);
    let mut hashes: Vec<u64> =
        (SMALL..CAPACITY).map(|position| choose(Keys::new(SEED).key(position))).collect();
    hashes.sort_unstable();
    insert_all(table, hashes.into_iter().map(T::entry).collect())
}

/// Inserts and removes a few keys by turns in a table that is full.
pub(crate) fn alternate<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    let table = filled(make, SMALL, CAPACITY);
    let entries = entries(&table, CAPACITY, CAPACITY + OPERATIONS);
    let least = 2 * OPERATIONS;
    prepare(table, entries, least, |table, entries, _| {
        let mut done = 0;
        for entries in entries.chunks(10) {
            done += entries.iter().map(|&entry| u64::from(table.insert(entry))).sum::<u64>();
            done += entries.iter().map(|&entry| u64::from(table.remove(entry))).sum::<u64>();
        }
        done
    })
}

pub(crate) fn remove<T: Table>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    let table = filled(make, CAPACITY, CAPACITY);
    let entries = entries(&table, 0, OPERATIONS);
    prepare(table, entries, OPERATIONS, |table, entries, _| {
        entries.iter().map(|&entry| u64::from(table.remove(entry))).sum()
    })
}

pub(crate) fn remove_batch<T: Set<Entry = u64>>(make: impl FnOnce(u64) -> T) -> Box<dyn Work> {
    let table = filled(make, CAPACITY, CAPACITY);
    let hashes = entries(&table, 0, OPERATIONS);
    prepare(table, hashes, OPERATIONS, |table, hashes, removed| {
        table.remove_batch(hashes, removed);
        0
    })
}
