//! The handle, how it is freed, and its properties.

use malkoha::KeyHasher;

use crate::memory;
use crate::status::{Failure, done};
use crate::tables::Table;

/// A set or a map. Any thread may call any function with it, but for malkoha_free().
pub struct Filter {
    pub(crate) table: Table,
    /// It never changes, so hashing takes no lock.
    pub(crate) hasher: KeyHasher,
}

impl Filter {
    /// Gives a filter to C.
    ///
    /// # Safety
    ///
    /// `to` is null or points to room for a pointer.
    pub(crate) unsafe fn hand_out(table: Table, to: *mut *mut Self) -> Result<(), Failure> {
        let hasher = table.read().hasher();
        // Checked before the box is made, which would leak. SAFETY: the caller's contract.
        let to = unsafe { memory::exclusive(to, "filter") }?;
        *to = Box::into_raw(Box::new(Self { table, hasher }));
        Ok(())
    }

    /// # Safety
    ///
    /// `filter` is null, or a filter of this library that is not freed for `'a`.
    pub(crate) unsafe fn from_c<'a>(filter: *const Self) -> Result<&'a Self, Failure> {
        // SAFETY: the caller's contract. It is only ever shared: what changes is behind locks.
        unsafe { memory::reference(filter, "filter") }
    }
}

/// Frees a filter; one in a mapped file leaves the file as it is. Null is nothing.
///
/// # Safety
///
/// `filter` comes from this library, is not used again, and no other thread is using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_free(filter: *mut Filter) {
    if !filter.is_null() {
        // SAFETY: the caller's contract: it was made by `Box::into_raw`.
        drop(unsafe { Box::from_raw(filter) });
    }
}

/// Properties of a filter at one moment.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Keys that are in, copies included.
    pub keys: u64,
    /// Keys that it was built for; where it grows, that it has room for now.
    pub capacity: u64,
    /// Bytes of its table.
    pub bytes: u64,
    /// The present false-positive rate: the share of absent keys reported as present.
    pub false_positive_rate: f64,
    /// Bits of a value, 0 in a set.
    pub value_bits: u32,
    /// How long keys are remembered, in the caller's unit of time; 0 where they do not expire.
    pub ttl: u64,
    /// The longest additional time for which a key can be found.
    pub resolution: u64,
    /// The latest time that malkoha_advance() gave it.
    pub now: u64,
    /// Whether it is a map.
    pub is_map: bool,
    /// Whether it is in a mapped file and cannot change.
    pub is_read_only: bool,
}

/// Tells about a filter.
///
/// # Safety
///
/// `filter` is a filter of this library, and `info` points to room for a malkoha_info.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_tell(filter: *const Filter, info: *mut Info) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let filter = unsafe { Filter::from_c(filter) }?;
        let table = filter.table.read();
        let [ttl, resolution, now] = filter.table.expiring().map_or([0; 3], |set| set.times());
        let facts = Info {
            keys: table.len(),
            capacity: table.capacity(),
            bytes: table.size_in_bytes(),
            false_positive_rate: table.expected_fpr(),
            value_bits: table.value_bits(),
            ttl,
            resolution,
            now,
            is_map: filter.table.is_map(),
            is_read_only: filter.table.is_read_only(),
        };
        // SAFETY: the caller's contract.
        unsafe { memory::answer(info, facts, "info") }
    })
}

/// Removes all keys.
///
/// # Safety
///
/// `filter` is a filter of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_clear(filter: *mut Filter) -> i32 {
    // SAFETY: the caller's contract.
    done(|| unsafe { Filter::from_c(filter) }?.table.clear())
}

/// Inserts the keys of `other`: a union of sets, in which a key of both appears once. Both must be
/// of one kind, either of fixed size or growable, and not shared, with one seed or key. `other` can
/// be in a mapped file. If keys expire, the later time of the two then holds.
///
/// # Safety
///
/// Both are filters of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_union(filter: *mut Filter, other: *const Filter) -> i32 {
    // SAFETY: the caller's contract.
    done(|| unsafe { Filter::from_c(filter)?.table.unite(&Filter::from_c(other)?.table) })
}
