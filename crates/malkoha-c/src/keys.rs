//! One key at a time. A key is bytes; its hash serves as well, and is the same in every filter of
//! one seed.

use std::ffi::c_void;

use crate::filter::Filter;
use crate::memory;
use crate::status::{Failure, asked, done};

/// A filter, and the hash of a key in it.
///
/// # Safety
///
/// As [`malkoha_hash`].
pub(crate) unsafe fn hashed<'a>(
    filter: *const Filter,
    key: *const c_void,
    length: usize,
) -> Result<(&'a Filter, u64), Failure> {
    // SAFETY: the caller's contract.
    let (filter, key) =
        unsafe { (Filter::from_c(filter)?, memory::items(key.cast::<u8>(), length, "key")?) };
    Ok((filter, filter.hasher.hash_bytes(key)))
}

/// The hash of a key of `length` bytes, for the functions that end in _hash and _hashes: those of
/// this filter, and of all others with its seed or key.
///
/// # Safety
///
/// `filter` is a filter of this library, `key` points to `length` bytes, and `hash` to room for a
/// number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_hash(
    filter: *const Filter,
    key: *const c_void,
    length: usize,
    hash: *mut u64,
) -> i32 {
    // SAFETY: the caller's contract.
    done(|| unsafe { memory::answer(hash, hashed(filter, key, length)?.1, "hash") })
}

/// Inserts a key. A key that is in gets one copy more, which malkoha_count() counts and
/// malkoha_remove() takes out again.
///
/// # Safety
///
/// `filter` is a filter of this library, and `key` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_insert(
    filter: *mut Filter,
    key: *const c_void,
    length: usize,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let (filter, hash) = unsafe { hashed(filter, key, length) }?;
        Ok(filter.table.set()?.insert_hash(hash)?)
    })
}

/// malkoha_insert() for a hash.
///
/// # Safety
///
/// `filter` is a filter of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_insert_hash(filter: *mut Filter, hash: u64) -> i32 {
    // SAFETY: the caller's contract.
    done(|| Ok(unsafe { Filter::from_c(filter) }?.table.set()?.insert_hash(hash)?))
}

/// Inserts a key unless it seems to be present; 1 if it was inserted, 0 if not. Of threads that
/// insert one key at the same time, exactly one gets 1. Not for filters from which keys are
/// removed: the present key can be another one.
///
/// # Safety
///
/// `filter` is a filter of this library, and `key` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_insert_unique(
    filter: *mut Filter,
    key: *const c_void,
    length: usize,
) -> i32 {
    asked(|| {
        // SAFETY: the caller's contract.
        let (filter, hash) = unsafe { hashed(filter, key, length) }?;
        Ok(filter.table.set()?.insert_unique_hash(hash)?)
    })
}

/// malkoha_insert_unique() for a hash.
///
/// # Safety
///
/// `filter` is a filter of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_insert_unique_hash(filter: *mut Filter, hash: u64) -> i32 {
    // SAFETY: the caller's contract.
    asked(|| Ok(unsafe { Filter::from_c(filter) }?.table.set()?.insert_unique_hash(hash)?))
}

/// 1 if a key seems to be in, a set or a map, and 0 if it is certainly not.
///
/// # Safety
///
/// `filter` is a filter of this library, and `key` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_contains(
    filter: *const Filter,
    key: *const c_void,
    length: usize,
) -> i32 {
    asked(|| {
        // SAFETY: the caller's contract.
        let (filter, hash) = unsafe { hashed(filter, key, length) }?;
        Ok(filter.table.read().contains_hash(hash))
    })
}

/// malkoha_contains() for a hash.
///
/// # Safety
///
/// `filter` is a filter of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_contains_hash(filter: *const Filter, hash: u64) -> i32 {
    // SAFETY: the caller's contract.
    asked(|| Ok(unsafe { Filter::from_c(filter) }?.table.read().contains_hash(hash)))
}

/// The number of copies of a key: never too low, and of a key that is in rarely too high.
///
/// # Safety
///
/// `filter` is a filter of this library, `key` points to `length` bytes, and `copies` to room for a
/// number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_count(
    filter: *const Filter,
    key: *const c_void,
    length: usize,
    copies: *mut u64,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        unsafe {
            let (filter, hash) = hashed(filter, key, length)?;
            memory::answer(copies, filter.table.read().count_hash(hash), "copies")
        }
    })
}

/// Removes one copy of a key that was inserted; 1 if it was found, 0 if not. Remove only what was
/// inserted: a key that merely seems to be in takes another one with it.
///
/// # Safety
///
/// `filter` is a filter of this library, and `key` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_remove(
    filter: *mut Filter,
    key: *const c_void,
    length: usize,
) -> i32 {
    asked(|| {
        // SAFETY: the caller's contract.
        let (filter, hash) = unsafe { hashed(filter, key, length) }?;
        Ok(filter.table.set()?.remove_hash(hash))
    })
}

/// malkoha_remove() for a hash.
///
/// # Safety
///
/// `filter` is a filter of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_remove_hash(filter: *mut Filter, hash: u64) -> i32 {
    // SAFETY: the caller's contract.
    asked(|| Ok(unsafe { Filter::from_c(filter) }?.table.set()?.remove_hash(hash)))
}
