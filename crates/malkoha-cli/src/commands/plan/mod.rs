//! `malkoha plan`: the cost of a number of keys, structure by structure.

mod rows;

use std::fmt::Write;

use anyhow::Result;
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;

use crate::arguments;
use crate::failure::Outcome;
use crate::output::print_record;
use rows::{Row, rows};

const AFTER_HELP: &str = "\
Rows marked * are what this program builds, with the rate that it reaches.
'malkoha build' uses the first of them, and with --fixed the second. The other
rows are computed by formulas, at exactly the given rate.

Example:
  malkoha plan --keys 100M --fpr 0.001";

/// Print what a set would cost, by structure
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Number of keys (lines)
    #[arg(long, value_name = "N", value_parser = arguments::count)]
    keys: u64,

    /// Highest false-positive rate
    #[arg(long, value_name = "RATE", default_value_t = 0.001)]
    fpr: f64,

    /// Print a JSON record
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let &Arguments { keys, fpr, json } = arguments;
    let rows = rows(keys, fpr)?;
    if json {
        print_record(&json!({ "keys": keys, "fpr": fpr, "structures": rows }))?;
    } else {
        print_record(&table(keys, fpr, &rows))?;
    }
    Ok(Outcome::Found)
}

/// Columns of the first column.
const WIDTH: usize = 48;

fn table(keys: u64, fpr: f64, rows: &[Row]) -> String {
    let mut text = format!("{} keys, false-positive rate {fpr:e}\n\n", HumanCount(keys));
    let header = format!(
        "  {:<WIDTH$} {:>8} {:>12} {:>9}  {}",
        "structure", "bits/key", "size", "fpr", "deletes"
    );
    text.push_str(&header);
    for row in rows {
        let mark = if row.built { '*' } else { ' ' };
        let deletes = if row.deletes { "yes" } else { "no" };
        let size = HumanBytes(row.bytes).to_string();
        write!(
            text,
            "\n{mark} {:<WIDTH$} {:>8.2} {size:>12} {:>9.2e}  {deletes}",
            row.structure, row.bits_per_key, row.fpr
        )
        .expect("text takes whatever is written");
    }
    text
}
