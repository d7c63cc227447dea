//! The figures of the paper, each with our plots.

use anyhow::Result;

use super::data::{Data, FULL_MEGABYTES, line, names};
use super::plot::{Axis, Line, Plot, among};
use crate::paper::Experiment as E;
use crate::threads::Mix;

const BITS: Axis = Axis { label: "bits of a fingerprint", from: 0.0, to: 20.5, logarithmic: false };
const RATE: Axis = Axis { label: "false-positive rate", from: 0.9e-5, to: 0.12, logarithmic: true };
const ITEM: Axis = Axis { label: "bits an item", from: 0.0, to: 24.0, logarithmic: false };
const PRESENT: Axis =
    Axis { label: "present keys among the queries, %", from: 0.0, to: 100.0, logarithmic: false };
const OCCUPANCY: Axis = Axis { label: "occupancy, %", from: 0.0, to: 101.0, logarithmic: false };

/// The lines of the panels of figures 3 and 4.
const WALKS: [&str; 3] = ["b = 2", "b = 4", "b = 8"];
const LAYOUTS: [&str; 6] =
    ["b = 4", "our buckets of 4", "semi-sorted", "gap windows", "concurrent", "growable"];
const FORMULAS: [&str; 4] = ["bound", "Bloom", "CF", "ss-CF"];
const PLANS: [&str; 6] =
    ["bound", "Bloom", "our buckets of 4", "our semi-sorted", "gap windows", "concurrent"];
/// The lines of figures 5 to 8: the paper's filters, then CF and ours.
const PANELS: [(&str, [&str; 6]); 2] = [
    ("", ["CF", "ss-CF", "BF", "blk-BF", "QF", "dl-CBF"]),
    ("-ours", ["CF", "CBF", "gap windows", "growable", "concurrent", "shared growing"]),
];
/// The lines of each plot of threads: every kind of lock, then other ways to share a filter.
const SHARED: [(&str, [&str; 6]); 2] = [
    (
        "",
        [
            "striped, parking",
            "striped, MCS",
            "striped, elided MCS",
            "one lock, parking",
            "one lock, MCS",
            "one lock, elided MCS",
        ],
    ),
    (
        "-others",
        ["striped, parking", "64 x Mutex<CuckooFilter>", "one owner, no sharing", "", "", ""],
    ),
];

