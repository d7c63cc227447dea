//! Result files: CSV with the machine in comments, and JSON.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::args::OutputArgs;
use crate::machine::Machine;
use crate::results::Row;

/// What a result file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Where the figures come from.
    pub machine: Machine,
    /// The figures.
    pub rows: Vec<Row>,
}

impl Report {
    /// A report without figures.
    #[must_use]
    pub const fn new(machine: Machine) -> Self {
        Self { machine, rows: Vec::new() }
    }

    /// The machine, a line for each property.
    #[must_use]
    pub fn head(&self) -> String {
        self.machine.properties().iter().fold(String::new(), |mut text, (name, value)| {
            let _ = writeln!(text, "# {name}: {value}"); // writing to a String does not fail
            text
        })
    }

    /// Writes the files that were asked for.
    ///
    /// # Errors
    ///
    /// If one cannot be written.
    pub fn write(&self, output: &OutputArgs) -> Result<()> {
        let create = |path: &Path| {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            File::create(path).map(BufWriter::new)
        };
        if let Some(path) = &output.csv {
            let file = create(path).with_context(|| format!("creating {}", path.display()))?;
            self.write_csv(file).with_context(|| format!("writing {}", path.display()))?;
        }
        if let Some(path) = &output.json {
            let file = create(path).with_context(|| format!("creating {}", path.display()))?;
            serde_json::to_writer_pretty(file, self)
                .with_context(|| format!("writing {}", path.display()))?;
        }
        Ok(())
    }

    fn write_csv(&self, mut file: impl Write) -> Result<()> {
        file.write_all(self.head().as_bytes())?;
        let mut writer = csv::Writer::from_writer(file);
        for row in &self.rows {
            writer.serialize(row)?;
        }
        writer.flush()?;
        Ok(())
    }
}

/// The figures of a CSV file.
///
/// # Errors
///
/// If it is not one that this program writes.
pub fn read_csv(file: impl Read) -> Result<Vec<Row>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(file);
    reader.deserialize().map(|row| row.context("reading a line of results")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let row = Row {
            contender: "with, comma".into(),
            keys: 100_000,
            measure: "find many 0 %".into(),
            unit: "M/s".into(),
            median: 1.0 / 3.0,
            least: 0.25,
            greatest: 1e9,
            runs: 3,
            of_limit: Some(0.5),
        };
        let without = Row { of_limit: None, ..row.clone() };
        let machine = Machine::describe(Some("2024-02-29".into()));
        Report { machine, rows: vec![row, without] }
    }

    #[test]
    fn csv_round_trip() {
        let report = report();
        let mut file = Vec::new();
        report.write_csv(&mut file).unwrap();
        assert!(file.starts_with(b"# date: 2024-02-29\n# cpu: "));
        assert_eq!(read_csv(&file[..]).unwrap(), report.rows);
        assert!(read_csv(&b"a,b\n1,2\n"[..]).is_err());
    }

    #[test]
    fn files_are_written_where_they_were_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputArgs {
            csv: Some(folder.path().join("new/results.csv")),
            json: Some(folder.path().join("results.json")),
            date: None,
        };
        let report = report();
        report.write(&output).unwrap();
        let csv = File::open(output.csv.unwrap()).unwrap();
        assert_eq!(read_csv(csv).unwrap(), report.rows);
        let json = fs::read(output.json.unwrap()).unwrap();
        assert_eq!(serde_json::from_slice::<Report>(&json).unwrap(), report);
    }
}
