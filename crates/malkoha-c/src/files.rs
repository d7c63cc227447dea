//! Files and bytes: those of the library, the command, the module and Python.

use std::ffi::c_char;
use std::ptr;

use malkoha::{AnyFilter, FileKind, MappedFilter, MappedMap};

use crate::filter::Filter;
use crate::memory;
use crate::status::{Failure, Status, done};
use crate::tables::Table;

/// Reads a file of any kind into memory, and checks every byte.
///
/// # Safety
///
/// `path` ends with a 0, and `filter` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_open(path: *const c_char, filter: *mut *mut Filter) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let any = AnyFilter::open(unsafe { memory::path(path) }?)?;
        // SAFETY: the caller's contract.
        unsafe { Filter::hand_out(any.try_into()?, filter) }
    })
}

/// Maps the file of a set or map of fixed size: it can be asked and not changed, and processes that
/// map it have it in memory once. Nobody may write to the file meanwhile; replacing it by another,
/// as malkoha_save() does, is no harm.
///
/// # Safety
///
/// `path` ends with a 0, `filter` points to room for a pointer, and nobody writes to the file or
/// shortens it before malkoha_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_map(path: *const c_char, filter: *mut *mut Filter) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let path = unsafe { memory::path(path) }?;
        let table = match FileKind::of_file(path)? {
            // SAFETY: the caller's contract.
            FileKind::Set => Table::MappedSet(unsafe { MappedFilter::map(path) }?),
            // SAFETY: the caller's contract.
            FileKind::Map => Table::MappedMap(unsafe { MappedMap::map(path) }?),
            other => {
                let text = format!("a {} is not mapped: open it with malkoha_open()", other.name());
                return Err(Failure::new(Status::Kind, text));
            }
        };
        // SAFETY: the caller's contract.
        unsafe { Filter::hand_out(table, filter) }
    })
}

/// Saves a filter in the file at `path`, replacing an earlier file, whole or not at all.
///
/// # Safety
///
/// `filter` is a filter of this library, and `path` ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_save(filter: *const Filter, path: *const c_char) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let (filter, path) = unsafe { (Filter::from_c(filter)?, memory::path(path)?) };
        Ok(filter.table.read().save(path)?)
    })
}

/// Reads the bytes of a file, and checks each.
///
/// # Safety
///
/// `bytes` points to `length` bytes, and `filter` to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_from_bytes(
    bytes: *const u8,
    length: usize,
    filter: *mut *mut Filter,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let any = AnyFilter::from_bytes(unsafe { memory::items(bytes, length, "bytes") }?)?;
        // SAFETY: the caller's contract.
        unsafe { Filter::hand_out(any.try_into()?, filter) }
    })
}

/// The bytes of the file that malkoha_save() would write, to be freed with malkoha_bytes_free().
///
/// # Safety
///
/// `filter` is a filter of this library; `bytes` points to room for a pointer, and `length` for a
/// number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_to_bytes(
    filter: *const Filter,
    bytes: *mut *mut u8,
    length: *mut usize,
) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let (filter, bytes, length) = unsafe {
            (
                Filter::from_c(filter)?,
                memory::exclusive(bytes, "bytes")?,
                memory::exclusive(length, "length")?,
            )
        };
        let all = filter.table.read().to_bytes().into_boxed_slice();
        *length = all.len();
        *bytes = Box::into_raw(all).cast();
        Ok(())
    })
}

/// Frees what malkoha_to_bytes() made. Null is nothing.
///
/// # Safety
///
/// `bytes` and `length` are those of one call of malkoha_to_bytes(), and are not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_bytes_free(bytes: *mut u8, length: usize) {
    if !bytes.is_null() {
        // SAFETY: the caller's contract: a boxed slice of that length was made there.
        drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(bytes, length)) });
    }
}
