//! Keys that come and go: as many are in at any time, but a Bloom filter remembers all that ever
//! came.

use anyhow::{Result, ensure};
use malkoha::{GrowableCuckooFilter, Layout};
use malkoha_classic::{BloomFilter, CountingBloomFilter, Filter};

use crate::classic::Classic;
use crate::keys::Keys;
use crate::paper::structures::library;
use crate::paper::values::Value;
use crate::subject::{How, Operation, Subject};

/// Keys that are in at a time.
const WINDOW: u64 = 1 << 16;
/// Windows that come one after the other.
const WINDOWS: u64 = 12;
const FPR: f64 = 0.0019;
const QUERIES: u64 = 1 << 18;

/// False-positive rates, in percent, by the keys that have come over those that are in.
pub(in crate::paper) fn rates() -> Result<Vec<Value>> {
    let hasher = malkoha::KeyHasher::new(0);
    let slots = WINDOW / 9 * 10;
    let growable = GrowableCuckooFilter::builder().capacity(WINDOW).fpr(FPR).growth(1.0);
    let counting = CountingBloomFilter::with_capacity_and_hasher(WINDOW, FPR, hasher)?;
    let subjects: [(&str, Box<dyn Subject>); 5] = [
        ("Bloom", fixed(BloomFilter::with_capacity_and_hasher(WINDOW, FPR, hasher)?)),
        ("counting Bloom", Box::new(Classic::removable(counting))),
        ("buckets of 4", Box::new(library(slots, Layout::Bucketed { bucket_size: 4 }, 12)?)),
        ("gap windows", Box::new(library(slots, Layout::GapWindows, 11)?)),
        ("growable", Box::new(growable.build()?)),
    ];
    let mut values = Vec::new();
    for (name, subject) in subjects {
        values.extend(points(name, subject)?);
    }
    Ok(values)
}

fn fixed(filter: impl Filter + 'static) -> Box<dyn Subject> {
    Box::new(Classic::fixed(filter))
}

fn points(name: &str, mut subject: Box<dyn Subject>) -> Result<Vec<Value>> {
    let keys = Keys::new(1);
    let mut values = Vec::new();
    let mut refused = Vec::new();
    for window in 0..WINDOWS {
        for position in window * WINDOW..(window + 1) * WINDOW {
            if position >= WINDOW && subject.can(Operation::Remove, How::Single) {
                let old = [keys.key(position - WINDOW)];
                ensure!(subject.remove(How::Single, &old, &mut [false]) == 1, "{name} lost a key");
            }
            subject.insert(How::Single, &[keys.key(position)], &mut refused);
        }
        ensure!(refused.is_empty(), "{name} refused {} keys", refused.len());
        let absent = |query| subject.find(How::Single, &[keys.key(1 << 40 | query)], &mut [false]);
        let found = (0..QUERIES).map(absent).sum::<u64>();
        let rate = found as f64 / QUERIES as f64 * 100.0;
        values.push(Value::point("rate", name, (window + 1) as f64, rate));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bloom_filter_fills_up_with_what_has_gone_and_ours_does_not() {
        let values = rates().unwrap();
        let last = |name: &str| values.iter().rfind(|value| value.series == name).unwrap().y;
        assert!(last("Bloom") > 90.0, "{}", last("Bloom"));
        for name in ["counting Bloom", "buckets of 4", "gap windows", "growable"] {
            assert!(last(name) < 0.25, "{name}: {}", last(name));
        }
    }
}
