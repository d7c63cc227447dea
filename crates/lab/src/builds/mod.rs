//! Building from a slice, compared with a plain loop of partitioned writes, which only sorts keys
//! by segment and then writes each to a random place of its segment.

mod writes;

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::args::BuildsArgs;
use crate::keys::Keys;
use crate::machine::Machine;
use crate::measure::{alternating, median, processor_time, rate};
use crate::peer;
use crate::report::{Grid, Report, number};
use crate::subject::{Contender, How, Subject};

/// The first row, with which the others are compared.
const LOOP: &str = "plain partitioned writes";

/// What is measured in a row of the table.
struct Row {
    name: String,
    work: Work,
    /// Million keys per second.
    rates: Vec<f64>,
    /// Peak memory beyond what the result keeps, in bytes per key.
    beside: f64,
}

enum Work {
    Writes,
    Build { layout: usize, threads: usize },
    Insert { peer: Contender },
}

/// Measures and prints.
///
/// # Errors
///
/// If a filter cannot be built, a peer cannot be loaded, or there is no memory.
pub fn report(args: &BuildsArgs) -> Result<()> {
    ensure!(
        args.runs > 0 && args.threads.iter().all(|&n| n > 0),
        "--runs and --threads: 1 or more"
    );
    print!("{}", Report::new(Machine::describe(args.date.clone())).head());
    for &keys in &args.keys {
        print!("{}", table(args, keys)?);
    }
    Ok(())
}

fn table(args: &BuildsArgs, keys: u64) -> Result<Grid> {
    let contenders: Vec<Contender> = args.layouts.iter().cloned().map(|l| l.contender()).collect();
    let mut rows = vec![Row::new(LOOP.to_owned(), Work::Writes)];
    for (layout, contender) in contenders.iter().enumerate() {
        rows.extend(args.threads.iter().map(|&threads| {
            let name = format!("{}, {threads} threads", contender.name);
            Row::new(name, Work::Build { layout, threads })
        }));
    }
    for path in &args.peers {
        let peer = peer::contender(path, None)?;
        rows.push(Row::new(format!("{}, one by one", peer.name), Work::Insert { peer }));
    }
    let mut all = vec![0; usize::try_from(keys)?];
    Keys::new(args.seed).members(0, &mut all);
    let bytes = match args.layouts.first() {
        Some(layout) => layout.builder(keys).plan()?.bytes,
        None => keys * 2,
    };
    for run in 0..args.runs {
        for number in alternating(rows.len(), run) {
            rows[number].measure(&contenders, &all, bytes)?;
        }
    }
    let head = ["", "M keys/s", "of the loop", "of one thread", "beside it, bytes a key"];
    let mut grid = Grid::new(format!("Building from {keys} keys, {} runs", args.runs), head);
    let first = median(&rows[0].rates);
    let mut one = None;
    for row in &rows {
        let rate = median(&row.rates);
        let is_one = !matches!(row.work, Work::Build { threads: 2.., .. });
        one = if is_one { rate } else { one };
        let of = |other: Option<f64>| number(rate.zip(other).map(|(rate, other)| rate / other));
        let gain = if is_one { String::new() } else { of(one) };
        grid.row([row.name.clone(), number(rate), of(first), gain, number(Some(row.beside))]);
    }
    Ok(grid)
}

impl Row {
    fn new(name: String, work: Work) -> Self {
        Self { name, work, rates: Vec::new(), beside: 0.0 }
    }

    fn measure(&mut self, ours: &[Contender], keys: &[u64], bytes: u64) -> Result<()> {
        let before = peak_from_now();
        let (start, processor) = (Instant::now(), processor_time());
        let mut threads = 1;
        let kept = match &self.work {
            Work::Writes => {
                writes::partitioned(keys, bytes)?;
                bytes
            }
            Work::Build { layout, threads: number } => {
                threads = *number;
                let build = ours[*layout].build.as_ref().expect("ours can be built");
                build(keys, threads)?.bytes()
            }
            Work::Insert { peer } => {
                let mut filter: Box<dyn Subject> = (peer.make)(keys.len() as u64)?;
                filter.insert(How::Single, keys, &mut Vec::new());
                filter.bytes()
            }
        };
        // On a busy machine, a thread's own processor time says more than the clock.
        let alone = processor_time().saturating_sub(processor);
        let time: Duration = if threads == 1 { alone } else { start.elapsed() };
        let peak = peak().saturating_sub(before).saturating_sub(kept);
        self.rates.push(rate(keys.len() as u64, time));
        self.beside = peak as f64 / keys.len() as f64;
        Ok(())
    }
}

/// Resets the system's record of peak memory; returns the bytes now in use, or 0 where the system
/// does not tell.
fn peak_from_now() -> u64 {
    let _ = fs::write("/proc/self/clear_refs", "5");
    status("VmRSS:")
}

fn peak() -> u64 {
    status("VmHWM:")
}

fn status(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_stands_in_the_table() {
        let args = BuildsArgs {
            keys: vec![200_000],
            layouts: vec!["bucketed".parse().unwrap(), "gap-windows".parse().unwrap()],
            threads: vec![1, 2],
            peers: vec![],
            runs: 1,
            seed: 1,
            date: None,
        };
        let text = table(&args, 200_000).unwrap().to_string();
        for row in [LOOP, "bucketed:12, 1 threads", "gap-windows:11, 2 threads"] {
            assert!(text.lines().any(|line| line.contains(row)), "{text}");
        }
    }
}
