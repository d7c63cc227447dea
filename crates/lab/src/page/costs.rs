//! Bits a key by the formulas: the same in the page's JavaScript, which is compared with this.

use malkoha::params;

/// What a structure costs.
pub(super) struct Cost {
    pub(super) name: &'static str,
    pub(super) bits: String,
    pub(super) bytes: String,
}

/// Keys and rate that the page shows before anybody types.
const KEYS: f64 = 1e6;
const FPR: f64 = 0.001;

/// Name and bits a key of each structure, at this false-positive rate. Fingerprints are not rounded
/// to whole bits.
#[must_use]
pub fn costs(fpr: f64) -> Vec<(&'static str, f64)> {
    let bound = params::information_bound(fpr);
    let bloom = params::bloom_bits_per_key(fpr);
    vec![
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

/// The rows that stand in the page without JavaScript.
pub(super) fn example() -> Vec<Cost> {
    let cost = |(name, bits): (&'static str, f64)| {
        let bytes = (bits * KEYS / 8.0).ceil();
        Cost { name, bits: format!("{bits:.2}"), bytes: format!("{:.2} MB", bytes / 1e6) }
    };
    costs(FPR).into_iter().map(cost).collect()
}
