//! Options of CF.RESERVE and CF.INSERT.

use malkoha::KeyHasher;

use super::CommandError;
use super::hash::HashOption;
use crate::server::{Context, max_filter_bytes};
use crate::value::{Properties, StoredFilter, parse_rate};

const MAX_CAPACITY: u64 = 1 << 30;

/// A number in decimal.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The capacity of CF.RESERVE and CF.INSERT.
pub(crate) fn capacity(text: &[u8]) -> Result<u64, CommandError> {
    number(text).filter(|&capacity| capacity > 0).ok_or(CommandError::BAD_CAPACITY)
}

/// Reads `[ERROR rate] [GROWTH factor] [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n]`, and what
/// there is of the hash.
pub(crate) fn properties<'a>(
    mut properties: Properties,
    mut options: impl Iterator<Item = &'a [u8]>,
) -> Result<(Properties, Option<HashOption>), CommandError> {
    let mut hash = None;
    while let Some(name) = options.next() {
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
        } else {
            let option = HashOption::parse(name, value)?.ok_or(CommandError::UNKNOWN_ARGUMENT)?;
            if hash.replace(option).is_some() {
                return Err(CommandError::ONE_HASH);
            }
        }
    }
    Ok((properties, hash))
}

fn growth(value: &[u8]) -> Result<f64, CommandError> {
    let factor: Option<f64> = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
    let factor = factor.ok_or_else(|| CommandError::unparsed("GROWTH"))?;
    if (1.0..=1e9).contains(&factor) {
        Ok(factor)
    } else {
        Err(out_of_range("GROWTH", "[1, 1000000000]"))
    }
}

fn ranged(option: &str, value: &[u8], min: u16, max: u16) -> Result<u16, CommandError> {
    let text = std::str::from_utf8(value).ok();
    let number: Option<i64> = text.and_then(|text| text.parse().ok());
    let number = number.ok_or_else(|| CommandError::unparsed(option))?;
    u16::try_from(number)
        .ok()
        .filter(|number| (min..=max).contains(number))
        .ok_or_else(|| out_of_range(option, &format!("[{min}, {max}]")))
}

fn out_of_range(option: &str, range: &str) -> CommandError {
    CommandError::message(format!("{option}: value must be in the range {range}"))
}

/// An empty filter; one that the primary or a file orders whatever its size.
pub(crate) fn create(
    context: &Context,
    properties: Properties,
    hasher: KeyHasher,
) -> Result<StoredFilter, CommandError> {
    let least = 2 * u64::from(properties.bucket_size);
    if !(least..=MAX_CAPACITY).contains(&properties.capacity) {
        let text = format!("Capacity must be in the range [2 * BUCKETSIZE, {MAX_CAPACITY}]");
        return Err(CommandError::message(text));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 4096")]
    let bytes = properties.estimated_bytes() as u64;
    if bytes > max_filter_bytes() && !context.must_obey() {
        return Err(CommandError::TOO_LARGE);
    }
    if !context.has_memory_for(bytes) {
        return Err(CommandError::NO_MEMORY);
    }
    Ok(StoredFilter::create(properties, hasher)?)
}

/// What CF.RESERVE must be told to make the same filter anywhere.
pub(crate) fn spelled_out(properties: &Properties) -> Vec<Vec<u8>> {
    let Properties { capacity, error_rate, growth, bucket_size, max_iterations, expansion } =
        properties;
    // Floating-point numbers are written so that they are read as exactly the same.
    let options = [
        ("ERROR", format!("{error_rate:?}")),
        ("GROWTH", format!("{growth:?}")),
        ("BUCKETSIZE", bucket_size.to_string()),
        ("MAXITERATIONS", max_iterations.to_string()),
        ("EXPANSION", expansion.to_string()),
    ];
    let options = options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
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

    fn read(options: &[&str]) -> Result<Properties, CommandError> {
        let options = options.iter().map(|option| option.as_bytes());
        properties(DEFAULTS, options).map(|(properties, _)| properties)
    }

    #[test]
    fn options_are_read_in_any_order_and_case() {
        let read = read(&["expansion", "0", "Error", "1e-4", "BUCKETSIZE", "8"]).unwrap();
        let wanted = Properties { expansion: 0, error_rate: 1e-4, bucket_size: 8, ..DEFAULTS };
        assert_eq!(read, wanted);
    }

    #[test]
    fn errors_are_those_that_clients_know() {
        let message = |options: &[&str]| match read(options) {
            Err(CommandError::Message(message)) => message.into_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(message(&["EXPANSION", "x"]), "Couldn't parse EXPANSION");
        let range = "BUCKETSIZE: value must be in the range [1, 255]";
        assert_eq!(message(&["BUCKETSIZE", "0"]), range);
        assert_eq!(message(&["BUCKETSIZE", "-1"]), range);
        let range = "MAXITERATIONS: value must be in the range [1, 65535]";
        assert_eq!(message(&["MAXITERATIONS", "65536"]), range);
        assert_eq!(message(&["ERROR", "nan"]), "ERROR: value must be in the range (0, 1)");
        assert_eq!(message(&["SIZE", "1"]), "Unknown argument received");
        assert_eq!(read(&["SEED", "1", "LIKE", "f"]), Err(CommandError::ONE_HASH));
        assert_eq!(read(&["ERROR"]), Err(CommandError::Arity));
        assert_eq!(capacity(b"-5"), Err(CommandError::BAD_CAPACITY));
    }

    proptest! {
        #[test]
        fn what_is_spelled_out_is_read_back(
            capacity in 1..1_u64 << 30, error_rate in 1e-9..0.999, growth in 1.0..1e9,
            bucket_size in 1..=255_u16, max_iterations in 1..=65535_u16, expansion in 0..=32768_u16,
        ) {
            let wanted =
                Properties { capacity, error_rate, growth, bucket_size, max_iterations, expansion };
            let words = spelled_out(&wanted);
            let read = properties(
                Properties { capacity: number(&words[0]).unwrap(), ..DEFAULTS },
                words[1..].iter().map(Vec::as_slice),
            );
            prop_assert_eq!(read, Ok((wanted, None)));
        }
    }
}
