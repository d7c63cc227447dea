//! A filter of a few items in one allocation, where a table would take four times as much: what a
//! table would keep of each item, one after the other.
//!
//! A filter becomes a table by adding one item too many, and by nothing else: so that a replica,
//! which is told what was added, has one when its primary has.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use malkoha::{KeptBits, KeyHasher};

use super::large::Large;
use super::properties::{PROPERTIES_BYTES, Properties};
use super::table::Table;
use super::{Damaged, stats};
use crate::ledger::measure;

/// Bytes of items: with what is beside them, the size of an allocation, and with the defaults just
/// enough for 50.
const ITEM_BYTES: usize = 163;
/// What the chunk of such a filter begins with, the last byte being the version.
const MAGIC: [u8; 4] = *b"MCF\x03";
/// Magic, items deleted, properties, function of the hash and its key, bits of a fingerprint,
/// items.
const HEAD_BYTES: usize = 4 + 8 + PROPERTIES_BYTES + 1 + 16 + 1 + 1;
const CHECKSUM_BYTES: usize = 8;
/// Seed of the checksum.
const CHECKSUM_SEED: u64 = 3;
/// Fewer items were deleted than this.
const DELETED_END: u64 = 1 << 24;
const BITS_OF_FORM: u32 = 5;

/// Items in the order of their arrival, but for deletions.
pub(crate) struct Small {
    properties: Arc<Properties>,
    key: [u8; 16],
    deleted: [u8; 3],
    /// Bits of a fingerprint, and above them the function of the hash.
    form: u8,
    len: u8,
    items: [u8; ITEM_BYTES],
}

const _: () = assert!(size_of::<Small>() == 192);

/// What each takes, as the server counts it.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The properties that were last asked for: most filters share a few.
static LAST: Mutex<Vec<Arc<Properties>>> = Mutex::new(Vec::new());
const MOST_SHARED: usize = 16;

fn shared(properties: Properties) -> Arc<Properties> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(same) = last.iter().find(|last| ***last == properties) {
        return Arc::clone(same);
    }
    if last.len() == MOST_SHARED {
        last.remove(0);
    }
    let properties = Arc::new(properties);
    last.push(Arc::clone(&properties));
    properties
}

impl Small {
    /// An empty one in the place of an empty table; `None` if filters with these properties begin
    /// with more.
    pub(super) fn instead_of(
        table: &Table,
        properties: &Properties,
        hasher: KeyHasher,
    ) -> Option<Box<Self>> {
        let Table::Lasting(filter) = table else { return None };
        if !properties.begins_small() {
            return None;
        }
        let form = filter.fingerprint_bits() | u32::from(hasher.function() as u8) << BITS_OF_FORM;
        filter.kept_bits()?;
        let small = Self {
            properties: shared(*properties),
            key: hasher.key().to_le_bytes(),
            deleted: [0; 3],
            form: form.to_le_bytes()[0],
            len: 0,
            items: [0; ITEM_BYTES],
        };
        Some(small.boxed())
    }

    fn boxed(self) -> Box<Self> {
        let (small, taken) = measure(|| Box::new(self));
        TAKEN.store(taken.unsigned_abs(), Ordering::Relaxed);
        stats::FILTERS.add(1);
        stats::BYTES.add(taken.unsigned_abs());
        small
    }

    /// Another one with the same items.
    pub(super) fn copy(&self) -> Box<Self> {
        let Self { ref properties, key, deleted, form, len, items } = *self;
        let properties = Arc::clone(properties);
        Self { properties, key, deleted, form, len, items }.boxed()
    }

    pub(super) fn properties(&self) -> &Properties {
        &self.properties
    }

    #[expect(clippy::unused_self, reason = "they are all alike")]
    pub(super) fn bytes(&self) -> u64 {
        TAKEN.load(Ordering::Relaxed)
    }

    pub(super) fn deleted(&self) -> u64 {
        let [low, middle, high] = self.deleted;
        u32::from_le_bytes([low, middle, high, 0]).into()
    }

    fn set_deleted(&mut self, deleted: u64) {
        self.deleted.copy_from_slice(&deleted.to_le_bytes()[..3]);
    }

    #[inline]
    pub(super) fn hasher(&self) -> KeyHasher {
        let function = self.form >> BITS_OF_FORM;
        let hasher = KeyHasher::from_parts(function, u128::from_le_bytes(self.key));
        hasher.expect("it is of a hasher, or was checked")
    }

    #[inline]
    fn bits(&self) -> KeptBits {
        let of_fingerprint = u32::from(self.form) & ((1 << BITS_OF_FORM) - 1);
        KeptBits::of_fingerprints(of_fingerprint).expect("it is of a table, or was checked")
    }

