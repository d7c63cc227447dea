//! Maps with values, grown and of fixed size: candidates of present and of absent keys.

use anyhow::{Result, ensure};
use malkoha::{CuckooMap, GrowableCuckooMap, Key};

use super::doublings::each_batch;
use super::{BATCH, with_growth};
use crate::args::GrowArgs;
use crate::keys::{Keys, Present};

/// The value of a key.
fn value(key: u64, bits: u32) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)
}

pub(super) fn report(args: &GrowArgs) -> Result<()> {
    fixed(args, 32)?;
    grown(args, 32)?;
    grown(args, 28)
}

fn fixed(args: &GrowArgs, bits: u32) -> Result<()> {
    let builder = CuckooMap::builder().capacity(args.keys).fpr(args.fpr);
    let mut map = builder.value_bits(bits).build()?;
    let mut refused = Ok(());
    each_batch(Keys::new(args.seed), args.keys, |batch| {
        if let Err(error) = map.insert_hashes(&pairs(batch, bits, map.hasher())) {
            refused = Err(error);
        }
    });
    refused?;
    println!(
        "\nMap of fixed size for {} keys with values of {bits} bits, fingerprints of {} bits, fpr {}",
        args.keys,
        map.geometry().fingerprint_bits,
        args.fpr
    );
    candidates(args, bits, map.expected_candidates(), |keys, each| map.get_many(keys, each))?;
    println!("{:.2} bytes a key, {} beside the table", map.bits_per_key() / 8.0, map.spilled());
    Ok(())
}

fn grown(args: &GrowArgs, bits: u32) -> Result<()> {
    let builder = GrowableCuckooMap::builder().capacity(args.start).fpr(args.fpr);
    let mut map = with_growth(builder, args.growth).value_bits(32).build()?;
    let (mut done, mut sum, mut samples, mut refused) = (0_u64, 0.0, 0.0, Ok(()));
    each_batch(Keys::new(args.seed), args.keys, |batch| {
        if let Err(error) = map.insert_hashes(&pairs(batch, bits, map.hasher())) {
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
    println!(
        "\nMap of {} keys with values of {bits} bits, fingerprints of {} bits, fpr {}",
        args.keys,
        map.fingerprint_bits(),
        args.fpr
    );
    candidates(args, bits, map.expected_candidates(), |keys, each| map.get_many(keys, each))?;
    println!(
        "{:.2} bytes a key at the end, {:.2} on average over the last doubling",
        map.bits_per_key() / 8.0,
        sum / samples
    );
    Ok(())
}

fn pairs(keys: &[u64], bits: u32, hasher: malkoha::KeyHasher) -> Vec<(u64, u64)> {
    keys.iter().map(|key| (key.hash_with(hasher), value(*key, bits))).collect()
}

/// Looks up all keys, and as many absent ones.
fn candidates(
    args: &GrowArgs,
    bits: u32,
    expected: f64,
    get_many: impl Fn(&[u64], &mut dyn FnMut(usize, u64)),
) -> Result<()> {
    let keys = Keys::new(args.seed);
    let (mut right, mut all) = (0_u64, 0_u64);
    each_batch(keys, args.keys, |batch| {
        get_many(batch, &mut |i, found| {
            all += 1;
            right += u64::from(found == value(batch[i], bits));
        });
    });
    let (mut absent, mut queries) = (0_u64, vec![0; BATCH]);
    for first in (0..args.keys).step_by(BATCH) {
        keys.queries(Present(0), args.keys, first, &mut queries);
        get_many(&queries, &mut |_, _| absent += 1);
    }
    println!(
        "candidates a present key {:.6}, an absent one {:.6} (expected {expected:.6})",
        all as f64 / args.keys as f64,
        absent as f64 / args.keys.next_multiple_of(BATCH as u64) as f64
    );
    ensure!(right >= args.keys, "{} values were lost", args.keys - right);
    Ok(())
}
