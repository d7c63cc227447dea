//! A filter for an unknown number of keys, which keeps the promised rate.
//!
//! At each doubling up to a million keys, prints the bits per key and the false-positive rate, as
//! the filter expects it and as measured.

use std::error::Error;

use malkoha::GrowableCuckooFilter;

const FPR: f64 = 0.001;
const PROBES: u64 = 200_000;

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let mut seen = GrowableCuckooFilter::builder().fpr(FPR).build()?;
    let absent: Vec<u64> = (0..PROBES).map(|i| u64::MAX - i).collect();

    println!("{:>9} {:>12} {:>12} {:>12}", "keys", "bits per key", "expected fpr", "measured");
    for key in 1..=1_u64 << 20 {
        seen.insert(key)?;
        if key.is_power_of_two() && key >= 1 << 10 {
            let (bits, expected) = (seen.bits_per_key(), seen.expected_fpr());
            let found = seen.contains_many(&absent).into_iter().filter(|&found| found).count();
            let measured = found as f64 / PROBES as f64;
            println!("{key:>9} {bits:>12.2} {expected:>12.2e} {measured:>12.2e}");

            assert!(expected <= FPR && measured < 1.3 * FPR);
        }
    }
    assert!(seen.contains_many(&[1_u64, 1 << 10, 1 << 20]).iter().all(|&found| found));
    Ok(())
}
