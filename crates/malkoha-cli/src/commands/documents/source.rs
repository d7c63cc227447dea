//! The blocks of all files, one after another.

use std::sync::Arc;

use anyhow::Result;

use super::json::Field;
use super::shards::Shard;
use super::table::{Group, Table};
use crate::input::{Block, Blocks, Inputs};
use crate::pipeline::Source;
use crate::progress::Progress;

/// Whole lines of a file, some rows of a table, or its end.
#[derive(Default)]
pub(crate) struct Piece {
    pub(crate) lines: Block,
    /// The rows; at the end, the group after the last one.
    pub(super) group: Option<Group>,
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
    /// The number of the next row group, and of the rows before it.
    Table(Arc<Table>, usize, u64),
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
            return Ok(State::Table(table, 0, 0));
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
        piece.shard = self.shard;
        piece.group = None;
        piece.ends = match &mut self.state {
            State::Lines(blocks) => !blocks.next(&mut piece.lines)?,
            State::Table(table, index, rows) => {
                let group = Group { table: Arc::clone(table), index: *index };
                let ends = *index == table.groups();
                piece.rows_before = *rows;
                if !ends {
                    self.progress.advance(group.bytes());
                    *rows += group.rows() as u64;
                    *index += 1;
                }
                piece.group = Some(group);
                ends
            }
            State::Closed | State::Ended => return Ok(false),
        };
        if piece.ends {
            self.state = State::Ended;
        }
        Ok(true)
    }
}
