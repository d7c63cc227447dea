//! One piece of memory with blocks in it, and the gaps between them.

use std::ops::Range;

use crate::table::memory::{self, Memory};

/// The memory of one block, or of many that come and go; no memory when none is left.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) memory: Memory,
    /// None for a block that is alone.
    shared: Option<Box<Blocks>>,
}

/// The blocks of a shared chunk.
#[derive(Clone, Debug, Default)]
struct Blocks {
    /// In order.
    spans: Vec<Span>,
    /// Bytes of all blocks.
    used: usize,
    /// The end of what was ever in use: memory beyond it costs nothing yet.
    end: usize,
}

/// A block: the segment that it belongs to, and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) number: u32,
    pub(super) start: u32,
    len: u32,
}

impl Span {
    fn new(number: usize, start: usize, len: usize) -> Self {
        let narrow = |n| u32::try_from(n).expect("chunks have less than 2^32 bytes and blocks");
        Self { number: narrow(number), start: narrow(start), len: narrow(len) }
    }

    fn start(&self) -> usize {
        self.start as usize
    }

    fn len(&self) -> usize {
        self.len as usize
    }

    fn end(&self) -> usize {
        self.start() + self.len()
    }
}

impl Chunk {
    /// A chunk of one block, which stays alone.
    pub(super) fn own(bytes: Box<[u8]>) -> Self {
        Self { memory: bytes.into_vec().into(), shared: None }
    }

    /// Of memory that has these blocks: first byte and length of each, in order.
    #[cfg(feature = "mmap")]
    pub(super) fn in_place(memory: Memory, spans: &[(usize, usize)]) -> Self {
        let span =
            |(number, &(start, len)): (usize, &(usize, usize))| Span::new(number, start, len);
        let blocks = Blocks {
            spans: spans.iter().enumerate().map(span).collect(),
            used: spans.iter().map(|&(_, len)| len).sum(),
            end: memory.len(),
        };
        Self { memory, shared: Some(Box::new(blocks)) }
    }

    /// Of zeros, for blocks to come.
    pub(super) fn shared(memory: Memory) -> Self {
        Self { memory, shared: Some(Box::default()) }
    }

    pub(super) fn set_huge_pages(&self, huge: bool) {
        self.memory.set_huge_pages(huge);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// Bytes that were ever in use.
    pub(super) fn kept(&self) -> u64 {
        self.shared.as_ref().map_or(self.memory.len(), |blocks| blocks.end) as u64
    }

    pub(super) fn size_in_bytes(&self) -> u64 {
        let records =
            |blocks: &Blocks| size_of::<Blocks>() + blocks.spans.capacity() * size_of::<Span>();
        self.kept() + self.shared.as_deref().map_or(0, records) as u64
    }

    /// The first segment of a shared chunk.
    pub(super) fn first(&self) -> Option<usize> {
        let first = self.shared.as_ref()?.spans.first();
        first.map(|span| span.number as usize)
    }

    /// Free bytes of a shared chunk that were in use before.
    pub(super) fn gaps(&self) -> Option<usize> {
        self.shared.as_ref().map(|blocks| blocks.end - blocks.used)
    }

    /// The number of blocks, if there is enough room after the last.
    pub(super) fn room_at_end(&self, len: usize) -> Option<usize> {
        let blocks = self.shared.as_ref()?;
        let position = blocks.spans.len();
        (self.memory.len() - blocks.end_of(position) >= len).then_some(position)
    }

    /// [`Blocks::window`] of a shared chunk.
    pub(super) fn window(&self, len: usize, limit: usize) -> Option<Range<usize>> {
        self.shared.as_ref()?.window(len, limit)
    }

    /// Moves these blocks down as far as they can go, and returns where they are now.
    pub(super) fn join(&mut self, blocks: Range<usize>) -> &[Span] {
        let Some(shared) = &mut self.shared else { return &[] };
        let mut start = shared.end_of(blocks.start);
        let spans = &mut shared.spans[blocks];
        for span in &mut *spans {
            self.memory.copy_within(span.start()..span.end(), start);
            *span = Span::new(span.number as usize, start, span.len());
            start = span.end();
        }
        spans
    }

    /// Adds a block after the first `position` ones, where there is room; returns its start.
    pub(super) fn insert(&mut self, position: usize, number: usize, len: usize) -> usize {
        let Some(blocks) = &mut self.shared else { return 0 };
        let start = blocks.end_of(position);
        blocks.spans.insert(position, Span::new(number, start, len));
        blocks.used += len;
        blocks.end = blocks.end.max(start + len);
        start
    }

    /// Removes the block of a segment; if it is the last, frees the memory too.
    pub(super) fn remove(&mut self, number: usize) {
        if let Some(blocks) = &mut self.shared {
            if let Some(position) = blocks.position(number) {
                blocks.used -= blocks.spans.remove(position).len();
            }
            if !blocks.spans.is_empty() {
                return;
            }
        }
        *self = Self { memory: Vec::new().into(), shared: None };
    }

    pub(super) fn renumber(&mut self, from: usize, to: usize) {
        let Some(blocks) = &mut self.shared else { return };
        if let Some(position) = blocks.position(from) {
            let span = &mut blocks.spans[position];
            *span = Span::new(to, span.start(), span.len());
        }
    }
}

impl Blocks {
    fn position(&self, number: usize) -> Option<usize> {
        self.spans.iter().position(|span| span.number as usize == number)
    }

    /// The end of the first `count` blocks.
    fn end_of(&self, count: usize) -> usize {
        count.checked_sub(1).map_or(0, |last| self.spans[last].end())
    }

    /// The blocks to move together to get a gap of `len` bytes behind them: those of the fewest
    /// bytes, at most `limit`.
    fn window(&self, len: usize, limit: usize) -> Option<Range<usize>> {
        if self.end - self.used < len {
            return None;
        }
        let (mut best, mut least) = (None, limit + 1);
        let (mut first, mut bytes) = (0, 0);
        for last in 0..=self.spans.len() {
            // The gap behind the blocks first..last, when they are moved down as far as they can.
            let end = self.spans.get(last).map_or(self.end, Span::start);
            while end - self.end_of(first) - bytes >= len {
                if bytes < least {
                    (best, least) = (Some(first..last), bytes);
                }
                if first == last {
                    break;
                }
                bytes -= self.spans[first].len();
                first += 1;
            }
            bytes += self.spans.get(last).map_or(0, Span::len);
        }
        best
    }
}

impl Clone for Chunk {
    /// # Panics
    ///
    /// If the system has no memory for it.
    fn clone(&self) -> Self {
        let copy = || {
            let end = self.shared.as_ref()?.end;
            let mut copy = memory::lazy(self.memory.len())?;
            // Memory that was never in use is not committed.
            copy[..end].copy_from_slice(&self.memory[..end]);
            Some(copy)
        };
        Self { memory: copy().unwrap_or_else(|| self.memory.clone()), shared: self.shared.clone() }
    }
}
