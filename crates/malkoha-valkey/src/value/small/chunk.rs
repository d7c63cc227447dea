//! The one chunk of CF.SCANDUMP that a small filter is.

use malkoha::KeyHasher;

use super::super::Damaged;
use super::super::properties::{PROPERTIES_BYTES, Properties};
use super::{BITS_OF_FORM, DELETED_END, ITEM_BYTES, Small};

/// What the chunk of such a filter begins with, the last byte being the version.
const MAGIC: [u8; 4] = *b"MCF\x03";
/// Magic, items deleted, properties, function of the hash and its key, bits of a fingerprint,
/// items.
const HEAD_BYTES: usize = 4 + 8 + PROPERTIES_BYTES + 1 + 16 + 1 + 1;
pub(super) const CHECKSUM_BYTES: usize = 8;
/// Seed of the checksum.
const CHECKSUM_SEED: u64 = 3;

impl Small {
    /// The chunk from which [`from_chunk`](Self::from_chunk) makes the same filter.
    pub(in crate::value) fn chunk(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.deleted().to_le_bytes());
        bytes.extend(self.properties.encode());
        bytes.push(self.form >> BITS_OF_FORM);
        bytes.extend(self.key);
        bytes.extend([self.form & ((1 << BITS_OF_FORM) - 1), self.len]);
        bytes.extend(&self.items[..self.item_bytes()]);
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    fn item_bytes(&self) -> usize {
        (usize::from(self.len) * self.bits().count() as usize).div_ceil(8)
    }

    /// Whether a chunk is one of such a filter, damaged or not.
    pub(crate) fn is_chunk(chunk: &[u8]) -> bool {
        chunk.starts_with(&MAGIC)
    }

    pub(crate) fn from_chunk(chunk: &[u8]) -> Result<Box<Self>, Damaged> {
        Self::parse(chunk).ok_or(Damaged("the only chunk of a small filter is damaged"))
    }

    fn parse(chunk: &[u8]) -> Option<Box<Self>> {
        let (body, stored) = chunk.split_last_chunk::<CHECKSUM_BYTES>()?;
        let (head, items) = body.split_first_chunk::<HEAD_BYTES>()?;
        let (magic, rest) = head.split_first_chunk()?;
        let (deleted, rest) = rest.split_first_chunk()?;
        let (properties, rest) = rest.split_first_chunk()?;
        let (&function, rest) = rest.split_first()?;
        let (key, form) = rest.split_first_chunk()?;
        let properties = Properties::decode(properties)?;
        let hasher = KeyHasher::from_parts(function, u128::from_le_bytes(*key))?;
        let deleted = u64::from_le_bytes(*deleted);
        let is_sealed = *magic == MAGIC && u64::from_le_bytes(*stored) == checksum(body);
        // Checked before a table is made, which may be of any size.
        if !is_sealed || deleted >= DELETED_END || !properties.begins_small() {
            return None;
        }
        let table = properties.build_small(form[0].into(), hasher)?;
        let mut small = Self::instead_of(&table, &properties, hasher)?;
        let len = usize::from(form[1]);
        if len * small.bits().count() as usize > 8 * ITEM_BYTES {
            return None;
        }
        small.len = form[1];
        if items.len() != small.item_bytes() {
            return None;
        }
        small.items[..items.len()].copy_from_slice(items);
        small.set_deleted(deleted);
        // No lookup would find bits that no hash has, and bits behind the last item would be lost.
        let bits = small.bits();
        let is_possible = small.iter().all(|kept| bits.of(bits.hash(kept)) == kept);
        let behind = 8 * items.len() - len * bits.count() as usize;
        let is_clean = items.last().is_none_or(|last| u32::from(*last) << behind >> 8 == 0);
        (is_possible && is_clean).then_some(small)
    }
}

pub(super) fn checksum(bytes: &[u8]) -> u64 {
    KeyHasher::new(CHECKSUM_SEED).hash_bytes(bytes)
}
