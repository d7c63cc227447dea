//! What a key costs in the rivals at a given false-positive rate, measured: most round to powers of
//! two, and some have only a few sizes.

use anyhow::Result;
use lab::keys::{Keys, Present};
use lab::report::Grid;
use lab::space::RATES;
use lab::subject::{Contender, How, Subject};

/// Absent keys that the rate is measured with.
const SAMPLE: u64 = 4_000_000;
/// Keys handed over at a time.
const BATCH: u64 = 32_768;
/// A rate is met if the measured one is at most this many times as high: rates stated for other
/// loads, and chance.
const MET: f64 = 1.1;

/// Fills the rivals that `make` lists for each rate, and prints what they take.
///
/// # Errors
///
/// If the rivals cannot be listed. One that cannot be made has an empty cell.
pub(crate) fn report(sizes: &[u64], make: impl Fn(f64) -> Result<Vec<Contender>>) -> Result<()> {
    for &keys in sizes {
        let title = format!("Bits a key for {keys} keys (measured rate in percent)");
        let heads = RATES.map(|rate| format!("fpr {} %", rate * 100.0));
        let mut grid = Grid::new(title, [String::new()].into_iter().chain(heads));
        let by_rate = RATES.map(&make).into_iter().collect::<Result<Vec<_>>>()?;
        for rival in 0..by_rate[0].len() {
            let cell = |(rivals, rate): (&Vec<Contender>, f64)| cell(&rivals[rival], keys, rate);
            let cells = by_rate.iter().zip(RATES).map(cell);
            grid.row([by_rate[0][rival].name.clone()].into_iter().chain(cells));
        }
        print!("{grid}");
    }
    Ok(())
}

/// Empty if the rival has no filter of that rate, or refuses keys.
fn cell(rival: &Contender, keys: u64, rate: f64) -> String {
    let Ok(mut subject) = (rival.make)(keys) else { return String::new() };
    let stream = Keys::new(1);
    let mut refused = Vec::new();
    batches(keys, |first, batch| {
        stream.members(first, batch);
        subject.insert(How::Single, batch, &mut refused);
        0
    });
    let measured = false_positives(&*subject, stream, keys) as f64 / SAMPLE as f64;
    if !refused.is_empty() || measured > rate * MET {
        return String::new();
    }
    let bits = subject.bytes() as f64 * 8.0 / keys as f64;
    format!("{bits:.2} ({:.4})", measured * 100.0)
}

fn false_positives(subject: &dyn Subject, stream: Keys, keys: u64) -> u64 {
    batches(SAMPLE, |first, batch| {
        stream.queries(Present(0), keys, first, batch);
        subject.find(How::Single, batch, &mut [])
    })
}

/// The sum of what `each` answers for the batches of `0..total`.
fn batches(total: u64, mut each: impl FnMut(u64, &mut [u64]) -> u64) -> u64 {
    let mut batch = vec![0; usize::try_from(BATCH).unwrap_or(1)];
    let mut sum = 0;
    for first in (0..total).step_by(batch.len()) {
        let left = usize::try_from(total - first).unwrap_or(usize::MAX).min(batch.len());
        sum += each(first, &mut batch[..left]);
    }
    sum
}
