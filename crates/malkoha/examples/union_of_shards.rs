//! Counts the distinct keys of shards of very different sizes: a filter for each, built on a thread
//! of its own, and the union of all. The keys are not needed again.

use std::error::Error;
use std::ops::Range;
use std::thread;

use malkoha::GrowableCuckooFilter;

/// The keys of each shard. Neighbours overlap.
const SHARDS: [Range<u64>; 3] = [0..1_000, 900..40_000, 30_000..300_000];

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let builder = GrowableCuckooFilter::builder().fpr(1e-5);
    let build = |shard: Range<u64>| builder.build_from(&shard.collect::<Vec<u64>>());
    let shards = thread::scope(|scope| {
        let shards = SHARDS.map(|shard| scope.spawn(|| build(shard)));
        shards.map(|shard| shard.join().expect("no panic"))
    });

    let mut all = builder.build()?;
    for shard in shards {
        let shard = shard?;
        println!("a shard of {} keys in {} bytes", shard.len(), shard.size_in_bytes());
        all.union_with(&shard)?;
    }
    let (keys, bits, fpr) = (all.len(), all.bits_per_key(), all.expected_fpr());
    println!("all: {keys} keys, {bits:.1} bits per key, fpr {fpr:.1e}");

    assert!((0..300_000_u64).all(|key| all.contains(key)));
    // Two keys of different shards that have the same fingerprint count once.
    assert!((299_990..=300_000).contains(&keys) && fpr < 1e-5);
    Ok(())
}
