//! Many keys at once: their cache misses overlap. First their hashes, then what is to be done with
//! these.

use std::ffi::c_void;

use malkoha::BatchError;

use crate::filter::Filter;
use crate::memory;
use crate::status::{Failure, done};

/// Hashes `count` keys: `keys[i]` points to `lengths[i]` bytes.
///
/// # Safety
///
/// `filter` is a filter of this library; `keys` points to `count` pointers to as many bytes as
/// `lengths`, which has `count` too, says; `hashes` points to room for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_hash_many(
    filter: *const Filter,
    keys: *const *const c_void,
    lengths: *const usize,
    count: usize,
    hashes: *mut u64,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let (filter, keys, lengths, hashes) = unsafe {
            (
                Filter::from_c(filter)?,
                memory::items(keys, count, "keys")?,
                memory::items(lengths, count, "lengths")?,
                memory::answers(hashes, count, "hashes")?,
            )
        };
        for ((&key, &length), hash) in keys.iter().zip(lengths).zip(hashes) {
            // SAFETY: the caller's contract.
            let key = unsafe { memory::items(key.cast::<u8>(), length, "one of keys") }?;
            *hash = filter.hasher.hash_bytes(key);
        }
        Ok(())
    })
}

/// Hashes `count` keys that are 64-bit integers: as keys of 8 bytes, the lowest first.
///
/// # Safety
///
/// `filter` is a filter of this library; `keys` points to `count` integers, and `hashes` to room
/// for as many numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_hash_integers(
    filter: *const Filter,
    keys: *const u64,
    count: usize,
    hashes: *mut u64,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let (filter, keys, hashes) = unsafe {
            (
                Filter::from_c(filter)?,
                memory::items(keys, count, "keys")?,
                memory::answers(hashes, count, "hashes")?,
            )
        };
        filter.hasher.hash_many(keys, hashes);
        Ok(())
    })
}

/// Marks the keys that a batch refused, if its caller wants to know.
///
/// # Safety
///
/// `refused` is null or points to room for `count` answers.
pub(crate) unsafe fn refusals(
    outcome: Result<(), BatchError>,
    refused: *mut bool,
    count: usize,
) -> Result<(), Failure> {
    if !refused.is_null() {
        // SAFETY: the caller's contract.
        let marks = unsafe { memory::answers(refused, count, "refused") }?;
        if let Err(error) = &outcome {
            error.refused.iter().for_each(|&i| marks[i] = true);
        }
    }
    Ok(outcome?)
}

/// Inserts `count` keys by their hashes, all that can be. Where some were refused,
/// MALKOHA_STATUS_FULL is returned, all others are in, and `refused[i]`, unless `refused` is null,
/// says which were.
///
/// # Safety
///
/// `filter` is a filter of this library; `hashes` points to `count` numbers; `refused` is null or
/// points to room for `count` answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_insert_hashes(
    filter: *mut Filter,
    hashes: *const u64,
    count: usize,
    refused: *mut bool,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        unsafe {
            let hashes = memory::items(hashes, count, "hashes")?;
            let set = Filter::from_c(filter)?.table.set()?;
            refusals(set.insert_hashes(hashes), refused, count)
        }
    })
}

/// Calls a function on the hashes that writes an answer for each of `count` hashes.
///
/// # Safety
///
/// `filter` is a filter of this library; `hashes` points to `count` numbers, and `answers` to room
/// for as many answers.
pub(crate) unsafe fn each(
    filter: *const Filter,
    (hashes, count): (*const u64, usize),
    (answers, name): (*mut bool, &str),
    answer: impl FnOnce(&Filter, &[u64], &mut [bool]) -> Result<(), Failure>,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let (filter, hashes, answers) = unsafe {
            (
                Filter::from_c(filter)?,
                memory::items(hashes, count, "hashes")?,
                memory::answers(answers, count, name)?,
            )
        };
        answer(filter, hashes, answers)
    })
}

/// malkoha_insert_unique() for `count` hashes, in their order: `inserted[i]` says of each whether
/// it was inserted. Where some were refused, MALKOHA_STATUS_FULL is returned.
///
/// # Safety
///
/// `filter` is a filter of this library; `hashes` points to `count` numbers, and `inserted` to room
/// for as many answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_insert_unique_hashes(
    filter: *mut Filter,
    hashes: *const u64,
    count: usize,
    inserted: *mut bool,
) -> i32 {
    // SAFETY: the caller's contract.
    unsafe {
        each(filter, (hashes, count), (inserted, "inserted"), |filter, hashes, inserted| {
            Ok(filter.table.set()?.insert_unique_hashes(hashes, inserted)?)
        })
    }
}

/// malkoha_contains() for `count` hashes: `found[i]` is the answer for each.
///
/// # Safety
///
/// `filter` is a filter of this library; `hashes` points to `count` numbers, and `found` to room
/// for as many answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_contains_hashes(
    filter: *const Filter,
    hashes: *const u64,
    count: usize,
    found: *mut bool,
) -> i32 {
    // SAFETY: the caller's contract.
    unsafe {
        each(filter, (hashes, count), (found, "found"), |filter, hashes, found| {
            filter.table.read().contains_hashes(hashes, found);
            Ok(())
        })
    }
}

/// malkoha_remove() for `count` hashes, in their order: `removed[i]` says of each whether it was
/// found.
///
/// # Safety
///
/// `filter` is a filter of this library; `hashes` points to `count` numbers, and `removed` to room
/// for as many answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_remove_hashes(
    filter: *mut Filter,
    hashes: *const u64,
    count: usize,
    removed: *mut bool,
) -> i32 {
    // SAFETY: the caller's contract.
    unsafe {
        each(filter, (hashes, count), (removed, "removed"), |filter, hashes, removed| {
            filter.table.set()?.remove_hashes(hashes, removed);
            Ok(())
        })
    }
}
