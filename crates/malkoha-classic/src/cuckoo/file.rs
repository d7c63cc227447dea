//! Tables as bytes: which slots are occupied, then the entries in the order of their slots.

use std::io::{self, Read, Write};

use malkoha::Key;

use super::slots::Slots;
use super::table::{BucketedCuckooTable, Growth, MOST_KICKS, check_buckets};
use crate::error::ReadError;
use crate::format::{Header, Kind, read_bytes, read_header, write_bytes};

/// The bit of the header's policy field that says that the table grows; below it, the kicks.
const GROWS: u64 = 1 << 32;

/// A key or a value that can be written to a file and read again.
pub trait Record: Sized {
    /// Appends the bytes, in an encoding that tells where it ends.
    fn append_to(&self, bytes: &mut Vec<u8>);

    /// Takes one record off the front of `bytes`; `None` if there is no whole one. Must not panic,
    /// whatever the bytes.
    fn take_from(bytes: &mut &[u8]) -> Option<Self>;
}

macro_rules! record_integers {
    ($($type:ty),*) => {$(
        impl Record for $type {
            fn append_to(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn take_from(bytes: &mut &[u8]) -> Option<Self> {
                let (first, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(Self::from_le_bytes(*first))
            }
        }
    )*};
}
record_integers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

impl Record for () {
    fn append_to(&self, _: &mut Vec<u8>) {}

    fn take_from(_: &mut &[u8]) -> Option<Self> {
        Some(())
    }
}

impl<const N: usize> Record for [u8; N] {
    fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self);
    }

    fn take_from(bytes: &mut &[u8]) -> Option<Self> {
        let (first, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(*first)
    }
}

impl Record for Vec<u8> {
    fn append_to(&self, bytes: &mut Vec<u8>) {
        (self.len() as u64).append_to(bytes);
        bytes.extend_from_slice(self);
    }

    fn take_from(bytes: &mut &[u8]) -> Option<Self> {
        let len = usize::try_from(u64::take_from(bytes)?).ok()?;
        let (first, rest) = bytes.split_at_checked(len)?;
        *bytes = rest;
        Some(first.to_vec())
    }
}

impl Record for String {
    fn append_to(&self, bytes: &mut Vec<u8>) {
        (self.len() as u64).append_to(bytes);
        bytes.extend_from_slice(self.as_bytes());
    }

    fn take_from(bytes: &mut &[u8]) -> Option<Self> {
        Self::from_utf8(Vec::take_from(bytes)?).ok()
    }
}

impl<K, V, const D: usize, const B: usize> BucketedCuckooTable<K, V, D, B>
where
    K: Key + Eq + Record,
    V: Record,
{
    /// Writes the table in the format of docs/FORMAT-CLASSIC.md. Equal tables have equal bytes.
    ///
    /// # Errors
    ///
    /// If the writer fails.
    pub fn write_to<W: Write>(&self, writer: W) -> io::Result<()> {
        let mut bytes = Vec::new();
        for cells in self.slots.cells().chunks(8) {
            let occupied =
                cells.iter().rev().fold(0, |byte, cell| byte << 1 | u8::from(cell.is_some()));
            bytes.push(occupied);
        }
        for (key, value) in self.iter() {
            key.append_to(&mut bytes);
            value.append_to(&mut bytes);
        }
        let grows = if self.growth == Growth::Rehash { GROWS } else { 0 };
        let header = Header {
            kind: Kind::CuckooTable,
            hasher: self.hasher,
            capacity: self.capacity(),
            len: self.len,
            table_bytes: bytes.len() as u64,
            shape: [D as u64, B as u64, self.buckets(), grows | u64::from(self.max_kicks)],
        };
        write_bytes(writer, header, &bytes)
    }

    /// Reads a table that [`write_to`](Self::write_to) wrote, and checks every byte of it: also
    /// that each key lies where it belongs, and that no key is in twice.
    ///
    /// # Errors
    ///
    /// If the stream does not begin with a whole, undamaged table with these numbers of choices
    /// and slots.
    pub fn read_from<R: Read>(mut reader: R) -> Result<Self, ReadError> {
        let header = read_header(&mut reader, Kind::CuckooTable)?;
        let [choices, bucket_size, buckets, policy] = header.shape;
        if choices != D as u64 {
            return Err(Header::impossible("choices", choices));
        }
        if bucket_size != B as u64 {
            return Err(Header::impossible("bucket size", bucket_size));
        }
        check_buckets(buckets).map_err(|_| Header::impossible("buckets", buckets))?;
        let kicks = policy & !GROWS;
        if kicks > u64::from(MOST_KICKS) {
            return Err(Header::impossible("policy", policy));
        }
        // No overflow: at most 2^38 buckets of 32 slots. One bit per slot must have been read
        // before memory for the slots is allocated.
        let slots = buckets * (D * B) as u64;
        if slots.div_ceil(8) > header.table_bytes {
            return Err(Header::impossible("table bytes", header.table_bytes));
        }
        let bytes = read_bytes(&mut reader, &header)?;
        let slots = Self::read_slots(&bytes, &header)?;
        let growth = if policy & GROWS != 0 { Growth::Rehash } else { Growth::Fixed };
        let max_kicks = u32::try_from(kicks).expect("at most 2^16");
        Ok(Self { slots, hasher: header.hasher, growth, max_kicks, len: header.len })
    }

    fn read_slots(bytes: &[u8], header: &Header) -> Result<Slots<(K, V), D, B>, ReadError> {
        let buckets = header.shape[2];
        let hasher = header.hasher;
        let mut slots = Slots::<(K, V), D, B>::new(buckets)
            .map_err(|_| ReadError::Memory(buckets.saturating_mul((D * B) as u64)))?;
        let count = slots.cells().len();
        let (occupied, mut entries) = bytes.split_at(count.div_ceil(8));
        if count % 8 != 0 && occupied.last().is_some_and(|last| last >> (count % 8) != 0) {
            return Err(ReadError::Table("slots after the last are occupied"));
        }
        let mut len = 0;
        for slot in (0..count).filter(|slot| occupied[slot / 8] >> (slot % 8) & 1 != 0) {
            let key = K::take_from(&mut entries);
            let entry = key.and_then(|key| Some((key, V::take_from(&mut entries)?)));
            let Some((key, value)) = entry else {
                return Err(ReadError::Table("an entry cannot be read"));
            };
            let hash = key.hash_with(hasher);
            if slots.find(hash, |(other, _)| *other == key).is_some() {
                return Err(ReadError::Table("a key is in twice"));
            }
            if !slots.candidates(hash).any(|candidate| candidate == slot) {
                return Err(ReadError::Table("a key lies where it does not belong"));
            }
            slots.cells_mut()[slot] = Some((key, value));
            len += 1;
        }
        if !entries.is_empty() {
            return Err(ReadError::Table("bytes follow the last entry"));
        }
        if len == header.len {
            Ok(slots)
        } else {
            Err(ReadError::Table("the header counts other than the table"))
        }
    }
}
