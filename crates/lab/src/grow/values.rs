//! A map of values: candidates of keys that are in and of keys that are not.

use anyhow::{Result, ensure};
use malkoha::{GrowableCuckooMap, Key};

use super::doublings::each_batch;
use crate::args::GrowArgs;
use crate::keys::{Keys, Present};

/// The value of a key.
fn value(key: u64, bits: u32) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)
}

pub(super) fn report(args: &GrowArgs) -> Result<()> {
    for bits in [32, 28] {
        let keys = Keys::new(args.seed);
        let builder = GrowableCuckooMap::builder().capacity(args.start).fpr(args.fpr);
        let growth = (args.keys as f64 / args.start as f64).max(1.0);
        let mut map = builder.growth(growth).build_map(32)?;
        let (mut done, mut sum, mut samples, mut refused) = (0_u64, 0.0, 0.0, Ok(()));
        each_batch(keys, args.keys, |batch| {
            let pairs: Vec<(u64, u64)> =
                batch.iter().map(|key| (key.hash_with(map.hasher()), value(*key, bits))).collect();
            if let Err(error) = map.insert_hashes(&pairs) {
                refused = Err(error);
            }
            done += batch.len() as u64;
            if done * 2 > args.keys {
                // Over a doubling, in which every size of a segment occurs.
                sum += map.bits_per_key() / 8.0;
                samples += 1.0;
            }
        });
        refused?;
        let (mut right, mut all) = (0_u64, 0_u64);
        each_batch(keys, args.keys, |batch| {
            map.get_many(batch, |i, found| {
                all += 1;
                right += u64::from(found == value(batch[i], bits));
            });
        });
        let (mut absent, mut queries) = (0_u64, vec![0; super::BATCH]);
        for first in (0..args.keys).step_by(super::BATCH) {
            keys.queries(Present(0), args.keys, first, &mut queries);
            map.get_many(&queries, |_, _| absent += 1);
        }
        let asked = args.keys.next_multiple_of(super::BATCH as u64) as f64;
        println!(
            "\nMap of {} keys with values of {bits} bits, fingerprints of {} bits, fpr {}\n\
             candidates a present key {:.6}, an absent one {:.6} (expected {:.6})\n\
             {:.2} bytes a key at the end, {:.2} on average over the last doubling",
            args.keys,
            map.fingerprint_bits(),
            args.fpr,
            all as f64 / args.keys as f64,
            absent as f64 / asked,
            map.expected_fpr(),
            map.bits_per_key() / 8.0,
            sum / samples
        );
        ensure!(right >= args.keys, "{} values were lost", args.keys - right);
    }
    Ok(())
}
