//! Which hash a new filter has: `[SEED n | HASHKEY hex | LIKE key]` of CF.RESERVE.

use malkoha::KeyHasher;

use super::options;
use crate::error::CommandError;
use crate::server::{Args, Context};

/// Digits of a key of 128 bits.
const DIGITS: usize = 32;

/// A hash, as an option chooses it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum HashOption {
    /// XXH3-64 with this seed, or SipHash-1-3 with this key.
    Given(KeyHasher),
    /// The hash of the filter whose key follows.
    Like,
}

impl HashOption {
    /// Reads the option of this name, one of the three, and value.
    pub(super) fn parse(name: &[u8], value: &[u8]) -> Result<Self, CommandError> {
        let is = |option: &str| name.eq_ignore_ascii_case(option.as_bytes());
        let hasher = if is("SEED") {
            options::number(value).map(KeyHasher::new).ok_or("SEED")
        } else if is("HASHKEY") {
            key(value).map(KeyHasher::sip13).ok_or("HASHKEY: 32 hexadecimal digits")
        } else {
            return Ok(Self::Like);
        };
        hasher.map(Self::Given).map_err(CommandError::unparsed)
    }
}

fn key(digits: &[u8]) -> Option<u128> {
    let is_key = digits.len() == DIGITS && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_key)?;
    u128::from_str_radix(text, 16).ok()
}

/// The requested hash, or one with a random key, because items may come from strangers.
pub(super) fn hasher(
    context: &Context,
    args: &Args<'_>,
    option: Option<HashOption>,
) -> Result<KeyHasher, CommandError> {
    match option {
        None => Ok(KeyHasher::random()),
        Some(HashOption::Given(hasher)) => Ok(hasher),
        Some(HashOption::Like) => {
            // Options are pairs.
            let mut names = (3..args.len()).step_by(2);
            let name = names.find(|&at| args.get(at).eq_ignore_ascii_case(b"LIKE"));
            let mut key = context.open(args, name.ok_or(CommandError::NOT_FOUND)? + 1);
            let like = key.ours()?.ok_or(CommandError::NOT_FOUND)?;
            Ok(like.hasher())
        }
    }
}

/// The options of CF.RESERVE that give a filter this hash on any server. LIKE is not enough,
/// because the other filter might be gone by then.
pub(super) fn spelled_out(hasher: KeyHasher) -> [Vec<u8>; 2] {
    let (name, value) = match hasher.seed() {
        Some(seed) => ("SEED", seed.to_string()),
        None => ("HASHKEY", format!("{:032x}", hasher.key())),
    };
    [name, &value].map(|word| word.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_spelled_out_is_read_back(key: u128, seed: u64) {
            for hasher in [KeyHasher::sip13(key), KeyHasher::new(seed)] {
                let [name, value] = spelled_out(hasher);
                prop_assert_eq!(HashOption::parse(&name, &value), Ok(HashOption::Given(hasher)));
            }
        }
    }
}
