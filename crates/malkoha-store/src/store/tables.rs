//! Tables: sets of keys of one store, separate from each other.
//!
//! The list of tables is the value of one key, in a table of its own, so that it is written,
//! synced, compacted and copied like any other. The number of a table is derived from its name: if
//! the list is lost, creating a table again finds its keys.

use std::collections::HashSet;
use std::sync::Arc;

use malkoha::KeyHasher;

use super::{Inner, Store, Table};
use crate::error::{Error, Result};
use crate::locate::locate;
use crate::log::{Content, Key, Kind, LIST_OF_TABLES};
use crate::recovery::Recovered;
use crate::store::swap::Expected;

const LIST: Key<'static> = Key { table: LIST_OF_TABLES, name: &[] };
const VERSION: u8 = 1;
/// Begins a list if the keys of the store itself are kept in order: number 0, without a name.
const OWN_ORDER: [u8; 6] = [0, 0, 0, 0, ORDERED, 0];
/// Each new table writes the whole list.
const MOST: usize = 4096;

/// The tables of a store, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    list: Vec<Listed>,
    /// Whether the store has a list, possibly of no tables.
    is_written: bool,
    /// Whether it replaces a list that could not be read.
    is_lost: bool,
    /// Whether the keys of the store itself are kept in order.
    is_ordered: bool,
}

#[derive(Clone, Debug)]
struct Listed {
    number: u32,
    name: String,
    /// Removed, but some of its keys are left.
    is_removed: bool,
    /// Whether its keys are kept in order.
    is_ordered: bool,
}

/// Flags of a table in the list.
const REMOVED: u8 = 1;
const ORDERED: u8 = 2;

impl Tables {
    pub(super) fn read(store: &Recovered) -> Result<Self> {
        let hash = LIST.hash(&KeyHasher::new(store.seed));
        let Some(found) = locate(&store.index, &store.files, hash, LIST)? else {
            return Ok(Self::default());
        };
        let what = "the list of tables is not what was written";
        let damaged = || found.file.damaged(found.file.offset(found.location), what);
        Self::from_bytes(&found.value()?).ok_or_else(damaged)
    }

    /// The list, or a replacement for a damaged one, with the damage.
    pub(super) fn read_past_damage(store: &Recovered) -> Result<(Self, Option<Error>)> {
        match Self::read(store) {
            Err(error) if error.is_unreadable() => Ok((Self::lost(), Some(error))),
            read => Ok((read?, None)),
        }
    }

