//! `malkoha info`: what a filter file holds.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use malkoha::Geometry;
use serde_json::{Value, json};

use crate::failure::Outcome;
use crate::filter::Lookup;
use crate::screen::print_record;

const AFTER_HELP: &str = "\
Of a filter of fixed size, reads the header only; 'malkoha verify' checks the rest.

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

/// What a file of any kind tells.
struct Facts {
    keys: u64,
    capacity: u64,
    spilled: u64,
    fpr: f64,
    load: f64,
    bytes: u64,
    bits_per_key: f64,
    seed: u64,
    shape: Shape,
}

struct Shape {
    kind: &'static str,
    layout: &'static str,
    /// The layout in words.
    description: String,
    slots_probed: u32,
    slots: u64,
    fingerprint_bits: u32,
    /// 0 in a set.
    value_bits: u32,
    segments: u64,
}

/// All kinds have these methods; their tables have nothing in common.
macro_rules! facts {
    ($filter:expr, $shape:expr) => {
        Facts {
            keys: $filter.len(),
            capacity: $filter.capacity(),
            spilled: $filter.spilled(),
            fpr: $filter.expected_fpr(),
            load: $filter.load_factor(),
            bytes: $filter.size_in_bytes(),
            bits_per_key: $filter.bits_per_key(),
            seed: $filter.hasher().seed(),
            shape: $shape,
        }
    };
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let facts = match &Lookup::open(&arguments.filter)? {
        Lookup::Set(filter) => facts!(filter, Shape::fixed("set", filter.geometry())),
        Lookup::Map(map) => facts!(map, Shape::fixed("map", map.geometry())),
        Lookup::GrowableSet(filter) => {
            let bits = (filter.fingerprint_bits(), 0);
            let shape = Shape::growable("growable set", filter.buckets(), bits, filter.segments());
            facts!(filter, shape)
        }
        Lookup::GrowableMap(map) => {
            let bits = (map.fingerprint_bits(), map.value_bits());
            facts!(map, Shape::growable("growable map", map.buckets(), bits, map.segments()))
        }
    };
    if arguments.json {
        print_record(&facts.record())?;
    } else {
        print_record(&facts.text())?;
    }
    Ok(Outcome::Found)
}

impl Shape {
    fn fixed(kind: &'static str, geometry: &Geometry) -> Self {
        Self {
            kind,
            layout: geometry.layout.name(),
            description: geometry.layout.to_string(),
            slots_probed: geometry.layout.probed_slots(geometry.fingerprint_bits),
            slots: geometry.slots(),
            fingerprint_bits: geometry.fingerprint_bits,
            value_bits: geometry.value_bits,
            segments: geometry.segments.into(),
        }
    }

    fn growable(
        kind: &'static str,
        buckets: u64,
        (fingerprint_bits, value_bits): (u32, u32),
        segments: usize,
    ) -> Self {
        Self {
            kind,
            layout: "growable",
            description: "growable, 4 slots a bucket".to_owned(),
            slots_probed: 8,
            slots: buckets * 4,
            fingerprint_bits,
            value_bits,
            segments: segments as u64,
        }
    }
}

impl Facts {
    fn record(&self) -> Value {
        let shape = &self.shape;
        json!({
            "kind": shape.kind,
            "keys": self.keys,
            "capacity": self.capacity,
            "spilled": self.spilled,
            "fpr": self.fpr,
            "load": self.load,
            "table_bytes": self.bytes,
            "layout": shape.layout,
            "slots_probed": shape.slots_probed,
            "fingerprint_bits": shape.fingerprint_bits,
            "value_bits": shape.value_bits,
            "slots": shape.slots,
            "segments": shape.segments,
            "seed": self.seed,
        })
    }

    fn text(&self) -> String {
        let shape = &self.shape;
        let is_map = shape.kind.ends_with("map");
        let (item, items, further) =
            if is_map { ("pair", "pairs", "values") } else { ("line", "lines", "copies") };
        let bits_per_key = if self.keys == 0 {
            String::new()
        } else {
            format!(", {:.2} bits a {item}", self.bits_per_key)
        };
        let mut fingerprints = format!("{} bits", shape.fingerprint_bits);
        if shape.value_bits > 0 {
            // Segments of a growable map have only the bits that their values need.
            let most = if shape.kind.starts_with("growable") { "up to " } else { "" };
            fingerprints += &format!(", and values of {most}{} bits", shape.value_bits);
        }
        let mut rows = vec![
            ("holds", shape.kind.to_owned()),
            (items, format!("{} of {}", HumanCount(self.keys), HumanCount(self.capacity))),
            ("fpr", format!("{:.3e}", self.fpr)),
            ("size", format!("{}{bits_per_key}", HumanBytes(self.bytes))),
            ("load", format!("{:.4} of {} slots", self.load, HumanCount(shape.slots))),
            ("layout", shape.description.clone()),
            ("fingerprints", fingerprints),
            ("segments", HumanCount(shape.segments).to_string()),
            ("seed", self.seed.to_string()),
        ];
        if self.spilled > 0 {
            rows.insert(2, ("beside table", format!("{} {further}", HumanCount(self.spilled))));
        }
        let rows = rows.into_iter().map(|(label, value)| format!("{label:<13} {value}"));
        rows.collect::<Vec<_>>().join("\n")
    }
}
