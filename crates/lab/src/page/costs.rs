//! Bits per key by the library's formulas, for some rates.

use malkoha::params;

use super::table::Table;

const RATES: [f64; 5] = [0.03, 0.01, 0.001, 0.0001, 0.00001];

/// Name and bits per key of each structure, at this false-positive rate. Fingerprints are not
/// rounded to whole bits.
fn costs(fpr: f64) -> [(&'static str, f64); 10] {
    let bound = params::information_bound(fpr);
    let bloom = params::bloom_bits_per_key(fpr);
    [
        ("information bound", bound),
        ("gap windows", params::cuckoo_bits_bound(fpr, 2, 0.95)),
        ("semi-sorted cuckoo", params::semi_sorted_bits_bound(fpr, 0.95)),
        ("cuckoo, buckets of 2", params::cuckoo_bits_bound(fpr, 2, 0.84)),
        ("cuckoo, buckets of 4", params::cuckoo_bits_bound(fpr, 4, 0.95)),
        ("cuckoo, buckets of 8", params::cuckoo_bits_bound(fpr, 8, 0.98)),
        ("Bloom", bloom),
        // Three bits of metadata, at load 0.9.
        ("quotient", (bound + 3.0) / 0.9),
        // log2 of the 12 fingerprints that a lookup meets, two bits of a counter, at load 0.75.
        ("d-left counting", (bound + 12f64.log2() + 2.0) / 0.75),
        ("counting Bloom", 4.0 * bloom),
    ]
}

/// A row for each structure, a column for each rate.
pub(super) fn table() -> Table {
    let columns = RATES.map(costs);
    let row = |structure: usize| {
        let bits = columns.iter().map(|column| format!("{:.2}", column[structure].1));
        std::iter::once(columns[0][structure].0.to_owned()).chain(bits).collect()
    };
    let heads = RATES.iter().map(|rate| format!("{} %", rate * 100.0));
    Table {
        caption: "Bits a key, by the false-positive rate".to_owned(),
        head: std::iter::once("Structure".to_owned()).chain(heads).collect(),
        rows: (0..columns[0].len()).map(row).collect(),
        folded: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bloom_filter_takes_9_585_bits_for_one_percent() {
        let table = table();
        let bloom = table.rows.iter().find(|row| row[0] == "Bloom").unwrap();
        assert_eq!((table.head[2].as_str(), bloom[2].as_str()), ("1 %", "9.59"));
    }
}
