//! The structures that are compared, and what each costs.

use anyhow::Result;
use malkoha::{BuildError, CuckooFilter, GrowableCuckooFilter, Layout, Plan, params};
use malkoha_classic::blocked_bloom_bits_per_key;
use serde::Serialize;

use crate::arguments::built_rate;

/// One structure's price.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) structure: String,
    pub(super) bits_per_key: f64,
    pub(super) bytes: u64,
    pub(super) fpr: f64,
    pub(super) deletes: bool,
    /// Whether this program builds it.
    #[serde(rename = "built_by_malkoha")]
    pub(super) built: bool,
}

/// Slots of a hash set of 8-byte values: a power of two, at most 7/8 full, with one control byte
/// each (the design of Abseil's and Rust's tables).
const HASH_SET_SLOT_BYTES: u64 = 9;

/// Keys that a filter which grows is measured with, at most.
const MEASURED: u64 = 1 << 18;

/// Layouts of fixed size that this program can build.
const LAYOUTS: [Layout; 5] = [
    Layout::GapWindows,
    Layout::SemiSorted,
    Layout::Bucketed { bucket_size: 4 },
    Layout::Bucketed { bucket_size: 2 },
    Layout::Bucketed { bucket_size: 8 },
];

/// All structures, in the order of the table. Among equals, those of this program come first.
pub(super) fn rows(keys: u64, fpr: f64) -> Result<Vec<Row>> {
    let builder = CuckooFilter::builder().capacity(keys).fpr(built_rate(fpr));
    let chosen = builder.plan()?;
    let mut rows = vec![
        formula("information bound", keys, fpr, params::information_bound(fpr)),
        growing(keys, fpr)?,
        built(&chosen),
    ];
    for layout in LAYOUTS.into_iter().filter(|&layout| layout != chosen.geometry.layout) {
        match builder.clone().layout(layout).plan() {
            Ok(plan) => rows.push(built(&plan)),
            // Layouts that compare more slots need longer fingerprints, which can be too long.
            Err(BuildError::FprTooSmall { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    rows.push(formula("Bloom", keys, fpr, params::bloom_bits_per_key(fpr)));
    // Blocks do not reach the lowest rates.
    rows.extend(
        blocked_bloom_bits_per_key(fpr)
            .map(|bits| formula("Bloom, blocks of one cache line", keys, fpr, bits)),
    );
    let fpr = float(keys) / 64_f64.exp2();
    rows.extend([formula("sorted 8-byte hashes", keys, fpr, 64.0), hash_set(keys, fpr)]);
    Ok(rows)
}

/// A filter that grows, measured on a part of the keys.
fn growing(keys: u64, fpr: f64) -> Result<Row> {
    let sample = keys.clamp(1, MEASURED);
    let builder = GrowableCuckooFilter::builder().capacity(sample).fpr(built_rate(fpr));
    let mut filter = builder.build()?;
    filter.insert_many(&(0..sample).collect::<Vec<_>>())?;
    let bits_per_key = 8.0 * float(filter.size_in_bytes()) / float(sample);
    Ok(Row {
        structure: format!("cuckoo, grows, {} bits", filter.fingerprint_bits()),
        bits_per_key,
        bytes: whole(bits_per_key * float(keys) / 8.0),
        fpr: filter.expected_fpr(),
        deletes: true,
        built: true,
    })
}

fn built(plan: &Plan) -> Row {
    let geometry = &plan.geometry;
    Row {
        structure: format!("cuckoo, {}, {} bits", geometry.layout, geometry.fingerprint_bits),
        bits_per_key: plan.bits_per_key,
        bytes: plan.bytes,
        fpr: plan.fpr,
        deletes: true,
        built: true,
    }
}

fn formula(structure: &str, keys: u64, fpr: f64, bits_per_key: f64) -> Row {
    let bytes = whole((bits_per_key * float(keys) / 8.0).ceil());
    Row { structure: structure.into(), bits_per_key, bytes, fpr, deletes: false, built: false }
}

fn hash_set(keys: u64, fpr: f64) -> Row {
    let slots = keys.saturating_mul(8).div_ceil(7).next_power_of_two();
    let bytes = slots.saturating_mul(HASH_SET_SLOT_BYTES);
    Row {
        structure: "hash set of 8-byte hashes".into(),
        bits_per_key: 8.0 * float(bytes) / float(keys),
        bytes,
        fpr,
        deletes: true,
        built: false,
    }
}

#[expect(clippy::cast_precision_loss, reason = "for display; at most 2^36 keys")]
fn float(count: u64) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number of bytes, far below 2^64"
)]
fn whole(bytes: f64) -> u64 {
    bytes as u64
}