    /// The replacement for a lost list. The keys of its tables are still there.
    pub(super) fn lost() -> Self {
        Self { is_written: true, is_lost: true, ..Self::default() }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&VERSION, mut rest) = bytes.split_first()? else { return None };
        let mut list = Vec::new();
        let is_ordered = rest.starts_with(&OWN_ORDER);
        rest = rest.strip_prefix(&OWN_ORDER).unwrap_or(rest);
        while let Some((number, after)) = rest.split_first_chunk() {
            let (&[flags, length], after) = after.split_first_chunk()?;
            let (name, after) = after.split_at_checked(usize::from(length))?;
            let number = u32::from_le_bytes(*number);
            // The store itself and the list are no tables: removing one would delete their keys.
            let is_own = [0, LIST.table].contains(&number);
            if is_own || flags > REMOVED | ORDERED || name.is_empty() || list.len() == MOST {
                return None;
            }
            let name = str::from_utf8(name).ok()?.to_owned();
            let (is_removed, is_ordered) = (flags & REMOVED != 0, flags & ORDERED != 0);
            list.push(Listed { number, name, is_removed, is_ordered });
            rest = after;
        }
        // Numbers are searched for by bisection.
        let in_order = list.is_sorted_by(|a: &Listed, b| a.number < b.number);
        let names: HashSet<&str> = list.iter().map(|it| &*it.name).collect();
        let is_whole = rest.is_empty() && in_order && names.len() == list.len();
        is_whole.then_some(Self { list, is_written: true, is_lost: false, is_ordered })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(if self.is_ordered { &OWN_ORDER } else { &[] });
        for Listed { number, name, is_removed, is_ordered } in &self.list {
            bytes.extend_from_slice(&number.to_le_bytes());
            let length = u8::try_from(name.len()).expect("names are checked");
            let flag = |is_set: bool, flag| if is_set { flag } else { 0 };
            let flags = flag(*is_removed, REMOVED) | flag(*is_ordered, ORDERED);
            bytes.extend_from_slice(&[flags, length]);
            bytes.extend_from_slice(name.as_bytes());
        }
        bytes
    }

    /// The number of a table that is not removed.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        let found = self.list.iter().find(|it| it.name == name && !it.is_removed);
        found.map(|it| it.number)
    }

    /// Whether a number is that of a table that is not removed.
    pub(super) fn has(&self, number: u32) -> bool {
        self.name(number).is_some()
    }

    /// The name of a table that is not removed.
    pub(super) fn name(&self, number: u32) -> Option<&str> {
        let found = self.list.binary_search_by_key(&number, |it| it.number).ok()?;
        Some(&self.list[found]).filter(|it| !it.is_removed).map(|it| &*it.name)
    }

    /// Whether a key with this number may belong to a table that the list does not name, because
    /// the list is lost. A store with keys of tables always had one.
    pub(super) fn may_lack(&self, number: u32) -> bool {
        let is_own = [0, LIST.table].contains(&number);
        !is_own && (self.is_lost || !self.is_written)
    }

    /// Whether the keys of a table, or of the store itself, are kept in order.
    pub(super) fn is_ordered(&self, number: u32) -> bool {
        if number == 0 {
            return self.is_ordered;
        }
        let found = self.list.binary_search_by_key(&number, |it| it.number);
        found.is_ok_and(|at| self.list[at].is_ordered)
    }

    /// Whether any keys are kept in order.
    pub(super) fn have_order(&self) -> bool {
        self.is_ordered || self.list.iter().any(|it| it.is_ordered)
    }

    /// The list with another choice for a table, or for the store itself.
    fn ordering(&self, number: u32, is_ordered: bool) -> Self {
        let mut ordering = Self { is_written: true, ..self.clone() };
        if number == 0 {
            ordering.is_ordered = is_ordered;
        }
        let of_number = ordering.list.iter_mut().filter(|it| it.number == number);
        of_number.for_each(|it| it.is_ordered = is_ordered);
        ordering
    }

    pub(super) fn is_removed(&self, number: u32) -> bool {
        let found = self.list.binary_search_by_key(&number, |it| it.number);
        found.is_ok_and(|at| self.list[at].is_removed)
    }

    /// Whether keys may belong to a table, also to one that is removed or not known any more.
    pub(super) fn have_keys(&self) -> bool {
        self.is_lost || !self.list.is_empty()
    }

    pub(super) fn has_removed(&self) -> bool {
        self.list.iter().any(|it| it.is_removed)
    }

    pub(super) fn names(&self) -> Vec<String> {
        let kept = self.list.iter().filter(|it| !it.is_removed);
        let mut names: Vec<String> = kept.map(|it| it.name.clone()).collect();
        names.sort_unstable();
        names
    }

    /// Keys that the index has for the list itself: one or none.
    pub(super) fn in_index(&self) -> u64 {
        u64::from(self.is_written)
    }

    /// The list with one more table, and its number.
    fn with(&self, name: &str, is_ordered: bool) -> (Self, u32) {
        let is_free = |number: &u32| self.list.iter().all(|it| it.number != *number);
        let first = crc32c::crc32c(name.as_bytes());
        let numbers =
            (first..=u32::MAX).chain(0..first).filter(|number| ![0, LIST.table].contains(number));
        let number = numbers.into_iter().find(is_free).expect("fewer tables than numbers");
        let mut with = self.clone();
        with.list.push(Listed { number, name: name.to_owned(), is_removed: false, is_ordered });
        with.list.sort_unstable_by_key(|it| it.number);
        (with, number)
    }

    /// The list with one table removed, but not yet its keys.
    fn removing(&self, name: &str) -> Self {
        let mut removing = self.clone();
        let of_name = removing.list.iter_mut().filter(|it| it.name == name);
        of_name.for_each(|it| it.is_removed = true);
        removing
    }

    pub(super) fn without_removed(&self) -> Self {
        let kept = self.list.iter().filter(|it| !it.is_removed);
        Self { list: kept.cloned().collect(), ..*self }
    }
}

