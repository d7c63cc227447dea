//! The server's memory: it counts what filters take, for `maxmemory` too.

use std::alloc::{GlobalAlloc, Layout};

use valkey_module::alloc::ValkeyAlloc;
use valkey_module::raw;

/// From this size on it is told where there is no memory. Where there is not even less than that, the
/// server stops, as it does by itself.
const MAY_FAIL_FROM: usize = 1 << 20;

/// What the server allocates: a command that asks for more than there is can answer that.
pub(crate) struct ServerMemory;

// SAFETY: memory is that of `ValkeyAlloc`, or of a function of the server that differs from it only in
// what happens where there is none; both are freed alike.
unsafe impl GlobalAlloc for ServerMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: written once, before anything is allocated; a plain word is read.
        let try_alloc = unsafe { raw::RedisModule_TryAlloc };
        match try_alloc {
            // SAFETY: it takes any size.
            Some(try_alloc) if layout.size() >= MAY_FAIL_FROM => unsafe {
                try_alloc(layout.pad_to_align().size()).cast()
            },
            // SAFETY: the caller's promise.
            _ => unsafe { ValkeyAlloc.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { ValkeyAlloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { ValkeyAlloc.dealloc(start, layout) };
    }
}
