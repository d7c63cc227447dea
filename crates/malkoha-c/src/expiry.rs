//! Sets whose keys expire: their time, and keys that are seen again.

use std::ffi::c_void;

use crate::batches::each;
use crate::filter::Filter;
use crate::keys::hashed;
use crate::kinds::Aging;
use crate::memory;
use crate::status::{Failure, Status, asked, done};

fn expiring(filter: &Filter) -> Result<&dyn Aging, Failure> {
    filter.table.expiring().ok_or_else(|| {
        let text = "its keys do not expire: build one with malkoha_options_expire_after()";
        Failure::new(Status::Kind, text)
    })
}

/// Lets it be the time `now`, in the unit of malkoha_options_expire_after(): what has expired is
/// not in any more. A time before the present one changes nothing.
///
/// # Safety
///
/// `filter` is a filter of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_advance(filter: *mut Filter, now: u64) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        expiring(unsafe { Filter::from_c(filter) }?)?.advance(now);
        Ok(())
    })
}

/// How long ago a key was seen; 1 if it is in, 0 if not, and `age` is then 0. It was seen that time
/// ago at most, and less than one step of the resolution later.
///
/// # Safety
///
/// `filter` is a filter of this library, `key` points to `length` bytes, and `age` to room for a
/// number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_age(
    filter: *const Filter,
    key: *const c_void,
    length: usize,
    age: *mut u64,
) -> i32 {
    asked(|| {
        // SAFETY: the caller's contract.
        let (filter, hash) = unsafe { hashed(filter, key, length) }?;
        let found = expiring(filter)?.age_hash(hash);
        // SAFETY: the caller's contract.
        unsafe { memory::answer(age, found.unwrap_or(0), "age") }?;
        Ok(found.is_some())
    })
}

/// Inserts a key, or lets it be seen now if it is in; 1 if it was new, 0 if it was in. It lives
/// from now on in either case; malkoha_insert_unique() leaves a key that is in as old as it is.
///
/// # Safety
///
/// `filter` is a filter of this library, and `key` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_refresh(
    filter: *mut Filter,
    key: *const c_void,
    length: usize,
) -> i32 {
    asked(|| {
        // SAFETY: the caller's contract.
        let (filter, hash) = unsafe { hashed(filter, key, length) }?;
        Ok(expiring(filter)?.refresh_hash(hash)?)
    })
}

/// malkoha_refresh() for a hash.
///
/// # Safety
///
/// `filter` is a filter of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_refresh_hash(filter: *mut Filter, hash: u64) -> i32 {
    // SAFETY: the caller's contract.
    asked(|| Ok(expiring(unsafe { Filter::from_c(filter) }?)?.refresh_hash(hash)?))
}

/// malkoha_refresh() for `count` hashes, in their order: `inserted[i]` says of each whether it was
/// new. Where some were refused, MALKOHA_STATUS_FULL is returned.
///
/// # Safety
///
/// `filter` is a filter of this library; `hashes` points to `count` numbers, and `inserted` to room
/// for as many answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_refresh_hashes(
    filter: *mut Filter,
    hashes: *const u64,
    count: usize,
    inserted: *mut bool,
) -> i32 {
    // SAFETY: the caller's contract.
    unsafe {
        each(filter, (hashes, count), (inserted, "inserted"), |filter, hashes, inserted| {
            Ok(expiring(filter)?.refresh_hashes(hashes, inserted)?)
        })
    }
}
