//! Very many operations on every kind that grows, far beyond the size that it was built for, beside
//! what must come of them.
//!
//! The model is arithmetic, so that it takes no memory: key number `t` is inserted at step `t`, one
//! in 1024 twice, and every eighth step removes the next of the keys 1, 5, 9, ...

use std::time::Instant;

use anyhow::{Result, ensure};
use malkoha::tables::Lookup;
use malkoha::{
    Builder, Content, Copies, Filter, GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooMap,
    GrowableCuckooFilter, GrowableCuckooMap,
};

use super::BATCH;
use crate::args::SoakArgs;
use crate::keys::Keys;
use crate::machine::Machine;
use crate::report::{Grid, Report};

const HEAD: [&str; 8] = [
    "kind",
    "operations",
    "keys at the end",
    "doublings since it was built",
    "fpr expected",
    "bits/key",
    "lost or counted too low",
    "s",
];

/// One in so many keys comes twice.
const TWICE: u64 = 1024;
/// Keys of a filter that is united with the grown one, at each of so many points.
const UNITED: u64 = 100_000;
const UNIONS: u64 = 8;
/// Keys from here on come by unions.
const OTHERS: u64 = 1 << 40;
/// Bits of a value.
const VALUE_BITS: u32 = 20;

/// Runs all kinds.
///
/// # Errors
///
/// If a key was lost, counted too low, or refused.
pub fn report(args: &SoakArgs) -> Result<()> {
    print!("{}", Report::new(Machine::describe(args.date.clone())).head());
    let mut grid = Grid::new("Many operations, far beyond the size foreseen", HEAD);
    let mut all_held = true;
    let mut add = |row: [String; 8]| {
        println!("{}", row.join(", "));
        all_held &= row[6] == "0";
        grid.row(row);
    };
    let mut one: GrowableCuckooFilter =
        Builder::new().capacity(1_000).fpr(0.5).growth(1.0).build()?;
    let steps = args.operations * 8 / 9;
    add(run(
        args,
        steps,
        "one owner, set",
        &mut one,
        Kind {
            insert: |filter, key| Ok(filter.insert(key)?),
            remove: |filter, key| filter.remove(key),
            unite: |filter, keys| {
                let mut other = GrowableCuckooFilter::with_capacity(10, 0.01)?;
                other.insert_many(keys)?;
                filter.unite(&other, Copies::Sum)?;
                Ok(true)
            },
            shrink: GrowableCuckooFilter::shrink_to_fit,
        },
    )?);
    drop(one);
    let steps = steps / args.less;
    let builder = GrowableCuckooMap::builder().capacity(1_000).fpr(0.01);
    let mut map: GrowableCuckooMap = builder.value_bits(VALUE_BITS).build()?;
    add(run(
        args,
        steps,
        "one owner, map",
        &mut map,
        Kind {
            insert: |map, key| Ok(map.insert(key, key >> (64 - VALUE_BITS))?),
            remove: |map, key| map.remove(key, key >> (64 - VALUE_BITS)),
            unite: |map, keys| {
                let mut other = GrowableCuckooMap::with_capacity(10, 0.01, VALUE_BITS)?;
                let pairs: Vec<_> =
                    keys.iter().map(|&key| (key, key >> (64 - VALUE_BITS))).collect();
                other.insert_many(&pairs)?;
                map.unite(&other, Copies::Sum)?;
                Ok(true)
            },
            shrink: GrowableCuckooMap::shrink_to_fit,
        },
    )?);
    drop(map);
    let mut shared: GrowableConcurrentCuckooFilter =
        Builder::new().capacity(1_000).fpr(0.01).growth(1.0).build()?;
    add(run(
        args,
        steps,
        "shared, set",
        &mut shared,
        Kind {
            insert: |filter, key| Ok(filter.insert(key)?),
            remove: |filter, key| filter.remove(key),
            unite: |_, _| Ok(false),
            shrink: |_| {},
        },
    )?);
    drop(shared);
    let mut map = GrowableConcurrentCuckooMap::with_capacity(1_000, 0.01, VALUE_BITS)?;
    add(run(
        args,
        steps,
        "shared, map",
        &mut map,
        Kind {
            insert: |map, key| Ok(map.insert(key, key >> (64 - VALUE_BITS))?),
            remove: |map, key| map.remove(key, key >> (64 - VALUE_BITS)),
            unite: |_, _| Ok(false),
            shrink: |map| map.shrink_to_fit(),
        },
    )?);
    print!("{grid}");
    ensure!(all_held, "keys were lost or counted too low");
    Ok(())
}

