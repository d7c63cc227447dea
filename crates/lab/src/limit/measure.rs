//! The limit by itself: every access, on small and on huge pages.

use std::fs;

use anyhow::{Result, ensure};

use super::{Access, Table};
use crate::args::LimitArgs;
use crate::keys::Keys;
use crate::machine::Machine;
use crate::measure::alternating;
use crate::report::{Grid, Report, number};
use crate::results::{Measure, Results};

/// Keys made at a time.
const BATCH: usize = 32_768;

/// Measures every access on tables of the sizes that were asked for, and reports.
///
/// # Errors
///
/// If there is no memory for a table, or a file cannot be written.
pub fn report(args: &LimitArgs) -> Result<()> {
    ensure!(args.steps > 0 && args.runs > 0, "--steps and --runs must be at least 1");
    let mut report = Report::new(Machine::describe(args.output.date.clone()));
    print!("{}", report.head());
    for &bytes in &args.bytes {
        let results = measure(bytes, args)?;
        print!("{}", grid(&results));
        report.rows.extend(results.rows());
        report.write(&args.output)?;
    }
    Ok(())
}

/// The same table on both kinds of pages, in turn.
fn measure(bytes: u64, args: &LimitArgs) -> Result<Results> {
    let small = Table::new(bytes, false)?;
    let before = huge_page_bytes();
    let huge = Table::new(bytes, true)?;
    let granted = (huge_page_bytes() - before) / huge.bytes() as f64 * 100.0;
    let megabytes = bytes as f64 / 1e6;
    let names = vec![
        format!("{megabytes:.1} MB, small pages"),
        format!("{megabytes:.1} MB, {granted:.0} % on huge pages"),
    ];
    let mut results = Results::new(0, names);
    let mut batch = vec![0; BATCH];
    for run in 0..args.runs {
        let first = u64::from(run) * args.steps;
        for access in Access::all() {
            for side in alternating(2, run) {
                let table = [&small, &huge][side];
                let rate = table.rate(access, Keys::new(1), first, args.steps, &mut batch);
                results.record(side, Measure::Limit(access), rate);
            }
        }
    }
    Ok(results)
}

fn grid(results: &Results) -> Grid {
    let heads = [String::new()].into_iter().chain(results.names.clone());
    let mut grid = Grid::new("Million steps a second", heads);
    for access in Access::all() {
        let rate = |table| number(results.median(table, Measure::Limit(access)));
        grid.row([access.to_string(), rate(0), rate(1)]);
    }
    grid
}

/// Bytes of this process that lie on huge pages; 0 where the system does not tell.
fn huge_page_bytes() -> f64 {
    let text = fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("AnonHugePages:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    kilobytes.unwrap_or(0.0) * 1024.0
}
