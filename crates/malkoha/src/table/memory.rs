//! Zeroed memory for a table: plain for small ones, anonymous pages with huge-page advice for
//! large ones.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, DerefMut};

/// Whether large tables are mapped. On other systems, WebAssembly among them, `memmap2` compiles,
/// but every mapping fails.
pub(crate) const IS_MAPPED: bool = cfg!(all(feature = "mmap", any(unix, windows)));

/// From this size on, a table is mapped rather than allocated, and asks for huge pages; if it is
/// not mapped, the allocator is asked for zeroed memory, as the system provides it.
pub(crate) const MAPPED_FROM: usize = 4 << 20;

/// The memory of a filter that owns its table.
pub struct Memory(Inner);

enum Inner {
    Heap(Box<[u8]>),
    #[cfg(feature = "mmap")]
    Mapped(memmap2::MmapMut),
}

/// `bytes` zero bytes, or `None` if the system lacks the memory.
pub(crate) fn zeroed(bytes: u64) -> Option<Memory> {
    let bytes = usize::try_from(bytes).ok()?;
    if bytes >= MAPPED_FROM {
        // If there is none, mapping reports it, while allocating zeroed memory would end the
        // process.
        let is_there = IS_MAPPED || can_allocate(bytes as u64);
        return if is_there { lazy(bytes) } else { None };
    }
    let mut vec = Vec::new();
    vec.try_reserve_exact(bytes).ok()?;
    vec.resize(bytes, 0);
    Some(Memory(Inner::Heap(vec.into_boxed_slice())))
}

/// Whether the system would allocate this many bytes at once.
pub(crate) fn can_allocate(bytes: u64) -> bool {
    let mut vec = Vec::<u8>::new();
    let reserved = usize::try_from(bytes).is_ok_and(|bytes| vec.try_reserve_exact(bytes).is_ok());
    // Otherwise compilers may omit an allocation that nobody uses.
    core::hint::black_box(&vec);
    reserved
}

/// `bytes` zero bytes that take memory only as they are used, or `None` if the system lacks the
/// memory.
pub(crate) fn lazy(bytes: usize) -> Option<Memory> {
    #[cfg(feature = "mmap")]
    if IS_MAPPED {
        return mapped(bytes).map(|map| Memory(Inner::Mapped(map)));
    }
    // The allocator has large zeroed memory from the system as it is.
    Some(Memory(Inner::Heap(vec![0; bytes].into_boxed_slice())))
}

/// `bytes` zero bytes of pages of their own.
#[cfg(feature = "mmap")]
pub(crate) fn mapped(bytes: usize) -> Option<memmap2::MmapMut> {
    let map = memmap2::MmapMut::map_anon(bytes).ok()?;
    advise(&map, true);
    Some(map)
}

/// Only advice: if it is refused, the table has ordinary pages and still works.
#[cfg(feature = "mmap")]
fn advise(map: &memmap2::MmapMut, huge: bool) {
    #[cfg(target_os = "linux")]
    let _ = map.advise(match huge {
        true => memmap2::Advice::HugePage,
        false => memmap2::Advice::NoHugePage,
    });
    #[cfg(not(target_os = "linux"))]
    let _ = (map, huge);
}

#[cfg(feature = "mmap")]
impl From<memmap2::MmapMut> for Memory {
    fn from(map: memmap2::MmapMut) -> Self {
        Self(Inner::Mapped(map))
    }
}

impl From<Vec<u8>> for Memory {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Inner::Heap(bytes.into_boxed_slice()))
    }
}

impl Deref for Memory {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Inner::Heap(bytes) => bytes,
            #[cfg(feature = "mmap")]
            Inner::Mapped(bytes) => bytes,
        }
    }
}

impl DerefMut for Memory {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Inner::Heap(bytes) => bytes,
            #[cfg(feature = "mmap")]
            Inner::Mapped(bytes) => bytes,
        }
    }
}

impl Memory {
    /// Tells the system whether unused pages are to be huge ones, if there is a choice.
    pub(crate) fn set_huge_pages(&self, huge: bool) {
        #[cfg(feature = "mmap")]
        if let Inner::Mapped(map) = &self.0 {
            advise(map, huge);
        }
        #[cfg(not(feature = "mmap"))]
        let _ = huge;
    }

    /// A copy, if the system has memory for it.
    pub(crate) fn try_clone(&self) -> Option<Self> {
        let mut copy = zeroed(self.len() as u64)?;
        copy.copy_from_slice(self);
        Some(copy)
    }
}

impl Clone for Memory {
    /// # Panics
    ///
    /// If the system has no memory for a second table.
    fn clone(&self) -> Self {
        self.try_clone().expect("memory for a copy of the table")
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} bytes)", self.len())
    }
}
