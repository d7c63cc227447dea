//! First occurrences by fingerprints alone.

use anyhow::Result;
use malkoha::tables::Growing;
use malkoha::{GrowableCuckooFilter, Keys};

use super::{Arguments, DEFAULT_FPR, Stats};
use crate::commands::first::New;
use crate::commands::keeping::Save;
use crate::input::{Block, Side};
use crate::output::LineWriter;
use crate::pipeline::in_order;
use crate::progress::Progress;
use crate::records::Hashed;

pub(super) fn run(arguments: &Arguments, side: Side, progress: &Progress) -> Result<Stats> {
    let builder = GrowableCuckooFilter::builder()
        .capacity(arguments.capacity)
        .fpr(arguments.fpr.unwrap_or(DEFAULT_FPR))
        .growth(arguments.growth.unwrap_or(f64::INFINITY))
        .with_hasher(arguments.seed.hasher());
    let seen = builder.build()?;
    let hasher = seen.hasher();
    let out = LineWriter::stdout(side.separator(), arguments.print.line_buffered)?;
    let uniq = New::<Growing, Keys>::of(seen, out, arguments.repeated, None);
    let Side { inputs, keys } = side;
    let work = move |block: &Block, hashed: &mut Hashed| hashed.fill(block.source(), &keys, hasher);
    let threads = arguments.threads.threads();
    let mut uniq = in_order(&inputs, progress, threads, work, uniq)?;
    uniq.save()?;
    let New { filter: seen, lines, printed, .. } = uniq;
    Ok(Stats {
        lines,
        distinct: seen.len(),
        printed,
        bytes: seen.size_in_bytes(),
        fpr: Some(seen.expected_fpr()),
    })
}
