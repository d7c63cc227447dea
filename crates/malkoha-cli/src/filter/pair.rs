//! Lines of a key, a tab and a value.

use anyhow::{Context, Result, ensure};
use malkoha::KeyHasher;
use memchr::memrchr;

use super::Item;

/// A pair of hash and value.
impl Item for (u64, u64) {
    const WORDS: usize = 2;

    /// The last tab ends the key, so that keys may have tabs.
    fn of(line: &[u8], hasher: KeyHasher, bits: u32) -> Result<Self> {
        let tab = memrchr(b'\t', line);
        let tab = tab.context("has no tab: write 'KEY<tab>VALUE' in each line")?;
        let value = number(&line[tab + 1..])?;
        let needed = bits_of(value);
        ensure!(
            needed <= bits,
            "has the value {value}, which has more than {bits} bits: build a map with \
             --value-bits {needed} or more"
        );
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

fn number(digits: &[u8]) -> Result<u64> {
    let text = std::str::from_utf8(digits).ok();
    // A sign would be parsed too.
    let text = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    text.and_then(|text| text.parse().ok()).with_context(|| {
        let (text, most) = (shown(digits), u64::MAX);
        format!("has the value '{text}': write a decimal number from 0 to {most}")
    })
}

/// The beginning of some bytes, as text.
fn shown(bytes: &[u8]) -> String {
    /// This many bytes are enough to find the place.
    const SHOWN: usize = 40;
    let rest = if bytes.len() > SHOWN { "..." } else { "" };
    format!("{}{rest}", bytes[..bytes.len().min(SHOWN)].escape_ascii())
}
