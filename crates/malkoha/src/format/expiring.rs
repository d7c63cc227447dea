//! Sets whose keys expire: a header with their time, and a map of ages in its own file format.

#[cfg(feature = "std")]
use std::io::Read;

use alloc::vec::Vec;

use super::error::{ReadError, check, impossible};
use super::fields::{u32_at, u64_at};
use super::header::{cut_header, hasher, offset, preamble, sealed};
use super::kind::{FileKind, HEADER_BYTES};
#[cfg(feature = "std")]
use super::stream::read_header;
use crate::expiry::{Ages, Expiring, Times, Window};
use crate::geometry::MAX_CAPACITY;
use crate::io::{self, Write};
use crate::key::KeyHasher;
use crate::table::traits::{Lookup, Stored};

/// Steps of the window.
const STEPS: usize = offset::MAX_KICKS;
/// The time that keys live.
const TTL: usize = offset::RESERVED;
/// The time of the set.
const NOW: usize = TTL + size_of::<u64>();
/// Blocks whose times follow, in pieces of a set as it is; 0 in files.
const BLOCKS: usize = NOW + size_of::<u64>();

/// Writes a table that has been swept.
pub(crate) fn write<T: Ages>(
    kind: FileKind,
    hasher: KeyHasher,
    times: &Times,
    ages: &T,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Vec::new();
    ages.write(T::kind(true), hasher, &mut table)?;
    let bytes = table.len() as u64;
    writer.write_all(&sealed(kind, hasher, |put| put_head(times, bytes, 0, put)))?;
    writer.write_all(&table)
}

/// Puts the fields of a header where they belong.
pub(super) fn put_head(
    times: &Times,
    table_bytes: u64,
    blocks: usize,
    put: &mut dyn FnMut(usize, &[u8]),
) {
    let Window { ttl, steps } = times.window();
    put(STEPS, &steps.to_le_bytes());
    put(offset::CAPACITY, &times.capacity().to_le_bytes());
    put(offset::LEN, &times.live().to_le_bytes());
    put(offset::TABLE_BYTES, &table_bytes.to_le_bytes());
    put(TTL, &ttl.to_le_bytes());
    put(NOW, &times.now().to_le_bytes());
    put(BLOCKS, &(blocks as u64).to_le_bytes());
}

/// The fields of a header.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) hasher: KeyHasher,
    pub(super) window: Window,
    pub(super) now: u64,
    pub(super) capacity: u64,
    len: u64,
    table_bytes: u64,
    blocks: u64,
}

impl Head {
    pub(super) fn of(bytes: &[u8; HEADER_BYTES], kind: FileKind) -> Result<Self, ReadError> {
        preamble(bytes)?.expected(kind)?;
        let fields = [
            STEPS..offset::SEGMENTS,
            offset::TABLE_BYTES..offset::SPILLED,
            offset::KEY_HIGH..BLOCKS + size_of::<u64>(),
        ];
        let is_field = |at: usize| fields.iter().any(|field| field.contains(&at));
        for at in (offset::LAYOUT..offset::CHECKSUM).filter(|&at| !is_field(at)) {
            check(bytes[at] == 0, "reserved", at, bytes[at])?;
        }
        let (ttl, steps) = (u64_at(bytes, TTL), u32_at(bytes, STEPS));
        let window = Window { ttl, steps }.checked();
        let capacity = u64_at(bytes, offset::CAPACITY);
        check((1..=MAX_CAPACITY).contains(&capacity), "capacity", offset::CAPACITY, capacity)?;
        Ok(Self {
            hasher: hasher(bytes)?,
            window: window.ok_or_else(|| impossible("steps", STEPS, steps))?,
            now: u64_at(bytes, NOW),
            capacity,
            len: u64_at(bytes, offset::LEN),
            table_bytes: u64_at(bytes, offset::TABLE_BYTES),
            blocks: u64_at(bytes, BLOCKS),
        })
    }

    /// The number of blocks whose times follow, in the first piece of a set as it is.
    pub(super) fn blocks(&self) -> Result<usize, ReadError> {
        let number = u32::try_from(self.blocks).ok().filter(|&number| number > 0);
        let number = number.and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| impossible("blocks", BLOCKS, self.blocks))
    }

    /// The set of a file, if this can be its table.
    fn set<T: Ages>(
        self,
        table: T,
        with: KeyHasher,
    ) -> Result<(Expiring<T>, KeyHasher), ReadError> {
        let Self { hasher, window, now, capacity, len, blocks, .. } = self;
        check(blocks == 0, "reserved", BLOCKS, blocks)?;
        let ages = T::kind(true) as u16;
        let set = Expiring::of(table, window, now, capacity).filter(|_| with == hasher);
        let set = set.ok_or_else(|| impossible("ages", HEADER_BYTES, ages))?;
        if set.len() == len {
            Ok((set, hasher))
        } else {
            Err(ReadError::Count { header: len, table: set.len() })
        }
    }
}

impl<T: Ages> Stored for Expiring<T> {
    #[cfg(feature = "std")]
    fn read(kind: FileKind, reader: &mut dyn Read) -> Result<(Self, KeyHasher), ReadError> {
        let head = Head::of(&read_header(reader)?, kind)?;
        let mut rest = reader.take(head.table_bytes);
        let (table, with) = T::read(T::kind(true), &mut rest)?;
        check(rest.limit() == 0, "table bytes", offset::TABLE_BYTES, head.table_bytes)?;
        head.set(table, with)
    }

    fn from_bytes(kind: FileKind, bytes: &[u8]) -> Result<(Self, KeyHasher), ReadError> {
        let Some((header, table)) = bytes.split_first_chunk() else {
            return Err(cut_header(bytes));
        };
        let head = Head::of(header, kind)?;
        let (header, found) = (HEADER_BYTES as u64, bytes.len() as u64);
        let expected = header.saturating_add(head.table_bytes);
        if expected != found {
            return Err(ReadError::Length { expected, found });
        }
        let (table, with) = T::from_bytes(T::kind(true), table)?;
        head.set(table, with)
    }
}
