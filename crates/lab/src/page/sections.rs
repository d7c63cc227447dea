//! The sections of the page: a table or figure of the paper each, with our plots and tables.

use anyhow::Result;

use super::Section;
use super::data::{Data, FULL_MEGABYTES, line, names};
use super::plot::{Axis, Line, Plot, among};
use super::table::Table;
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

/// All sections, in the paper's order.
pub(super) fn all(data: &Data) -> Result<Vec<Section>> {
    let speeds: [(_, _, _, &[Panel]); 4] = [
        (
            "Figure 5: lookups by share of present keys",
            E::Figure5,
            PRESENT,
            &[("lookups", "figure5", "million lookups a second")],
        ),
        (
            "Figure 6: lookups by occupancy",
            E::Figure6,
            OCCUPANCY,
            &[
                ("absent keys", "figure6-absent", "million lookups a second, absent keys"),
                ("present keys", "figure6-present", "million lookups a second, present keys"),
            ],
        ),
        (
            "Figure 7: inserts by occupancy",
            E::Figure7,
            OCCUPANCY,
            &[("inserts", "figure7", "million inserts a second")],
        ),
        (
            "Figure 8: removals by occupancy",
            E::Figure8,
            OCCUPANCY,
            &[("removals", "figure8", "million removals a second")],
        ),
    ];
    let mut sections = vec![
        cells(data, "Table 1: properties", E::Table1),
        cells(data, "Table 2: space and lookup cost", E::Table2),
        figure2(data)?,
        space(data, "Figure 3: bits an item by the measured rate", E::Figure3)?,
        space(data, "Figure 4: rate by space, by the formulas", E::Figure4)?,
        cells(data, "Table 3: space, rates and construction", E::Table3),
    ];
    for (title, experiment, x, panels) in speeds {
        sections.push(speed_by(data, title, experiment, x, panels)?);
    }
    sections.push(cells(data, "Load factors of d choices by b slots", E::Choices));
    if !data.threads.is_empty() {
        sections.push(threads(data)?);
    }
    Ok(sections)
}

/// A table of ours with the paper's figures, and those of the paper's size if there are any.
fn cells(data: &Data, title: &'static str, experiment: E) -> Section {
    let caption = format!("Ours, with the paper's figure in brackets ({})", data.place(experiment));
    let mut tables = vec![Table::of_cells(&caption, data.of(experiment))];
    if let Some(large) = data.full(experiment) {
        let caption = format!("At the paper's 192 MB ({})", large.machine.place());
        tables.push(Table::of_cells(&caption, &large.rows));
    }
    Section { title, plots: vec![], tables }
}

fn figure2(data: &Data) -> Result<Section> {
    let full = data.full(E::Figure2).map_or(&[][..], |full| &full.rows);
    let values = [data.of(E::Figure2), full].concat();
    let mut plots = Vec::new();
    for (panel, file, label) in [
        ("b = 2", "figure2-b2.svg", "load factor, buckets of 2"),
        ("b = 4", "figure2-b4.svg", "load factor, buckets of 4"),
        ("b = 8", "figure2-b8.svg", "load factor, buckets of 8"),
        ("our search", "figure2-ours.svg", "load factor, our breadth-first search"),
    ] {
        let mut lines = lines(&values, panel);
        lines.extend(self::lines(data.of(E::Independent), panel));
        let y = Axis { label, from: 0.0, to: 1.0, logarithmic: false };
        plots.push(Plot::new(file, "Figure 2", BITS, y, &lines)?);
    }
    let caption =
        "The first refusal of the paper's walk: shares of the runs by its cause, and loads";
    let tables = vec![Table::of_cells(caption, data.of(E::Refusals))];
    Ok(Section { title: "Figure 2: load factor by fingerprint size", plots, tables })
}

fn space(data: &Data, title: &'static str, experiment: E) -> Result<Section> {
    let (panel, name, to, first, ours): (_, _, _, &[&str], &[&str]) = match experiment {
        E::Figure3 => ("space", "figure3", 24.0, &WALKS, &LAYOUTS),
        _ => ("formulas", "figure4", 26.0, &FORMULAS, &PLANS),
    };
    let lines = lines(data.of(experiment), panel);
    let y = Axis { to, ..ITEM };
    let short = title.split_once(':').map_or(title, |(short, _)| short);
    let plot = |end: &str, names| {
        Plot::new(&format!("{name}{end}.svg"), short, RATE, y, &among(&lines, names))
    };
    Ok(Section { title, plots: vec![plot("", first)?, plot("-ours", ours)?], tables: vec![] })
}

/// The plots of a figure, and those at the paper's size if there are any.
fn speed_by(
    data: &Data,
    title: &'static str,
    experiment: E,
    x: Axis<'_>,
    panels: &[Panel],
) -> Result<Section> {
    let short = title.split_once(':').map_or(title, |(short, _)| short);
    // Every structure has one colour in all figures, those without removals too.
    let full = |experiment| data.full(experiment).map_or(&[][..], |full| &full.rows);
    let all = [data.of(E::Figure5), full(E::Figure5)].concat();
    let all = names(&all, "lookups");
    let sizes = [(data.of(experiment), data.megabytes()), (full(experiment), FULL_MEGABYTES)];
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
                plots.push(Plot::new(&file, short, x, speed(&size, &lines), &shown)?);
            }
        }
    }
    Ok(Section { title, plots, tables: vec![] })
}

/// The evaluation that the thesis left open: throughput by threads, for each kind of lock.
fn threads(data: &Data) -> Result<Section> {
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
    Ok(Section { title: "Threads: one filter and several locks", plots, tables: vec![] })
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