impl Store {
    /// The table of this name, made if it is not there. Its keys are separate from those of the
    /// store itself and of other tables, in the same log. Making a table writes a list of all
    /// tables, as durably as any write. A store has at most 4096 tables.
    ///
    /// ```
    /// # use malkoha_store::{Batch, Options, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), &Options::new())?;
    /// let (birds, hosts) = (store.table("birds")?, store.table("hosts")?);
    /// birds.put(b"cuckoo", b"Cuculus canorus")?;
    /// assert_eq!(hosts.get(b"cuckoo")?, None);
    /// // One batch for several tables, and for the keys of the store itself.
    /// let mut batch = Batch::new();
    /// batch.put(b"pairs", b"1")?;
    /// batch.within("birds").put(b"koel", b"Eudynamys")?;
    /// batch.within("hosts").put(b"koel", b"house crow")?;
    /// store.apply(&batch)?;
    /// assert_eq!(hosts.get(b"koel")?.as_deref(), Some(&b"house crow"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put), and if the name is empty or has more than 255 bytes.
    pub fn table(&self, name: &str) -> Result<Table<'_>> {
        self.make_table(name, false)
    }

    /// The same, with keys that are kept in order: iteration, `prefix` and `range` of a
    /// [`TableSnapshot`](crate::TableSnapshot) read only what they return. See
    /// [`Options::ordered`](crate::Options::ordered) for the cost.
    ///
    /// ```
    /// # use malkoha_store::{Options, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), &Options::new())?;
    /// let birds = store.ordered_table("birds")?;
    /// ["koel", "hoopoe", "kiwi"].iter().try_for_each(|key| birds.put(key.as_bytes(), b""))?;
    /// let snapshot = store.snapshot();
    /// let birds = snapshot.table("birds").ok_or("no table")?;
    /// let first = birds.prefix(b"k")?.next().ok_or("no key")??;
    /// assert_eq!(*first.key, *b"kiwi");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`table`](Self::table), and if the table exists without order.
    pub fn ordered_table(&self, name: &str) -> Result<Table<'_>> {
        let table = self.make_table(name, true)?;
        if table.is_ordered() { Ok(table) } else { Err(Error::Order(order_of(name, false))) }
    }

    fn make_table(&self, name: &str, is_ordered: bool) -> Result<Table<'_>> {
        if name.is_empty() || name.len() > 255 {
            return Err(Error::Option("the name of a table has 1 to 255 bytes"));
        }
        if let Some(table) = self.find_table(name) {
            return Ok(table);
        }
        let _one_at_a_time = self.inner.listing.lock();
        if let Some(table) = self.find_table(name) {
            return Ok(table);
        }
        let tables = self.inner.tables.load();
        if self.inner.writer.is_none() {
            return Err(Error::NoTable(name.to_owned()));
        }
        if tables.list.len() >= MOST {
            return Err(Error::Option("the store has as many tables as it can have: 4096"));
        }
        if tables.list.iter().any(|it| it.name == name) {
            // Keys of the removed table must not appear in the new one.
            self.delete_keys_of_removed()?;
        }
        let (tables, number) = self.inner.tables.load().with(name, is_ordered);
        self.write_list(&tables)?;
        self.inner.tables.store(Arc::new(Tables { is_written: true, ..tables }));
        Ok(Table { store: self, number })
    }

    /// The table of this name, if it is there.
    ///
    /// ```
    /// # use malkoha_store::{Options, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), &Options::new())?;
    /// assert!(store.find_table("birds").is_none());
    /// store.table("birds")?.put(b"koel", b"Eudynamys")?;
    /// let birds = store.find_table("birds").ok_or("no table")?;
    /// assert!(birds.contains(b"koel")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn find_table(&self, name: &str) -> Option<Table<'_>> {
        let number = self.inner.tables.load().number(name)?;
        Some(Table { store: self, number })
    }

    /// The names of all tables, in their order.
    #[must_use]
    pub fn tables(&self) -> Vec<String> {
        self.inner.tables.load().names()
    }

    /// Removes a table with all of its keys; returns whether it was there. The table is gone at
    /// once, except in snapshots. Then its keys are deleted: this reads the whole log, and writes a
    /// tombstone of 20 bytes and the key for each. If that ends early, it is continued when a table
    /// of this name is made, another one is removed, or the store is compacted.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put), and if a record of the log cannot be read. Then all readable keys are
    /// deleted, and a table of this name can be made again after a [repair](Self::repair). Unless
    /// the first write failed, the table is gone nevertheless, and only its space is not.
    pub fn remove_table(&self, name: &str) -> Result<bool> {
        let _one_at_a_time = self.inner.listing.lock();
        let before = self.inner.tables.load_full();
        if before.number(name).is_none() {
            return Ok(false);
        }
        let tables = before.removing(name);
        {
            // Writers check this while nobody else writes, so no later write belongs to the table.
            let _writer = self.inner.writer()?;
            self.inner.tables.store(Arc::new(tables.clone()));
        }
        self.write_list(&tables).inspect_err(|_| self.inner.tables.store(before))?;
        self.delete_keys_of_removed()?;
        Ok(true)
    }

    /// Sets whether the keys of a table, or of the store itself, are kept in order. It is a write as
    /// durable as any other.
    pub(super) fn set_ordered(&self, number: u32, is_ordered: bool) -> Result<()> {
        let _one_at_a_time = self.inner.listing.lock();
        let tables = self.inner.tables.load();
        if tables.is_ordered(number) != is_ordered {
            let tables = tables.ordering(number, is_ordered);
            self.write_list(&tables)?;
            self.inner.tables.store(Arc::new(tables));
        }
        Ok(())
    }

    pub(super) fn write_list(&self, tables: &Tables) -> Result<()> {
        let bytes = tables.to_bytes();
        self.write_one(Content::put(LIST, &bytes, None), Expected::Anything).map(drop)
    }
}

