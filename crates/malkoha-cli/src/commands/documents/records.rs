//! From a block of lines to prepared texts, and from decisions to the lines that stay.

use std::ops::Range;

use anyhow::{Result, bail};

use super::json::{Bad, Field};
use super::source::Piece;
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
    /// By record; some more are memory to use again.
    prepared: Vec<P>,
    text: String,
    /// The lines of the block that stay, and their compressed form.
    pub(crate) rest: Vec<u8>,
    pub(crate) piece: Compressed,
    /// Lines of the report.
    pub(crate) report: Vec<u8>,
    /// How the lines that stay are compressed, if they are written.
    pub(crate) encoding: Option<Encoding>,
    on_bad: Option<OnBad>,
    /// Set where a file ends that is new.
    pub(crate) note: Option<E>,
}

/// A line.
pub(crate) struct Record {
    /// Its place in the block, with its terminator.
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

/// The content of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A text, whose JSON string has this place in the line.
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
            text: String::new(),
            rest: Vec::new(),
            piece: Compressed::default(),
            report: Vec::new(),
            encoding: None,
            on_bad: None,
            note: None,
        }
    }
}

impl<P: Default, E> Records<P, E> {
    /// Reads and prepares the texts of a block.
    pub(crate) fn read(
        &mut self,
        piece: &Piece,
        file: &str,
        field: &Field,
        prepare: &impl Fn(&str, &mut P),
        on_bad: OnBad,
    ) -> Result<()> {
        let Self { records, prepared, text, .. } = self;
        (self.shard, self.ends, self.on_bad) = (piece.shard, piece.ends, Some(on_bad));
        records.clear();
        self.report.clear();
        self.note = None;
        if piece.ends {
            return Ok(());
        }
        let block = piece.lines.source();
        let mut start = 0;
        split(block.text, b'\n', |lines| {
            for &line in lines {
                let at = records.len();
                let end = (start + line.len() + 1).min(block.text.len());
                let content = match field.read(line, text) {
                    Ok(place) => Content::Text(place),
                    Err(_) if line.trim_ascii().is_empty() => Content::Blank,
                    Err(bad) if on_bad == OnBad::Stop => bail!(
                        "line {} of {file} {bad}: '{}' (--bad keep or drop goes on)",
                        block.lines_before + at as u64 + 1,
                        shown(line)
                    ),
                    Err(bad) => Content::Bad(bad),
                };
                if prepared.len() == at {
                    prepared.push(P::default());
                }
                if matches!(content, Content::Text(_)) {
                    prepare(text, &mut prepared[at]);
                }
                records.push(Record { line: start..end, content, fate: Fate::Keep });
                start = end;
            }
            Ok(())
        })
    }

    /// The records and their prepared texts.
    pub(crate) fn each(&mut self) -> impl Iterator<Item = (&mut Record, &mut P)> {
        self.records.iter_mut().zip(&mut self.prepared)
    }

    /// Puts the lines that stay together, and compresses them.
    pub(crate) fn finish(&mut self, piece: &Piece) -> Result<()> {
        let Some(encoding) = self.encoding else { return Ok(()) };
        self.rest.clear();
        if !piece.ends {
            self.assemble(piece)?;
        }
        Ok(encoding.piece(&self.rest, &mut self.piece)?)
    }

    fn assemble(&mut self, piece: &Piece) -> Result<()> {
        let block = piece.lines.source().text;
        let Self { records, text, rest, on_bad, .. } = self;
        for Record { line, content, fate } in records.iter() {
            let line = &block[line.clone()];
            match (content, fate) {
                (Content::Blank, _) | (_, Fate::Drop) => continue,
                (Content::Bad(_), _) if *on_bad != Some(OnBad::Keep) => continue,
                (Content::Text(place), Fate::Cut(kept)) => {
                    text.clear();
                    // It was read before.
                    let _ = super::json::unquote(&line[place.clone()], text);
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
