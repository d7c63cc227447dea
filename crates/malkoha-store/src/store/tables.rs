//! The list of a store's tables.
//!
//! The list of tables is the value of one key, in a table of its own, so that it is written,
//! synced, compacted and copied like any other. The number of a table is derived from its name: if
//! the list is lost, creating a table again finds its keys.

use std::collections::{BTreeMap, HashSet};

use malkoha::KeyHasher;

use crate::error::{Error, Result};
use crate::locate::locate;
use crate::log::{Key, LIST_OF_TABLES};
use crate::recovery::Recovered;

pub(super) const LIST: Key<'static> = Key { table: LIST_OF_TABLES, name: &[] };
pub(super) const VERSION: u8 = 1;
/// Each new table writes the whole list.
const MOST: usize = 4096;

/// The tables of a store.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    /// By number. Number 0, without a name, is the store itself if its keys are kept in order.
    list: BTreeMap<u32, Listed>,
    /// Whether the store has a list, possibly of no tables.
    is_written: bool,
    /// Whether it replaces a list that could not be read.
    is_lost: bool,
}

#[derive(Clone, Debug)]
struct Listed {
    name: String,
    flags: u8,
}

/// Flag of a table that was removed, while some of its keys are left.
const REMOVED: u8 = 1;
/// Flag of a table whose keys are kept in order.
const ORDERED: u8 = 2;

impl Listed {
    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

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
        let (mut list, mut names) = (BTreeMap::new(), HashSet::new());
        while let Some((number, after)) = rest.split_first_chunk() {
            let (&[flags, length], after) = after.split_first_chunk()?;
            let (name, after) = after.split_at_checked(usize::from(length))?;
            let (number, name) = (u32::from_le_bytes(*number), str::from_utf8(name).ok()?);
            // The store itself and the list are no tables: removing one would delete their keys.
            let is_possible = match number {
                0 => flags == ORDERED && name.is_empty(),
                LIST_OF_TABLES => false,
                _ => flags <= REMOVED | ORDERED && !name.is_empty(),
            };
            let is_next = list.last_key_value().is_none_or(|(&last, _)| last < number);
            if !is_possible || !is_next || !names.insert(name) {
                return None;
            }
            list.insert(number, Listed { name: name.to_owned(), flags });
            rest = after;
        }
        let read = Self { list, is_written: true, is_lost: false };
        (rest.is_empty() && read.len() <= MOST).then_some(read)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        for (number, Listed { name, flags }) in &self.list {
            bytes.extend_from_slice(&number.to_le_bytes());
            let length = u8::try_from(name.len()).expect("names are checked");
            bytes.extend_from_slice(&[*flags, length]);
            bytes.extend_from_slice(name.as_bytes());
        }
        bytes
    }

    /// The tables that are not removed.
    fn present(&self) -> impl Iterator<Item = (u32, &str)> {
        let all = self.list.range(1..).filter(|(_, it)| !it.has(REMOVED));
        all.map(|(&number, it)| (number, &*it.name))
    }

    /// The number of a table that is not removed.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.present().find(|it| it.1 == name).map(|it| it.0)
    }

    /// Whether it has as many tables as it can have.
    pub(super) fn is_full(&self) -> bool {
        self.len() >= MOST
    }

    fn len(&self) -> usize {
        self.list.range(1..).count()
    }

    /// Whether a table has this name, or had it and has keys left.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.list.values().any(|it| it.name == name)
    }

    /// Whether a number is that of a table that is not removed.
    pub(super) fn has(&self, number: u32) -> bool {
        self.name(number).is_some()
    }

    /// The name of a table that is not removed.
    pub(super) fn name(&self, number: u32) -> Option<&str> {
        let listed = self.list.get(&number).filter(|it| number != 0 && !it.has(REMOVED))?;
        Some(&listed.name)
    }

    /// Whether a key with this number may belong to a table that the list does not name, because
    /// the list is lost. A store with keys of tables always had one.
    pub(super) fn may_lack(&self, number: u32) -> bool {
        let is_own = [0, LIST.table].contains(&number);
        !is_own && (self.is_lost || !self.is_written)
    }

    /// Whether the keys of a table, or of the store itself, are kept in order.
    pub(super) fn is_ordered(&self, number: u32) -> bool {
        self.list.get(&number).is_some_and(|it| it.has(ORDERED))
    }

    /// Whether any keys are kept in order.
    pub(super) fn have_order(&self) -> bool {
        self.list.values().any(|it| it.has(ORDERED))
    }

    /// The list with another choice for a table, or for the store itself.
    pub(super) fn ordering(&self, number: u32, is_ordered: bool) -> Self {
        let mut ordering = Self { is_written: true, ..self.clone() };
        let flag = if is_ordered { ORDERED } else { 0 };
        if number == 0 {
            ordering.list.insert(0, Listed { name: String::new(), flags: ORDERED });
        }
        if let Some(listed) = ordering.list.get_mut(&number) {
            listed.flags = listed.flags & !ORDERED | flag;
        }
        ordering.list.retain(|&number, it| number != 0 || it.has(ORDERED));
        ordering
    }

    pub(super) fn is_removed(&self, number: u32) -> bool {
        self.list.get(&number).is_some_and(|it| it.has(REMOVED))
    }

    /// Whether keys may belong to a table, also to one that is removed or not known any more.
    pub(super) fn have_keys(&self) -> bool {
        self.is_lost || self.len() > 0
    }

    pub(super) fn has_removed(&self) -> bool {
        self.list.values().any(|it| it.has(REMOVED))
    }

    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.present().map(|(_, name)| name.to_owned()).collect();
        names.sort_unstable();
        names
    }

    /// Keys that the index has for the list itself: one or none.
    pub(super) fn in_index(&self) -> u64 {
        u64::from(self.is_written)
    }

    /// The list with one more table, and its number.
    pub(super) fn with(&self, name: &str, is_ordered: bool) -> (Self, u32) {
        let first = crc32c::crc32c(name.as_bytes());
        let mut numbers = (first..LIST_OF_TABLES).chain(1..first);
        let free = numbers.find(|&it| it != 0 && !self.list.contains_key(&it));
        let number = free.expect("fewer tables than numbers");
        let mut with = Self { is_written: true, ..self.clone() };
        let flags = if is_ordered { ORDERED } else { 0 };
        with.list.insert(number, Listed { name: name.to_owned(), flags });
        (with, number)
    }

    /// The list with one table removed, but not yet its keys.
    pub(super) fn removing(&self, name: &str) -> Self {
        let mut removing = self.clone();
        let of_name = removing.list.values_mut().filter(|it| it.name == name);
        of_name.for_each(|it| it.flags |= REMOVED);
        removing
    }

    pub(super) fn without_removed(&self) -> Self {
        let mut kept = self.clone();
        kept.list.retain(|_, it| !it.has(REMOVED));
        kept
    }
}
