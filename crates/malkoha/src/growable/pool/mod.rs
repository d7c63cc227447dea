//! The memory of all segments: blocks in a few large chunks.
//!
//! Lookups in thousands of separate allocations wait for address translation, because these lie on
//! ordinary pages. A chunk has huge pages where the system gives them. A segment that grows leaves
//! a gap; for a segment that fits no gap, one is made by moving a few blocks together. Small pools
//! have an allocation for each segment, so that they take no more memory than they need. So do all
//! pools where memory is not mapped, because there a chunk takes its memory at once, and has no
//! huge pages. With the feature `allocator-sizes`, segments then have [sizes that allocators
//! have](sizes).

mod chunk;
mod relieve;
pub(super) mod sizes;
#[cfg(test)]
mod tests;

use chunk::{Chunk, Span};

use crate::arch::nearest;
use crate::table::memory;
#[cfg(feature = "mmap")]
use crate::table::memory::Memory;

/// When all segments together have this many bytes, new ones share chunks.
const SHARED_FROM: u64 = 2 << 20;
/// When those of a new pool together have fewer, each has its own allocation: in a chunk, the gap
/// that one of a few segments leaves would be a large part of the memory.
const OWN_BELOW: u64 = if memory::IS_MAPPED { SHARED_FROM } else { 1 << 20 };
/// Bytes of a chunk that segments share, at most.
#[cfg(not(any(test, miri)))]
const CHUNK: usize = 32 << 20;
/// Small, so that tests have several.
#[cfg(any(test, miri))]
const CHUNK: usize = LEAST_CHUNK;
/// And at least: no larger segment shares one.
const LEAST_CHUNK: usize = 1 << 20;
/// Bytes that are moved to make a gap, at most: less time than a rebuild takes. A gap for a segment
/// of 64 KiB is found in the emptiest chunk unless less than a sixteenth of it is free.
const MOST_MOVED: usize = 1 << 20;

/// Where a segment begins: a chunk's number and a byte of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Address(u64);

/// The bytes of all segments, by number.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    /// By the numbers in addresses; those that are vacant have no memory.
    chunks: Vec<Chunk>,
    blocks: Vec<Block>,
    /// Bytes of all blocks.
    used: u64,
    /// Whether chunks are not to have huge pages.
    ordinary: bool,
}

/// Where a segment's bytes are.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    address: Address,
    len: u32,
}

/// Bytes of the chunks that a new pool has, at most: offsets in them have 32 bits.
const FIRST_CHUNK: usize = 1 << 30;

impl Address {
    fn new(chunk: usize, start: usize) -> Self {
        debug_assert!(u32::try_from(chunk).is_ok() && u32::try_from(start).is_ok());
        Self((chunk as u64) << 32 | start as u64)
    }

    #[inline(always)]
    fn chunk(self) -> usize {
        (self.0 >> 32) as usize
    }

    #[inline(always)]
    fn start(self) -> usize {
        // The low half: chunks are in memory, so it fits usize.
        (self.0 & 0xffff_ffff) as usize
    }
}

impl Block {
    fn new(address: Address, len: usize) -> Self {
        Self { address, len: u32::try_from(len).expect("at most 2^13 buckets of 53 bytes") }
    }

    fn len(self) -> usize {
        self.len as usize
    }
}

impl Clone for Pool {
    /// # Panics
    ///
    /// If the system has no memory for it.
    fn clone(&self) -> Self {
        let Self { ref chunks, ref blocks, used, ordinary } = *self;
        let mut pool =
            Self { chunks: chunks.clone(), blocks: blocks.clone(), used, ..Self::default() };
        if ordinary {
            pool.set_huge_pages(false);
        }
        pool
    }
}

impl Pool {
    /// A pool of `segments` segments of zeros, of `len` bytes each; `None` if the system does not
    /// give the memory.
    pub(super) fn zeroed(segments: usize, len: usize) -> Option<Self> {
        let mut pool = Self::default();
        if ((segments * len) as u64) < OWN_BELOW {
            (0..segments).for_each(|_| drop(pool.push(vec![0; len].into())));
            return Some(pool);
        }
        while pool.len() < segments {
            let most = (segments - pool.len()).min(FIRST_CHUNK / len);
            let count = if memory::IS_MAPPED { most } else { sizes::best_count(most, len) };
            let mut chunk = memory::zeroed((count * len) as u64).map(Chunk::shared)?;
            for position in 0..count {
                let start = chunk.insert(position, pool.len(), len);
                let address = Address::new(pool.chunks.len(), start);
                pool.blocks.push(Block::new(address, len));
            }
            pool.used += (count * len) as u64;
            pool.chunks.push(chunk);
        }
        Some(pool)
    }