    /// Where an item's bits are: the first byte of eight that have all of them, and how many are
    /// below them.
    #[inline]
    fn place(&self, number: usize) -> (usize, usize) {
        let bit = number * self.bits().count() as usize;
        let at = (bit / 8).min(ITEM_BYTES - 8);
        (at, bit - 8 * at)
    }

    fn window(&self, at: usize) -> u64 {
        u64::from_le_bytes(*self.items[at..].first_chunk().expect("eight bytes from there on"))
    }

    #[inline]
    fn get(&self, number: usize) -> u64 {
        let (at, shift) = self.place(number);
        self.window(at) >> shift & ((1 << self.bits().count()) - 1)
    }

    fn set(&mut self, number: usize, kept: u64) {
        let (at, shift) = self.place(number);
        let mask = ((1 << self.bits().count()) - 1) << shift;
        let window = self.window(at) & !mask | kept << shift;
        self.items[at..at + 8].copy_from_slice(&window.to_le_bytes());
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        (0..usize::from(self.len)).map(|number| self.get(number))
    }

    fn kept(&self, item: &[u8]) -> u64 {
        self.bits().of(self.hasher().hash_bytes(item))
    }

    pub(super) fn len(&self) -> u64 {
        self.len.into()
    }

    pub(super) fn contains(&self, item: &[u8]) -> bool {
        let wanted = self.kept(item);
        self.iter().any(|kept| kept == wanted)
    }

    pub(super) fn count(&self, item: &[u8]) -> u64 {
        let wanted = self.kept(item);
        self.iter().filter(|&kept| kept == wanted).count() as u64
    }

    /// Adds a copy of an item; of one that is in, unless that shall not be. Answers whether it was
    /// added; `None` if there is no room.
    pub(super) fn insert(&mut self, item: &[u8], absent_only: bool) -> Option<bool> {
        let kept = self.kept(item);
        if absent_only && self.iter().any(|other| other == kept) {
            return Some(false);
        }
        self.push(kept).then(|| stats::ADDED.add(1))?;
        Some(true)
    }

    fn push(&mut self, kept: u64) -> bool {
        let number = usize::from(self.len);
        let fits = (number + 1) * self.bits().count() as usize <= 8 * ITEM_BYTES;
        if fits {
            self.set(number, kept);
            self.len += 1;
        }
        fits
    }

    /// Deletes a copy of an item; answers whether it was there. `None` if more were deleted than
    /// can be told here.
    pub(super) fn remove(&mut self, item: &[u8]) -> Option<bool> {
        let wanted = self.kept(item);
        let Some(number) = self.iter().position(|kept| kept == wanted) else { return Some(false) };
        let deleted = Some(self.deleted() + 1).filter(|&deleted| deleted < DELETED_END)?;
        let last = usize::from(self.len) - 1;
        self.set(number, self.get(last));
        self.set(last, 0);
        self.len -= 1;
        self.set_deleted(deleted);
        stats::DELETED.add(1);
        Some(true)
    }

    /// The table that it stands for.
    pub(super) fn table(&self) -> Table {
        let built = self.properties.build(None, self.hasher());
        let mut table = built.expect("it was built when the filter was made");
        for kept in self.iter() {
            // Tables that grow refuse nothing.
            let _ = table.insert(self.bits().hash(kept));
        }
        table
    }

    pub(super) fn to_large(&self) -> Box<Large> {
        let (table, bytes) = measure(|| self.table());
        Large::of(table, *self.properties, self.deleted(), bytes)
    }

