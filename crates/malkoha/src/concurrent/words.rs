//! The memory of a table that threads share.

use std::fmt;
use std::ops::Deref;

use super::sync::AtomicU64;
#[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
use crate::table::{IS_MAPPED, MAPPED_FROM, mapped};

/// Zeroed words: on huge pages if there are many and the system has such pages.
pub(crate) struct Words(Inner);

enum Inner {
    Heap(Box<[AtomicU64]>),
    #[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
    Mapped(memmap2::MmapRaw),
}

impl Words {
    /// This many words, or `None` if the system lacks the memory.
    pub(crate) fn new(words: u64) -> Option<Self> {
        let words = usize::try_from(words).ok()?;
        #[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
        if IS_MAPPED && words.checked_mul(8)? >= MAPPED_FROM {
            return mapped(words * 8).map(|map| Self(Inner::Mapped(map.into())));
        }
        let mut heap = Vec::new();
        heap.try_reserve_exact(words).ok()?;
        heap.extend((0..words).map(|_| AtomicU64::new(0)));
        Some(Self(Inner::Heap(heap.into_boxed_slice())))
    }
}

impl Deref for Words {
    type Target = [AtomicU64];

    #[inline(always)]
    fn deref(&self) -> &[AtomicU64] {
        match &self.0 {
            Inner::Heap(words) => words,
            #[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
            Inner::Mapped(map) => {
                let start = map.as_mut_ptr().cast::<AtomicU64>();
                // SAFETY: a mapping begins at a page, is readable and writable, anonymous and so of
                // nobody else, and lives as long as `self`. All access is through this slice.
                unsafe { std::slice::from_raw_parts(start, map.len() / 8) }
            }
        }
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Words({})", self.len())
    }
}
