//! From a block of lines to prepared texts, and from decisions to the lines that stay.

use std::collections::HashMap;
use std::mem;
use std::ops::Range;

use anyhow::{Result, bail};
use malkoha_text::Memory;

use super::json::{self, Bad};
use super::source::Piece;
use super::table::Rest;
use crate::output::{Encoding, Piece as Compressed};
use crate::records::{shown, split};

/// The treatment of records without a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OnBad {
    /// Keep them as they are
    Keep,
    /// Drop them
    Drop,
    /// Stop with an error that names the first
    Stop,
}

/// Called after the end of a file, with the bytes of the report.
pub(crate) type Note = Box<dyn FnOnce(u64) -> Result<()> + Send>;

/// The records of a block. Texts are prepared as `P`.
#[derive(Default)]
pub(crate) struct Records<P> {
    pub(crate) shard: usize,
    /// The line or row of the first record, from 1.
    pub(crate) first: u64,
    /// There is no more of this file.
    pub(crate) ends: bool,
    pub(crate) records: Vec<Record>,
    /// One for each record; others are memory to use again.
    prepared: Vec<P>,
    memory: Memory,
    text: String,
    /// The lines of the block that stay, and their compressed form.
    pub(crate) rest: Vec<u8>,
    pub(crate) piece: Compressed,
    /// Of a table: whether a group ends here. Its rows then, and those that stay.
    ends_group: Option<bool>,
    rows: Rows,
    pub(super) rest_of_group: Option<Rest>,
    /// Lines of the report.
    pub(crate) report: Vec<u8>,
    /// How the lines that stay are compressed, if they are written.
    pub(crate) encoding: Option<Encoding>,
    /// Set at the end of a new file.
    pub(crate) note: Option<Note>,
}

/// A line, or a row of a table.
pub(crate) struct Record {
    /// The line's place in the block, with its terminator.
    line: Range<usize>,
    pub(crate) content: Content,
    pub(crate) fate: Fate,
}

/// The part of a record that stays. Commands decide on texts alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Keep,
    Drop,
    /// Only these parts of the text stay.
    Cut(Vec<Range<usize>>),
}

/// The part that stays of each row of a group.
#[derive(Default)]
pub(super) struct Rows {
    stays: Vec<bool>,
    /// The parts of texts that stay, of rows whose texts are cut.
    cut: HashMap<usize, Vec<Range<usize>>>,
}

impl Rows {
    pub(super) fn push(&mut self, fate: &Fate) {
        if let Fate::Cut(kept) = fate {
            self.cut.insert(self.stays.len(), kept.clone());
        }
        self.stays.push(*fate != Fate::Drop);
    }
}

#[cfg(feature = "parquet")]
impl Rows {
    /// Whether a row stays, and the parts of its text if only these do.
    pub(super) fn row(&self, at: usize) -> Option<(bool, Option<&Vec<Range<usize>>>)> {
        self.stays.get(at).map(|stays| (*stays, self.cut.get(&at)))
    }

    pub(super) fn len(&self) -> usize {
        self.stays.len()
    }

    pub(super) fn none_stay(&self) -> bool {
        !self.stays.contains(&true)
    }

    /// Whether all stay as they are.
    pub(super) fn all_stay(&self) -> bool {
        !self.stays.contains(&false) && self.cut.is_empty()
    }
}

/// The content of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Text,
    Bad(Bad),
    Blank,
}

/// The prepared form of a text.
pub(crate) trait Hashes: Default + Send + 'static {
    /// Bytes of it, with those elsewhere in memory.
    fn size_in_bytes(&self) -> usize;
}

impl<P: Hashes> Records<P> {
    /// Moves what decisions and reports need.
    pub(crate) fn set_aside(&mut self) -> (Self, usize) {
        let prepared: Vec<P> = self.prepared.drain(..self.records.len()).collect();
        let records: Vec<Record> = self.records.drain(..).collect();
        let bytes =
            size_of_val(&records[..]) + prepared.iter().map(P::size_in_bytes).sum::<usize>();
        let Self { shard, first, ends, .. } = *self;
        (Self { shard, first, ends, records, prepared, ..Self::default() }, bytes)
    }

