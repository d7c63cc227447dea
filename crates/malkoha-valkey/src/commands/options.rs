//! Options of CF.RESERVE and CF.INSERT.

use std::num::IntErrorKind;
use std::str::FromStr;

use malkoha::MAX_CAPACITY;

use super::hash::HashOption;
use crate::error::CommandError;
use crate::server::Context;
use crate::value::{Expiry, Properties, parse_rate};

/// A number in decimal.
pub(crate) fn number<N: FromStr>(text: &[u8]) -> Option<N> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The capacity of CF.RESERVE and CF.INSERT. A number of more than 64 bits becomes the nearest one
/// that has them, which [`check_capacity`] refuses with the range.
pub(crate) fn capacity(text: &[u8]) -> Result<u64, CommandError> {
    let text = std::str::from_utf8(text).map_err(|_| CommandError::BAD_CAPACITY)?;
    let number = text.parse::<i64>().or_else(|error| match error.kind() {
        IntErrorKind::PosOverflow => Ok(i64::MAX),
        IntErrorKind::NegOverflow => Ok(0),
        _ => Err(CommandError::BAD_CAPACITY),
    })?;
    Ok(u64::try_from(number).unwrap_or(0))
}

/// An error unless a filter can have this capacity. Its bytes have a limit of their own.
pub(super) fn check_capacity(capacity: u64, bucket_size: u16) -> Result<(), CommandError> {
    let least = 2 * u64::from(bucket_size);
    let text = format!("Capacity must be in the range [2 * BUCKETSIZE, {MAX_CAPACITY}]");
    let is_possible = (least..=MAX_CAPACITY).contains(&capacity);
    is_possible.then_some(()).ok_or_else(|| CommandError::message(text))
}

/// The longest time that items can be remembered, in seconds: some 300 years.
const MAX_SECONDS: f64 = 1e10;

/// The requested properties of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) properties: Properties,
    /// None if items stay until they are deleted.
    pub(super) expiry: Option<Expiry>,
    pub(super) hash: Option<HashOption>,
}

/// The options of CF.RESERVE that have a value.
const NAMES: &str =
    "ERROR GROWTH BUCKETSIZE MAXITERATIONS EXPANSION EXPIRE RESOLUTION SEED HASHKEY LIKE";

/// Reads `[ERROR rate] [GROWTH factor] [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n]`,
/// `[EXPIRE seconds [RESOLUTION seconds]]`, and the option of the hash.
pub(super) fn wanted<'a>(
    mut properties: Properties,
    mut options: impl Iterator<Item = &'a [u8]>,
) -> Result<Wanted, CommandError> {
    let (mut hash, mut ttl, mut resolution) = (None, None, None);
    while let Some(name) = options.next() {
        if !NAMES.split(' ').any(|known| name.eq_ignore_ascii_case(known.as_bytes())) {
            return Err(CommandError::UNKNOWN_ARGUMENT);
        }
        let value = options.next().ok_or(CommandError::Arity)?;
        let is = |option: &str| name.eq_ignore_ascii_case(option.as_bytes());
        if is("ERROR") {
            properties.error_rate =
                parse_rate(value).ok_or_else(|| out_of_range("ERROR", "(0, 1)"))?;
        } else if is("GROWTH") {
            properties.growth = growth(value)?;
        } else if is("BUCKETSIZE") {
            properties.bucket_size = ranged("BUCKETSIZE", value, 1, 255)?;
        } else if is("MAXITERATIONS") {
            properties.max_iterations = ranged("MAXITERATIONS", value, 1, 65535)?;
        } else if is("EXPANSION") {
            properties.expansion = ranged("EXPANSION", value, 0, 32768)?;
        } else if is("EXPIRE") {
            ttl = Some(milliseconds("EXPIRE", value)?);
        } else if is("RESOLUTION") {
            resolution = Some(milliseconds("RESOLUTION", value)?);
        } else if hash.replace(HashOption::parse(name, value)?).is_some() {
            return Err(CommandError::ONE_HASH);
        }
    }
    Ok(Wanted { properties, expiry: expiry(ttl, resolution)?, hash })
}

fn expiry(ttl: Option<u64>, resolution: Option<u64>) -> Result<Option<Expiry>, CommandError> {
    let possible = |ttl: u64, step: u64| step <= ttl && ttl.div_ceil(step) <= 255;
    match (ttl, resolution) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(CommandError::UNKNOWN_ARGUMENT),
        (Some(ttl), Some(step)) if !possible(ttl, step) => {
            Err(out_of_range("RESOLUTION", "[EXPIRE / 255, EXPIRE]"))
        }
        (Some(ttl), resolution) => Ok(Some(Expiry { ttl, resolution })),
    }
}

