//! Filling what is built: filters of fixed size in several attempts, growable ones in one.

use anyhow::{Result, bail};
use malkoha::{
    BatchError, BuildError, CuckooFilter, CuckooMap, GrowableCuckooFilter, GrowableCuckooMap,
    KeyHasher, Keys, Values,
};

use super::Arguments;
use crate::filter::{Lines, bits_of, insert};

/// How many tables are tried.
const ATTEMPTS: u64 = 5;

/// Slots a bucket of a map, unless told. The values of a key lie in its two buckets, and beside the
/// table when these are full.
const BUCKET_SIZE: u32 = 4;

/// Slots that the values of a key can take in a growable map.
const GROWABLE_SLOTS: u32 = 2;

/// What `malkoha build` can make of items.
pub(super) trait Built<I>: Sized {
    /// Whether such a filter can be, of whatever lines.
    fn plan(arguments: &Arguments, hasher: KeyHasher) -> Result<(), BuildError>;

    /// Makes it of sorted items.
    fn of(arguments: &Arguments, hasher: KeyHasher, items: &[I], threads: usize) -> Result<Self>;
}

impl Built<u64> for CuckooFilter {
    fn plan(arguments: &Arguments, hasher: KeyHasher) -> Result<(), BuildError> {
        let capacity = arguments.capacity.unwrap_or(1);
        arguments.builder::<Self>(hasher).capacity(capacity).plan().map(drop)
    }

    fn of(
        arguments: &Arguments,
        hasher: KeyHasher,
        hashes: &[u64],
        threads: usize,
    ) -> Result<Self> {
        let builder = arguments.builder::<Self>(hasher);
        fill::<Keys, _>(arguments.capacity, distinct(hashes), |capacity| {
            let mut filter = builder.clone().capacity(capacity).build()?;
            let filled = filter.insert_hashes_with_threads(hashes, threads);
            Ok(filled.map(|()| filter))
        })
    }
}

impl Built<u64> for GrowableCuckooFilter {
    fn plan(arguments: &Arguments, hasher: KeyHasher) -> Result<(), BuildError> {
        let capacity = arguments.capacity.unwrap_or(1);
        arguments.builder::<Self>(hasher).capacity(capacity).build().map(drop)
    }

    fn of(arguments: &Arguments, hasher: KeyHasher, hashes: &[u64], _: usize) -> Result<Self> {
        let capacity = arguments.capacity.unwrap_or(distinct(hashes)).max(1);
        let mut filter = arguments.builder::<Self>(hasher).capacity(capacity).build()?;
        insert(&mut filter, hashes)?;
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
        pairs: &[(u64, u64)],
        _: usize,
    ) -> Result<Self> {
        let largest = pairs.iter().map(|&(_, value)| value).max().unwrap_or(0);
        let value_bits = arguments.value_bits.unwrap_or(bits_of(largest).max(1));
        let builder = arguments.builder::<Self>(hasher).value_bits(value_bits);
        let most = 2 * arguments.bucket_size.unwrap_or(BUCKET_SIZE);
        fill::<Values, _>(arguments.capacity, slots(pairs, most), |capacity| {
            let mut map = builder.clone().capacity(capacity).build()?;
            Ok(map.insert_hashes(pairs).map(|()| map))
        })
    }
}

impl Built<(u64, u64)> for GrowableCuckooMap {
    fn plan(arguments: &Arguments, hasher: KeyHasher) -> Result<(), BuildError> {
        let capacity = arguments.capacity.unwrap_or(1);
        arguments.builder::<Self>(hasher).capacity(capacity).build().map(drop)
    }

    fn of(
        arguments: &Arguments,
        hasher: KeyHasher,
        pairs: &[(u64, u64)],
        _: usize,
    ) -> Result<Self> {
        let capacity = arguments.capacity.unwrap_or(slots(pairs, GROWABLE_SLOTS)).max(1);
        let mut map = arguments.builder::<Self>(hasher).capacity(capacity).build()?;
        insert(&mut map, pairs)?;
        Ok(map)
    }
}

/// Slots that sorted hashes need: copies need none.
fn distinct(hashes: &[u64]) -> u64 {
    hashes.chunk_by(|a, b| a == b).count() as u64
}

/// How many different pairs there are among sorted ones, of each key so many at most.
fn slots(pairs: &[(u64, u64)], most: u32) -> u64 {
    let of_key =
        |pairs: &[(u64, u64)]| (pairs.chunk_by(|a, b| a == b).count() as u64).min(most.into());
    pairs.chunk_by(|a, b| a.0 == b.0).map(of_key).sum()
}

/// What `attempt` makes for the capacity, or for `room` items.
fn fill<C: Lines, F>(
    capacity: Option<u64>,
    room: u64,
    attempt: impl Fn(u64) -> Result<Result<F, BatchError>>,
) -> Result<F> {
    let items = C::ITEMS;
    if let Some(capacity) = capacity.filter(|&capacity| capacity < room) {
        bail!("the input has {room} {items} to put in, more than --capacity {capacity}: raise it");
    }
    let wanted = capacity.unwrap_or(room).max(1);
    let mut refused = 0;
    for number in 0..ATTEMPTS {
        // A small table can be unlucky with its lines. Some more room helps, if anything does.
        match attempt(wanted.saturating_add((wanted / 16 + 2) * number))? {
            Ok(filled) => return Ok(filled),
            Err(error) => refused = error.refused.len(),
        }
    }
    bail!("{refused} of {room} {items} found no place: raise the capacity or the fingerprint bits");
}
