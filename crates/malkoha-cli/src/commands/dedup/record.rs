//! From a block of lines to hashed texts, and from decisions to the lines that stay.

use std::ops::Range;

use anyhow::{Result, bail};
use malkoha_text::{Decision, Prepared, Preparer};
use serde_json::{Value, json};

use super::json::{Bad, Field};
use super::source::Piece;
use crate::output::{Encoding, Piece as Compressed};
use crate::records::{shown, split};

/// What is done with records without a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum OnBad {
    /// Keep them as they are
    Keep,
    /// Drop them
    Drop,
    /// Stop with an error that names the first
    Stop,
}

/// The records of a block.
#[derive(Default)]
pub(super) struct Records {
    pub(super) shard: usize,
    /// There is no more of this file.
    pub(super) ends: bool,
    pub(super) records: Vec<Record>,
    /// By record; some more are memory to use again.
    prepared: Vec<Prepared>,
    text: String,
    /// What is left of the block, and its compressed form.
    pub(super) rest: Vec<u8>,
    pub(super) piece: Compressed,
    /// Lines of the report.
    pub(super) report: Vec<u8>,
    /// How what is left is compressed, if it is written.
    pub(super) encoding: Option<Encoding>,
    on_bad: Option<OnBad>,
    /// What was done until here.
    pub(super) progress: Option<super::journal::Progress>,
}

/// A line.
pub(super) struct Record {
    /// Its place in the block, with its terminator.
    line: Range<usize>,
    pub(super) content: Content,
    pub(super) decision: Decision,
}

/// What a line has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A text, whose JSON string has this place in the line.
    Text(Range<usize>),
    Bad(Bad),
    Blank,
}

impl Records {
    /// Reads and hashes the texts of a block.
    pub(super) fn read(
        &mut self,
        piece: &Piece,
        file: &str,
        field: &Field,
        preparer: &Preparer,
        on_bad: OnBad,
    ) -> Result<()> {
        let Self { records, prepared, text, .. } = self;
        (self.shard, self.ends, self.on_bad) = (piece.shard, piece.ends, Some(on_bad));
        records.clear();
        self.report.clear();
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
                    prepared.push(Prepared::default());
                }
                if matches!(content, Content::Text(_)) {
                    preparer.prepare(text, &mut prepared[at]);
                }
                records.push(Record { line: start..end, content, decision: Decision::Keep });
                start = end;
            }
            Ok(())
        })
    }

    /// The records, and the hashes of their texts.
    pub(super) fn each(&mut self) -> impl Iterator<Item = (&mut Record, &Prepared)> {
        self.records.iter_mut().zip(&self.prepared)
    }

    /// Puts together what is left of the block, and compresses it.
    pub(super) fn finish(&mut self, piece: &Piece) -> Result<()> {
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
        for Record { line, content, decision } in records.iter() {
            let line = &block[line.clone()];
            match (content, decision) {
                (Content::Blank, _) | (_, Decision::Drop(_)) => continue,
                (Content::Bad(_), _) if *on_bad != Some(OnBad::Keep) => continue,
                (Content::Text(place), Decision::Cut { kept, .. }) => {
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

/// The report on a record that does not stay as it is.
pub(super) fn report(
    record: &Record,
    file: &str,
    line: u64,
    of: impl Fn(u64) -> Value,
) -> Option<Value> {
    use malkoha_text::Reason;
    let mut report = json!({ "file": file, "line": line });
    match (&record.content, &record.decision) {
        (Content::Blank, _) | (Content::Text(_), Decision::Keep) => return None,
        (Content::Bad(bad), _) => {
            report["why"] = "bad".into();
            report["bad"] = bad.to_string().into();
        }
        (_, Decision::Cut { paragraphs, .. }) => {
            report["why"] = "cut".into();
            report["paragraphs"] = (*paragraphs).into();
        }
        (_, Decision::Drop(duplicate)) => {
            match duplicate.reason {
                Reason::Near { bands, similarity } => {
                    report["why"] = "near".into();
                    report["bands"] = bands.into();
                    report["similarity"] = ((similarity * 100.0).round() / 100.0).into();
                }
                Reason::Paragraphs { repeated, left } => {
                    report["why"] = "paragraphs".into();
                    report["paragraphs"] = repeated.into();
                    report["left"] = left.into();
                }
                _ => report["why"] = "same".into(),
            }
            if let Some(number) = duplicate.of {
                report["of"] = of(number);
            }
        }
    }
    Some(report)
}
