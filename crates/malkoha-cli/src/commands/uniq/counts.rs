//! How often each distinct line occurs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};

use anyhow::{Context, Result};

use crate::input::Texts;
use crate::output::Printer;
use crate::records::Keys;

/// Distinct lines by their numbers, in the order of their first occurrences.
#[derive(Default)]
pub(super) struct Counts {
    /// The identity of a line: its place, or a hash.
    pub(super) witnesses: Vec<u64>,
    pub(super) counts: Vec<u64>,
}

impl Counts {
    /// The number of a line that is new.
    pub(super) fn add(&mut self, witness: u64) -> u64 {
        self.witnesses.push(witness);
        self.counts.push(1);
        self.counts.len() as u64 - 1
    }

    /// Counts a line again, and returns its count.
    pub(super) fn increment(&mut self, number: u64) -> u64 {
        let count = &mut self.counts[index(number)];
        *count += 1;
        *count
    }

    pub(super) fn witness(&self, number: u64) -> u64 {
        self.witnesses[index(number)]
    }

    pub(super) fn size_in_bytes(&self) -> u64 {
        (size_of::<u64>() * (self.witnesses.capacity() + self.counts.capacity())) as u64
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("the number of a vector's element")
}

/// Lines that are kept on disk, because a stream is read once and they are printed at its end.
pub(super) struct Spool(BufWriter<File>);

const KEEPING: &str = "cannot keep lines in a temporary file (TMPDIR says where)";

impl Spool {
    pub(super) fn new() -> Result<Self> {
        Ok(Self(BufWriter::new(tempfile::tempfile().context(KEEPING)?)))
    }

    /// The record of a line: the number of its part, and the line.
    pub(super) fn spell(part: usize, line: &[u8], text: &mut Vec<u8>) {
        text.extend_from_slice(&(part as u64).to_le_bytes());
        text.extend_from_slice(&(line.len() as u64).to_le_bytes());
        text.extend_from_slice(line);
    }

    /// Takes lines that have been spelled.
    pub(super) fn write(&mut self, text: &[u8]) -> Result<()> {
        self.0.write_all(text).context(KEEPING)
    }
}

/// Prints lines at the end, from where they are kept, by the counts in each part: all with their
/// counts, or those that occurred once.
pub(super) fn print(
    kept: (Option<Spool>, Option<&Texts>),
    parts: &[&Counts],
    counted: Option<&Keys>,
    printer: &mut Printer,
) -> Result<()> {
    let mut text = Vec::new();
    let mut each = |line: &[u8], count: u64| {
        let Some(keys) = counted else {
            return if count > 1 { Ok(()) } else { printer.write(line) };
        };
        text.clear();
        keys.push_counted(line, Some(count), &mut text);
        printer.write(&text)
    };
    // For each part, the lines that are printed next.
    let mut next = vec![0; parts.len()];
    match kept {
        (_, Some(texts)) => {
            let place = |part: usize, next: usize| {
                parts[part].witnesses.get(next).map(|&place| Reverse((place, part)))
            };
            let mut first: BinaryHeap<_> =
                (0..parts.len()).filter_map(|part| place(part, 0)).collect();
            while let Some(Reverse((at, part))) = first.pop() {
                each(texts.record_at(at), parts[part].counts[next[part]])?;
                next[part] += 1;
                first.extend(place(part, next[part]));
            }
        }
        (Some(Spool(spool)), None) => {
            let mut file =
                spool.into_inner().map_err(|error| error.into_error()).context(KEEPING)?;
            file.rewind().context(KEEPING)?;
            let (mut file, mut line) = (BufReader::new(file), Vec::new());
            let number = |file: &mut BufReader<File>| {
                let mut bytes = [0; 8];
                file.read_exact(&mut bytes).context(KEEPING)?;
                anyhow::Ok(usize::try_from(u64::from_le_bytes(bytes))?)
            };
            for _ in 0..parts.iter().map(|part| part.counts.len()).sum() {
                let part = number(&mut file)?;
                line.resize(number(&mut file)?, 0);
                file.read_exact(&mut line).context(KEEPING)?;
                each(&line, parts[part].counts[next[part]])?;
                next[part] += 1;
            }
        }
        (None, None) => {}
    }
    Ok(())
}