/// The operations of a kind. `unite` answers whether the kind can.
struct Kind<F> {
    insert: fn(&mut F, u64) -> Result<()>,
    remove: fn(&mut F, u64) -> bool,
    unite: fn(&mut F, &[u64]) -> Result<bool>,
    shrink: fn(&mut F),
}

fn run<T: Lookup, C: Content>(
    args: &SoakArgs,
    steps: u64,
    name: &str,
    filter: &mut Filter<T, C>,
    kind: Kind<Filter<T, C>>,
) -> Result<[String; 8]> {
    let (start, keys) = (Instant::now(), Keys::new(args.seed));
    let (mut operations, mut wrong, mut united) = (0_u64, 0_u64, 0_u64);
    let mut next_check = 1 << 16;
    for step in 0..steps {
        (kind.insert)(filter, keys.key(step))?;
        operations += 1;
        if step % TWICE == 2 {
            (kind.insert)(filter, keys.key(step))?;
            operations += 1;
        }
        if step % 8 == 7 {
            wrong += u64::from(!(kind.remove)(filter, keys.key(step / 8 * 4 + 1)));
            operations += 1;
        }
        if (step + 1) % (steps / UNIONS) == 0 {
            let others: Vec<u64> =
                (OTHERS + united..OTHERS + united + UNITED).map(|n| keys.key(n)).collect();
            united += if (kind.unite)(filter, &others)? { UNITED } else { 0 };
        }
        if step + 1 == next_check || step + 1 == steps {
            wrong += missing(filter, keys, step + 1, united);
            next_check *= 2;
        }
    }
    let (len, fpr, size) = (filter.len(), filter.expected_fpr(), filter.bits_per_key());
    (kind.shrink)(filter);
    wrong += missing(filter, keys, steps, united);
    let doublings = (len as f64 / filter.capacity() as f64).log2();
    Ok([
        name.to_owned(),
        operations.to_string(),
        len.to_string(),
        format!("{doublings:.1}"),
        format!("{fpr:.6}"),
        format!("{size:.2}"),
        wrong.to_string(),
        format!("{:.0}", start.elapsed().as_secs_f64()),
    ])
}

/// Keys that are not found, or counted too low, after so many steps.
fn missing<T: Lookup, C: Content>(
    filter: &Filter<T, C>,
    keys: Keys,
    steps: u64,
    united: u64,
) -> u64 {
    let is_in = |number: &u64| number % 4 != 1 || number / 4 >= steps / 8;
    let all = (0..steps).filter(is_in).chain(OTHERS..OTHERS + united);
    let (mut wrong, mut batch) = (0, Vec::with_capacity(BATCH));
    let mut look = |batch: &mut Vec<u64>| {
        wrong += filter.contains_many(batch).into_iter().filter(|&found| !found).count() as u64;
        batch.clear();
    };
    for number in all {
        batch.push(keys.key(number));
        if batch.len() == BATCH {
            look(&mut batch);
        }
    }
    look(&mut batch);
    // None of them is among 1, 5, 9, ...
    let twice = (0..).map(|n| n * TWICE + 2).take_while(|&number| number < steps);
    wrong + twice.filter(|&number| filter.count(keys.key(number)) < 2).count() as u64
}
