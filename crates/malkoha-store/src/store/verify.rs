//! Compares all records with their checksums, and finds the keys of those that are lost.

use std::collections::HashSet;
use std::sync::Arc;

use super::tables::Tables;
use super::{Inner, Snapshot, Store};
use crate::error::{Error, Result};
use crate::index;
use crate::locate::{Located, locate};
use crate::log::{Key, Kind, LogFile};
use crate::recovery::LostKey;

/// The result of a verification.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// Undamaged records; a number.
    pub records: u64,
    /// Undamaged records that are the present ones of their keys; a number.
    pub live: u64,
    /// Keys whose present records are damaged or cannot be read; a number.
    pub lost: u64,
    /// Those of them that can still be read.
    pub lost_keys: Vec<LostKey>,
    /// All damage.
    pub damage: Vec<Error>,
}

impl Store {
    /// Reads every record and the checkpoint, compares them with their checksums, and the index
    /// with the log. Others may use the store meanwhile.
    ///
    /// # Errors
    ///
    /// If the system refuses. Damage is part of the result.
    pub fn verify(&self) -> Result<Verification> {
        let _no_removals = self.inner.maintenance();
        let _keeping = self.inner.keep_files();
        let snapshot = self.snapshot();
        let mut found = Verification::default();
        for (file, end) in snapshot.files() {
            for record in file.records(end) {
                match record {
                    Ok((record, ..)) if record.head.kind == Kind::Mark => {}
                    Ok((record, offset, _)) => {
                        found.records += 1;
                        let live = record.head.kind == Kind::Put
                            && snapshot.is_present(record.key(), file.location(offset));
                        found.live += u64::from(live);
                    }
                    Err(offset) => {
                        found.damage.push(file.no_record(offset));
                        found.lost_keys.extend(self.inner.lost_in(&snapshot, file, offset));
                    }
                }
            }
        }
        if found.damage.is_empty() && found.live != snapshot.index.len() {
            let (file, what) =
                (index::CHECKPOINT.to_owned(), "the index has other keys than the log");
            found.damage.push(Error::Damaged { file, offset: 0, what });
        }
        found.lost = snapshot.index.len().saturating_sub(found.live);
        match index::read(&*self.inner.storage) {
            Err(error) if error.is_unreadable() => found.damage.push(error),
            other => drop(other?),
        }
        Ok(found)
    }
}

impl LostKey {
    /// `None` for a key of a removed table, or of no table at all.
    fn new(tables: &Tables, number: u32, key: Vec<u8>) -> Option<Self> {
        let table = match tables.name(number) {
            None if number == 0 || tables.may_lack(number) => None,
            name => Some(name?.to_owned()),
        };
        Some(Self { table, table_number: number, key })
    }
}

impl Inner {
    /// The key of a damaged record, if it can be read, and if it is the present one.
    fn lost_in(&self, snapshot: &Snapshot, file: &LogFile, offset: u64) -> Option<LostKey> {
        // The index has fingerprints and places. Both do not match by chance.
        let location = file.location(offset);
        let is_present = |&(table, ref name): &(u32, Vec<u8>)| {
            snapshot.is_present(Key { table, name }, location)
        };
        let (table, name) = file.key_of_damaged(offset).filter(is_present)?;
        LostKey::new(&self.tables.load(), table, name)
    }

    /// The keys of records that a repair skips, as far as they can be read, without those that were
    /// put again later.
    pub(super) fn lost_to_repair(&self, skipped: &[Error]) -> Vec<LostKey> {
        let (tables, files) = (self.tables.load(), self.files.load_full());
        let (mut lost, mut seen) = (Vec::new(), HashSet::new());
        for error in skipped {
            let Error::Damaged { file, offset, .. } = error else { continue };
            let is_it = |it: &&Arc<LogFile>| it.name() == *file;
            let Some(file) = files.all().iter().find(is_it) else { continue };
            let Some((table, name)) = file.key_of_damaged(*offset) else { continue };
            let key = Key { table, name: &name };
            // If this cannot be read either, the repair itself reports it.
            let found =
                locate(&self.index, &files, key.hash(&self.hasher), key).unwrap_or_default();
            let is_later = |it: &Located<'_>| {
                (it.file.id(), it.file.offset(it.location)) > (file.id(), *offset)
            };
            if !found.as_ref().is_some_and(is_later) && seen.insert((table, name.clone())) {
                lost.extend(LostKey::new(&tables, table, name));
            }
        }
        lost
    }
}
