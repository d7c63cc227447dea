//! Balls in bins: N balls into N bins, and how many lie in the fullest one. A ball that may choose
//! the emptier of two bins lowers that from ln N / ln ln N to ln ln N / ln 2, up to a constant.

use crate::keys::{Keys, scale as scaled};
use crate::paper::values::Value;
use crate::paper::walk::mix;
use crate::paper::{of_runs, progress};

/// Binary logarithms of N.
const SIZES: std::ops::RangeInclusive<u32> = 6..=22;
/// Sets of balls.
const RUNS: u64 = 10;

/// A ball's bins, of so many.
type Choice = fn(&mut Vec<u8>, Ball, u64);

/// Gives a ball any number of independent hashes.
#[derive(Clone, Copy)]
struct Ball {
    keys: Keys,
    number: u64,
}

impl Ball {
    const fn hash(self, which: u64) -> u64 {
        self.keys.key(self.number * 4 + which)
    }
}

const CHOICES: [(&str, Choice); 4] = [
    ("one bin", |bins, ball, count| put(bins, [scaled(ball.hash(0), count)])),
    ("the emptier of two", |bins, ball, count| {
        put(bins, [0, 1].map(|which| scaled(ball.hash(which), count)));
    }),
    // As in a cuckoo filter: there are 256 possible second bins for a first one.
    ("of two, by 8 bits", |bins, ball, count| {
        let first = ball.hash(0) & (count - 1);
        put(bins, [first, (first ^ mix(ball.hash(0) >> 56)) & (count - 1)]);
    }),
    // A d-left table's buckets: one in each fourth of the bins.
    ("of four, leftmost", |bins, ball, count| {
        put(bins, [0, 1, 2, 3].map(|part| (part * count + scaled(ball.hash(part), count)) / 4));
    }),
];

/// Puts a ball into the emptiest of these bins, the first of equals.
fn put<const D: usize>(bins: &mut [u8], among: [u64; D]) {
    let among = among.map(|bin| usize::try_from(bin).unwrap_or(0));
    let best = among.into_iter().min_by_key(|&bin| bins[bin]).unwrap_or(0);
    bins[best] = bins[best].saturating_add(1);
}

/// The mean of the fullest bins, by the number of bins, beside what theory says without its
/// constants.
pub(in crate::paper) fn heaviest() -> Vec<Value> {
    let bar = progress("bins", SIZES.count() as u64);
    let mut values = Vec::new();
    for log in SIZES {
        for (name, choice) in CHOICES {
            let fullest = of_runs(RUNS, 1 << log, |seed| fullest(log, choice, seed));
            let mean = fullest.iter().sum::<f64>() / fullest.len() as f64;
            values.push(Value::point("fullest bin", name, f64::from(log), mean));
        }
        let ln = f64::from(log) * std::f64::consts::LN_2;
        for (name, theory) in
            [("ln N / ln ln N", ln / ln.ln()), ("ln ln N / ln 2", ln.ln() / std::f64::consts::LN_2)]
        {
            values.push(Value::point("fullest bin", name, f64::from(log), theory));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    values
}

fn fullest(log: u32, choice: Choice, seed: u64) -> f64 {
    let count = 1 << log;
    let mut bins = vec![0; 1 << log];
    for number in 0..count {
        choice(&mut bins, Ball { keys: Keys::new(seed), number }, count);
    }
    bins.into_iter().max().map_or(0.0, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_lower_the_fullest_bin() {
        let mean = |choice| (1..=5).map(|seed| fullest(16, choice, seed)).sum::<f64>() / 5.0;
        let [one, two, by_bits, four] = CHOICES.map(|(_, choice)| mean(choice));
        assert!((7.0..=11.0).contains(&one), "{one}");
        assert!((3.0..=5.0).contains(&two), "{two}");
        assert!((by_bits - two).abs() <= 1.0, "{by_bits} and {two}");
        assert!(four < two && four >= 2.0, "{four}");
    }
}