    /// Segments that lie in one piece of memory, in order: first byte and length of each. `None` if
    /// it is too large for 32 bits.
    #[cfg(feature = "mmap")]
    pub(crate) fn in_place(memory: Memory, spans: &[(u64, usize)]) -> Option<Self> {
        u32::try_from(memory.len()).ok()?;
        let spans: Vec<(usize, usize)> = spans
            .iter()
            .map(|&(start, len)| Some((usize::try_from(start).ok()?, len)))
            .collect::<Option<_>>()?;
        let block = |&(start, len): &(usize, usize)| Block::new(Address::new(0, start), len);
        Some(Self {
            blocks: spans.iter().map(block).collect(),
            used: spans.iter().map(|&(_, len)| len as u64).sum(),
            chunks: vec![Chunk::in_place(memory, &spans)],
            ordinary: false,
        })
    }

    /// Bytes of this many segments of `len` bytes each, and of their metadata.
    pub(super) fn bytes_of(segments: u64, len: usize) -> u64 {
        segments.saturating_mul((len + size_of::<Block>() + size_of::<Span>()) as u64)
    }

    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether memory that is not in use yet, and chunks to come, shall have huge pages.
    pub(super) fn set_huge_pages(&mut self, huge: bool) {
        self.ordinary = !huge;
        self.chunks.iter().for_each(|chunk| chunk.set_huge_pages(huge));
    }

    pub(super) fn has_huge_pages(&self) -> bool {
        !self.ordinary
    }

    /// The bytes of a segment.
    #[inline(always)]
    pub(crate) fn bytes(&self, number: usize) -> &[u8] {
        let block = self.blocks[number];
        &self.from(block.address)[..block.len()]
    }

    #[inline(always)]
    pub(super) fn bytes_mut(&mut self, number: usize) -> &mut [u8] {
        let block = self.blocks[number];
        &mut self.chunks[block.address.chunk()].memory[block.address.start()..][..block.len()]
    }

    /// The bytes of all segments, by number, for threads that fill some each.
    pub(super) fn all_mut(&mut self) -> Vec<&mut [u8]> {
        let Self { chunks, blocks, .. } = self;
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_unstable_by_key(|&number| blocks[number].address);
        let mut order = order.into_iter().peekable();
        let mut all: Vec<&mut [u8]> = blocks.iter().map(|_| Default::default()).collect();
        for (at, chunk) in chunks.iter_mut().enumerate() {
            let (mut rest, mut from) = (&mut chunk.memory[..], 0);
            while let Some(number) = order.next_if(|&number| blocks[number].address.chunk() == at) {
                let Block { address, .. } = blocks[number];
                let (_, block) = rest.split_at_mut(address.start() - from);
                (all[number], rest) = block.split_at_mut(blocks[number].len());
                from = address.start() + blocks[number].len();
            }
        }
        all
    }

    pub(super) fn address(&self, number: usize) -> Address {
        self.blocks[number].address
    }

    /// The bytes from there on, to the end of the chunk.
    #[inline(always)]
    pub(super) fn from(&self, address: Address) -> &[u8] {
        &self.chunks[address.chunk()].memory[address.start()..]
    }

    /// Where the bytes of [`from`](Self::from) begin, for loops that are to be vectorised.
    #[inline(always)]
    pub(super) fn nearest(&self, address: Address) -> *const u8 {
        let chunk = nearest(&self.chunks, address.0 >> 32);
        debug_assert!(address.start() <= chunk.memory.len());
        chunk.memory.as_ptr().wrapping_add(address.start())
    }

    /// Adds a segment. Returns the segments that have a new address, the added one last.
    pub(crate) fn push(&mut self, bytes: Box<[u8]>) -> Vec<usize> {
        self.blocks.push(Block::default());
        self.put(self.blocks.len() - 1, bytes)
    }

