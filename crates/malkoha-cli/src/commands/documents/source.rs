//! The blocks of all files, one after another.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;

use super::shards::Shard;
use crate::input::{Block, Blocks, Inputs};
use crate::pipeline::Source;
use crate::progress::Progress;

/// Whole lines of a file, or its end.
#[derive(Default)]
pub(crate) struct Piece {
    pub(crate) lines: Block,
    /// The number of the file.
    pub(crate) shard: usize,
    /// There is no more of this file, and nothing in `lines`.
    pub(crate) ends: bool,
}

/// Reads the files in their order.
pub(crate) struct Reader {
    shards: Arc<[Shard]>,
    progress: Arc<Progress>,
    next: usize,
    blocks: Option<Blocks>,
}

impl Reader {
    /// From this file on.
    pub(crate) fn new(shards: Arc<[Shard]>, progress: Arc<Progress>, first: usize) -> Self {
        Self { shards, progress, next: first, blocks: None }
    }

    fn open(&self, path: PathBuf) -> Blocks {
        Inputs::new(vec![path], b'\n').all_needed().numbered(true).blocks(&self.progress)
    }
}

impl Source for Reader {
    type Block = Piece;

    fn next(&mut self, piece: &mut Piece) -> Result<bool> {
        if self.blocks.is_none() {
            let Some(shard) = self.shards.get(self.next) else { return Ok(false) };
            self.blocks = Some(self.open(shard.input.clone()));
            self.next += 1;
        }
        piece.shard = self.next - 1;
        piece.ends = match &mut self.blocks {
            Some(blocks) => !blocks.next(&mut piece.lines)?,
            None => true,
        };
        if piece.ends {
            self.blocks = None;
        }
        Ok(true)
    }
}