/// A table and its order, in a message.
pub(super) fn order_of(name: &str, is_ordered: bool) -> String {
    let is = if is_ordered { "are kept in order" } else { "are in no order" };
    if name.is_empty() {
        format!("the store's keys {is}")
    } else {
        format!("keys of table '{name}' {is}")
    }
}

impl Inner {
    /// An error if a put belongs to a table that is removed. The caller has the right to write.
    pub(super) fn check_tables(&self, contents: &[Content<'_>]) -> Result<()> {
        let is_lost = |content: &Content<'_>| {
            let table = content.key.table;
            content.kind == Kind::Put
                && ![0, LIST.table].contains(&table)
                && !self.tables.load().has(table)
        };
        if contents.iter().any(is_lost) { Err(Error::TableRemoved) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LostKey, Options};

    /// With a list whose checksum is right and whose content is wrong, neither opening nor repair
    /// worked.
    #[test]
    fn repair_replaces_a_list_that_is_not_what_was_written() {
        let (directory, options) = (tempfile::tempdir().unwrap(), Options::new());
        let path = directory.path();
        let number = |n: u32| [&n.to_le_bytes()[..], &[0, 1, b'b']].concat();
        let list = |tables: &[Vec<u8>]| [vec![VERSION], tables.concat()].concat();
        let bad = [
            vec![],
            vec![VERSION + 1],
            vec![VERSION, 1],
            list(&[number(7), number(7)]),
            // The store itself, and the list: both were tables that could be removed.
            list(&[number(0)]),
            list(&[number(u32::MAX)]),
            // Two with one name, one without a name, and one with an unknown flag.
            list(&[number(7), number(8)]),
            list(&[vec![7, 0, 0, 0, 0, 0]]),
            list(&[vec![7, 0, 0, 0, 4, 1, b'b']]),
        ];
        for bytes in &bad {
            let store = Store::open(path, &options).unwrap();
            store.put(b"koel", b"1").unwrap();
            store.table("birds").unwrap().put(b"koel", b"2").unwrap();
            store.write_one(Content::put(LIST, bytes, None), Expected::Anything).unwrap();
            store.close().unwrap();
            let refused = Store::open(path, &options).err().expect("it is refused").to_string();
            assert!(refused.contains("the list of tables"), "{refused}");
            let repair = Store::repair(path).unwrap();
            assert_eq!(repair.skipped.len(), 1, "{repair:?}");
            assert_eq!(repair.keys, 2);
            let store = Store::open(path, &options).unwrap();
            assert_eq!(store.tables(), [""; 0]);
            assert_eq!(store.get(b"koel").unwrap().as_deref(), Some(&b"1"[..]));
            let birds = store.table("birds").unwrap();
            assert_eq!(birds.get(b"koel").unwrap().as_deref(), Some(&b"2"[..]));
            assert_eq!(store.verify().unwrap().damage.len(), 0);
        }
    }

    /// If the list was lost together with keys of a table, these were not reported.
    #[test]
    fn lost_keys_have_the_number_of_their_table_where_its_name_is_lost() {
        let (directory, options) = (tempfile::tempdir().unwrap(), Options::new());
        let path = directory.path();
        let store = Store::open(path, &options).unwrap();
        store.table("birds").unwrap().put(b"koel", b"gone").unwrap();
        let file = Arc::clone(&store.inner.files.load().all()[0]);
        store.write_one(Content::put(LIST, &[], None), Expected::Anything).unwrap();
        store.close().unwrap();
        let log = path.join(file.name());
        let mut bytes = std::fs::read(&log).unwrap();
        let at = bytes.windows(4).position(|part| part == b"gone").unwrap();
        bytes[at] ^= 1;
        std::fs::write(&log, bytes).unwrap();
        let lost = [LostKey {
            table: None,
            table_number: crc32c::crc32c(b"birds"),
            key: b"koel".to_vec(),
        }];
        assert_eq!(Store::open_past_damage(path).unwrap().recovery().lost_keys, lost);
        assert_eq!(Store::repair(path).unwrap().lost_keys, lost);
    }
}
