//! Figure 4: bits per item against the false-positive rate, by the formulas.

use malkoha::{CuckooFilter, Layout, params};

use super::values::Value;

/// The load of the paper's table 2.
const LOAD: f64 = 0.955;
/// Keys for which the library plans.
const KEYS: u64 = 127_780_000;

/// The paper's four curves from 0.001 % to 10 %, and the sizes that the library's builder plans.
pub(super) fn figure4() -> Vec<Value> {
    let mut values = Vec::new();
    for fpr in rates(8) {
        let mut point = |name, bits| values.push(Value::point("formulas", name, fpr, bits));
        point("bound", params::information_bound(fpr));
        point("Bloom", params::bloom_bits_per_key(fpr));
        point("CF", params::cuckoo_bits_bound(fpr, 4, LOAD));
        point("ss-CF", params::semi_sorted_bits_bound(fpr, LOAD));
    }
    let layouts = [
        ("our buckets of 4", Layout::Bucketed { bucket_size: 4 }),
        ("our semi-sorted", Layout::SemiSorted),
        ("gap windows", Layout::GapWindows),
        ("concurrent", Layout::Words),
    ];
    for (name, layout) in layouts {
        for fpr in rates(2) {
            let builder = CuckooFilter::builder().capacity(KEYS).layout(layout).fpr(fpr);
            // A layout need not reach every rate.
            if let Ok(plan) = builder.plan() {
                values.push(Value::point("formulas", name, plan.fpr, plan.bits_per_key));
            }
        }
    }
    values
}

/// Rates from 0.001 % to 10 %, this many in each factor of ten.
fn rates(a_decade: i32) -> impl Iterator<Item = f64> {
    (0..=4 * a_decade).map(move |step| 10f64.powf(f64::from(step) / f64::from(a_decade) - 5.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paper, section 6: below 3 % the semi-sorted filter is smaller than Bloom's.
    #[test]
    fn the_curves_cross_near_three_percent() {
        let values = figure4();
        let at = |name: &str, fpr: f64| {
            let near = |value: &&Value| value.series == name && (value.x / fpr - 1.0).abs() < 1e-9;
            values.iter().find(near).unwrap().y
        };
        assert!(at("ss-CF", 0.01) < at("Bloom", 0.01));
        assert!(at("ss-CF", 0.1) > at("Bloom", 0.1));
        assert!((at("bound", 0.001) - 9.966).abs() < 0.001);
    }
}
