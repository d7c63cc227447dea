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
    pub(super) fn get(&self, name: &str) -> &str {
        let found = self.properties.iter().find(|property| property.0 == name);
        found.map_or("unknown", |property| &property.1)
    }

    /// Whether more wanted to run than there are processors, so that speeds are too low.
    pub(super) fn was_busy(&self) -> bool {
        let number = |name| self.get(name).split(' ').next().and_then(|first| first.parse().ok());
        number("load").zip(number("cpus")).is_some_and(|(load, cpus): (f64, f64)| load > 1.5 * cpus)
    }
}

/// The rows of a file that need not be there, none if it is not, and the machine.
#[derive(Default)]
pub(super) struct Optional<T> {
    pub(super) machine: Machine,
    pub(super) rows: Vec<T>,
}

/// Everything that was measured.
pub(super) struct Data {
    /// The machine of table 3.
    pub(super) machine: Machine,
    experiments: BTreeMap<Experiment, Vec<Value>>,
    /// Table 3 at the paper's size.
    pub(super) full_table3: Optional<Value>,
    /// The filter that threads share.
    pub(super) threads: Optional<Row>,
    /// The classic filters beside other people's.
    pub(super) peers: Optional<Row>,
}

impl Data {
    /// Reads one file for each experiment.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut experiments = BTreeMap::new();
        let mut machine = Machine::default();
        for &experiment in Experiment::value_variants() {
            let path = folder.join(format!("{}.csv", experiment.name()));
            let text = fs::read_to_string(&path).with_context(|| {
                let path = path.display();
                format!("reading {path}: make it with `lab paper --out {}`", folder.display())
            })?;
            let values =
                values::read(text.as_bytes()).with_context(|| format!("in {}", path.display()))?;
            experiments.insert(experiment, values);
            if experiment == Experiment::Table3 {
                machine = Machine::of(&text);
            }
        }
        // Not measured by everybody: some take long, and peers are another program's.
        let full_table3 = optional(&folder.join("table3-192MB.csv"), values::read)?;
        let peers = optional(&folder.join("peers.csv"), read_csv)?;
        let threads = optional(&folder.join("threads.csv"), read_csv)?;
        Ok(Self { machine, experiments, full_table3, threads, peers })
    }

    /// The values of an experiment.
    pub(super) fn of(&self, experiment: Experiment) -> &[Value] {
        &self.experiments[&experiment]
    }

    /// A cell of a table, or NaN.
    pub(super) fn cell(&self, experiment: Experiment, column: &str, row: &str) -> f64 {
        cell(self.of(experiment), column, row)
    }

    /// A cell of table 3 at the paper's size, or of the other if that was not measured.
    pub(super) fn largest_table3(&self, column: &str, row: &str) -> f64 {
        let values = match &self.full_table3.rows[..] {
            [] => self.of(Experiment::Table3),
            full => full,
        };
        cell(values, column, row)
    }

    /// Size of the tables of the figures, in MB of 2^20 bytes.
    pub(super) fn megabytes(&self) -> f64 {
        let cell = |column| self.cell(Experiment::Table3, column, "CF");
        cell("million items") * 1e6 * cell("bits an item") / 8.0 / f64::from(1 << 20)
    }

    /// The points of a line of a plot, from left to right: runs that end at different loads leave
    /// them in another order.
    pub(super) fn line(&self, experiment: Experiment, panel: &str, name: &str) -> Vec<(f64, f64)> {
        let of_line = |value: &&Value| value.group == panel && value.series == name;
        let points = self.of(experiment).iter().filter(of_line);
        let mut points: Vec<(f64, f64)> = points.map(|value| (value.x, value.y)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }

    /// Names of the lines of a panel, in the order of the file.
    pub(super) fn lines(&self, experiment: Experiment, panel: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for value in self.of(experiment).iter().filter(|value| value.group == panel) {
            if !names.contains(&value.series) {
                names.push(value.series.clone());
            }
        }
        names
    }
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
