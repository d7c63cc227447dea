//! Plain loops of lookups. A lookup is inlined into each of them: `checks/run inlined` looks at
//! what the compiler made of these functions.

use std::error::Error;

use malkoha::CuckooFilter;

#[inline(never)]
fn integers(filter: &CuckooFilter, keys: &[u64]) -> usize {
    keys.iter().filter(|&key| filter.contains(key)).count()
}

#[inline(never)]
fn branches(filter: &CuckooFilter, keys: &[u32]) -> u64 {
    let mut sum = 0;
    for &key in keys {
        if filter.contains(key) {
            sum += u64::from(key);
        }
    }
    sum
}

#[inline(never)]
fn words(filter: &CuckooFilter, words: &[&str]) -> usize {
    words.iter().filter(|&word| filter.contains(word)).count()
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u64> = (0..1_000).collect();
    let filter = CuckooFilter::builder().fpr(0.001).build_from(&numbers)?;
    assert_eq!(integers(&filter, &numbers), 1_000);

    let filter = CuckooFilter::builder().fpr(0.001).bucket_size(4).build_from(&[1_u32, 2, 3])?;
    assert!(branches(&filter, &[1, 2, 3]) == 6);

    let filter = CuckooFilter::try_from_iter(["koel", "magpie"], 0.001)?;
    assert_eq!(words(&filter, &["koel", "magpie"]), 2);
    println!("found all");
    Ok(())
}
