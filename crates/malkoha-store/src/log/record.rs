//! One record: a head of 16 bytes, the fields that its flags announce, the key, the value, and
//! zeros to a multiple of 8.

use std::borrow::Cow;
use std::ops::Range;

use super::checksum::checksum;
use super::pack::unpack;
use super::{Key, LIST_OF_TABLES, MAX_KEY, MAX_VALUE, UNIT};

pub(crate) const HEAD: usize = 16;
/// Bytes of an expiry or an origin.
const PREFIX: usize = 8;
/// Bytes of the number of a table.
const TABLE: usize = 4;

/// Bits of the lengths in the head's second word.
const VALUE_BITS: u32 = 31;
const KEY_BITS: u32 = 17;
const FLAGS: u32 = VALUE_BITS + KEY_BITS;
const SYNCED: u32 = FLAGS + 8;

const KIND: u8 = 0b1_0011;
const MORE: u8 = 1 << 2;
const PREFIXED: u8 = 1 << 3;
const TABLED: u8 = 1 << 5;
const PACKED: u8 = 1 << 6;
const KNOWN_FLAGS: u8 = KIND | MORE | PREFIXED | TABLED | PACKED;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Gives a key its value.
    Put = 1,
    /// Removes a key: a tombstone.
    Delete = 2,
    /// Ends a file that is full.
    Seal = 3,
    /// Only records which part of the log is durable: the last record of a closed log.
    Mark = 16,
}

/// The content of a record that will be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content<'a> {
    pub(crate) kind: Kind,
    pub(crate) key: Key<'a>,
    pub(crate) value: &'a [u8],
    /// Whether the value is compressed.
    pub(crate) packed: bool,
    /// Of a put: when it ends, in milliseconds since 1970. Of a tombstone that compaction copied:
    /// the sequence number that it had at first.
    pub(crate) prefix: Option<u64>,
}

impl<'a> Content<'a> {
    pub(crate) const fn put(key: Key<'a>, value: &'a [u8], expires: Option<u64>) -> Self {
        Self { kind: Kind::Put, key, value, packed: false, prefix: expires }
    }

    pub(crate) const fn delete(key: Key<'a>, origin: Option<u64>) -> Self {
        Self { kind: Kind::Delete, key, value: &[], packed: false, prefix: origin }
    }

    /// The same with the compressed value, if there is one.
    pub(crate) fn packed(self, packed: Option<&'a [u8]>) -> Self {
        packed.map_or(self, |value| Self { value, packed: true, ..self })
    }

    pub(crate) const SEAL: Self = Self { kind: Kind::Seal, ..Self::delete(Key::main(&[]), None) };
    pub(crate) const MARK: Self = Self { kind: Kind::Mark, ..Self::SEAL };

    /// Whether it may use the room for tombstones: it removes a key, or may remove a table.
    pub(crate) fn removes(&self) -> bool {
        self.kind == Kind::Delete || self.key.table == LIST_OF_TABLES
    }

