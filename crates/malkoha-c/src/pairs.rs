//! Maps: keys with values.

use std::ffi::c_void;

use crate::batches::refusals;
use crate::filter::Filter;
use crate::keys::hashed;
use crate::memory;
use crate::status::{asked, done};

/// Inserts a pair of key and value, in addition to the values that the key has.
///
/// # Safety
///
/// `map` is a filter of this library, and `key` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_put(
    map: *mut Filter,
    key: *const c_void,
    length: usize,
    value: u64,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let (map, hash) = unsafe { hashed(map, key, length) }?;
        Ok(map.table.map()?.insert_hash(hash, value)?)
    })
}

/// Candidates for the value of a key. Those of a key that is in are among them; a key that is not
/// has the false-positive rate's number of them on average. Writes at most `room`; `found` says how
/// many there are.
///
/// # Safety
///
/// `map` is a filter of this library; `key` points to `length` bytes, `values` to room for `room`
/// numbers, and `found` for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_get(
    map: *const Filter,
    key: *const c_void,
    length: usize,
    values: *mut u64,
    room: usize,
    found: *mut usize,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let (map, hash, values) = unsafe {
            let (map, hash) = hashed(map, key, length)?;
            (map, hash, memory::answers(values, room, "values")?)
        };
        let mut count = 0;
        map.table.pairs()?.each_value(hash, &mut |value| {
            if let Some(place) = values.get_mut(count) {
                *place = value;
            }
            count += 1;
        });
        // SAFETY: the caller's contract.
        unsafe { memory::answer(found, count, "found") }
    })
}

/// Replaces one value of a key, with which it was put, by another; 1 if it was found, 0 if not.
///
/// # Safety
///
/// `map` is a filter of this library, and `key` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_replace(
    map: *mut Filter,
    key: *const c_void,
    length: usize,
    old_value: u64,
    new_value: u64,
) -> i32 {
    asked(|| {
        // SAFETY: the caller's contract.
        let (map, hash) = unsafe { hashed(map, key, length) }?;
        Ok(map.table.map()?.update_hash(hash, old_value, new_value)?)
    })
}

/// Removes one copy of a pair that was put; 1 if it was found, 0 if not.
///
/// # Safety
///
/// `map` is a filter of this library, and `key` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_take(
    map: *mut Filter,
    key: *const c_void,
    length: usize,
    value: u64,
) -> i32 {
    asked(|| {
        // SAFETY: the caller's contract.
        let (map, hash) = unsafe { hashed(map, key, length) }?;
        Ok(map.table.map()?.remove_hash(hash, value))
    })
}

/// malkoha_put() for `count` hashes and values. Where some were refused, MALKOHA_STATUS_FULL is
/// returned, all others are in, and `refused[i]`, unless `refused` is null, says which were.
///
/// # Safety
///
/// `map` is a filter of this library; `hashes` and `values` point to `count` numbers each;
/// `refused` is null or points to room for `count` answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_put_hashes(
    map: *mut Filter,
    hashes: *const u64,
    values: *const u64,
    count: usize,
    refused: *mut bool,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        unsafe {
            let hashes = memory::items(hashes, count, "hashes")?;
            let values = memory::items(values, count, "values")?;
            let pairs: Vec<_> = hashes.iter().copied().zip(values.iter().copied()).collect();
            let map = Filter::from_c(map)?.table.map()?;
            refusals(map.insert_hashes(&pairs), refused, count)
        }
    })
}

/// For each of `count` hashes one of its candidates, in `values`, and how many it has, in `found`:
/// with more than one, malkoha_get() tells all. Where it has none, its value is 0.
///
/// # Safety
///
/// `map` is a filter of this library; `hashes` points to `count` numbers, `values` and `found` to
/// room for as many each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_get_hashes(
    map: *const Filter,
    hashes: *const u64,
    count: usize,
    values: *mut u64,
    found: *mut usize,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let (map, hashes, values, found) = unsafe {
            (
                Filter::from_c(map)?,
                memory::items(hashes, count, "hashes")?,
                memory::answers(values, count, "values")?,
                memory::answers(found, count, "found")?,
            )
        };
        map.table.pairs()?.each_value_of(hashes, &mut |i, value| {
            values[i] = value;
            found[i] += 1;
        });
        Ok(())
    })
}
