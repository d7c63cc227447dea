//! Digests of what is compared, for lists that have nothing else.

use clap::ValueEnum;
use md4::Md4;
use md5::Md5;
use sha1::Sha1;
use sha2::Sha256;
use sha2::digest::Digest as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Digest {
    Md5,
    Sha1,
    Sha256,
    /// MD4 of UTF-16: how Windows keeps passwords.
    Ntlm,
}

impl Digest {
    /// Puts the digest, in hex, in the place of `text` from `start` on.
    pub(super) fn apply(self, text: &mut Vec<u8>, start: usize) {
        let it = &text[start..];
        let digits = match self {
            Self::Md5 => hex::encode(Md5::digest(it)),
            Self::Sha1 => hex::encode(Sha1::digest(it)),
            Self::Sha256 => hex::encode(Sha256::digest(it)),
            Self::Ntlm => {
                let units = String::from_utf8_lossy(it);
                let bytes: Vec<u8> = units.encode_utf16().flat_map(u16::to_le_bytes).collect();
                hex::encode(Md4::digest(bytes))
            }
        };
        text.truncate(start);
        text.extend_from_slice(digits.as_bytes());
    }

    /// The number of its hex digits.
    pub(super) fn digits(self) -> usize {
        match self {
            Self::Md5 | Self::Ntlm => 32,
            Self::Sha1 => 40,
            Self::Sha256 => 64,
        }
    }

    /// Whether a text can be such a digest.
    pub(super) fn is_one(self, text: &[u8]) -> bool {
        text.len() == self.digits() && text.iter().all(u8::is_ascii_hexdigit)
    }
}