/// Seconds, perhaps with a fraction, as milliseconds.
fn milliseconds(option: &str, value: &[u8]) -> Result<u64, CommandError> {
    let seconds: f64 = number(value).ok_or_else(|| CommandError::unparsed(option))?;
    if !(0.001..=MAX_SECONDS).contains(&seconds) {
        return Err(out_of_range(option, "[0.001, 10000000000]"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 10^13")]
    let milliseconds = (seconds * 1000.0).round() as u64;
    Ok(milliseconds)
}

fn growth(value: &[u8]) -> Result<f64, CommandError> {
    let factor: f64 = number(value).ok_or_else(|| CommandError::unparsed("GROWTH"))?;
    if (1.0..=1e9).contains(&factor) {
        Ok(factor)
    } else {
        Err(out_of_range("GROWTH", "[1, 1000000000]"))
    }
}

fn ranged(option: &str, value: &[u8], min: u16, max: u16) -> Result<u16, CommandError> {
    let number: i64 = number(value).ok_or_else(|| CommandError::unparsed(option))?;
    u16::try_from(number)
        .ok()
        .filter(|number| (min..=max).contains(number))
        .ok_or_else(|| out_of_range(option, &format!("[{min}, {max}]")))
}

fn out_of_range(option: &str, range: &str) -> CommandError {
    CommandError::message(format!("{option}: value must be in the range {range}"))
}

/// Bytes that a new filter will take, at most: an error if that is more than it can be, unless the
/// primary or a file orders it.
pub(super) fn room_for(
    context: &Context,
    Wanted { properties, expiry, .. }: &Wanted,
) -> Result<u64, CommandError> {
    check_capacity(properties.capacity, properties.bucket_size)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 4096")]
    let bytes = properties.estimated_bytes(*expiry) as u64;
    context.check_room(bytes).map(|()| bytes)
}

/// The options of CF.RESERVE that make the same filter on any server.
pub(super) fn spelled_out(Wanted { properties, expiry, .. }: &Wanted) -> Vec<Vec<u8>> {
    let Properties { capacity, error_rate, growth, bucket_size, max_iterations, expansion } =
        properties;
    let seconds = |ms: u64| format!("{}.{:03}", ms / 1000, ms % 1000);
    let ttl = expiry.map(|expiry| ("EXPIRE", seconds(expiry.ttl)));
    let resolution = expiry.and_then(|expiry| expiry.resolution);
    let resolution = resolution.map(|step| ("RESOLUTION", seconds(step)));
    // Floating-point numbers are written so that reading them gives the same bits.
    let options = [
        ("ERROR", format!("{error_rate:?}")),
        ("GROWTH", format!("{growth:?}")),
        ("BUCKETSIZE", bucket_size.to_string()),
        ("MAXITERATIONS", max_iterations.to_string()),
        ("EXPANSION", expansion.to_string()),
    ];
    let options = options.into_iter().chain(ttl).chain(resolution);
    let options = options.flat_map(|(name, value)| [name.to_owned(), value]);
    [capacity.to_string()].into_iter().chain(options).map(String::into_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DEFAULTS: Properties = Properties {
        capacity: 1024,
        error_rate: 0.01,
        growth: 16.0,
        bucket_size: 2,
        max_iterations: 20,
        expansion: 1,
    };

    proptest! {
        #[test]
        fn what_is_spelled_out_is_read_back(
            capacity in 1..=MAX_CAPACITY, error_rate in 1e-9..0.999, growth in 1.0..1e9,
            bucket_size in 1..=255_u16, max_iterations in 1..=65535_u16, expansion in 0..=32768_u16,
            expiry in proptest::option::of((1..10_u64.pow(13), proptest::option::of(1..256_u64))),
        ) {
            let properties =
                Properties { capacity, error_rate, growth, bucket_size, max_iterations, expansion };
            let expiry = expiry.map(|(ttl, steps)| Expiry {
                ttl,
                resolution: steps.map(|steps| ttl.div_ceil(steps)),
            });
            let all = Wanted { properties, expiry, hash: None };
            let words = spelled_out(&all);
            let read = wanted(
                Properties { capacity: number(&words[0]).unwrap(), ..DEFAULTS },
                words[1..].iter().map(Vec::as_slice),
            );
            prop_assert_eq!(read, Ok(all));
        }
    }
}