    /// Reads and prepares the texts of a block.
    pub(crate) fn read(
        &mut self,
        piece: &Piece,
        file: &str,
        prepare: &impl Fn(&str, &mut Memory, &mut P),
        on_bad: OnBad,
    ) -> Result<()> {
        let Self { records, prepared, memory, text, .. } = self;
        let field = &*piece.field;
        (self.shard, self.ends) = (piece.shard, piece.ends);
        records.clear();
        self.report.clear();
        self.note = None;
        self.ends_group = piece.batch.as_ref().map(|batch| batch.is_last);
        if piece.ends {
            return Ok(());
        }
        let mut add = |line, content, text: &str| {
            let at = records.len();
            if prepared.len() == at {
                prepared.push(P::default());
            }
            let fate = match content {
                Content::Text => {
                    prepare(text, memory, &mut prepared[at]);
                    Fate::Keep
                }
                Content::Bad(_) if on_bad == OnBad::Keep => Fate::Keep,
                Content::Bad(_) | Content::Blank => Fate::Drop,
            };
            records.push(Record { line, content, fate });
        };
        if let Some(batch) = &piece.batch {
            self.first = piece.rows_before + 1;
            return batch.each_text(false, |row, text| {
                let content = match text {
                    Ok(_) => Content::Text,
                    Err(bad) if on_bad == OnBad::Stop => bail!(
                        "row {} of {file} {} (--bad keep or drop goes on)",
                        piece.rows_before + 1 + row as u64,
                        field.complaint(bad, || batch.table.fields())
                    ),
                    Err(bad) => Content::Bad(bad),
                };
                add(0..0, content, text.unwrap_or_default());
                Ok(())
            });
        }
        let block = piece.lines.source();
        let (mut start, mut number) = (0, block.lines_before);
        self.first = number + 1;
        split(block.text, b'\n', |lines| {
            for &line in lines {
                number += 1;
                let end = (start + line.len() + 1).min(block.text.len());
                let content = match field.read(line, text) {
                    Ok(()) => Content::Text,
                    Err(_) if line.trim_ascii().is_empty() => Content::Blank,
                    Err(bad) if on_bad == OnBad::Stop => {
                        let is_none = bad == Bad::NoJson;
                        bail!(
                            "line {number} of {file} {}{}: '{}' (--bad keep or drop goes on)",
                            field.complaint(bad, || json::fields(line)),
                            if is_none { json::why_no_object(line) } else { String::new() },
                            shown(line)
                        )
                    }
                    Err(bad) => Content::Bad(bad),
                };
                add(start..end, content, text);
                start = end;
            }
            Ok(())
        })
    }

    /// The records and their prepared texts.
    pub(crate) fn each(&mut self) -> impl Iterator<Item = (&mut Record, &mut P)> {
        self.records.iter_mut().zip(&mut self.prepared)
    }

    /// The same, up to `len` at a time.
    pub(crate) fn chunks(&mut self, len: usize) -> impl Iterator<Item = (&mut [Record], &mut [P])> {
        self.records.chunks_mut(len).zip(self.prepared.chunks_mut(len))
    }

    /// Adds the rows to those before them in their group, and takes all at its end.
    pub(super) fn gather(&mut self, rows: &mut Rows) {
        if let (Some(ends), Some(_)) = (self.ends_group, self.encoding) {
            self.records.iter().for_each(|record| rows.push(&record.fate));
            self.rows = if ends { mem::take(rows) } else { Rows::default() };
        }
    }

    /// Puts the lines or rows that stay together, and compresses them.
    pub(crate) fn finish(&mut self, piece: &Piece) -> Result<()> {
        let Some(encoding) = self.encoding else { return Ok(()) };
        if piece.table.is_some() {
            let rows = mem::take(&mut self.rows);
            let batch = piece.batch.as_ref().filter(|batch| batch.is_last);
            self.rest_of_group = batch.map(|batch| batch.rest(&rows)).transpose()?;
            return Ok(());
        }
        self.rest.clear();
        if !piece.ends {
            self.assemble(piece)?;
        }
        Ok(encoding.piece(&self.rest, &mut self.piece)?)
    }

    fn assemble(&mut self, piece: &Piece) -> Result<()> {
        let block = piece.lines.source().text;
        let Self { records, text, rest, .. } = self;
        for record in records.iter() {
            let line = &block[record.line.clone()];
            match &record.fate {
                Fate::Drop => continue,
                Fate::Cut(kept) => {
                    // It was parsed before.
                    let place = piece.field.place(line).unwrap_or_default();
                    let _ = json::unquote(&line[place.clone()], text);
                    let left: String = kept.iter().map(|part| &text[part.clone()]).collect();
                    rest.extend_from_slice(&line[..place.start]);
                    serde_json::to_writer(&mut *rest, &left)?;
                    rest.extend_from_slice(&line[place.end..]);
                }
                Fate::Keep => rest.extend_from_slice(line),
            }
            // The last line of a file may lack its terminator.
            if rest.last() != Some(&b'\n') {
                rest.push(b'\n');
            }
        }
        Ok(())
    }
}
