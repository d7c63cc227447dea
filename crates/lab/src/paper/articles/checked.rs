//! Looking a key up before it is inserted, so that no key is in twice: an article warns that a key
//! which is then left out, because an equal fingerprint is in, is lost when the other key leaves.

use anyhow::Result;
use malkoha::{CuckooFilter, Layout};

use crate::keys::Keys;
use crate::paper::structures::library;
use crate::paper::values::Value;

/// Keys inserted, and share of the slots that they take.
const KEYS: u64 = 1 << 18;
const SLOTS: u64 = KEYS / 15 * 16;
const BITS: [u32; 3] = [8, 12, 16];

/// Keys left out, and keys lost when every second one has left, in a million.
pub(in crate::paper) fn lost() -> Result<Vec<Value>> {
    let mut values = Vec::new();
    for bits in BITS {
        for (how, checked) in [("if it is not in", true), ("always", false)] {
            let (left_out, lost, held) = run(bits, checked)?;
            let name = format!("{bits} bits, inserted {how}");
            let million = |count: u64, of: u64| count as f64 / of as f64 * 1e6;
            let mut cell = |column, value| values.push(Value::cell(column, &name, value, None));
            cell("left out, of a million", million(left_out, KEYS));
            cell("lost, of a million", million(lost, KEYS / 2));
            cell("count, of a million", million(held, KEYS));
        }
    }
    Ok(values)
}

/// Keys that were left out, keys that were lost, and how many the filter counts before any leaves.
fn run(bits: u32, checked: bool) -> Result<(u64, u64, u64)> {
    let mut filter: CuckooFilter = library(SLOTS, Layout::Bucketed { bucket_size: 4 }, bits)?;
    let keys = Keys::new(1);
    let mut left_out = 0;
    for position in 0..KEYS {
        if checked && filter.contains(keys.key(position)) {
            left_out += 1;
        } else {
            filter.insert(keys.key(position))?;
        }
    }
    let held = filter.len();
    for position in (0..KEYS).step_by(2) {
        filter.remove(keys.key(position));
    }
    let stayed = (1..KEYS).step_by(2);
    let lost = stayed.filter(|&position| !filter.contains(keys.key(position))).count();
    Ok((left_out, lost as u64, held))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_were_left_out_are_lost() {
        let (left_out, lost, held) = run(8, true).unwrap();
        assert!(left_out > 0 && lost > 0 && lost < left_out, "{left_out}, {lost}");
        assert_eq!(held, KEYS - left_out);
        assert_eq!(run(8, false).unwrap(), (0, 0, KEYS));
    }
}