/// A panel of the results, the start of its files' names, and its vertical axis.
type Panel = (&'static str, &'static str, &'static str);

/// All plots, in the paper's order.
pub(super) fn all(data: &Data) -> Result<Vec<Plot>> {
    let speeds: [(_, _, _, &[Panel]); 4] = [
        ("Figure 5", E::Figure5, PRESENT, &[("lookups", "figure5", "million lookups a second")]),
        (
            "Figure 6",
            E::Figure6,
            OCCUPANCY,
            &[
                ("absent keys", "figure6-absent", "million lookups a second, absent keys"),
                ("present keys", "figure6-present", "million lookups a second, present keys"),
            ],
        ),
        ("Figure 7", E::Figure7, OCCUPANCY, &[("inserts", "figure7", "million inserts a second")]),
        (
            "Figure 8",
            E::Figure8,
            OCCUPANCY,
            &[("removals", "figure8", "million removals a second")],
        ),
    ];
    let mut plots = figure2(data)?;
    plots.extend(space(data, "Figure 3", E::Figure3)?);
    plots.extend(space(data, "Figure 4", E::Figure4)?);
    for (title, experiment, x, panels) in speeds {
        plots.extend(speed_by(data, title, experiment, x, panels)?);
    }
    if !data.threads.is_empty() {
        plots.extend(threads(data)?);
    }
    Ok(plots)
}

fn figure2(data: &Data) -> Result<Vec<Plot>> {
    let values = [data.of(E::Figure2), data.full(E::Figure2)].concat();
    let plot = |(panel, file, label)| {
        let mut lines = lines(&values, panel);
        lines.extend(self::lines(data.of(E::Independent), panel));
        let y = Axis { label, from: 0.0, to: 1.0, logarithmic: false };
        Plot::new(file, "Figure 2", BITS, y, &lines)
    };
    let panels = [
        ("b = 2", "figure2-b2.svg", "load factor, buckets of 2"),
        ("b = 4", "figure2-b4.svg", "load factor, buckets of 4"),
        ("b = 8", "figure2-b8.svg", "load factor, buckets of 8"),
        ("our search", "figure2-ours.svg", "load factor, our breadth-first search"),
    ];
    panels.into_iter().map(plot).collect()
}

fn space(data: &Data, title: &str, experiment: E) -> Result<[Plot; 2]> {
    let (panel, name, to, first, ours): (_, _, _, &[&str], &[&str]) = match experiment {
        E::Figure3 => ("space", "figure3", 24.0, &WALKS, &LAYOUTS),
        _ => ("formulas", "figure4", 26.0, &FORMULAS, &PLANS),
    };
    let lines = lines(data.of(experiment), panel);
    let y = Axis { to, ..ITEM };
    let plot = |end: &str, names| {
        Plot::new(&format!("{name}{end}.svg"), title, RATE, y, &among(&lines, names))
    };
    Ok([plot("", first)?, plot("-ours", ours)?])
}

/// The plots of a figure, and those at the paper's size if there are any.
fn speed_by(
    data: &Data,
    title: &str,
    experiment: E,
    x: Axis<'_>,
    panels: &[Panel],
) -> Result<Vec<Plot>> {
    // Every structure has one colour in all figures, those without removals too.
    let all = [data.of(E::Figure5), data.full(E::Figure5)].concat();
    let all = names(&all, "lookups");
    let sizes = [(data.of(experiment), data.megabytes()), (data.full(experiment), FULL_MEGABYTES)];
    let mut plots = Vec::new();
    for &(panel, file, label) in panels {
        for (values, megabytes) in sizes.iter().filter(|(values, _)| !values.is_empty()) {
            let points = |name: &String| (name.clone(), line(values, panel, name));
            let lines: Vec<Line> = all.iter().map(points).collect();
            let size = format!("{label}, {megabytes:.0} MB");
            let end = if *megabytes == FULL_MEGABYTES { "-192MB" } else { "" };
            for (part, names) in PANELS {
                let file = format!("{file}{part}{end}.svg");
                let shown = among(&lines, &names);
                plots.push(Plot::new(&file, title, x, speed(&size, &lines), &shown)?);
            }
        }
    }
    Ok(plots)
}

/// The evaluation that the thesis left open: throughput by threads, for each kind of lock.
fn threads(data: &Data) -> Result<Vec<Plot>> {
    let mut plots = Vec::new();
    for mix in Mix::ALL.map(|mix| mix.to_string()) {
        let lines = lines(&data.threads, &mix);
        let most = lines.iter().flat_map(|line| &line.1).map(|point| point.0).fold(1.0, f64::max);
        let threads = Axis { label: "threads", from: 0.0, to: most * 1.02, logarithmic: false };
        let label = format!("million operations a second, {mix}");
        for (part, names) in SHARED {
            let file = format!("threads-{}{part}.svg", mix.replace(" % ", "-"));
            let shown = among(&lines, &names);
            plots.push(Plot::new(&file, "Threads", threads, speed(&label, &lines), &shown)?);
        }
    }
    Ok(plots)
}

/// From zero to a little above the highest point.
fn speed<'a>(label: &'a str, lines: &[Line]) -> Axis<'a> {
    let highest = lines.iter().flat_map(|line| &line.1).map(|point| point.1).fold(1.0, f64::max);
    Axis { label, from: 0.0, to: highest * 1.05, logarithmic: false }
}

fn lines(values: &[crate::paper::values::Value], panel: &str) -> Vec<Line> {
    let line = |name: String| {
        let points = line(values, panel, &name);
        (name, points)
    };
    names(values, panel).into_iter().map(line).collect()
}