    /// Gives a segment other bytes. Returns what [`push`](Self::push) returns.
    pub(super) fn replace(&mut self, number: usize, bytes: Box<[u8]>) -> Vec<usize> {
        // Its own memory is part of the room that is searched.
        self.free(number);
        self.put(number, bytes)
    }

    /// Removes a segment; the last one gets its number.
    pub(super) fn swap_remove(&mut self, number: usize) {
        self.free(number);
        let last = self.blocks.len() - 1;
        self.blocks.swap_remove(number);
        if let Some(Block { address, .. }) = self.blocks.get(number) {
            self.chunks[address.chunk()].renumber(last, number);
        }
    }

    pub(super) fn clear(&mut self) {
        for number in 0..self.len() {
            self.bytes_mut(number).fill(0);
        }
    }

    /// Of the segments alone.
    #[inline(always)]
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Of the segments, and of gaps that were in use before.
    pub(super) fn size_in_bytes(&self) -> u64 {
        let records =
            self.blocks.len() * size_of::<Block>() + self.chunks.len() * size_of::<Chunk>();
        records as u64 + self.chunks.iter().map(Chunk::size_in_bytes).sum::<u64>()
    }

    fn put(&mut self, number: usize, bytes: Box<[u8]>) -> Vec<usize> {
        let len = bytes.len();
        self.used += len as u64;
        let mut moved = Vec::new();
        if let Some(address) = self.room(number, len, &mut moved) {
            self.blocks[number] = Block::new(address, len);
            self.bytes_mut(number).copy_from_slice(&bytes);
        } else {
            let chunk = self.add(Chunk::own(bytes));
            self.blocks[number] = Block::new(Address::new(chunk, 0), len);
        }
        moved.push(number);
        moved
    }

    /// A block in a chunk of several; `None` if it should be, or must be, alone.
    fn room(&mut self, number: usize, len: usize, moved: &mut Vec<usize>) -> Option<Address> {
        if let Some(address) = self.gap(number, len, moved, self.chunks.len()) {
            return Some(address);
        }
        let mut numbered = self.chunks.iter().enumerate();
        let at_end = numbered.find_map(|(at, chunk)| Some((at, chunk.room_at_end(len)?)));
        let (chunk, position) = if let Some(end) = at_end {
            end
        } else if memory::IS_MAPPED && self.used >= SHARED_FROM && len <= LEAST_CHUNK {
            let chunk = memory::lazy(CHUNK).map(Chunk::shared)?;
            chunk.set_huge_pages(!self.ordinary);
            (self.add(chunk), 0)
        } else {
            return None;
        };
        Some(Address::new(chunk, self.chunks[chunk].insert(position, number, len)))
    }

    /// A block in a gap of one of the first `chunks` chunks, or in one that is made by moving
    /// others.
    fn gap(
        &mut self,
        number: usize,
        len: usize,
        moved: &mut Vec<usize>,
        chunks: usize,
    ) -> Option<Address> {
        let with_gaps = self.chunks[..chunks]
            .iter()
            .enumerate()
            .filter(|(_, chunk)| chunk.gaps().is_some_and(|gaps| gaps >= len));
        // The share of gaps decides how much must be moved to make one, not their bytes.
        let share = |chunk: &Chunk| chunk.gaps().unwrap_or(0) as u64 * 4096 / chunk.kept().max(1);
        let (_, at) = with_gaps.map(|(at, chunk)| (share(chunk), at)).max()?;
        let window = self.chunks[at].window(len, MOST_MOVED)?;
        for &Span { number, start, .. } in self.chunks[at].join(window.clone()) {
            self.blocks[number as usize].address = Address::new(at, start as usize);
            moved.push(number as usize);
        }
        Some(Address::new(at, self.chunks[at].insert(window.end, number, len)))
    }

    /// Gives a chunk a number.
    fn add(&mut self, chunk: Chunk) -> usize {
        let vacant = self.chunks.iter().position(Chunk::is_empty);
        let number = vacant.unwrap_or(self.chunks.len());
        if number == self.chunks.len() {
            self.chunks.push(chunk);
        } else {
            self.chunks[number] = chunk;
        }
        number
    }

    fn free(&mut self, number: usize) {
        let block = std::mem::take(&mut self.blocks[number]);
        self.used -= u64::from(block.len);
        self.chunks[block.address.chunk()].remove(number);
        while self.chunks.pop_if(|chunk| chunk.is_empty()).is_some() {}
    }
}
