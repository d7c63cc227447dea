//! Growth from any number of keys at any false-positive rate, without naming the growth at the
//! build: the rate at every doubling beside the promised one, and its cost in space and time.

use anyhow::{Result, ensure};
use malkoha::tables::Lookup;
use malkoha::{
    BatchError, BuildError, Builder, Filter, GrowableConcurrentCuckooFilter, GrowableCuckooFilter,
};

use super::doublings::each_batch;
use super::{BATCH, absent_found};
use crate::args::EndlessArgs;
use crate::keys::Keys;
use crate::machine::Machine;
use crate::report::{Grid, Report};

const HEAD: [&str; 10] = [
    "kind",
    "first keys",
    "promised fpr",
    "keys",
    "worst measured / promised",
    "expected / promised at the end",
    "bits/key, least",
    "mean",
    "at the end",
    "lost or refused",
];

/// Absent keys looked up at each doubling: enough for this many false positives at the promised
/// rate, between these bounds.
const HITS: f64 = 400.0;
const SAMPLE: (f64, f64) = (1e5, 2e7);
/// Keys from which on sizes are compared: smaller filters are mostly overhead.
const SIZED_FROM: u64 = 1_000;

/// Grows filters of every kind from every start at every rate, and prints a line for each.
///
/// # Errors
///
/// If a key was refused or lost.
pub fn report(args: &EndlessArgs) -> Result<()> {
    print!("{}", Report::new(Machine::describe(args.date.clone())).head());
    let mut csv = args.csv.as_ref().map(csv::Writer::from_path).transpose()?;
    if let Some(csv) = &mut csv {
        csv.write_record(HEAD)?;
    }
    let mut grid = Grid::new(format!("Growth to {} keys, never foreseen", args.keys), HEAD);
    let mut is_total = true;
    let mut add = |row: [String; 10]| -> Result<()> {
        is_total &= row[9].parse::<usize>().is_ok_and(|gone| gone == 0) || row[4].is_empty();
        if let Some(csv) = &mut csv {
            csv.write_record(&row)?;
            csv.flush()?;
        }
        grid.row(row);
        Ok(())
    };
    for &start in &args.starts {
        for &fpr in &args.rates {
            let one: Result<GrowableCuckooFilter, _> =
                Builder::new().capacity(start).fpr(fpr).build();
            let one = grown("one owner", args, (start, fpr), one, |filter, keys| {
                filter.insert_many(keys)
            });
            add(one?)?;
            let shared: Result<GrowableConcurrentCuckooFilter, _> =
                Builder::new().capacity(start).fpr(fpr).build();
            let shared = grown("shared", args, (start, fpr), shared, |filter, keys| {
                filter.insert_many(keys)
            });
            add(shared?)?;
        }
    }
    print!("{grid}");
    ensure!(is_total, "keys were refused or lost");
    Ok(())
}

fn grown<T: Lookup>(
    kind: &str,
    args: &EndlessArgs,
    (start, fpr): (u64, f64),
    built: Result<Filter<T>, BuildError>,
    mut insert: impl FnMut(&mut Filter<T>, &[u64]) -> Result<(), BatchError>,
) -> Result<[String; 10]> {
    let front = [kind.to_owned(), start.to_string(), fpr.to_string(), args.keys.to_string()];
    let mut filter = match built {
        Ok(filter) => filter,
        Err(error) => {
            let mut row: [String; 10] = Default::default();
            row[..4].clone_from_slice(&front);
            row[9] = format!("not built: {error}");
            return Ok(row);
        }
    };
    let keys = Keys::new(args.seed);
    let (mut done, mut next, mut refused) = (0, start.min(args.keys), 0);
    let (mut worst, mut sizes) = (0_f64, Vec::new());
    while done < args.keys {
        let mut batch = [0; BATCH];
        let len = usize::try_from(next - done).map_or(BATCH, |left| left.min(BATCH));
        keys.members(done, &mut batch[..len]);
        if let Err(error) = insert(&mut filter, &batch[..len]) {
            refused += error.refused.len();
        }
        done += len as u64;
        if done >= SIZED_FROM {
            sizes.push(filter.bits_per_key());
        }
        if done == next {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
            let sample = (HITS / fpr).clamp(SAMPLE.0, SAMPLE.1) as u64;
            let measured = absent_found(&filter, keys, done, sample) as f64 / sample as f64;
            worst = worst.max(measured / fpr);
            next = (next * 2).min(args.keys);
        }
    }
    let mut lost = 0;
    each_batch(keys, args.keys, |batch| {
        lost += filter.contains_many(batch).into_iter().filter(|&found| !found).count();
    });
    let (least, sum) = sizes
        .iter()
        .fold((f64::INFINITY, 0.0), |(least, sum), &size| (size.min(least), sum + size));
    let [kind, start, rate, keys] = front;
    Ok([
        kind,
        start,
        rate,
        keys,
        format!("{worst:.3}"),
        format!("{:.3}", filter.expected_fpr() / fpr),
        format!("{least:.2}"),
        format!("{:.2}", sum / sizes.len().max(1) as f64),
        format!("{:.2}", filter.bits_per_key()),
        (lost + refused).to_string(),
    ])
}
