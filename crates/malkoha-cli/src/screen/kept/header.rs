//! The header of an index. docs/FORMAT.md has every byte.

use anyhow::{Result, bail};
use malkoha::KeyHasher;

use super::Identity;
use crate::records::Bytes;

pub(super) const SIGNATURE: [u8; 8] = *b"\x8bMLX\r\n\x1a\n";
const VERSION: u16 = 1;

/// Bytes of the header, whose checksum is its last eight.
pub(super) const HEADER: usize = 128;

/// The content of a header.
pub(super) struct Kept {
    pub(super) separator: u8,
    pub(super) is_settled: bool,
    pub(super) identity: Identity,
    pub(super) checksum: u64,
    /// The indexed part of each record.
    pub(super) keys: u32,
    /// Those of the list.
    pub(super) bytes: Bytes,
    pub(super) counted: Counted,
}

/// The number of records of a list whose keys are not lines, and of those that cannot be compared;
/// the offset of the first of these, and its line.
#[derive(Default)]
pub(super) struct Counted {
    pub(super) records: u64,
    pub(super) unfit: u64,
    pub(super) first: u64,
    pub(super) line: u64,
}

impl Kept {
    pub(super) fn read(header: &[u8; HEADER]) -> Result<Self> {
        let number = |at: usize, bytes: usize| {
            header[at..at + bytes].iter().rev().fold(0_u64, |all, &byte| all << 8 | u64::from(byte))
        };
        if header[..8] != SIGNATURE {
            bail!("it is no index");
        }
        if number(8, 2) != u64::from(VERSION) {
            bail!("it is of version {}, and only {VERSION} is known here", number(8, 2));
        }
        let (rest, sum) = header.split_at(HEADER - 8);
        if checksum(rest).to_le_bytes() != sum {
            bail!("its header is damaged");
        }
        let time = |at| anyhow::Ok((number(at, 8), u32::try_from(number(at + 8, 4))?));
        Ok(Self {
            separator: header[10],
            is_settled: header[11] == 1,
            identity: Identity { bytes: number(12, 8), times: [time(20)?, time(32)?] },
            checksum: number(44, 8),
            keys: u32::try_from(number(52, 4))?,
            bytes: Bytes::of_bits(header[56..].first_chunk().expect("the header is longer")),
            counted: Counted {
                records: number(88, 8),
                unfit: number(96, 8),
                first: number(104, 8),
                line: number(112, 8),
            },
        })
    }

    pub(super) fn to_bytes(&self) -> [u8; HEADER] {
        let mut header = Vec::with_capacity(HEADER);
        header.extend(SIGNATURE);
        header.extend(VERSION.to_le_bytes());
        header.extend([self.separator, self.is_settled.into()]);
        header.extend(self.identity.bytes.to_le_bytes());
        for (seconds, nanoseconds) in self.identity.times {
            header.extend(seconds.to_le_bytes());
            header.extend(nanoseconds.to_le_bytes());
        }
        header.extend(self.checksum.to_le_bytes());
        header.extend(self.keys.to_le_bytes());
        header.extend(self.bytes.to_bits());
        let Counted { records, unfit, first, line } = self.counted;
        header.extend([records, unfit, first, line].iter().flat_map(|it| it.to_le_bytes()));
        header.extend(checksum(&header).to_le_bytes());
        header.try_into().expect("its fields are as long as it is")
    }
}

/// XXH3-64 with seed 0.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    KeyHasher::new(0).hash_bytes(bytes)
}
