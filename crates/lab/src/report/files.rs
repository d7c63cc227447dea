//! Result files: CSV with the machine in comments.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::args::OutputArgs;
use crate::machine::Machine;
use crate::results::Row;

/// The rows of a result file, as they come.
pub struct Report<'a> {
    machine: Machine,
    rows: Vec<Row>,
    output: &'a OutputArgs,
}

impl<'a> Report<'a> {
    /// Prints the machine; no row yet.
    #[must_use]
    pub fn start(output: &'a OutputArgs) -> Self {
        let machine = Machine::describe(output.date.clone());
        print!("{}", machine.head());
        Self { machine, rows: Vec::new(), output }
    }

    /// Adds rows, and writes all to the file that was asked for, if any: a long run that is
    /// interrupted leaves its results so far.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn add(&mut self, rows: impl IntoIterator<Item = Row>) -> Result<()> {
        self.rows.extend(rows);
        let write = |path: &PathBuf| write_csv(path, &self.machine.head(), &self.rows);
        self.output.csv.as_ref().map_or(Ok(()), write)
    }
}

/// Writes a line for each row below a head of comments, and makes the folder if there is none.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_csv<T: Serialize>(path: &Path, head: &str, rows: &[T]) -> Result<()> {
    let write = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(head.as_bytes())?;
        let mut writer = csv::Writer::from_writer(file);
        rows.iter().try_for_each(|row| writer.serialize(row))?;
        writer.flush()?;
        Ok::<_, anyhow::Error>(())
    };
    write().with_context(|| format!("writing {}", path.display()))
}

/// The rows of such a file.
///
/// # Errors
///
/// If it has other columns.
pub fn read_csv<T: DeserializeOwned>(file: impl Read) -> Result<Vec<T>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(file);
    reader.deserialize().map(|row| row.context("reading a line of results")).collect()
}
