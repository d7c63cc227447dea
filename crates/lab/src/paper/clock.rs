//! How long the experiments of a run took, and how much of that was before the run was stopped and
//! resumed.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;

use super::resume::Steps;
use super::values::{self, Value};
use crate::machine::Machine;

/// The file of a whole run, beside the results.
pub const FILE: &str = "time.csv";
/// Its columns.
pub const SECONDS: &str = "seconds";
/// The part of [`SECONDS`] that was spent before the run was stopped.
pub const BEFORE: &str = "of these before it was stopped";

pub(super) struct Clock {
    begin: Instant,
    /// A row for each lap.
    values: Vec<Value>,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { begin: Instant::now(), values: Vec::new() }
    }

    /// Notes the time since the last lap, and that of the steps that were reused meanwhile;
    /// returns the seconds of both.
    pub(super) fn lap(&mut self, name: &str, steps: &mut Steps) -> String {
        let before = steps.seconds_before();
        let seconds = self.begin.elapsed().as_secs_f64() + before;
        self.begin = Instant::now();
        self.values.push(Value::cell(SECONDS, name, seconds, None));
        self.values.push(Value::cell(BEFORE, name, before, None));
        format!("{seconds:.1}")
    }

    /// What all laps took, in words.
    pub(super) fn whole(&self) -> String {
        format!("{:.0} s, {:.0} of them before it was stopped", self.sum(SECONDS), self.sum(BEFORE))
    }

    fn sum(&self, column: &str) -> f64 {
        sum(&self.values, column)
    }

    /// Writes a row for each lap.
    pub(super) fn write(&self, folder: &Path, machine: &Machine) -> Result<()> {
        values::write(
            &folder.join(FILE),
            machine,
            &format!("{:.1}", self.sum(SECONDS)),
            &self.values,
        )
    }
}

/// The sum of a column.
#[must_use]
pub fn sum(values: &[Value], column: &str) -> f64 {
    values.iter().filter(|value| value.group == column).map(|value| value.y).sum()
}
