//! The first bytes of a log file.

use super::MAX_NUMBER;
use crate::error::{Error, Result};

pub(crate) const HEADER_BYTES: usize = 64;
/// As in PNG: a byte that is not text, a name, and line ends that a text-mode copy would change.
const SIGNATURE: [u8; 8] = [0x8b, b'M', b'L', b'S', b'\r', b'\n', 0x1a, b'\n'];
const VERSION: u16 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileHeader {
    /// Its number: later files have greater ones.
    pub(crate) id: u64,
    /// The sequence number of its first record.
    pub(crate) first_sequence: u64,
    /// The seed of the hash of keys; the same in all files of a store.
    pub(crate) seed: u64,
    /// A number that goes into the checksums of all records, so that bytes of another file are not
    /// valid records here.
    pub(crate) salt: u64,
    /// Bytes of the file before it that were known to be durable when it was made.
    pub(crate) durable_before: u64,
}

pub(crate) fn random_seed() -> u64 {
    malkoha::KeyHasher::random().hash_bytes(b"seed of a store")
}

impl FileHeader {
    /// The header of a new file. Its salt can be derived without it, so records whose header is
    /// lost are still recognised.
    pub(crate) fn new(id: u64, first_sequence: u64, seed: u64, durable_before: u64) -> Self {
        let place = [id.to_le_bytes(), first_sequence.to_le_bytes()].concat();
        let salt = malkoha::KeyHasher::new(seed).hash_bytes(&place);
        Self { id, first_sequence, seed, salt, durable_before }
    }

    /// The headers that a file with a damaged header may have had, if its first record has this
    /// sequence number or, because records before it are lost too, a later one. `bytes` are those
    /// of the damaged header and the head of the first record.
    pub(crate) fn guesses(
        bytes: &[u8],
        id: u64,
        sequence: u64,
        seed: u64,
    ) -> impl Iterator<Item = Self> {
        let stored = bytes.get(24..).and_then(|at| at.first_chunk());
        let low = bytes.get(HEADER_BYTES + 4..).and_then(|at| at.first_chunk());
        #[expect(clippy::cast_possible_truncation, reason = "the low half is compared")]
        let of_record = |low| {
            let later = u32::from_le_bytes(low).wrapping_sub(sequence as u32);
            sequence.saturating_add(later.into())
        };
        let likely = [Some(sequence), low.copied().map(of_record), Some(1)];
        // The stored number comes last, because it might be damaged.
        let numbers = likely.into_iter().flatten().chain(stored.copied().map(u64::from_le_bytes));
        numbers.map(move |sequence| Self::new(id, sequence, seed, 0))
    }

    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&SIGNATURE);
        let Self { id, first_sequence, seed, salt, durable_before } = self;
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10] = malkoha::HashFunction::Xxh3 as u8;
        let numbers = [id, first_sequence, seed, salt, durable_before];
        for (i, number) in numbers.into_iter().enumerate() {
            bytes[16 + 8 * i..24 + 8 * i].copy_from_slice(&number.to_le_bytes());
        }
        let sum = crc32c::crc32c(&bytes[..60]);
        bytes[60..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self> {
        let damaged = |offset, what| Error::Damaged { file: file.to_owned(), offset, what };
        let Some(bytes) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(damaged(bytes.len() as u64, "it ends inside its header"));
        };
        if bytes[..8] != SIGNATURE {
            return Err(damaged(0, "it does not begin as log files do"));
        }
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        let sum = u32::from_le_bytes([bytes[60], bytes[61], bytes[62], bytes[63]]);
        let mut ours = *bytes;
        ours[8..10].copy_from_slice(&VERSION.to_le_bytes());
        let is_intact = crc32c::crc32c(&ours[..60]) == sum;
        // A newer version may have its checksum elsewhere, so the version is checked first. A
        // flipped bit in it must not look like a newer version.
        match (version, is_intact) {
            (VERSION, true) => {}
            (VERSION, false) => return Err(damaged(0, "the header does not match its checksum")),
            (_, true) => return Err(damaged(8, "the version number is not what was written")),
            (found, false) => {
                let file = file.to_owned();
                return Err(Error::Version { file, found, supported: VERSION });
            }
        }
        let number =
            |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("in the header"));
        if bytes[10] != malkoha::HashFunction::Xxh3 as u8 {
            return Err(damaged(10, "it names an unknown hash"));
        }
        if number(24) >= MAX_NUMBER {
            return Err(damaged(24, "the number of its first record is beyond all that are used"));
        }
        Ok(Self {
            id: number(16),
            first_sequence: number(24),
            seed: number(32),
            salt: number(40),
            durable_before: number(48),
        })
    }

    /// The seed of the checksums of this file's records.
    pub(crate) fn checksum_seed(&self) -> u32 {
        crc32c::crc32c_append(crc32c::crc32c(&self.salt.to_le_bytes()), &self.id.to_le_bytes())
    }
}
