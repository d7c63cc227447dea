//! The classic filters beside other people's crates, as ratios of one run.

use super::data::Data;
use super::table::Table;
use crate::report::number;

/// Ours and the crate that it is measured against.
const PAIRS: [(&str, &str); 2] = [("classic Bloom", "fastbloom"), ("classic quotient", "qfilter")];
const MEASURES: [(&str, &str); 6] = [
    ("insert single", "insert"),
    ("find single 0 %", "lookup, absent"),
    ("find single 50 %", "lookup, half present"),
    ("find single 100 %", "lookup, present"),
    ("remove single", "remove"),
    ("bits a key", "bits a key"),
];

/// Ours divided by theirs, a row for each pair and size; nothing if it was not measured.
pub(super) fn table(data: &Data) -> Option<Table> {
    let mut sizes: Vec<u64> = data.peers.rows.iter().map(|row| row.keys).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let value = |keys: u64, contender: &str, measure: &str| {
        let of = |row: &&crate::results::Row| {
            row.keys == keys && row.contender == contender && row.measure == measure
        };
        data.peers.rows.iter().find(of).map(|row| row.median)
    };
    let mut rows = Vec::new();
    for keys in sizes {
        for (ours, theirs) in PAIRS {
            let ratio = |&(measure, _): &(&str, &str)| {
                let ratio = Some(value(keys, ours, measure)? / value(keys, theirs, measure)?);
                Some(number(ratio))
            };
            let cells = MEASURES.iter().map(|m| ratio(m).unwrap_or_else(|| "–".to_owned()));
            let name = format!("{ours} / {theirs}, {} million keys", keys as f64 / 1e6);
            rows.push(std::iter::once(name).chain(cells).collect());
        }
    }
    let heads = MEASURES.iter().map(|(_, head)| (*head).to_owned());
    (!rows.is_empty()).then(|| Table {
        caption: "Ours divided by theirs: above 1 ours is faster, or takes more bits".to_owned(),
        head: std::iter::once(String::new()).chain(heads).collect(),
        rows,
        folded: false,
    })
}
