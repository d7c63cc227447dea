//! The blocks of all files, one after another.

use std::sync::Arc;

use anyhow::Result;

use super::json::Field;
use super::shards::Shard;
use super::table::{Batch, Batches, Table};
use crate::input::{Block, Blocks, Inputs};
use crate::pipeline::Source;
use crate::progress::Progress;

/// Whole lines of a file, some rows of a table, or its end.
#[derive(Default)]
pub(crate) struct Piece {
    pub(super) field: Arc<Field>,
    pub(crate) lines: Block,
    /// The table, and its rows; none at its end.
    pub(super) table: Option<Arc<Table>>,
    pub(super) batch: Option<Batch>,
    pub(super) rows_before: u64,
    /// The number of the file.
    pub(crate) shard: usize,
    /// There is no more of this file, and nothing in `lines`.
    pub(crate) ends: bool,
}

/// Reads a file.
pub(crate) struct Reader {
    shards: Arc<[Shard]>,
    shard: usize,
    progress: Arc<Progress>,
    field: Arc<Field>,
    state: State,
}

enum State {
    Closed,
    Lines(Blocks),
    /// The next batches, and the number of the rows before them.
    Table(Arc<Table>, Batches, u64),
    Ended,
}

impl Reader {
    /// Readers of this file and those after it.
    pub(crate) fn all(
        shards: Arc<[Shard]>,
        progress: Arc<Progress>,
        field: Arc<Field>,
        first: usize,
    ) -> impl Iterator<Item = Self> {
        (first..shards.len()).map(move |shard| {
            let (shards, progress) = (Arc::clone(&shards), Arc::clone(&progress));
            Self { shards, shard, progress, field: Arc::clone(&field), state: State::Closed }
        })
    }

    fn open(&self) -> Result<State> {
        let Shard { input, output, is_table, .. } = &self.shards[self.shard];
        if *is_table {
            let table = Table::open(input, &self.field, output.as_deref())?;
            let batches = table.batches();
            return Ok(State::Table(table, batches, 0));
        }
        let inputs = Inputs::new(vec![input.clone()], b'\n').all_needed().numbered(true);
        Ok(State::Lines(inputs.blocks(&self.progress)))
    }
}

impl Source for Reader {
    type Block = Piece;

    fn next(&mut self, piece: &mut Piece) -> Result<bool> {
        if matches!(self.state, State::Closed) {
            self.state = self.open()?;
        }
        (piece.shard, piece.field) = (self.shard, Arc::clone(&self.field));
        (piece.table, piece.batch) = (None, None);
        piece.ends = match &mut self.state {
            State::Lines(blocks) => !blocks.next(&mut piece.lines)?,
            State::Table(table, batches, rows) => {
                piece.table = Some(Arc::clone(table));
                piece.batch = batches.next();
                piece.rows_before = *rows;
                if let Some(batch) = &piece.batch {
                    self.progress.advance(batch.bytes);
                    *rows += batch.rows.len() as u64;
                }
                piece.batch.is_none()
            }
            State::Closed | State::Ended => return Ok(false),
        };
        if piece.ends {
            self.state = State::Ended;
        }
        Ok(true)
    }
}
