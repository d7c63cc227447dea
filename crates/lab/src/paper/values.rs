//! What an experiment finds, and its file.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::report::Report;

/// One cell of a table, or one point of a plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// The column of a table, or the panel of a plot.
    pub group: String,
    /// The row of a table, or the line of a plot.
    pub series: String,
    /// Where on the horizontal axis; 0 in a table.
    pub x: f64,
    /// What was found here.
    pub y: f64,
    /// What the paper's text says of it, if it does.
    pub paper: Option<f64>,
}

impl Value {
    /// A point.
    #[must_use]
    pub fn point(group: &str, series: &str, x: f64, y: f64) -> Self {
        Self { group: group.to_owned(), series: series.to_owned(), x, y, paper: None }
    }

    /// A cell, beside the paper's.
    #[must_use]
    pub fn cell(column: &str, row: &str, y: f64, paper: Option<f64>) -> Self {
        Self { paper, ..Self::point(column, row, 0.0, y) }
    }
}

/// Writes a file of values, below comments with the machine and the time it took.
///
/// # Errors
///
/// If it cannot be written.
pub fn write(path: &Path, machine: &Machine, took: &str, values: &[Value]) -> Result<()> {
    let create = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(Report::new(machine.clone()).head().as_bytes())?;
        writeln!(file, "# seconds: {took}")?;
        let mut writer = csv::Writer::from_writer(file);
        for value in values {
            writer.serialize(value)?;
        }
        writer.flush()?;
        Ok::<_, anyhow::Error>(())
    };
    create().with_context(|| format!("writing {}", path.display()))
}

/// Reads a file of values.
///
/// # Errors
///
/// If it is not one that [`write()`] writes.
pub fn read(file: impl Read) -> Result<Vec<Value>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(file);
    reader.deserialize().map(|row| row.context("reading a line of values")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/table.csv");
        let values = [
            Value::cell("bits, an item", "CF", 12.6, Some(12.5)),
            Value::point("p", "s", 0.1, 2.0),
        ];
        write(&path, &Machine::describe(Some("today".into())), "1.5", &values).unwrap();
        assert_eq!(read(File::open(&path).unwrap()).unwrap(), values);
        assert!(read(&b"a,b\n1,2\n"[..]).is_err());
    }
}
