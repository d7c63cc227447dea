//! First occurrences by fingerprints alone, of all lines or within a time.

use anyhow::Result;
use malkoha::{Builder, GrowableCuckooFilter, GrowableExpiringCuckooFilter};

use super::{Arguments, Stats};
use crate::commands::first::Printing;
use crate::filter::{Lines, Table};
use crate::input::Side;
use crate::output::LineWriter;
use crate::progress::Progress;

/// The default rate.
const FPR: f64 = 1e-6;

pub(super) fn run(arguments: &Arguments, side: &Side, progress: &Progress) -> Result<Stats> {
    let Arguments { window, repeated, growth, .. } = arguments;
    let out = || LineWriter::stdout(side.separator(), arguments.print.line_buffered);
    if let Some(within) = window.within {
        let builder = builder::<GrowableExpiringCuckooFilter>(arguments, f64::INFINITY);
        let seen = builder.expire_after(within).build()?;
        return print(arguments, side, window.printing(seen, out()?, *repeated), progress);
    }
    let growth = growth.unwrap_or(f64::INFINITY);
    let seen = builder::<GrowableCuckooFilter>(arguments, growth).build()?;
    print(arguments, side, Printing::of(seen, out()?, *repeated), progress)
}

fn builder<F>(arguments: &Arguments, growth: f64) -> Builder<F> {
    let builder = Builder::new().capacity(arguments.capacity).growth(growth);
    builder.fpr(arguments.fpr.unwrap_or(FPR)).with_hasher(arguments.seed.hasher())
}

fn print<T: Table, C: Lines>(
    arguments: &Arguments,
    side: &Side,
    printing: Printing<T, C>,
    progress: &Progress,
) -> Result<Stats> {
    let field = arguments.window.field(&arguments.keys, side.separator())?;
    let printed = printing.run(side, field, None, arguments.threads.threads(), progress)?;
    let Printing { filter: seen, lines, printed, .. } = printed;
    Ok(Stats {
        lines,
        distinct: seen.len(),
        printed,
        bytes: seen.size_in_bytes(),
        fpr: Some(seen.expected_fpr()),
    })
}
