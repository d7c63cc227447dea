//! What an article says of space: a cuckoo filter saves 40 % of a Bloom filter's, and needs a
//! length that is a power of two.

use anyhow::Result;
use malkoha::{CuckooFilter, Layout, params};

use crate::paper::values::Value;

const LAYOUTS: [(&str, Layout); 3] = [
    ("buckets of 4", Layout::Bucketed { bucket_size: 4 }),
    ("semi-sorted", Layout::SemiSorted),
    ("gap windows", Layout::GapWindows),
];
const KEYS: u64 = 10_000_000;
/// What the article says is saved.
const SAID: f64 = 40.0;

/// Bits per key that are saved over a Bloom filter of the same rate, in percent.
pub(in crate::paper) fn savings() -> Result<Vec<Value>> {
    let mut values = Vec::new();
    for fpr in [0.03, 0.01, 0.001, 0.0001] {
        let name = format!("{} %", fpr * 100.0);
        let saved = |bits: f64, fpr| (1.0 - bits / params::bloom_bits_per_key(fpr)) * 100.0;
        for (layout, layout_value) in LAYOUTS {
            let plan =
                CuckooFilter::builder().capacity(KEYS).layout(layout_value).fpr(fpr).plan()?;
            values.push(Value::cell(layout, &name, saved(plan.bits_per_key, plan.fpr), Some(SAID)));
        }
        let bound = saved(params::information_bound(fpr), fpr);
        values.push(Value::cell("the least that can be", &name, bound, Some(SAID)));
    }
    Ok(values)
}

/// Bits per key of 12-bit fingerprints for numbers of keys beside a power of two.
pub(in crate::paper) fn any_size() -> Result<Vec<Value>> {
    let mut values = Vec::new();
    for percent in [95, 100, 120, 150, 180] {
        let keys = (4_u64 << 20) * percent / 100;
        let name = format!("{:.2} million keys", keys as f64 / 1e6);
        // The paper's buckets of 4 to load 0.95.
        let buckets = (keys as f64 / 0.95 / 4.0).ceil().log2().ceil().exp2();
        let power = buckets * 4.0 * 12.0 / keys as f64;
        values.push(Value::cell("a power of two of buckets", &name, power, None));
        for (layout, layout_value) in LAYOUTS {
            let builder = CuckooFilter::builder().capacity(keys).layout(layout_value);
            let plan = builder.fingerprint_bits(12).plan()?;
            values.push(Value::cell(&format!("our {layout}"), &name, plan.bits_per_key, None));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A perfect filter needs log2(1/fpr) bits, a Bloom filter 1.44 times that.
    #[test]
    fn nothing_saves_more_than_31_percent() {
        let values = savings().unwrap();
        assert!(values.iter().all(|value| value.y < 30.7), "{values:?}");
        let least = values.iter().find(|value| value.group == "the least that can be").unwrap();
        assert!((least.y - 30.685).abs() < 0.01, "{least:?}");
    }

    #[test]
    fn our_sizes_follow_the_keys() {
        let values = any_size().unwrap();
        let spread = |column: &str| {
            let bits = values.iter().filter(|value| value.group == column).map(|value| value.y);
            bits.clone().fold(0.0, f64::max) / bits.fold(f64::MAX, f64::min)
        };
        assert!(spread("our buckets of 4") < 1.01);
        assert!(spread("a power of two of buckets") > 1.8);
    }
}