    pub(crate) fn shape(&self) -> Shape {
        let prefix = if self.prefix.is_some() { PREFIX } else { 0 };
        let table = if self.key.table == 0 { 0 } else { TABLE };
        Shape { prefix, table, key: self.key.name.len(), value: self.value.len() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    prefix: usize,
    table: usize,
    key: usize,
    value: usize,
}

impl Shape {
    #[inline(always)]
    fn unpadded(self) -> usize {
        HEAD + self.prefix + self.table + self.key + self.value
    }

    /// Where the name of the key lies in the record.
    #[inline(always)]
    pub(super) fn name(self) -> Range<usize> {
        let begin = HEAD + self.prefix + self.table;
        begin..begin + self.key
    }

    /// Where the value lies in the record.
    #[inline(always)]
    fn value(self) -> Range<usize> {
        let begin = HEAD + self.prefix + self.table + self.key;
        begin..begin + self.value
    }

    /// Bytes of the whole record.
    #[inline(always)]
    pub(crate) fn bytes(self) -> u64 {
        (self.unpadded() as u64).next_multiple_of(UNIT)
    }
}

/// The content of the head, before the checksum was compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    checksum: u32,
    /// The low half of the sequence number.
    pub(crate) sequence: u32,
    word: u64,
    pub(crate) kind: Kind,
    pub(crate) shape: Shape,
}

impl Head {
    /// `None` if no record begins like this.
    #[inline(always)]
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let head = bytes.first_chunk::<HEAD>()?;
        let checksum = u32::from_le_bytes(*head.first_chunk()?);
        let sequence = u32::from_le_bytes(*head[4..].first_chunk()?);
        let word = u64::from_le_bytes(*head[8..].first_chunk()?);
        let flags = flags(word);
        let kind = match flags & KIND {
            1 => Kind::Put,
            2 => Kind::Delete,
            3 => Kind::Seal,
            16 => Kind::Mark,
            _ => return None,
        };
        let value = super::to_usize(word & ((1 << VALUE_BITS) - 1));
        let key = super::to_usize(word >> VALUE_BITS & ((1 << KEY_BITS) - 1));
        if flags & !KNOWN_FLAGS != 0 || value > MAX_VALUE || key > MAX_KEY {
            return None;
        }
        let prefix = if flags & PREFIXED == 0 { 0 } else { PREFIX };
        let table = if flags & TABLED == 0 { 0 } else { TABLE };
        Some(Self { checksum, sequence, word, kind, shape: Shape { prefix, table, key, value } })
    }

    /// The key in the bytes of the record. The checksum might be wrong.
    pub(crate) fn key<'a>(&self, bytes: &'a [u8]) -> Option<Key<'a>> {
        let (table, rest) =
            bytes.get(HEAD + self.shape.prefix..)?.split_at_checked(self.shape.table)?;
        let table = table.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        Some(Key { table, name: rest.get(..self.shape.key)? })
    }

    /// Whether the value is compressed.
    #[inline(always)]
    pub(crate) fn is_packed(&self) -> bool {
        flags(self.word) & PACKED != 0
    }

    /// At most this many bytes before this record in its file were not known to be durable when it
    /// was written; `None` if nothing was known. Durable bytes include all earlier files.
    pub(crate) fn unsynced(&self) -> Option<u64> {
        match self.word >> SYNCED {
            0 => None,
            1 => Some(0),
            // A shift of 64 or more would mean more bytes than there can be.
            log => Some(1_u64.checked_shl(u32::try_from(log - 2).ok()?).unwrap_or(u64::MAX)),
        }
    }
}

/// The length of the value, if this is the head of an uncompressed put without an end, of a key of
/// the store itself that is as long as this one. The checksum might be wrong.
#[inline(always)]
pub(super) fn plain_value_bytes(head: &[u8; HEAD], key: Key<'_>) -> Option<usize> {
    /// All bits of the flags but that of a batch, and the length of the key.
    const FIXED: u64 = (0xff ^ MORE as u64) << FLAGS | ((1 << KEY_BITS) - 1) << VALUE_BITS;
    let word = u64::from_le_bytes(*head[8..].first_chunk()?);
    let plain = (Kind::Put as u64) << FLAGS | (key.name.len() as u64) << VALUE_BITS;
    let is_plain = key.table == 0 && key.name.len() <= MAX_KEY && word & FIXED == plain;
    is_plain.then(|| super::to_usize(word & ((1 << VALUE_BITS) - 1)))
}

#[inline(always)]
const fn flags(word: u64) -> u8 {
    word.to_le_bytes()[6]
}

/// The name of a key, and its value.
pub(crate) type Parts<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

/// A record whose checksum was compared.
#[derive(Clone, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) head: Head,
    /// The whole record: borrowed from a mapping, or owned.
    bytes: Cow<'a, [u8]>,
}

impl<'a> Record<'a> {
    /// The record of this head in `bytes`, which are the whole record.
    #[inline(always)]
    pub(crate) fn checked(head: Head, bytes: Cow<'a, [u8]>, seed: u32) -> Option<Self> {
        if checksum(seed, &bytes[4..]) != head.checksum {
            return None;
        }
        Some(Self { head, bytes })
    }

