//! Tables: sets of keys of one store, separate from each other.

use std::sync::Arc;

use super::swap::Expected;
use super::tables::{LIST, Tables};
use super::{Inner, Store, Table};
use crate::error::{Error, Result};
use crate::log::{Content, Kind};

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
        if tables.is_full() {
            return Err(Error::Option("the store has as many tables as it can have: 4096"));
        }
        if tables.has_name(name) {
            // Keys of the removed table must not appear in the new one.
            self.delete_keys_of_removed()?;
        }
        let (tables, number) = self.inner.tables.load().with(name, is_ordered);
        self.write_list(&tables)?;
        self.inner.tables.store(Arc::new(tables));
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
    use crate::store::tables::VERSION;
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
