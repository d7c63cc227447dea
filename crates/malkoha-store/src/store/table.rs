//! The operations on the keys of one table.

use std::borrow::Cow;
use std::ops::RangeBounds;
use std::time::Duration;

use super::batch::expiry;
use super::entries::{Bounds, Entries};
use super::snapshot::Snapshot;
use super::swap::Expected;
use super::{Store, Swap};
use crate::error::{Error, Result};
use crate::locate::Located;
use crate::log::{Content, Key};

/// The keys of one table of a store, see [`Store::table`].
///
/// Each operation does the same as that of the same name of [`Store`], at the same cost and with
/// the same errors, and fails if the table was removed.
#[derive(Clone, Copy)]
pub struct Table<'s> {
    pub(super) store: &'s Store,
    pub(super) number: u32,
}

impl<'s> Table<'s> {
    #[inline]
    fn key<'k>(&self, name: &'k [u8]) -> Result<Key<'k>> {
        self.check()?;
        Ok(Key { table: self.number, name })
    }

    fn check(&self) -> Result<()> {
        let is_there = self.number == 0 || self.store.inner.tables.load().has(self.number);
        if is_there { Ok(()) } else { Err(Error::TableRemoved) }
    }

    /// Whether its keys are kept in order.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.store.inner.tables.load().is_ordered(self.number)
    }

    /// Changes whether its keys are kept in order. The next [`Store::sort`], or the first read in
    /// order, sorts the keys that are there. The errors are those of [`put`](Self::put).
    pub fn set_ordered(&self, ordered: bool) -> Result<()> {
        self.check()?;
        self.store.set_ordered(self.number, ordered)
    }

    /// The value of a key, as [`Store::get`].
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.get_with(key, <[u8]>::to_vec)
    }

    /// Calls `with` with the value of a key, as [`Store::get_with`].
    #[inline]
    pub fn get_with<T>(&self, key: &[u8], with: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        self.store.inner.find(self.key(key)?, true, with)
    }

    /// Whether a key has a value, as [`Store::contains`].
    pub fn contains(&self, key: &[u8]) -> Result<bool> {
        Ok(self.store.inner.find(self.key(key)?, false, |_| ())?.is_some())
    }

    /// Looks up many keys, as [`Store::get_many`].
    pub fn get_many<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        each: impl FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        self.check()?;
        self.store.inner.get_many(self.number, keys, each)
    }

    /// Sets the value of a key, as [`Store::put`].
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let content = Content::put(self.key(key)?, value, None);
        self.store.write_one(content, Expected::Anything).map(drop)
    }

    /// Sets the value of a key for a limited time, as [`Store::put_for`].
    pub fn put_for(&self, key: &[u8], value: &[u8], time: Duration) -> Result<()> {
        let content = Content::put(self.key(key)?, value, Some(expiry(time)));
        self.store.write_one(content, Expected::Anything).map(drop)
    }

    /// Removes a key, as [`Store::delete`].
    pub fn delete(&self, key: &[u8]) -> Result<bool> {
        let content = Content::delete(self.key(key)?, None);
        let (_, existed) = self.store.write_one(content, Expected::Anything)?;
        Ok(existed)
    }

    /// Sets the value of a key that has none, as [`Store::put_if_absent`].
    pub fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Result<bool> {
        Ok(self.compare_and_swap(key, None, Some(value))? == Swap::Done)
    }

    /// Replaces the expected value of a key, as [`Store::compare_and_swap`].
    pub fn compare_and_swap(
        &self,
        key: &[u8],
        old: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<Swap> {
        let key = self.key(key)?;
        let content =
            new.map_or_else(|| Content::delete(key, None), |value| Content::put(key, value, None));
        self.store.write_one(content, Expected::Exactly(old)).map(|(swap, _)| swap)
    }
}

/// A table as it was when a [`Snapshot`] was taken. Each operation is as that of the same name of
/// [`Snapshot`].
#[derive(Clone, Copy)]
pub struct TableSnapshot<'s> {
    snapshot: &'s Snapshot,
    number: u32,
}

impl Store {
    /// The keys of the store itself, as a table of their own.
    #[must_use]
    pub fn main(&self) -> Table<'_> {
        Table { store: self, number: 0 }
    }
}

impl Snapshot {
    /// The keys of the store itself, as a table of their own.
    #[must_use]
    pub fn main(&self) -> TableSnapshot<'_> {
        TableSnapshot { snapshot: self, number: 0 }
    }

    /// A table of that moment, if it was there.
    ///
    /// ```
    /// # use malkoha_store::{Options, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), &Options::new())?;
    /// store.table("birds")?.put(b"koel", b"Eudynamys")?;
    /// let snapshot = store.snapshot();
    /// let birds = snapshot.table("birds").ok_or("no table")?;
    /// assert_eq!(birds.iter().count(), 1);
    /// assert_eq!(snapshot.iter().count(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn table(&self, name: &str) -> Option<TableSnapshot<'_>> {
        let number = self.tables.number(name)?;
        Some(TableSnapshot { snapshot: self, number })
    }
}

impl<'s> TableSnapshot<'s> {
    /// Whether its keys were kept in order.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.snapshot.tables.is_ordered(self.number)
    }

    /// The value that a key had, as [`Snapshot::get`].
    pub fn get(&self, key: &[u8]) -> Result<Option<Cow<'s, [u8]>>> {
        let found = self.snapshot.find(Key { table: self.number, name: key })?;
        Ok(found.map(Located::into_parts).transpose()?.map(|(_, value)| value))
    }

    /// All keys with their values, as [`Snapshot::iter`]. Unless the keys are kept in order, it
    /// reads the whole log, however small the table is.
    pub fn iter(&self) -> Entries<'s> {
        Entries::all(self.snapshot, self.number)
    }

    /// The keys that begin with these bytes, as [`Snapshot::prefix`].
    pub fn prefix(&self, prefix: &[u8]) -> Result<Entries<'s>> {
        Entries::among(self.snapshot, self.number, Bounds::prefix(prefix))
    }

    /// The keys in a range, as [`Snapshot::range`].
    pub fn range(&self, keys: impl RangeBounds<[u8]>) -> Result<Entries<'s>> {
        Entries::among(self.snapshot, self.number, Bounds::range(&keys))
    }
}