    #[inline(always)]
    pub(crate) fn key(&self) -> Key<'_> {
        let table = &self.bytes[HEAD + self.head.shape.prefix..];
        let table = &table[..self.head.shape.table];
        let table = table.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        Key { table, name: &self.bytes[self.head.shape.name()] }
    }

    /// The value as it is stored, possibly compressed.
    #[inline(always)]
    pub(crate) fn stored(&self) -> &[u8] {
        &self.bytes[self.head.shape.value()]
    }

    /// The value; `None` if it cannot be decompressed.
    #[inline(always)]
    pub(crate) fn value(&self) -> Option<Cow<'_, [u8]>> {
        let stored = self.stored();
        if self.head.is_packed() { unpack(stored) } else { Some(Cow::Borrowed(stored)) }
    }

    pub(crate) fn into_parts(self) -> Option<Parts<'a>> {
        let Head { shape, .. } = self.head;
        let is_packed = self.head.is_packed();
        let part = |range: Range<usize>| match &self.bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[range]),
            Cow::Owned(bytes) => Cow::Owned(bytes[range].to_vec()),
        };
        let (name, value) = (part(shape.name()), part(shape.value()));
        Some((name, if is_packed { unpack(&value)? } else { value }))
    }

    fn prefix(&self) -> Option<u64> {
        let prefix = self.bytes[HEAD..].first_chunk();
        prefix.filter(|_| self.head.shape.prefix > 0).map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// When a put ends, in milliseconds since 1970.
    #[inline(always)]
    pub(crate) fn expires(&self) -> Option<u64> {
        self.prefix().filter(|_| self.head.kind == Kind::Put)
    }

    /// The sequence number that a tombstone had at first, if it is a copy.
    pub(crate) fn origin(&self) -> Option<u64> {
        self.prefix().filter(|_| self.head.kind == Kind::Delete)
    }

    /// Whether the next record belongs to the same batch.
    pub(crate) fn more(&self) -> bool {
        flags(self.head.word) & MORE != 0
    }

    /// Bytes of the whole record.
    pub(crate) fn bytes(&self) -> u64 {
        self.head.shape.bytes()
    }
}

/// The place of a record, as far as the record contains it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placing {
    pub(crate) sequence: u64,
    pub(crate) more: bool,
    /// Bytes before it that are not durable yet; `None` if unknown.
    pub(crate) unsynced: Option<u64>,
    pub(crate) seed: u32,
}

/// Appends a record to `bytes`. If the value is `apart`, the caller writes it between `bytes` and
/// the returned zeros.
pub(crate) fn encode(
    content: &Content<'_>,
    placing: Placing,
    apart: bool,
    bytes: &mut Vec<u8>,
) -> &'static [u8] {
    let shape = content.shape();
    let flags = content.kind as u8
        | if placing.more { MORE } else { 0 }
        | if shape.prefix > 0 { PREFIXED } else { 0 }
        | if shape.table > 0 { TABLED } else { 0 }
        | if content.packed { PACKED } else { 0 };
    let synced = match placing.unsynced {
        None => 0,
        Some(0) => 1,
        Some(bytes) => 2 + u64::from(bytes.next_power_of_two().ilog2()),
    };
    let word = shape.value as u64
        | (shape.key as u64) << VALUE_BITS
        | u64::from(flags) << FLAGS
        | synced << SYNCED;
    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is kept")]
    let sequence = placing.sequence as u32;
    let begin = bytes.len();
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&sequence.to_le_bytes());
    bytes.extend_from_slice(&word.to_le_bytes());
    if let Some(prefix) = content.prefix {
        bytes.extend_from_slice(&prefix.to_le_bytes());
    }
    if shape.table > 0 {
        bytes.extend_from_slice(&content.key.table.to_le_bytes());
    }
    bytes.extend_from_slice(content.key.name);
    let padding = &PADDING[..super::to_usize(shape.bytes()) - shape.unpadded()];
    let sum = if apart {
        let sum = checksum(placing.seed, &bytes[begin + 4..]);
        checksum(checksum(sum, content.value), padding)
    } else {
        bytes.extend_from_slice(content.value);
        bytes.extend_from_slice(padding);
        checksum(placing.seed, &bytes[begin + 4..])
    };
    bytes[begin..begin + 4].copy_from_slice(&sum.to_le_bytes());
    padding
}

/// The most zeros that a record may end with.
const PADDING: [u8; 7] = [0; 7];

#[cfg(test)]
mod tests;
