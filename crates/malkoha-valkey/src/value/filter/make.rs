//! How filters come to be: new, opened, united, swept, and begun again once they are empty.

use std::sync::Arc;
use std::{mem, thread};

use malkoha::{BuildError, KeyHasher};

use super::super::properties::{Expiry, Properties};
use super::super::small::{DELETED_END, Small};
use super::super::stats::{self, measure};
use super::super::table::{NotUnited, Table};
use super::StoredFilter::{self, Large as IsLarge, Small as IsSmall};

/// Items that an emptied filter is made for at once: in a few milliseconds.
const MOST_BEGUN: u64 = 1 << 22;
/// Allocations that are freed at once.
const FEW: usize = 256;

impl StoredFilter {
    /// An empty one.
    pub(crate) fn create(
        properties: Properties,
        expiry: Option<Expiry>,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        let (table, bytes) = measure(|| properties.build(expiry, hasher));
        let table = table?;
        let small = Small::instead_of(&table, &properties, hasher);
        Ok(small.map_or_else(|| Self::of(table, properties, 0, bytes), IsSmall))
    }

    /// The filter of a file of the library.
    pub(crate) fn open(file: &[u8]) -> Result<Self, String> {
        let (table, bytes) = measure(|| Table::open(file));
        let table = table?;
        let properties = Properties::of_file(&table);
        Ok(Self::of(table, properties, 0, bytes))
    }

    /// A filter of these properties that has all that is in these tables, unless it would take more
    /// than `max_bytes`, which is checked after each table.
    pub(crate) fn union(
        properties: Properties,
        deleted: u64,
        tables: &[Arc<Table>],
        max_bytes: u64,
    ) -> Result<Self, NotUnited> {
        let (united, bytes) = measure(|| {
            let (first, others) = tables.split_first().ok_or(NotUnited::Kinds)?;
            let mut united = Table::clone(first);
            others.iter().try_for_each(|other| {
                united.unite(other)?;
                let fits = united.size_in_bytes() <= max_bytes;
                fits.then_some(()).ok_or(NotUnited::TooLarge)
            })?;
            Ok::<_, NotUnited>(united)
        });
        let united = Self::of(united?, properties, deleted, bytes);
        stats::ADDED.add(tables.iter().skip(1).map(|other| other.len(0)).sum());
        Ok(united)
    }

    /// A filter of these properties with the items of a table that have not expired, and with room
    /// for them alone.
    pub(crate) fn swept(properties: Properties, deleted: u64, table: &Table) -> Self {
        let (table, bytes) = measure(|| {
            let mut table = table.clone();
            table.sweep();
            table
        });
        Self::of(table, properties, deleted, bytes)
    }

    /// Makes a filter that has grown and is empty as it began, unless that takes long: CF.COMPACT
    /// does it then, and for those that came from a file.
    pub(super) fn give_back(&mut self) {
        let IsLarge(large) = self else { return };
        let Table::Lasting(filter) = large.table() else { return };
        let (properties, deleted, hasher) = (large.properties, large.deleted, filter.hasher());
        if !filter.is_empty() || properties.capacity > MOST_BEGUN {
            return;
        }
        // Slots to begin with are a twentieth more than items, in buckets up to a sixteenth more.
        let begun = properties.capacity + properties.capacity / 4;
        if !properties.begins_small() && 4 * filter.buckets() <= begun {
            return;
        }
        // Fails if the properties are those of a file.
        let Ok(mut fresh) = Self::create(properties, None, hasher) else { return };
        fresh.set_deleted(deleted);
        let fresh = fresh.with_older(self.take_older());
        let before = mem::replace(self, fresh);
        if before.allocations() > FEW {
            // Without a thread, it is freed here.
            let _ = thread::Builder::new().spawn(move || drop(before));
        }
    }

    fn set_deleted(&mut self, deleted: u64) {
        match self {
            IsSmall(small) if deleted < DELETED_END => small.set_deleted(deleted),
            _ => self.large().deleted = deleted,
        }
    }
}
