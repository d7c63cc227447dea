//! Bits per key of the rivals at given false-positive rates, measured: most round to powers of two,
//! and some have only a few sizes.

use anyhow::Result;
use clap::Args;
use lab::args::{chosen, parse_count};
use lab::keys::{Keys, Present};
use lab::results::Figures;
use lab::space::RATES;
use lab::subject::{Contender, How};

use crate::rivals;

/// Absent keys that the rate is measured with.
const SAMPLE: u64 = 4_000_000;
/// A rate is met if the measured one is at most this many times as high: rates stated for other
/// loads, and chance.
const MET: f64 = 1.1;

/// Options of the table of sizes.
#[derive(Args)]
pub(crate) struct SpaceArgs {
    /// Keys in each filter
    #[arg(long, value_delimiter = ',', value_parser = parse_count, default_value = "990k,10M")]
    keys: Vec<u64>,
    /// Only these rivals, parted by semicolons
    #[arg(long, value_delimiter = ';', value_name = "NAMES")]
    only: Vec<String>,
}

/// Fills the rivals for each rate, and prints what they take.
pub(crate) fn report(args: &SpaceArgs) -> Result<()> {
    let mut figures = Figures::default();
    let measures = RATES.map(|rate| format!("fpr {} %", rate * 100.0));
    for &keys in &args.keys {
        for (rate, measure) in RATES.into_iter().zip(&measures) {
            for rival in chosen(rivals::fixed(rate), &args.only, |rival| &rival.name)? {
                if let Some(bits) = bits_per_key(&rival, keys, rate) {
                    figures.add(&rival.name, keys, measure, "bits", bits);
                }
            }
        }
    }
    print!("{}", figures.by_size("Bits per key where the rate is met", &measures));
    Ok(())
}

/// `None` if the rival has no filter of that rate, or refuses keys.
fn bits_per_key(rival: &Contender, keys: u64, rate: f64) -> Option<f64> {
    let mut subject = (rival.make)(keys).ok()?;
    let (stream, mut batch) = (Keys::new(1), [0; 1024]);
    let (mut refused, mut found) = (Vec::new(), 0);
    stream.batches(0..keys, &mut batch, |batch| {
        subject.insert_all(How::Single, batch, &mut refused);
    });
    stream.query_batches(Present(0), keys, 0..SAMPLE, &mut batch, |batch| {
        found += subject.find_all(How::Single, batch, &mut []);
    });
    let is_met = refused.is_empty() && found as f64 <= rate * MET * SAMPLE as f64;
    is_met.then(|| subject.bytes() as f64 * 8.0 / keys as f64)
}
