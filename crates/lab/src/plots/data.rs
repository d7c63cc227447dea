//! The result files of `lab paper`, as the report needs them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

use crate::paper::Experiment;
use crate::paper::values::Value;
use crate::report::read_csv;
use crate::results::{Row, distinct};

/// The experiments with plots, and table 3, which has the size of the tables.
const USED: [Experiment; 9] = [
    Experiment::Table3,
    Experiment::Figure2,
    Experiment::Figure3,
    Experiment::Figure4,
    Experiment::Figure5,
    Experiment::Figure6,
    Experiment::Figure7,
    Experiment::Figure8,
    Experiment::Independent,
];

/// Everything that is drawn.
pub(super) struct Data {
    experiments: BTreeMap<Experiment, Vec<Value>>,
    /// The experiments that were measured at the paper's size too.
    full: BTreeMap<Experiment, Vec<Value>>,
    /// The filter that threads share.
    pub(super) threads: Vec<Value>,
}

impl Data {
    /// Reads one file for each experiment, and those of another folder that were measured at the
    /// paper's size.
    pub(super) fn read(folder: &Path, large: &Path) -> Result<Self> {
        let (mut experiments, mut full) = (BTreeMap::new(), BTreeMap::new());
        for experiment in USED {
            let name = format!("{}.csv", experiment.name());
            let found = read(&folder.join(&name))?.with_context(|| {
                let folder = folder.display();
                format!("no {name} in {folder}: make it with `lab paper --out {folder}`")
            })?;
            experiments.insert(experiment, found);
            full.extend(read(&large.join(&name))?.map(|found| (experiment, found)));
        }
        let threads = read(&folder.join("threads.csv"))?.unwrap_or_default();
        let threads = threads.iter().filter_map(of_threads).collect();
        Ok(Self { experiments, full, threads })
    }

    /// The values of an experiment.
    pub(super) fn of(&self, experiment: Experiment) -> &[Value] {
        &self.experiments[&experiment]
    }

    /// The values at the paper's size, none if they were not measured.
    pub(super) fn full(&self, experiment: Experiment) -> &[Value] {
        self.full.get(&experiment).map_or(&[], |values| values)
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
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<Vec<T>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.with_context(|| format!("reading {}", path.display()))?,
    };
    read_csv(file).map(Some).with_context(|| format!("in {}", path.display()))
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
