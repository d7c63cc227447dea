//! `malkoha info`: what a filter file holds.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;

use super::filter_file;
use crate::failure::Outcome;
use crate::screen::print_record;

const AFTER_HELP: &str = "\
Reads the header only; 'malkoha verify' checks the rest.

Example:
  malkoha info seen.mlk";

/// Print what a filter file holds
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Filter file
    filter: PathBuf,

    /// Print a JSON record
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let filter = filter_file::map(&arguments.filter)?;
    let geometry = filter.geometry();
    if arguments.json {
        print_record(&json!({
            "keys": filter.len(),
            "capacity": filter.capacity(),
            "fpr": filter.expected_fpr(),
            "load": filter.load_factor(),
            "table_bytes": filter.size_in_bytes(),
            "layout": geometry.layout.name(),
            "slots_probed": geometry.layout.probed_slots(geometry.fingerprint_bits),
            "fingerprint_bits": geometry.fingerprint_bits,
            "slots": geometry.slots(),
            "segments": geometry.segments,
            "seed": filter.hasher().seed(),
        }))?;
        return Ok(Outcome::Found);
    }
    let bits_per_key = if filter.is_empty() {
        String::new()
    } else {
        format!(", {:.2} bits a line", filter.bits_per_key())
    };
    let text = [
        ("lines", format!("{} of {}", HumanCount(filter.len()), HumanCount(filter.capacity()))),
        ("fpr", format!("{:.3e}", filter.expected_fpr())),
        ("size", format!("{}{bits_per_key}", HumanBytes(filter.size_in_bytes()))),
        ("load", format!("{:.4} of {} slots", filter.load_factor(), HumanCount(geometry.slots()))),
        ("layout", geometry.layout.to_string()),
        ("fingerprints", format!("{} bits", geometry.fingerprint_bits)),
        ("segments", HumanCount(geometry.segments.into()).to_string()),
        ("seed", filter.hasher().seed().to_string()),
    ]
    .map(|(label, value)| format!("{label:<13} {value}"))
    .join("\n");
    print_record(&text)?;
    Ok(Outcome::Found)
}
