//! First occurrences by fingerprints alone.

use anyhow::{Context, Result};
use malkoha::GrowableCuckooFilter;

use super::{Arguments, DEFAULT_FPR, Stats};
use crate::failure::CANNOT_WRITE;
use crate::input::{Block, Side};
use crate::output::LineWriter;
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;
use crate::records::Hashed;

pub(super) fn run(arguments: &Arguments, side: Side, progress: &Progress) -> Result<Stats> {
    let builder = GrowableCuckooFilter::builder()
        .capacity(arguments.capacity)
        .fpr(arguments.fpr.unwrap_or(DEFAULT_FPR))
        .with_hasher(arguments.seed.hasher());
    let seen = match arguments.growth {
        Some(factor) => builder.growth(factor).build()?,
        None => builder.build()?,
    };
    let hasher = seen.hasher();
    let out = LineWriter::stdout(side.separator(), arguments.print.line_buffered)?;
    let uniq =
        Uniq { seen, new: Vec::new(), repeated: arguments.repeated, out, lines: 0, printed: 0 };
    let Side { inputs, keys } = side;
    let work = move |block: &Block, hashed: &mut Hashed| hashed.fill(block.source(), &keys, hasher);
    let threads = arguments.threads.threads();
    let Uniq { seen, mut out, lines, printed, .. } =
        in_order(&inputs, progress, threads, work, uniq)?;
    out.finish().context(CANNOT_WRITE)?;
    Ok(Stats {
        lines,
        distinct: seen.len(),
        printed,
        bytes: seen.size_in_bytes(),
        fpr: Some(seen.expected_fpr()),
    })
}

/// Finds out which lines are new, in order, and prints them.
struct Uniq {
    seen: GrowableCuckooFilter,
    /// Which lines of a block are new.
    new: Vec<bool>,
    repeated: bool,
    out: LineWriter,
    lines: u64,
    printed: u64,
}

impl Sink for Uniq {
    type Made = Hashed;

    fn head(&mut self, header: &[u8]) -> Result<()> {
        self.out.head(header).context(CANNOT_WRITE)
    }

    fn take(&mut self, block: &mut Hashed) -> Result<()> {
        self.new.resize(block.hashes.len(), false);
        let inserted = self.seen.insert_unique_hashes(&block.hashes, &mut self.new);
        inserted.map_err(|refusal| refusal.error)?;
        for (line, fit) in block.records() {
            if fit.is_none_or(|i| self.new[i]) != self.repeated {
                self.printed += 1;
                self.out.write(line).context(CANNOT_WRITE)?;
            }
        }
        self.lines += block.len() as u64;
        block.clear();
        self.out.end_batch().context(CANNOT_WRITE)
    }
}
