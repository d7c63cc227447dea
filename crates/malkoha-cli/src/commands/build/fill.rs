//! Fills what is built: filters of fixed size in several attempts, growable ones in one.

use std::cell::Cell;

use anyhow::{Result, bail};
use malkoha::tables::Growing;
use malkoha::{BatchError, BuildError, CuckooFilter, CuckooMap, Filter, KeyHasher, Keys, Values};

use super::Arguments;
use crate::commands::items::Items;
use crate::filter::{Item, Lines, bits_of, insert};

/// How many tables are tried.
const ATTEMPTS: u64 = 5;

/// Default slots per bucket of a map. The values of a key lie in its two buckets, and beyond
/// the table when these are full.
const BUCKET_SIZE: u32 = 4;

/// Slots that the values of a key can take in a growable map.
const GROWABLE_SLOTS: u64 = 2;

/// Structures that `malkoha build` can make from items.
pub(super) trait Built<I>: Sized {
    /// Whether such a filter is possible, whatever its lines.
    fn plan(arguments: &Arguments, hasher: KeyHasher) -> Result<(), BuildError>;

    /// Makes it from items.
    fn of(
        arguments: &Arguments,
        hasher: KeyHasher,
        items: &Items<I>,
        threads: usize,
    ) -> Result<Self>;
}

impl Built<u64> for CuckooFilter {
    fn plan(arguments: &Arguments, hasher: KeyHasher) -> Result<(), BuildError> {
        let capacity = arguments.capacity.unwrap_or(1);
        arguments.builder::<Self>(hasher).capacity(capacity).plan().map(drop)
    }

    fn of(
        arguments: &Arguments,
        hasher: KeyHasher,
        items: &Items<u64>,
        threads: usize,
    ) -> Result<Self> {
        let builder = arguments.builder::<Self>(hasher);
        fill::<Keys, _>(
            arguments.capacity,
            items.count(|hashes| Keys::room(hashes, 1))?,
            |capacity| {
                let mut filter = builder.clone().capacity(capacity).build()?;
                let refused =
                    refused(items, |hashes| filter.insert_hashes_with_threads(hashes, threads))?;
                Ok((filter, refused))
            },
        )
    }
}

impl<C: Lines> Built<C::Item> for Filter<Growing, C> {
    fn plan(arguments: &Arguments, hasher: KeyHasher) -> Result<(), BuildError> {
        let capacity = arguments.capacity.unwrap_or(1);
        arguments.growing::<Self>(hasher).capacity(capacity).build().map(drop)
    }

    fn of(
        arguments: &Arguments,
        hasher: KeyHasher,
        items: &Items<C::Item>,
        _: usize,
    ) -> Result<Self> {
        let room = || items.count(|items| C::room(items, GROWABLE_SLOTS));
        let capacity = arguments.capacity.map_or_else(room, Ok)?.max(1);
        let mut filter = arguments.growing::<Self>(hasher).capacity(capacity).build()?;
        items.for_each(|items| insert(&mut filter, items))?;
        Ok(filter)
    }
}

impl Built<(u64, u64)> for CuckooMap {
    fn plan(arguments: &Arguments, hasher: KeyHasher) -> Result<(), BuildError> {
        let capacity = arguments.capacity.unwrap_or(1);
        let value_bits = arguments.value_bits.unwrap_or(1);
        let builder = arguments.builder::<Self>(hasher).capacity(capacity);
        builder.value_bits(value_bits).plan().map(drop)
    }

    fn of(
        arguments: &Arguments,
        hasher: KeyHasher,
        items: &Items<(u64, u64)>,
        _: usize,
    ) -> Result<Self> {
        let most = 2 * arguments.bucket_size.unwrap_or(BUCKET_SIZE);
        let largest = Cell::new(0);
        let room = items.count(|pairs| {
            let values = pairs.iter().map(|&(_, value)| value);
            largest.set(values.fold(largest.get(), u64::max));
            Values::room(pairs, most.into())
        })?;
        let value_bits = arguments.value_bits.unwrap_or(bits_of(largest.get()).max(1));
        let builder = arguments.builder::<Self>(hasher).value_bits(value_bits);
        fill::<Values, _>(arguments.capacity, room, |capacity| {
            let mut map = builder.clone().capacity(capacity).build()?;
            let refused = refused(items, |pairs| map.insert_hashes(pairs))?;
            Ok((map, refused))
        })
    }
}

/// The number of items that are refused when all are inserted.
fn refused<I: Item>(
    items: &Items<I>,
    mut insert: impl FnMut(&[I]) -> Result<(), BatchError>,
) -> Result<usize> {
    let mut refused = 0;
    items.for_each(|items| {
        refused += insert(items).err().map_or(0, |error| error.refused.len());
        Ok(())
    })?;
    Ok(refused)
}

/// The result of `attempt` for the capacity, or for `room` items, with the number of items that it
/// refused.
fn fill<C: Lines, F>(
    capacity: Option<u64>,
    room: u64,
    attempt: impl Fn(u64) -> Result<(F, usize)>,
) -> Result<F> {
    let items = C::ITEMS;
    if let Some(capacity) = capacity.filter(|&capacity| capacity < room) {
        bail!("the input has {room} {items} to put in, more than --capacity {capacity}: raise it");
    }
    let wanted = capacity.unwrap_or(room).max(1);
    let mut last_refused = 0;
    for number in 0..ATTEMPTS {
        // A small table can be unlucky with its lines. A little more room helps, if anything does.
        match attempt(wanted.saturating_add((wanted / 16 + 2) * number))? {
            (filled, 0) => return Ok(filled),
            (_, refused) => last_refused = refused,
        }
    }
    bail!(
        "{last_refused} of {room} {items} found no place: raise the capacity or the fingerprint bits"
    );
}
