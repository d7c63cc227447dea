//! The result files of `lab paper`, as the report needs them.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::de::DeserializeOwned;

use crate::machine::Machine;
use crate::paper::Experiment;
use crate::paper::values::Value;
use crate::report::read_csv;
use crate::results::{Row, distinct};

/// The rows of a file, and the machine.
pub(super) struct Measured<T> {
    pub(super) machine: Machine,
    pub(super) rows: Vec<T>,
}

/// Everything that was measured.
pub(super) struct Data {
    experiments: BTreeMap<Experiment, Measured<Value>>,
    /// The experiments that were measured at the paper's size too.
    full: BTreeMap<Experiment, Measured<Value>>,
    /// The filter that threads share.
    pub(super) threads: Vec<Value>,
}

impl Data {
    /// Reads one file for each experiment, and those of another folder that were measured at the
    /// paper's size.
    pub(super) fn read(folder: &Path, large: &Path) -> Result<Self> {
        let (mut experiments, mut full) = (BTreeMap::new(), BTreeMap::new());
        for &experiment in Experiment::value_variants() {
            let name = format!("{}.csv", experiment.name());
            let found = read(&folder.join(&name))?.with_context(|| {
                let folder = folder.display();
                format!("no {name} in {folder}: make it with `lab paper --out {folder}`")
            })?;
            experiments.insert(experiment, found);
            full.extend(read(&large.join(&name))?.map(|found| (experiment, found)));
        }
        let threads = read(&folder.join("threads.csv"))?.map_or_else(Vec::new, |it| it.rows);
        let threads = threads.iter().filter_map(of_threads).collect();
        Ok(Self { experiments, full, threads })
    }

    /// The machine of table 3.
    pub(super) fn machine(&self) -> &Machine {
        &self.experiments[&Experiment::Table3].machine
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
    pub(super) fn full(&self, experiment: Experiment) -> Option<&Measured<Value>> {
        self.full.get(&experiment)
    }

    /// Size of the tables of the figures, in MB of 2^20 bytes.
    pub(super) fn megabytes(&self) -> f64 {
        let cell = |column| {
            let is_it = |value: &&Value| value.group == column && value.series == "CF";
            self.of(Experiment::Table3).iter().find(is_it).map_or(f64::NAN, |value| value.y)
        };
        cell("million items") * 1e6 * cell("bits an item") / 8.0 / f64::from(1 << 20)
    }
}

/// A point of a mix of operations, one by one, by the number of threads.
fn of_threads(row: &Row) -> Option<Value> {
    let (mix, threads) = row.measure.strip_suffix(" threads")?.split_once(", one by one, ")?;
    Some(Value::point(mix, &row.contender, threads.parse().ok()?, row.median))
}

/// The rows of a file, if there is one.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<Measured<T>>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text.with_context(|| format!("reading {}", path.display()))?,
    };
    let rows = read_csv(text.as_bytes()).with_context(|| format!("in {}", path.display()))?;
    Ok(Some(Measured { machine: Machine::of_file(&text), rows }))
}

/// The paper's size.
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
    let of_panel = values.iter().filter(|value| value.group == panel);
    distinct(of_panel.map(|value| value.series.clone()))
}
