//! The result files of `lab paper`, as the report needs them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, ErrorKind};
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::paper::Experiment;
use crate::paper::values::{self, Value};
use crate::report::read_csv;
use crate::results::Row;

/// Where a file's figures come from, and when.
#[derive(Clone, Default)]
pub(super) struct Machine {
    /// Name and value of each property.
    pub(super) properties: Vec<(String, String)>,
}

impl Machine {
    /// What a file of results says about it in its comments.
    fn of(text: &str) -> Self {
        let comments = text.lines().map_while(|line| line.strip_prefix("# "));
        let property = |line: &str| {
            line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()))
        };
        Self { properties: comments.filter_map(property).collect() }
    }

    /// A property's value; "unknown" where the file does not say.
    fn get(&self, name: &str) -> &str {
        let found = self.properties.iter().find(|property| property.0 == name);
        found.map_or("unknown", |property| &property.1)
    }

    /// In a few words.
    pub(super) fn place(&self) -> String {
        let day = self.get("date").split('T').next().unwrap_or_default();
        let busy = if self.was_busy() { ", busy" } else { "" };
        let (cpu, cpus) = (self.get("cpu"), self.get("cpus"));
        let processors = if cpus == "1" { "processor" } else { "processors" };
        format!("{cpu}, {cpus} {processors}, {day}{busy}")
    }

    /// Whether more processes were runnable than there are processors, so that speeds are too low.
    fn was_busy(&self) -> bool {
        let number = |name| self.get(name).split(' ').next().and_then(|first| first.parse().ok());
        number("load").zip(number("cpus")).is_some_and(|(load, cpus): (f64, f64)| load > 1.5 * cpus)
    }
}

/// The rows of an optional file, none if there is no such file, and the machine.
#[derive(Default)]
pub(super) struct Optional<T> {
    pub(super) machine: Machine,
    pub(super) rows: Vec<T>,
}

/// Everything that was measured.
pub(super) struct Data {
    /// The machine of table 3.
    pub(super) machine: Machine,
    experiments: BTreeMap<Experiment, Optional<Value>>,
    /// What was measured at the paper's size too: table 3 and figures 5 to 8, as far as there is
    /// time.
    full: BTreeMap<Experiment, Optional<Value>>,
    /// Of structures that were not in that run, from another one at that size.
    later: BTreeMap<Experiment, Optional<Value>>,
    /// The filter that threads share.
    pub(super) threads: Optional<Row>,
}

impl Data {
    /// Reads one file for each experiment, and those of another folder that were measured at the
    /// paper's size.
    pub(super) fn read(folder: &Path, large: &Path) -> Result<Self> {
        let mut experiments = BTreeMap::new();
        let mut machine = Machine::default();
        for &experiment in Experiment::value_variants() {
            let path = folder.join(format!("{}.csv", experiment.name()));
            let text = fs::read_to_string(&path).with_context(|| {
                let path = path.display();
                format!("reading {path}: make it with `lab paper --out {}`", folder.display())
            })?;
            let rows =
                values::read(text.as_bytes()).with_context(|| format!("in {}", path.display()))?;
            let found = Optional { machine: Machine::of(&text), rows };
            if experiment == Experiment::Table3 {
                machine = found.machine.clone();
            }
            experiments.insert(experiment, found);
        }
        // Optional: some take long, and `peers` comes from another program.
        let [full, later] = [large, &large.join(LATER)].map(|folder| {
            let mut measured = BTreeMap::new();
            for experiment in FULL {
                let path = folder.join(format!("{}.csv", experiment.name()));
                let found = optional(&path, values::read)?;
                if !found.rows.is_empty() {
                    measured.insert(experiment, found);
                }
            }
            Ok::<_, anyhow::Error>(measured)
        });
        let large_figure2 = optional(&large.join("figure2.csv"), values::read)?;
        if let Some(figure2) = experiments.get_mut(&Experiment::Figure2) {
            figure2.rows.extend_from_slice(&large_figure2.rows);
        }
        let threads = optional(&folder.join("threads.csv"), read_csv)?;
        let (full, later) = (full?, later?);
        Ok(Self { machine, experiments, full, later, threads })
    }

    /// The values of an experiment.
    pub(super) fn of(&self, experiment: Experiment) -> &[Value] {
        &self.experiments[&experiment].rows
    }

    /// The machine of an experiment, in a few words.
    pub(super) fn place(&self, experiment: Experiment) -> String {
        self.experiments[&experiment].machine.place()
    }

    /// The values at the paper's size, if they were measured.
    pub(super) fn full(&self, experiment: Experiment) -> Option<&Optional<Value>> {
        self.full.get(&experiment)
    }

    /// The values of an experiment from another run at the paper's size, if there was one.
    pub(super) fn later(&self, experiment: Experiment) -> Option<&Optional<Value>> {
        self.later.get(&experiment)
    }

    /// The values of that run for structures that are not in the first one.
    pub(super) fn only_later(&self, experiment: Experiment) -> Vec<Value> {
        let first = self.full(experiment).map_or(&[][..], |full| &full.rows);
        let is_new = |value: &&Value| first.iter().all(|known| known.series != value.series);
        let later = self.later(experiment).map_or(&[][..], |later| &later.rows);
        later.iter().filter(is_new).cloned().collect()
    }

    /// A cell of a table, or NaN.
    pub(super) fn cell(&self, experiment: Experiment, column: &str, row: &str) -> f64 {
        cell(self.of(experiment), column, row)
    }

    /// Size of the tables of the figures, in MB of 2^20 bytes.
    pub(super) fn megabytes(&self) -> f64 {
        let cell = |column| self.cell(Experiment::Table3, column, "CF");
        cell("million items") * 1e6 * cell("bits an item") / 8.0 / f64::from(1 << 20)
    }
}

/// The experiments that are shown at the paper's size too.
const FULL: [Experiment; 5] = [
    Experiment::Table3,
    Experiment::Figure5,
    Experiment::Figure6,
    Experiment::Figure7,
    Experiment::Figure8,
];
/// The folder of another run at that size, beside its first.
const LATER: &str = "later";
/// That size.
pub(super) const FULL_MEGABYTES: f64 = 192.0;

/// The points of a line of a plot, from left to right: runs that end at different loads leave them
/// in another order.
pub(super) fn line(values: &[Value], panel: &str, name: &str) -> Vec<(f64, f64)> {
    let of_line = |value: &&Value| value.group == panel && value.series == name;
    let points = values.iter().filter(of_line);
    let mut points: Vec<(f64, f64)> = points.map(|value| (value.x, value.y)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Names of the lines of a panel, in the order of the file.
pub(super) fn names(values: &[Value], panel: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for value in values.iter().filter(|value| value.group == panel) {
        if !names.contains(&value.series) {
            names.push(value.series.clone());
        }
    }
    names
}

fn cell(values: &[Value], column: &str, row: &str) -> f64 {
    let found = values.iter().find(|value| value.group == column && value.series == row);
    found.map_or(f64::NAN, |value| value.y)
}

/// The rows of a file, or none if there is no such file.
fn optional<T>(path: &Path, read: fn(Cursor<String>) -> Result<Vec<T>>) -> Result<Optional<T>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        text => text.with_context(|| format!("reading {}", path.display()))?,
    };
    let machine = Machine::of(&text);
    let rows = read(Cursor::new(text)).with_context(|| format!("in {}", path.display()))?;
    Ok(Optional { machine, rows })
}
