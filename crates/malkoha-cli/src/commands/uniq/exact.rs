//! First occurrences without error: lines of files are compared, those of streams by a long hash.

use std::cell::RefCell;
use std::sync::Arc;

use anyhow::{Context, Result};
use malkoha::KeyHasher;

use super::counts::{Counts, Kept, Spool, print};
use super::distinct::Distinct;
use super::{Arguments, Stats};
use crate::failure::CANNOT_WRITE;
use crate::input::{Block, Hashed, Inputs, Texts};
use crate::output::LineWriter;
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;

pub(super) fn run(arguments: &Arguments, inputs: Inputs, progress: &Progress) -> Result<Stats> {
    let keys = arguments.keys.keys();
    // Where only keys are equal, lines cannot be compared.
    let texts = if keys.are_lines() { Texts::of(&inputs).map(Arc::new) } else { None };
    let inputs = match &texts {
        // Lines that are appended meanwhile cannot be compared with those that are mapped.
        Some(texts) => inputs.up_to(texts.lengths()),
        None => inputs,
    };
    let separator = inputs.separator();
    let what = What::of(arguments);
    let counts = what.needs_counts().then(Counts::default);
    let spool = (what.prints_at_the_end() && texts.is_none()).then(Spool::new).transpose()?;
    let uniq = Uniq {
        distinct: Distinct::new(arguments.capacity)?,
        texts: texts.clone(),
        what,
        counts,
        spool,
        out: LineWriter::stdout(separator, arguments.print.line_buffered)?,
        lines: 0,
        printed: 0,
    };
    // Two independent keys: together they are one hash of 128 bits, of which the map keeps all that
    // the place of a line in it does not tell already.
    let (first, second) = (arguments.seed.hasher(), KeyHasher::random());
    let hashes_twice = texts.is_none();
    let work = move |block: &Block, placed: &mut Placed| {
        (placed.file, placed.offset) = (block.file(), block.offset());
        let Placed { lines, witnesses, .. } = placed;
        lines.fill_and(block.lines(), separator, &keys, first, |keys| {
            if hashes_twice {
                witnesses.extend(keys.iter().map(|key| second.hash_bytes(key)));
            }
        })
    };
    let threads = arguments.threads.threads();
    let mut uniq = in_order(&inputs, progress, threads, work, uniq)?;
    uniq.finish()?;
    let Uniq { distinct, counts, out, lines, printed, .. } = uniq;
    out.finish().context(CANNOT_WRITE)?;
    let bytes = distinct.size_in_bytes() + counts.map_or(0, |counts| counts.size_in_bytes());
    Ok(Stats { lines, distinct: distinct.len(), printed, bytes, fpr: None })
}

/// Which lines are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    First,
    Repeated,
    Duplicates,
    Counted,
    Unique,
}

impl What {
    fn of(arguments: &Arguments) -> Self {
        match arguments {
            Arguments { count: true, .. } => Self::Counted,
            Arguments { duplicates: true, .. } => Self::Duplicates,
            Arguments { unique: true, .. } => Self::Unique,
            Arguments { repeated: true, .. } => Self::Repeated,
            _ => Self::First,
        }
    }

    fn needs_counts(self) -> bool {
        !matches!(self, Self::First | Self::Repeated)
    }

    fn prints_at_the_end(self) -> bool {
        matches!(self, Self::Counted | Self::Unique)
    }
}

/// A block of lines, and what each of them hashes to.
#[derive(Default)]
struct Placed {
    file: usize,
    /// Bytes of the file before it.
    offset: u64,
    lines: Hashed,
    /// The second hashes of lines of a stream; then, or else, where lines begin.
    witnesses: Vec<u64>,
}

/// What knows which lines are new, in their order, and prints them.
struct Uniq {
    distinct: Distinct,
    texts: Option<Arc<Texts>>,
    what: What,
    counts: Option<Counts>,
    spool: Option<Spool>,
    out: LineWriter,
    lines: u64,
    printed: u64,
}

impl Sink for Uniq {
    type Made = Placed;

    fn take(&mut self, block: &mut Placed) -> Result<()> {
        let Self { distinct, texts, what, counts, spool, out, lines, printed } = self;
        let texts = texts.as_deref();
        let Placed { file, offset, lines: hashed, witnesses } = block;
        let text: Vec<&[u8]> = hashed.lines().collect();
        if let Some(texts) = texts {
            let mut place = texts.place(*file, *offset);
            for line in &text {
                witnesses.push(place);
                place += line.len() as u64 + 1;
            }
        }
        let line = |i: usize| text[i];
        // In the map is the witness, or the number of the line that has it.
        let shared = RefCell::new(counts);
        let is_known = |i: usize, value: u64| {
            let witness = shared.borrow().as_ref().map_or(value, |counts| counts.witness(value));
            match texts {
                Some(texts) => texts.is_at(witness, line(i)),
                None => witness == witnesses[i],
            }
        };
        let are_equal = |i: usize, j: usize| match texts {
            Some(_) => line(i) == line(j),
            None => witnesses[i] == witnesses[j],
        };
        let each = |i: usize, before: Option<u64>| {
            let mut counts = shared.borrow_mut();
            let (value, count) = match (before, counts.as_mut()) {
                (None, None) => (witnesses[i], 1),
                (None, Some(counts)) => (counts.add(witnesses[i]), 1),
                (Some(value), None) => (value, 2),
                (Some(number), Some(counts)) => (number, counts.increment(number)),
            };
            if let (Some(spool), 1) = (&mut *spool, count) {
                spool.push(line(i))?;
            }
            let wanted = match what {
                What::First => count == 1,
                What::Repeated => count > 1,
                What::Duplicates => count == 2,
                What::Counted | What::Unique => false,
            };
            if wanted {
                *printed += 1;
                out.write(line(i)).context(CANNOT_WRITE)?;
            }
            Ok(value)
        };
        distinct.take(&hashed.hashes, is_known, are_equal, each)?;
        *lines += text.len() as u64;
        hashed.clear();
        witnesses.clear();
        out.end_batch().context(CANNOT_WRITE)
    }
}

impl Uniq {
    /// Prints what is known when all is read.
    fn finish(&mut self) -> Result<()> {
        let Some(counts) = self.counts.as_ref().filter(|_| self.what.prints_at_the_end()) else {
            return Ok(());
        };
        let kept = match (&self.texts, self.spool.take()) {
            (_, Some(spool)) => Kept::OnDisk(spool),
            (Some(texts), None) => Kept::InFiles(texts),
            (None, None) => return Ok(()),
        };
        self.printed += print(kept, counts, self.what == What::Counted, &mut self.out)?;
        Ok(())
    }
}
