//! A filter of a few items in one allocation, where a table would take four times as much: what a
//! table would keep of each item, one after the other.
//!
//! A filter becomes a table when one item too many is added, and never otherwise, so that a
//! replica, which receives the additions, has a table exactly when its primary has one.

mod chunk;
#[cfg(test)]
pub(super) mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use malkoha::{KeptBits, KeyHasher};

use super::properties::Properties;
use super::stats::{self, measure};
use super::table::Table;

/// Bytes of items: with the other fields, the size of an allocation. Enough for 50 items of a
/// default filter.
const ITEM_BYTES: usize = 163;
/// Fewer items were deleted than this.
pub(super) const DELETED_END: u64 = 1 << 24;
const BITS_OF_FORM: u32 = 5;

/// Items in the order of their arrival, except for deletions.
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

/// Bytes of each small filter, as the server counts them.
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

    pub(super) fn set_deleted(&mut self, deleted: u64) {
        self.deleted.copy_from_slice(&deleted.to_le_bytes()[..3]);
    }

    #[inline]
    pub(super) fn hasher(&self) -> KeyHasher {
        let function = self.form >> BITS_OF_FORM;
        let hasher = KeyHasher::from_parts(function, u128::from_le_bytes(self.key));
        hasher.expect("it is of a hasher, or was checked")
    }

    #[inline]
    fn of_fingerprint(&self) -> u32 {
        u32::from(self.form) & ((1 << BITS_OF_FORM) - 1)
    }

    #[inline]
    fn bits(&self) -> KeptBits {
        let bits = KeptBits::of_fingerprints(self.of_fingerprint());
        bits.expect("it is of a table, or was checked")
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

    /// Adds a copy of an item; with `absent_only`, only if the item is not in. Returns whether it
    /// was added; `None` if there is no room.
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

    /// Deletes a copy of an item; returns whether it was there. `None` if the count of deletions
    /// no longer fits here.
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
}

impl Drop for Small {
    fn drop(&mut self) {
        stats::FILTERS.subtract(1);
        stats::BYTES.subtract(self.bytes());
    }
}
