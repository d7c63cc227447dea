//! Where results go: lines to standard output, filters to files that appear whole or not at all.

mod atomic;
mod draft;
mod encoded;
mod held;
pub(crate) mod stdout;

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

pub(crate) use atomic::{Overwrite, is_filter, replace, replace_held};
pub(crate) use draft::Draft;
pub(crate) use encoded::{Encoder, Encoding, Piece};
pub(crate) use held::Held;
pub(crate) use stdout::{LineWriter, Page, Printed, Printer, Show, prefix_of};

use crate::failure::CANNOT_WRITE;
use crate::input::is_dash;

/// Prints one result as a line.
pub(crate) fn print_record(record: &impl std::fmt::Display) -> Result<()> {
    use std::io::Write;
    stdout::is_open()?;
    writeln!(std::io::stdout(), "{record}").context(CANNOT_WRITE)
}

/// Formats facts for people: a label and a value in each line.
pub(crate) fn rows(rows: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let rows = rows.into_iter().map(|(label, value)| format!("{label:<13} {value}"));
    rows.collect::<Vec<_>>().join("\n")
}

/// Refuses a filter and a JSON record that would both go to standard output.
pub(crate) fn refuse_both(filter: &Path, json: bool) -> Result<()> {
    if json && is_dash(filter) {
        bail!("--json and the filter cannot both go to standard output: name an output file");
    }
    Ok(())
}

/// A field of a record: a string if the bytes are UTF-8, or hex digits under a name that says so.
pub(crate) fn field(name: &str, bytes: &[u8], as_hex: bool) -> (String, Value) {
    match std::str::from_utf8(bytes) {
        Ok(text) if !as_hex => (name.to_owned(), text.into()),
        _ => (format!("{name}_hex"), hex::encode(bytes).into()),
    }
}

/// A record with fields of bytes among its own.
pub(crate) fn with_fields<const N: usize>(
    mut record: Value,
    fields: [(String, Value); N],
) -> Value {
    for (name, value) in fields {
        record[name] = value;
    }
    record
}
