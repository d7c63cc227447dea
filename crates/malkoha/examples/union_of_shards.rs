//! Counts the distinct keys of shards of very different sizes: a filter for each, on a thread of its
//! own, and the union of all. The keys are not needed again.

use std::error::Error;
use std::ops::Range;
use std::thread;

use malkoha::{BatchError, GrowableCuckooFilter};

/// The keys of each shard. Neighbours overlap.
const SHARDS: [Range<u64>; 3] = [0..1_000, 900..40_000, 30_000..300_000];

fn filter_of(shard: Range<u64>) -> Result<GrowableCuckooFilter, BatchError> {
    let mut filter = GrowableCuckooFilter::builder().fpr(1e-5).build().expect("a valid rate");
    filter.insert_unique_many(&shard.collect::<Vec<u64>>())?;
    Ok(filter)
}

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let shards = thread::scope(|scope| {
        let shards = SHARDS.map(|shard| scope.spawn(|| filter_of(shard)));
        shards.map(|shard| shard.join().expect("no panic"))
    });
    let mut all = GrowableCuckooFilter::builder().fpr(1e-5).build()?;
    for shard in shards {
        let shard = shard?;
        println!("a shard of {} keys in {} bytes", shard.len(), shard.size_in_bytes());
        all.union_with(&shard)?;
    }
    println!(
        "all: {} keys, {:.1} bits per key, fpr {:.1e}",
        all.len(),
        all.bits_per_key(),
        all.expected_fpr()
    );

    assert!((0..300_000_u64).all(|key| all.contains(key)));
    // Keys of two shards that share a fingerprint count once.
    assert!((299_990..=300_000).contains(&all.len()));
    assert!(all.expected_fpr() < 1e-5);
    Ok(())
}