    /// The chunk that [`from_chunk`](Self::from_chunk) makes the same filter of.
    pub(super) fn chunk(&self) -> Vec<u8> {
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
        // Before a table is made, which may be any size.
        if !is_sealed || deleted >= DELETED_END || !properties.begins_small() {
            return None;
        }
        let table = properties.build(None, hasher).ok()?;
        let mut small = Self::instead_of(&table, &properties, hasher)?;
        let len = usize::from(form[1]);
        if u32::from(form[0]) != table.fingerprint_bits()
            || len * small.bits().count() as usize > 8 * ITEM_BYTES
        {
            return None;
        }
        small.len = form[1];
        if items.len() != small.item_bytes() {
            return None;
        }
        small.items[..items.len()].copy_from_slice(items);
        small.set_deleted(deleted);
        // What no hash leaves would be found by no item, and what is behind the last item lost.
        let bits = small.bits();
        let is_possible = small.iter().all(|kept| bits.of(bits.hash(kept)) == kept);
        let behind = 8 * items.len() - len * bits.count() as usize;
        let is_clean = items.last().is_none_or(|last| u32::from(*last) << behind >> 8 == 0);
        (is_possible && is_clean).then_some(small)
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    KeyHasher::new(CHECKSUM_SEED).hash_bytes(bytes)
}

impl Drop for Small {
    fn drop(&mut self) {
        stats::FILTERS.subtract(1);
        stats::BYTES.subtract(self.bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::StoredFilter;
    use super::*;

    const PROPERTIES: Properties = Properties {
        capacity: 1024,
        error_rate: 0.01,
        growth: 1024.0,
        bucket_size: 2,
        max_iterations: 20,
        expansion: 1,
    };

    fn small(properties: Properties, hasher: KeyHasher) -> Option<Box<Small>> {
        match StoredFilter::create(properties, None, hasher) {
            Ok(StoredFilter::Small(small)) => Some(small),
            _ => None,
        }
    }

    fn name(item: u16) -> [u8; 2] {
        item.to_le_bytes()
    }

    #[test]
    fn fifty_items_fit_with_the_defaults() {
        let mut filter = small(PROPERTIES, KeyHasher::sip13(1)).unwrap();
        for item in 0..50 {
            assert_eq!(filter.insert(&name(item), true), Some(true));
        }
        assert_eq!(filter.insert(&name(50), false), None);
        assert!((0..50).all(|item| filter.contains(&name(item))));
        for other in
            [Properties { capacity: 5000, ..PROPERTIES }, Properties { expansion: 0, ..PROPERTIES }]
        {
            assert!(small(other, KeyHasher::new(0)).is_none(), "{other:?}");
        }
    }

    #[test]
    fn damaged_chunks_are_refused() {
        let mut filter = small(PROPERTIES, KeyHasher::new(7)).unwrap();
        for item in 0..49 {
            filter.insert(&name(item), false);
        }
        let chunk = filter.chunk();
        assert!(Small::from_chunk(&chunk).is_ok() && Small::is_chunk(&chunk));
        for at in 0..chunk.len() {
            for bit in 0..8 {
                let mut damaged = chunk.clone();
                damaged[at] ^= 1 << bit;
                assert!(Small::from_chunk(&damaged).is_err(), "bit {bit} of byte {at}");
                // Sealed again, what is accepted can be used.
                let body = damaged.len() - CHECKSUM_BYTES;
                let seal = checksum(&damaged[..body]).to_le_bytes();
                damaged[body..].copy_from_slice(&seal);
                if let Ok(mut odd) = Small::from_chunk(&damaged) {
                    assert_eq!(odd.chunk(), damaged);
                    odd.insert(b"a", true);
                    odd.remove(b"a");
                    assert_eq!(odd.to_large().table().len(0), odd.len());
                }
            }
            assert!(Small::from_chunk(&chunk[..at]).is_err(), "{at} bytes");
        }
    }

    proptest! {
        /// Items come and go until there are too many: each is counted as its table counts it.
        #[test]
        fn it_is_what_its_table_is(
            rate in 1e-6..0.3, key: u128,
            changes in proptest::collection::vec((0..60_u16, 0..4_u8), 1..120),
        ) {
            let properties = Properties { error_rate: rate, ..PROPERTIES };
            let Ok(mut filter) = StoredFilter::create(properties, None, KeyHasher::sip13(key)) else {
                return Ok(());
            };
            for (item, what) in changes {
                let item = name(item);
                let before = filter.count(&item, 0);
                let changed = match what {
                    0 => filter.insert(&item, false, u64::MAX) == Ok(true),
                    1 => filter.insert(&item, true, u64::MAX) == Ok(true),
                    2 => filter.remove(&item),
                    _ => filter.contains(&item, 0),
                };
                let after = filter.count(&item, 0);
                match what {
                    0 => prop_assert!(changed && after == before + 1),
                    1 => prop_assert!(changed == (before == 0) && after == before.max(1)),
                    2 => prop_assert!(changed == (before > 0) && after == before.saturating_sub(1)),
                    _ => prop_assert!(changed == (before > 0) && after == before),
                }
                if let StoredFilter::Small(small) = &filter {
                    let copy = Small::from_chunk(&small.chunk()).unwrap();
                    prop_assert_eq!(copy.chunk(), small.chunk());
                    prop_assert_eq!(small.table().count(small.hasher().hash_bytes(&item), 0), after);
                    prop_assert_eq!(small.table().len(0), small.len());
                }
            }
        }
    }
}
