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

/// Reads the files in their order.
pub(crate) struct Reader {
    shards: Arc<[Shard]>,
    progress: Arc<Progress>,
    field: Field,
    next: usize,
    open: Option<Open>,
}

enum Open {
    Lines(Blocks),
    /// The number of the next row group, and of the rows before it.
    Table(Arc<Table>, usize, u64),
}

impl Reader {
    /// From this file on.
    pub(crate) fn new(
        shards: Arc<[Shard]>,
        progress: Arc<Progress>,
        field: Field,
        first: usize,
    ) -> Self {
        Self { shards, progress, field, next: first, open: None }
    }

    fn open(&self, Shard { input, output, is_table, .. }: &Shard) -> Result<Open> {
        if *is_table {
            let table = Table::open(input, &self.field, output.as_deref())?;
            return Ok(Open::Table(table, 0, 0));
        }
        let inputs = Inputs::new(vec![input.clone()], b'\n').all_needed().numbered(true);
        Ok(Open::Lines(inputs.blocks(&self.progress)))
    }
}

impl Source for Reader {
    type Block = Piece;

    fn next(&mut self, piece: &mut Piece) -> Result<bool> {
        if self.open.is_none() {
            let Some(shard) = self.shards.get(self.next) else { return Ok(false) };
            self.open = Some(self.open(shard)?);
            self.next += 1;
        }
        piece.shard = self.next - 1;
        piece.group = None;
        piece.ends = match &mut self.open {
            Some(Open::Lines(blocks)) => !blocks.next(&mut piece.lines)?,
            Some(Open::Table(table, index, rows)) => {
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
            None => true,
        };
        if piece.ends {
            self.open = None;
        }
        Ok(true)
    }
}
