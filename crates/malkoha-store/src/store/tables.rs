//! The list of a store's tables.
//!
//! The list of tables is the value of one key, in a table of its own, so that it is written,
//! synced, compacted and copied like any other. The number of a table is derived from its name: if
//! the list is lost, creating a table again finds its keys.

use std::collections::HashSet;

use malkoha::KeyHasher;

use crate::error::{Error, Result};
use crate::locate::locate;
use crate::log::{Key, LIST_OF_TABLES};
use crate::recovery::Recovered;

pub(super) const LIST: Key<'static> = Key { table: LIST_OF_TABLES, name: &[] };
pub(super) const VERSION: u8 = 1;
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

    pub(super) fn to_bytes(&self) -> Vec<u8> {
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

    /// Whether it has as many tables as it can have.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// Whether a table has this name, or had it and has keys left.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.list.iter().any(|it| it.name == name)
    }

    /// Whether a number is that of a table that is not removed.
    pub(super) fn has(&self, number: u32) -> bool {
        self.name(number).is_some()
    }

    /// The name of a table that is not removed.
    pub(super) fn name(&self, number: u32) -> Option<&str> {
        self.listed(number).filter(|it| !it.is_removed).map(|it| &*it.name)
    }

    fn listed(&self, number: u32) -> Option<&Listed> {
        let found = self.list.binary_search_by_key(&number, |it| it.number).ok()?;
        Some(&self.list[found])
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
        self.listed(number).is_some_and(|it| it.is_ordered)
    }

    /// Whether any keys are kept in order.
    pub(super) fn have_order(&self) -> bool {
        self.is_ordered || self.list.iter().any(|it| it.is_ordered)
    }

    /// The list with another choice for a table, or for the store itself.
    pub(super) fn ordering(&self, number: u32, is_ordered: bool) -> Self {
        let mut ordering = Self { is_written: true, ..self.clone() };
        if number == 0 {
            ordering.is_ordered = is_ordered;
        }
        let of_number = ordering.list.iter_mut().filter(|it| it.number == number);
        of_number.for_each(|it| it.is_ordered = is_ordered);
        ordering
    }

    pub(super) fn is_removed(&self, number: u32) -> bool {
        self.listed(number).is_some_and(|it| it.is_removed)
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
    pub(super) fn with(&self, name: &str, is_ordered: bool) -> (Self, u32) {
        let is_free = |number: &u32| self.list.iter().all(|it| it.number != *number);
        let first = crc32c::crc32c(name.as_bytes());
        let numbers =
            (first..=u32::MAX).chain(0..first).filter(|number| ![0, LIST.table].contains(number));
        let number = numbers.into_iter().find(is_free).expect("fewer tables than numbers");
        let mut with = Self { is_written: true, ..self.clone() };
        with.list.push(Listed { number, name: name.to_owned(), is_removed: false, is_ordered });
        with.list.sort_unstable_by_key(|it| it.number);
        (with, number)
    }

    /// The list with one table removed, but not yet its keys.
    pub(super) fn removing(&self, name: &str) -> Self {
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
