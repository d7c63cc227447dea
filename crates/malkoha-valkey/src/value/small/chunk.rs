//! The only chunk of a small filter in CF.SCANDUMP.

use malkoha::KeyHasher;

use super::super::chunks::{PREAMBLE_BYTES, Preamble, sealed, unsealed};
use super::super::stream::Damaged;
use super::super::table::Kind;
use super::{BITS_OF_FORM, DELETED_END, ITEM_BYTES, Small};

/// Preamble, function of the hash and its key, bits of a fingerprint, number of items.
const HEAD_BYTES: usize = PREAMBLE_BYTES + 1 + 16 + 1 + 1;

impl Small {
    /// The chunk from which [`from_chunk`](Self::from_chunk) makes the same filter.
    pub(in crate::value) fn chunk(&self) -> Vec<u8> {
        let (deleted, properties) = (self.deleted(), *self.properties);
        let mut bytes = Preamble { kind: Kind::Small, chunks: 1, deleted, properties }.encode();
        bytes.push(self.form >> BITS_OF_FORM);
        bytes.extend(self.key);
        bytes.extend([self.form & ((1 << BITS_OF_FORM) - 1), self.len]);
        bytes.extend(&self.items[..self.item_bytes()]);
        sealed(bytes)
    }

    fn item_bytes(&self) -> usize {
        (usize::from(self.len) * self.bits().count() as usize).div_ceil(8)
    }

    /// Whether a chunk is one of such a filter, damaged or not.
    pub(crate) fn is_chunk(chunk: &[u8]) -> bool {
        Preamble::split(chunk).is_ok_and(|(preamble, _)| preamble.kind == Kind::Small)
    }

    pub(crate) fn from_chunk(chunk: &[u8]) -> Result<Box<Self>, Damaged> {
        Self::parse(chunk).ok_or(Damaged("the only chunk of a small filter is damaged"))
    }

    fn parse(chunk: &[u8]) -> Option<Box<Self>> {
        let (head, items) = unsealed(chunk)?.split_first_chunk::<HEAD_BYTES>()?;
        let (Preamble { kind, deleted, properties, .. }, rest) = Preamble::split(head).ok()?;
        let (&function, rest) = rest.split_first()?;
        let (key, form) = rest.split_first_chunk()?;
        let hasher = KeyHasher::from_parts(function, u128::from_le_bytes(*key))?;
        // Checked before a table is made, which might be of any size.
        if kind != Kind::Small || deleted >= DELETED_END || !properties.begins_small() {
            return None;
        }
        let table = properties.build(None, hasher).ok()?;
        if table.fingerprint_bits() != u32::from(form[0]) {
            return None;
        }
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
