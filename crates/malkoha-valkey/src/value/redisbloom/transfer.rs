//! The bytes of RedisBloom's filters: in RDB files and payloads of DUMP, and in chunks.

use std::hint::black_box;

use super::{Chain, Shape, Table, VACANT};
use crate::value::stats::measure;
use crate::value::stream::{Damaged, Sink, Source};

/// The newest version of what is in RDB files; the ones before it lack some numbers.
pub(crate) const ENCODING_VERSION: i32 = 4;
/// The header of a dump: items, buckets, deleted, tables; bucket size, iterations, expansion.
pub(crate) const HEADER_BYTES: usize = 4 * 8 + 3 * 2;
/// Bytes of a chunk, at most: copied in well under a millisecond.
const MOST_BYTES: usize = 1 << 20;
/// Slots of one table that we take: its chunks' positions stay numbers that all clients can count.
const MOST_SLOTS: u64 = 1 << 40;

/// Vacant slots, which take memory only as chunks fill them; `None` if there is not enough.
fn vacant(len: usize) -> Option<Vec<u8>> {
    // Allocating zeroed memory would end the server where there is none, so this tries first.
    let mut tried = Vec::<u8>::new();
    tried.try_reserve_exact(len).ok()?;
    drop(black_box(tried));
    Some(vec![VACANT; len])
}

impl Shape {
    fn check(&self, tables: u64) -> Result<(), Damaged> {
        let fits = self.buckets <= MOST_SLOTS;
        if !self.buckets.is_power_of_two() || !fits || !(1..=255).contains(&self.bucket_size) {
            return Err(Damaged("a filter of RedisBloom has an impossible size"));
        }
        if !(1..=u64::from(u16::MAX)).contains(&tables) {
            return Err(Damaged("a filter of RedisBloom has an impossible number of tables"));
        }
        Ok(())
    }

    /// The slots of each of `tables` tables; `None` if there are too many.
    fn slots(&self, tables: u64) -> Option<Vec<u64>> {
        let mut buckets = self.buckets;
        let mut all = Vec::new();
        for number in 0..tables {
            if number > 0 {
                buckets = buckets.checked_mul(self.expansion.into())?;
            }
            let slots = buckets.checked_mul(self.bucket_size.into())?;
            let slots = if buckets.is_power_of_two() { slots } else { return None };
            all.push(Some(slots).filter(|slots| (1..=MOST_SLOTS).contains(slots))?);
        }
        Some(all)
    }
}

impl Chain {
    /// Writes what RedisBloom reads in its newest version.
    pub(crate) fn write(&self, sink: &mut impl Sink) {
        let Shape { buckets, bucket_size, max_iterations, expansion } = self.shape;
        let numbers = [
            self.tables.len() as u64,
            buckets,
            self.len(),
            self.deleted,
            bucket_size.into(),
            max_iterations.into(),
            expansion.into(),
        ];
        numbers.into_iter().for_each(|number| sink.number(number));
        for table in &self.tables {
            sink.number(table.mask + 1);
            sink.bytes(&table.slots);
        }
    }

    pub(crate) fn read(source: &mut impl Source, version: i32) -> Result<Self, Damaged> {
        if version > ENCODING_VERSION {
            return Err(Damaged("it is of a newer version of RedisBloom"));
        }
        let has_shape = version == ENCODING_VERSION;
        let count = source.number()?;
        let buckets = source.number()?;
        let _items = source.number()?;
        let mut shape = Shape { buckets, bucket_size: 2, max_iterations: 20, expansion: 1 };
        let mut deleted = 0;
        if has_shape {
            deleted = source.number()?;
            let mut short = || {
                let number = source.number()?;
                u16::try_from(number).map_err(|_| Damaged("a number of RedisBloom is too large"))
            };
            shape = Shape {
                buckets,
                bucket_size: short()?,
                max_iterations: short()?,
                expansion: short()?,
            };
        }
        shape.check(count)?;
        let (tables, held) = measure(|| {
            let mut tables = Vec::new();
            for _ in 0..count {
                let buckets = if has_shape { source.number()? } else { shape.buckets };
                let slots = source.bytes()?;
                let expected = buckets.checked_mul(shape.bucket_size.into());
                // Never fewer than before, or what moves to an older one would lose its place.
                let least = tables.last().map_or(0, |table: &Table| table.mask);
                let is_right = buckets.is_power_of_two()
                    && buckets > least
                    && expected == Some(slots.len() as u64);
                if !is_right {
                    return Err(Damaged("a table of RedisBloom has another length than it says"));
                }
                tables.push(Table::new(slots, shape.bucket_size.into()));
            }
            Ok(tables)
        });
        Ok(Self::of(tables?, shape, deleted, held))
    }

