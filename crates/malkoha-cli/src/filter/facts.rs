//! Facts about a filter or map of any kind. Serialized, they are the record of `malkoha info`.

use malkoha::tables::{Ages, Expiring, Lookup};
use malkoha::{Filter, Geometry};
use serde::Serialize;
use serde_json::{Value, json};

use super::Lines;

#[derive(Serialize)]
pub(crate) struct Facts {
    #[serde(skip)]
    pub(crate) is_map: bool,
    pub(crate) kind: &'static str,
    pub(crate) keys: u64,
    pub(crate) capacity: u64,
    pub(crate) spilled: u64,
    pub(crate) fpr: f64,
    pub(crate) load: f64,
    #[serde(rename = "table_bytes")]
    pub(crate) bytes: u64,
    #[serde(skip)]
    pub(crate) bits_per_key: f64,
    pub(crate) fingerprint_bits: u32,
    /// 0 in a set.
    pub(crate) value_bits: u32,
    /// The name of the hash function, and its seed, unless it has a key.
    pub(crate) hash: &'static str,
    pub(crate) seed: Option<u64>,
    #[serde(flatten)]
    pub(crate) shape: Shape,
}

/// Facts that tables of fixed size and growable ones report in different ways.
#[derive(Serialize)]
pub(crate) struct Shape {
    #[serde(skip)]
    pub(crate) grows: bool,
    pub(crate) layout: &'static str,
    /// The layout in words.
    #[serde(skip)]
    pub(crate) description: String,
    pub(crate) slots_probed: u32,
    /// Not reported if lines expire.
    pub(crate) slots: Option<u64>,
    pub(crate) segments: Option<u64>,
    /// If lines expire.
    #[serde(flatten)]
    pub(crate) window: Option<Window>,
}

/// When lines expire, in the unit of a filter's time.
#[derive(Serialize)]
pub(crate) struct Window {
    pub(crate) ttl: u64,
    pub(crate) resolution: u64,
    pub(crate) now: u64,
}

impl Facts {
    pub(super) fn of<T: Lookup, C: Lines>(filter: &Filter<T, C>, shape: Shape) -> Self {
        Self {
            is_map: C::HAS_VALUES,
            kind: match (shape.grows, C::HAS_VALUES) {
                (false, _) if shape.window.is_some() => "set whose lines expire",
                (true, _) if shape.window.is_some() => "growable set whose lines expire",
                (false, false) => "set",
                (false, true) => "map",
                (true, false) => "growable set",
                (true, true) => "growable map",
            },
            keys: filter.len(),
            capacity: filter.capacity(),
            spilled: filter.spilled(),
            fpr: filter.expected_fpr(),
            load: filter.load_factor(),
            bytes: filter.size_in_bytes(),
            bits_per_key: filter.bits_per_key(),
            fingerprint_bits: filter.fingerprint_bits(),
            value_bits: filter.value_bits(),
            hash: filter.hasher().function().name(),
            seed: filter.hasher().seed(),
            shape,
        }
    }
}

impl Shape {
    pub(super) fn fixed(geometry: &Geometry) -> Self {
        Self {
            grows: false,
            layout: geometry.layout.name(),
            description: geometry.layout.to_string(),
            slots_probed: geometry.layout.probed_slots(geometry.fingerprint_bits),
            slots: Some(geometry.slots()),
            segments: Some(geometry.segments.into()),
            window: None,
        }
    }

    pub(super) fn growable(buckets: u64, segments: usize) -> Self {
        let (slots, segments) = (Some(buckets * 4), Some(segments as u64));
        Self { slots, segments, ..Self::bucketed(true) }
    }

    pub(super) fn aged<T: Ages>(grows: bool, filter: &Filter<Expiring<T>>) -> Self {
        let (ttl, resolution, now) = (filter.ttl(), filter.resolution(), filter.now());
        Self { window: Some(Window { ttl, resolution, now }), ..Self::bucketed(grows) }
    }

    fn bucketed(grows: bool) -> Self {
        let layout = if grows { "growable" } else { "bucketed" };
        Self {
            grows,
            layout,
            description: format!("{layout}, 4 slots per bucket"),
            slots_probed: 8,
            slots: None,
            segments: None,
            window: None,
        }
    }
}

/// The record of what was written.
pub(crate) fn figures<T: Lookup, C: Lines>(filter: &Filter<T, C>) -> Value {
    json!({
        "keys": filter.len(),
        "capacity": filter.capacity(),
        "fpr": filter.expected_fpr(),
        "table_bytes": filter.size_in_bytes(),
    })
}
