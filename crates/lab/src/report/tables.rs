//! The tables of one size.

use super::text::{Grid, number};
use crate::keys::Present;
use crate::limit::Access;
use crate::results::{Measure, PARTS, Results};
use crate::subject::How;
use crate::workload::Settings;

/// Everything that was measured at one size, for people.
#[must_use]
pub fn tables(results: &Results, settings: &Settings) -> String {
    let mut text = format!(
        "\n== {} keys; medians of {} runs; million keys a second on one core ==\n",
        results.keys, settings.runs
    );
    let grids = [
        space(results, settings),
        construction(results),
        deciles(results),
        lookups(results, "Lookups one by one", &[How::Single, How::Call, How::Hash]),
        lookups(results, "Lookups in batches", &[How::Many, How::Hashes]),
        limits(results),
    ];
    for grid in grids {
        text += &grid.to_string();
    }
    text
}

fn contenders(results: &Results) -> impl Iterator<Item = (usize, String)> {
    // Those without a limit of their own are limits.
    results.limits.keys().map(|&contender| (contender, results.names[contender].clone()))
}

fn space(results: &Results, settings: &Settings) -> Grid {
    let title = format!(
        "Space and answers (false positives: {} absent keys a run; faults in keys, all runs)",
        settings.lookups
    );
    let head =
        ["", "bits/key", "load %", "fpr %", "stated %", "refused", "lost", "differ", "unremoved"];
    let mut grid = Grid::new(title, head);
    for (contender, name) in contenders(results) {
        let value = |measure| results.median(contender, measure);
        let fault = |measure| {
            let runs = results.runs(contender, measure);
            if runs.is_empty() { String::new() } else { runs.iter().sum::<f64>().to_string() }
        };
        let percent = |measure| value(measure).map_or(String::new(), |rate| format!("{rate:.4}"));
        grid.row([
            name,
            number(value(Measure::BitsPerKey)),
            number(value(Measure::Load)),
            percent(Measure::Fpr),
            percent(Measure::ExpectedFpr),
            fault(Measure::Refused),
            fault(Measure::Lost),
            fault(Measure::Disagreements),
            fault(Measure::NotRemoved),
        ]);
    }
    grid
}

fn construction(results: &Results) -> Grid {
    let columns = [
        ("insert", Measure::Insert(How::Single)),
        ("last 1/10", Measure::last_tenth(How::Single)),
        ("last 1/20", Measure::last_twentieth(How::Single)),
        ("insert_many", Measure::Insert(How::Many)),
        ("last 1/10", Measure::last_tenth(How::Many)),
        ("last 1/20", Measure::last_twentieth(How::Many)),
        ("build", Measure::Build(1)),
        ("on 2 cores", Measure::Build(2)),
        ("remove", Measure::Remove(How::Single)),
        ("remove_many", Measure::Remove(How::Many)),
    ];
    let head = std::iter::once("").chain(columns.iter().map(|(head, _)| *head));
    let mut grid = Grid::new("Inserts and removals", head);
    for (contender, name) in contenders(results) {
        let cells = columns.iter().map(|&(_, measure)| number(results.median(contender, measure)));
        grid.row(std::iter::once(name).chain(cells));
    }
    grid
}

fn deciles(results: &Results) -> Grid {
    let starts = (0..PARTS).step_by(2);
    let percent = |part: u8| u32::from(part) * 100 / u32::from(PARTS);
    let heads = starts.clone().map(|part| format!("to {} %", percent(part + 2)));
    let mut grid =
        Grid::new("Inserts by tenth of the keys", [String::new()].into_iter().chain(heads));
    for (contender, name) in contenders(results) {
        for how in [How::Single, How::Many] {
            let rate = |part| results.median(contender, Measure::InsertPart(how, part, part + 2));
            if rate(0).is_some() {
                let cells = starts.clone().map(|part| number(rate(part)));
                grid.row([format!("{name}, {how}")].into_iter().chain(cells));
            }
        }
    }
    grid
}

fn lookups(results: &Results, title: &str, ways: &[How]) -> Grid {
    let columns = || ways.iter().flat_map(|&how| Present::ALL.map(|present| (how, present)));
    let heads = columns().map(|(how, Present(percent))| format!("{how} {percent} %"));
    let title = format!("{title} (fraction of what the memory allows), by share of present keys");
    let mut grid = Grid::new(title, [String::new()].into_iter().chain(heads));
    for (contender, name) in contenders(results) {
        let cell = |(how, present)| {
            let measure = Measure::Find(how, present);
            let rate = results.median(contender, measure)?;
            let fraction = results.of_limit(contender, measure);
            Some(format!("{} ({})", number(Some(rate)), number(fraction)))
        };
        let cells: Vec<String> = columns().map(|column| cell(column).unwrap_or_default()).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            grid.row([name].into_iter().chain(cells));
        }
    }
    grid
}

fn limits(results: &Results) -> Grid {
    let mut tables: Vec<usize> = results.limits.values().copied().collect();
    tables.sort_unstable();
    tables.dedup();
    let heads = tables.iter().map(|&table| results.names[table].clone());
    let mut grid = Grid::new("What the memory allows", [String::new()].into_iter().chain(heads));
    for access in Access::of_lookups() {
        let rate = |&table: &usize| number(results.median(table, Measure::Limit(access)));
        grid.row([access.to_string()].into_iter().chain(tables.iter().map(rate)));
    }
    grid
}
