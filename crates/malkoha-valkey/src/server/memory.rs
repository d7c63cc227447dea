//! The server's memory: it counts what filters take, for `maxmemory` too.

use std::alloc::{GlobalAlloc, Layout};

use valkey_module::alloc::ValkeyAlloc;
use valkey_module::raw;

use crate::value::stats::count_allocated;

/// From this size on an allocation fails when there is no memory. If there is none for a smaller
/// one either, the server stops, as for its own allocations.
const MAY_FAIL_FROM: usize = 1 << 20;

/// The server's allocator. A command that needs more memory than there is can reply so.
pub(crate) struct ServerMemory;

// SAFETY: memory is that of `ValkeyAlloc`, or of a function of the server that differs from it only
// in what happens where there is none; both are freed alike. Counting neither allocates nor panics.
unsafe impl GlobalAlloc for ServerMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: written once, before anything is allocated; a plain word is read.
        let try_alloc = unsafe { raw::RedisModule_TryAlloc };
        let start = match try_alloc {
            // SAFETY: it takes any size.
            Some(try_alloc) if layout.size() >= MAY_FAIL_FROM => unsafe {
                try_alloc(layout.pad_to_align().size()).cast()
            },
            // SAFETY: the caller's promise.
            _ => unsafe { ValkeyAlloc.alloc(layout) },
        };
        count_allocated(counted(start, layout));
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let start = unsafe { ValkeyAlloc.alloc_zeroed(layout) };
        count_allocated(counted(start, layout));
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        count_allocated(-counted(start, layout));
        // SAFETY: the caller's promise.
        unsafe { ValkeyAlloc.dealloc(start, layout) };
    }
}

/// Bytes that the server counts for an allocation.
fn counted(start: *mut u8, layout: Layout) -> i64 {
    if start.is_null() {
        return 0;
    }
    // SAFETY: written once, before anything is allocated; a plain word is read.
    let size = unsafe { raw::RedisModule_MallocSize };
    // SAFETY: the start of an allocation of the server.
    let size = size.map_or(layout.size(), |size| unsafe { size(start.cast()) });
    i64::try_from(size).unwrap_or(0)
}
