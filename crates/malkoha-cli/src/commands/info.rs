//! `malkoha info`: what a filter file holds.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;

use crate::arguments::NowArgs;
use crate::failure::Outcome;
use crate::filter::{self, Facts, Window};
use crate::output::{self, print_record};
use crate::time;

/// Print what a filter file holds
#[derive(Args, Debug)]
#[command(after_help = include_str!("info.txt"))]
pub(crate) struct Arguments {
    /// Filter file
    filter: PathBuf,

    /// Print a JSON record
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    now: NowArgs,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let facts = filter::open(&arguments.filter, arguments.now.now)?.facts();
    if arguments.json {
        print_record(&json!(facts))?;
    } else {
        print_record(&text(&facts))?;
    }
    Ok(Outcome::Found)
}

/// The number of lines that are in, and the number that have room.
fn held(facts: &Facts) -> String {
    let (keys, capacity) = (HumanCount(facts.keys), HumanCount(facts.capacity));
    match facts.shape.grows {
        _ if facts.keys <= facts.capacity => format!("{keys} of {capacity}"),
        true => format!("{keys}, begun with room for {capacity}"),
        false => format!("{keys} with repetitions, room for {capacity} different ones"),
    }
}

fn text(facts: &Facts) -> String {
    let shape = &facts.shape;
    let (item, items, further) =
        if facts.is_map { ("pair", "pairs", "values") } else { ("line", "lines", "copies") };
    let bits_per_key = if facts.keys == 0 {
        String::new()
    } else {
        format!(", {:.2} bits per {item}", facts.bits_per_key)
    };
    let mut fingerprints = format!("{} bits", facts.fingerprint_bits);
    if facts.value_bits > 0 {
        // Segments of a growable map have only the bits that their values need.
        let most = if shape.grows { "up to " } else { "" };
        fingerprints += &format!(", and values of {most}{} bits", facts.value_bits);
    }
    // Not the key, because people show around what is printed.
    let hash = match facts.seed {
        Some(seed) => format!("{}, seed {seed}", facts.hash),
        None => format!("{}, a key of 128 bits", facts.hash),
    };
    let slots =
        shape.slots.map_or(String::new(), |slots| format!(" of {} slots", HumanCount(slots)));
    let load = format!("{:.4}{slots}", facts.load);
    let mut rows = vec![
        ("holds", facts.kind.to_owned()),
        (items, held(facts)),
        ("fpr", format!("{:.3e}", facts.fpr)),
        ("size", format!("{}{bits_per_key}", HumanBytes(facts.bytes))),
        ("load", load),
        ("layout", shape.description.clone()),
        ("fingerprints", fingerprints),
    ];
    rows.extend(shape.segments.map(|segments| ("segments", HumanCount(segments).to_string())));
    rows.push(("hash", hash));
    if let Some(Window { ttl, resolution, now }) = shape.window {
        let (within, time) = match time::date(now) {
            Some(date) => {
                let (ttl, step) = (time::in_words(ttl), time::in_words(resolution));
                (format!("{ttl}, in steps of {step}"), date)
            }
            None => (format!("{ttl}, in steps of {resolution}"), now.to_string()),
        };
        rows.extend([("within", within), ("now", time)]);
    }
    if facts.spilled > 0 {
        rows.insert(2, ("outside table", format!("{} {further}", HumanCount(facts.spilled))));
    }
    output::rows(rows)
}