    /// An empty chain from the first chunk of a dump: `room` says whether there is room for that
    /// many bytes.
    pub(crate) fn begin(
        header: &[u8; HEADER_BYTES],
        room: impl FnOnce(u64) -> bool,
    ) -> Result<Self, Damaged> {
        let eight = |at: usize| header[at..].first_chunk().copied().map_or(0, u64::from_le_bytes);
        let two = |at: usize| header[at..].first_chunk().copied().map_or(0, u16::from_le_bytes);
        let (deleted, count) = (eight(16), eight(24));
        let shape = Shape {
            buckets: eight(8),
            bucket_size: two(32),
            max_iterations: two(34),
            expansion: two(36),
        };
        shape.check(count)?;
        let slots = shape.slots(count).ok_or(Damaged("a filter of RedisBloom is too large"))?;
        if !room(slots.iter().sum()) {
            return Err(Damaged("there is no room for a filter of RedisBloom"));
        }
        let bucket_size = usize::from(shape.bucket_size);
        let (tables, held) = measure(|| {
            let table = |&slots: &u64| {
                let slots = vacant(usize::try_from(slots).ok()?)?;
                Some(Table { mask: (slots.len() / bucket_size) as u64 - 1, slots, occupied: 0 })
            };
            slots.iter().map(table).collect::<Option<Vec<Table>>>()
        });
        let tables = tables.ok_or(Damaged("there is no memory for a filter of RedisBloom"))?;
        Ok(Self::of(tables, shape, deleted, held))
    }

    /// The chunk behind a position, and the position behind it; `None` behind the last one.
    pub(crate) fn chunk(&self, position: u64) -> Option<(u64, Vec<u8>)> {
        let Some(offset) = position.checked_sub(1) else { return Some((1, self.header())) };
        let (table, offset) = self.locate(offset)?;
        let rest = &self.tables[table].slots[offset..];
        let chunk = &rest[..rest.len().min(MOST_BYTES)];
        Some((position + chunk.len() as u64, chunk.to_vec()))
    }

    /// Takes the chunk that ends at a position.
    pub(crate) fn load(&mut self, position: u64, chunk: &[u8]) -> Result<(), Damaged> {
        let misplaced = || Damaged("a chunk of RedisBloom is not of this filter");
        let start = position.checked_sub(1).and_then(|end| end.checked_sub(chunk.len() as u64));
        let located = start.filter(|_| !chunk.is_empty()).and_then(|start| self.locate(start));
        let (table, offset) = located.ok_or_else(misplaced)?;
        let table = &mut self.tables[table];
        let slots = table.slots.get_mut(offset..offset + chunk.len()).ok_or_else(misplaced)?;
        table.occupied -= super::occupied(slots);
        slots.copy_from_slice(chunk);
        table.occupied += super::occupied(slots);
        Ok(())
    }

    fn header(&self) -> Vec<u8> {
        let Shape { buckets, bucket_size, max_iterations, expansion } = self.shape;
        let mut header = Vec::with_capacity(HEADER_BYTES);
        for number in [self.len(), buckets, self.deleted, self.tables.len() as u64] {
            header.extend(number.to_le_bytes());
        }
        for number in [bucket_size, max_iterations, expansion] {
            header.extend(number.to_le_bytes());
        }
        header
    }

    /// The table that has this byte of all tables taken together, and where in it.
    fn locate(&self, mut offset: u64) -> Option<(usize, usize)> {
        for (number, table) in self.tables.iter().enumerate() {
            let len = table.slots.len() as u64;
            if offset < len {
                return usize::try_from(offset).ok().map(|offset| (number, offset));
            }
            offset -= len;
        }
        None
    }
}
