//! Lines of a key, a tab and a value.

use std::fmt;

use malkoha::KeyHasher;
use memchr::memrchr;

use super::Item;

/// A line that has no value, or one that the map cannot hold. Tells what is wrong with it, and the
/// remedy, behind the number of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WrongLine {
    NoTab,
    NoNumber(String),
    TooLarge { value: u64, bits: u32 },
}

/// A pair of hash and value.
impl Item for (u64, u64) {
    const WORDS: usize = 2;

    /// The last tab ends the key, so that keys may have tabs.
    fn of(line: &[u8], hasher: KeyHasher, bits: u32) -> Result<Self, WrongLine> {
        let tab = memrchr(b'\t', line).ok_or(WrongLine::NoTab)?;
        let value = number(&line[tab + 1..])?;
        if bits_of(value) > bits {
            return Err(WrongLine::TooLarge { value, bits });
        }
        Ok((hasher.hash_bytes(&line[..tab]), value))
    }

    fn hash(self) -> u64 {
        self.0
    }

    fn words(self) -> impl Iterator<Item = u64> {
        [self.0, self.1].into_iter()
    }

    fn of_words(words: &[u64]) -> Self {
        (words[0], words[1])
    }
}

/// Bits that a value needs.
pub(crate) fn bits_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

fn number(digits: &[u8]) -> Result<u64, WrongLine> {
    let text = std::str::from_utf8(digits).ok();
    // A sign would be parsed too.
    let text = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    text.and_then(|text| text.parse().ok()).ok_or_else(|| WrongLine::NoNumber(shown(digits)))
}

/// The beginning of some bytes, as text.
fn shown(bytes: &[u8]) -> String {
    /// This many bytes are enough to find the place.
    const SHOWN: usize = 40;
    let rest = if bytes.len() > SHOWN { "..." } else { "" };
    format!("{}{rest}", bytes[..bytes.len().min(SHOWN)].escape_ascii())
}

impl fmt::Display for WrongLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTab => write!(f, "has no tab: write 'KEY<tab>VALUE' in each line"),
            Self::NoNumber(text) => {
                write!(f, "has the value '{text}': write a decimal number from 0 to {}", u64::MAX)
            }
            Self::TooLarge { value, bits } => write!(
                f,
                "has the value {value}, which has more than {bits} bits: build a map with \
                 --value-bits {} or more",
                bits_of(*value)
            ),
        }
    }
}
