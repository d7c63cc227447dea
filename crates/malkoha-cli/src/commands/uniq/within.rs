//! First occurrences within a time.

use anyhow::Result;
use malkoha::GrowableExpiringCuckooFilter;

use super::{Arguments, DEFAULT_FPR, Stats};
use crate::input::Side;
use crate::output::LineWriter;
use crate::progress::Progress;

pub(super) fn run(
    arguments: &Arguments,
    within: u64,
    side: &Side,
    progress: &Progress,
) -> Result<Stats> {
    let seen = GrowableExpiringCuckooFilter::builder()
        .capacity(arguments.capacity)
        .fpr(arguments.fpr.unwrap_or(DEFAULT_FPR))
        .growth(f64::INFINITY)
        .expire_after(within)
        .with_hasher(arguments.seed.hasher())
        .build()?;
    let out = LineWriter::stdout(side.separator(), arguments.print.line_buffered)?;
    let printed = arguments.window.print(
        seen,
        (side, &arguments.keys),
        (out, arguments.repeated),
        None,
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
