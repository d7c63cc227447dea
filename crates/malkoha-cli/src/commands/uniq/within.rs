//! First occurrences within a time.

use anyhow::Result;
use malkoha::GrowableExpiringCuckooFilter;

use super::{Arguments, DEFAULT_FPR, Stats};
use crate::input::Inputs;
use crate::output::LineWriter;
use crate::progress::Progress;

pub(super) fn run(
    arguments: &Arguments,
    within: u64,
    inputs: &Inputs,
    progress: &Progress,
) -> Result<Stats> {
    let seen = GrowableExpiringCuckooFilter::builder()
        .capacity(arguments.capacity)
        .fpr(arguments.fpr.unwrap_or(DEFAULT_FPR))
        .expire_after(within)
        .with_hasher(arguments.seed.hasher())
        .build()?;
    let out = LineWriter::stdout(inputs.separator(), arguments.print.line_buffered)?;
    let printed = arguments.window.print(
        seen,
        (inputs, &arguments.keys),
        (out, arguments.repeated),
        arguments.threads.threads(),
        progress,
    )?;
    Ok(Stats {
        lines: printed.lines,
        distinct: printed.seen.len(),
        printed: printed.printed,
        bytes: printed.seen.size_in_bytes(),
        fpr: Some(printed.seen.expected_fpr()),
    })
}
