//! A stream in which few keys come very often: the filter's counts compared with the true ones.

use anyhow::{Result, ensure};
use malkoha::GrowableCuckooFilter;

use super::with_growth;
use crate::args::GrowArgs;
use crate::keys::Keys;
use crate::zipf::Zipf;

const EXPONENT: f64 = 1.1;

pub(super) fn report(args: &GrowArgs) -> Result<()> {
    let (keys, uniform) = (Keys::new(args.seed), Keys::new(args.seed + 1));
    let zipf = Zipf::new(args.stream, EXPONENT);
    let mut truth = vec![0_u32; usize::try_from(args.stream)? + 1];
    let builder = GrowableCuckooFilter::builder().capacity(args.start).fpr(args.fpr);
    let (mut filter, mut position) = (with_growth(builder, args.growth).build()?, 0);
    for _ in 0..args.stream {
        let rank = zipf.rank(|| {
            position += 1;
            uniform.key(position) as f64 / 2_f64.powi(64)
        });
        truth[usize::try_from(rank)?] += 1;
        filter.insert(keys.key(rank))?;
    }
    let (mut distinct, mut below, mut above) = (0_u64, 0_u64, 0_u64);
    for (rank, &truth) in (0..).zip(&truth).filter(|(_, truth)| **truth > 0) {
        let count = filter.count(keys.key(rank));
        distinct += 1;
        below += u64::from(count < truth.into());
        above += u64::from(count > truth.into());
    }
    println!(
        "\nStream of {} keys, Zipf {EXPONENT}: {distinct} distinct, the commonest {} times\n\
         counted too low: {below}; too high: {above}, a share of {:.6} (expected fpr {:.6})\n\
         {} bytes, {:.2} bits a distinct key, {:.2} a key; {} copies beside the slots",
        args.stream,
        truth.iter().max().copied().unwrap_or(0),
        above as f64 / distinct as f64,
        filter.expected_fpr(),
        filter.size_in_bytes(),
        filter.size_in_bytes() as f64 * 8.0 / distinct as f64,
        filter.bits_per_key(),
        filter.spilled()
    );
    ensure!(below == 0, "{below} keys were counted too low");
    Ok(())
}
