//! Gives back the memory of gaps.

use super::{Block, Chunk, Pool, SHARED_FROM};

impl Pool {
    /// Gives back the memory of gaps, if that is much.
    pub(in crate::growable) fn compact(&mut self) {
        let kept: u64 = self.chunks.iter().map(Chunk::kept).sum();
        if kept - self.used <= kept / 8 {
            return;
        }
        let mut pool = Self { ordinary: self.ordinary, ..Self::default() };
        for number in 0..self.len() {
            let bytes = self.bytes(number).into();
            self.free(number);
            pool.push(bytes);
        }
        *self = pool;
    }

    /// Moves a segment out of the last chunk if the others have much room in gaps, so that this
    /// chunk can be freed eventually. Returns what [`push`](Self::push) returns.
    pub(in crate::growable) fn relieve(&mut self) -> Vec<usize> {
        if self.used < SHARED_FROM {
            let addresses = self.blocks.len();
            self.compact();
            return (0..addresses).collect();
        }
        let kept: u64 = self.chunks.iter().map(Chunk::kept).sum();
        let last = self.chunks.len().saturating_sub(1);
        let first = self.chunks.last().and_then(Chunk::first);
        let Some(number) = first.filter(|_| last > 0 && kept - self.used > kept / 8) else {
            return Vec::new();
        };
        let bytes: Box<[u8]> = self.bytes(number).into();
        let mut moved = Vec::new();
        let Some(address) = self.gap(number, bytes.len(), &mut moved, last) else {
            return moved;
        };
        self.free(number);
        self.used += bytes.len() as u64;
        self.blocks[number] = Block::new(address, bytes.len());
        self.bytes_mut(number).copy_from_slice(&bytes);
        moved.push(number);
        moved
    }
}
