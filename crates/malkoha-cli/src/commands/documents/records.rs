//! From a block of lines to prepared texts, and from decisions to the lines that stay.

use std::ops::Range;

use anyhow::{Result, bail};
use malkoha_text::Memory;

use super::json::{self, Bad, Field};
use super::source::Piece;
use super::table::{Group, Rest};
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

/// The records of a block. Texts are prepared as `P`; the end of a file can have a note `E`.
pub(crate) struct Records<P, E> {
    pub(crate) shard: usize,
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
    /// The rows of a table that stay.
    pub(super) rest_of_group: Option<Rest>,
    /// Lines of the report.
    pub(crate) report: Vec<u8>,
    /// How the lines that stay are compressed, if they are written.
    pub(crate) encoding: Option<Encoding>,
    on_bad: Option<OnBad>,
    /// Set at the end of a new file.
    pub(crate) note: Option<E>,
}

/// A line, or a row of a table.
pub(crate) struct Record {
    /// The line's place in the block, with its terminator.
    line: Range<usize>,
    pub(crate) content: Content,
    pub(crate) fate: Fate,
}

/// The decision on a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Keep,
    Drop,
    /// Only these parts of the text stay.
    Cut(Vec<Range<usize>>),
}

/// What stays of a record.
pub(super) enum Row<'a> {
    Drop,
    Keep,
    Cut(&'a [Range<usize>]),
}

impl Record {
    fn row(&self, on_bad: Option<OnBad>) -> Row<'_> {
        match (&self.content, &self.fate) {
            (Content::Blank, _) | (_, Fate::Drop) => Row::Drop,
            (Content::Bad(_), _) if on_bad != Some(OnBad::Keep) => Row::Drop,
            (Content::Text(_), Fate::Cut(kept)) => Row::Cut(kept),
            _ => Row::Keep,
        }
    }
}

/// The content of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A text, whose JSON string has this place in the line, if it is one.
    Text(Range<usize>),
    Bad(Bad),
    Blank,
}

impl<P, E> Default for Records<P, E> {
    fn default() -> Self {
        Self {
            shard: 0,
            ends: false,
            records: Vec::new(),
            prepared: Vec::new(),
            memory: Memory::default(),
            text: String::new(),
            rest: Vec::new(),
            piece: Compressed::default(),
            rest_of_group: None,
            report: Vec::new(),
            encoding: None,
            on_bad: None,
            note: None,
        }
    }
}

/// What a text is prepared as.
pub(crate) trait Hashes: Default + Send + 'static {
    /// Bytes of it, with those elsewhere in memory.
    fn size_in_bytes(&self) -> usize;
}

impl<P: Hashes, E> Records<P, E> {
    /// Moves what decisions and reports need.
    pub(crate) fn set_aside(&mut self) -> (Self, usize) {
        let prepared: Vec<P> = self.prepared.drain(..self.records.len()).collect();
        let records: Vec<Record> = self.records.drain(..).collect();
        let bytes =
            size_of_val(&records[..]) + prepared.iter().map(P::size_in_bytes).sum::<usize>();
        let Self { shard, ends, on_bad, .. } = *self;
        (Self { shard, ends, on_bad, records, prepared, ..Self::default() }, bytes)
    }

    /// Reads and prepares the texts of a block.
    pub(crate) fn read(
        &mut self,
        piece: &Piece,
        file: &str,
        field: &Field,
        prepare: &impl Fn(&str, &mut Memory, &mut P),
        on_bad: OnBad,
    ) -> Result<()> {
        let Self { records, prepared, memory, text, .. } = self;
        (self.shard, self.ends, self.on_bad) = (piece.shard, piece.ends, Some(on_bad));
        records.clear();
        self.report.clear();
        self.note = None;
        if piece.ends {
            return Ok(());
        }
        let mut add = |line, content, text: &str| {
            let at = records.len();
            if prepared.len() == at {
                prepared.push(P::default());
            }
            if matches!(content, Content::Text(_)) {
                prepare(text, memory, &mut prepared[at]);
            }
            records.push(Record { line, content, fate: Fate::Keep });
        };
        if let Some(group) = &piece.group {
            return read_rows(group, piece.rows_before, file, field, on_bad, |content, text| {
                add(0..0, content, text);
            });
        }
        let block = piece.lines.source();
        let (mut start, mut number) = (0, block.lines_before);
        split(block.text, b'\n', |lines| {
            for &line in lines {
                number += 1;
                let end = (start + line.len() + 1).min(block.text.len());
                let content = match field.read(line, text) {
                    Ok(place) => Content::Text(place),
                    Err(_) if line.trim_ascii().is_empty() => Content::Blank,
                    Err(bad) if on_bad == OnBad::Stop => bail!(
                        "line {number} of {file} {}: '{}' (--bad keep or drop goes on)",
                        field.complaint(bad, || json::fields(line)),
                        shown(line)
                    ),
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

    /// Puts the lines or rows that stay together, and compresses them.
    pub(crate) fn finish(&mut self, piece: &Piece) -> Result<()> {
        let Some(encoding) = self.encoding else { return Ok(()) };
        if let Some(group) = &piece.group {
            if !piece.ends {
                let rows: Vec<_> = self.records.iter().map(|it| it.row(self.on_bad)).collect();
                self.rest_of_group = Some(group.rest(&rows)?);
            }
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
        let Self { records, text, rest, on_bad, .. } = self;
        for record in records.iter() {
            let line = &block[record.line.clone()];
            match (record.row(*on_bad), &record.content) {
                (Row::Drop, _) => continue,
                (Row::Cut(kept), Content::Text(place)) => {
                    text.clear();
                    // It was parsed before.
                    let _ = json::unquote(&line[place.clone()], text);
                    let left: String = kept.iter().map(|part| &text[part.clone()]).collect();
                    rest.extend_from_slice(&line[..place.start]);
                    serde_json::to_writer(&mut *rest, &left)?;
                    rest.extend_from_slice(&line[place.end..]);
                }
                _ => rest.extend_from_slice(line),
            }
            // The last line of a file may lack its terminator.
            if rest.last() != Some(&b'\n') {
                rest.push(b'\n');
            }
        }
        Ok(())
    }
}

/// Reads the rows of a table.
fn read_rows(
    group: &Group,
    mut number: u64,
    file: &str,
    field: &Field,
    on_bad: OnBad,
    mut add: impl FnMut(Content, &str),
) -> Result<()> {
    group.each_text(|text| {
        number += 1;
        match text {
            Ok(text) => add(Content::Text(0..0), text),
            Err(bad) if on_bad == OnBad::Stop => bail!(
                "row {number} of {file} {} (--bad keep or drop goes on)",
                field.complaint(bad, || group.table.fields())
            ),
            Err(bad) => add(Content::Bad(bad), ""),
        }
        Ok(())
    })
}
