//! Filling what is built: filters of fixed size in several attempts, growable ones in one.

use anyhow::{Result, bail};
use malkoha::{BuildError, MapBatchError};

use super::Arguments;
use crate::filter::{Contents, Members, Values, bits_of};

/// How many tables are tried.
const ATTEMPTS: u64 = 5;

/// Slots a bucket of a map, unless told. The values of a key lie in its two buckets, and beside the
/// table when these are full.
const BUCKET_SIZE: u32 = 4;

/// Slots that the values of a key can take in a growable map.
const GROWABLE_SLOTS: u32 = 2;

/// Bits that a growable map's values may take: its segments have only those that theirs need.
const ANY_VALUE_BITS: u32 = 64;

/// What `malkoha build` can make.
pub(super) trait Built: Contents {
    /// Whether such a filter can be, of whatever lines.
    fn plan(arguments: &Arguments, seed: u64) -> Result<(), BuildError>;

    /// Makes it of sorted items.
    fn of(arguments: &Arguments, seed: u64, items: &[Self::Item], threads: usize) -> Result<Self>;
}

impl Built for Members {
    fn plan(arguments: &Arguments, seed: u64) -> Result<(), BuildError> {
        let capacity = arguments.capacity.unwrap_or(1);
        if arguments.growable {
            arguments.growable(seed).capacity(capacity).build().map(drop)
        } else {
            arguments.fixed(seed).capacity(capacity).plan().map(drop)
        }
    }

    fn of(arguments: &Arguments, seed: u64, hashes: &[u64], threads: usize) -> Result<Self> {
        // Copies need no room.
        let room = hashes.chunk_by(|a, b| a == b).count() as u64;
        if arguments.growable {
            let capacity = arguments.capacity.unwrap_or(room).max(1);
            let mut filter = Self::Growable(arguments.growable(seed).capacity(capacity).build()?);
            filter.insert(hashes)?;
            return Ok(filter);
        }
        let builder = arguments.fixed(seed);
        fill::<Self>(arguments.capacity, room, |capacity| {
            let mut filter = builder.clone().capacity(capacity).build()?;
            let filled = filter.insert_hashes_with_threads(hashes, threads);
            Ok(filled.map(|()| Self::Fixed(filter)).map_err(|error| error.refused.len()))
        })
    }
}

impl Built for Values {
    fn plan(arguments: &Arguments, seed: u64) -> Result<(), BuildError> {
        let capacity = arguments.capacity.unwrap_or(1);
        let value_bits = arguments.value_bits.unwrap_or(1);
        if arguments.growable {
            arguments.growable(seed).capacity(capacity).build_map(value_bits).map(drop)
        } else {
            arguments.fixed(seed).capacity(capacity).plan_map(value_bits).map(drop)
        }
    }

    fn of(arguments: &Arguments, seed: u64, pairs: &[(u64, u64)], _: usize) -> Result<Self> {
        if arguments.growable {
            let capacity = arguments.capacity.unwrap_or(slots(pairs, GROWABLE_SLOTS)).max(1);
            let value_bits = arguments.value_bits.unwrap_or(ANY_VALUE_BITS);
            let map = arguments.growable(seed).capacity(capacity).build_map(value_bits)?;
            let mut map = Self::Growable(map);
            map.insert(pairs)?;
            return Ok(map);
        }
        let largest = pairs.iter().map(|&(_, value)| value).max().unwrap_or(0);
        let value_bits = arguments.value_bits.unwrap_or(bits_of(largest).max(1));
        let builder = arguments.fixed(seed);
        let most = 2 * arguments.bucket_size.unwrap_or(BUCKET_SIZE);
        fill::<Self>(arguments.capacity, slots(pairs, most), |capacity| {
            let mut map = builder.clone().capacity(capacity).build_map(value_bits)?;
            Ok(match map.insert_hashes(pairs) {
                Ok(()) => Ok(Self::Fixed(map)),
                Err(MapBatchError::Full(error)) => Err(error.refused.len()),
                Err(error) => return Err(error.into()),
            })
        })
    }
}

/// How many different pairs there are among sorted ones, of each key so many at most.
fn slots(pairs: &[(u64, u64)], most: u32) -> u64 {
    let of_key =
        |pairs: &[(u64, u64)]| (pairs.chunk_by(|a, b| a == b).count() as u64).min(most.into());
    pairs.chunk_by(|a, b| a.0 == b.0).map(of_key).sum()
}

/// What `attempt` makes for the capacity, or for `room` items. It answers with how many found no
/// place if not all did.
fn fill<C: Contents>(
    capacity: Option<u64>,
    room: u64,
    attempt: impl Fn(u64) -> Result<Result<C, usize>>,
) -> Result<C> {
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
            Err(count) => refused = count,
        }
    }
    bail!("{refused} of {room} {items} found no place: raise the capacity or the fingerprint bits");
}
