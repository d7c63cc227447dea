//! Saving what can be saved of a damaged store.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::compact::Pace;
use super::open::{locked, writable};
use super::tables::Tables;
use super::{Inner, LostKey, Store};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::recovery::{OnDamage, recover};
use crate::storage::is_broken;

/// What a repair found and did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Repair {
    /// Keys that the store has now.
    pub keys: u64,
    /// What was damaged, and was skipped.
    pub skipped: Vec<Error>,
    /// Keys that were written there and not put later, as far as they can be read: each shows as
    /// the record before, if that is still in the log. One that was deleted later is among them.
    pub lost_keys: Vec<LostKey>,
    /// Damaged files under the names that they have now; the store does not need them any more.
    pub set_aside: Vec<String>,
}

/// What is added to the names of damaged files.
const SET_ASIDE: &str = ".damaged";

impl Store {
    /// Builds the index anew from every whole record of the log, and writes what damaged files
    /// still have of use into new ones. The damaged files stay, under other names.
    ///
    /// A record that is lost shows as the one before it, if that is still in the log: an older
    /// value, or a key that was deleted. That is why nothing skips damage but this call and
    /// [`open_past_damage`](Self::open_past_damage).
    ///
    /// A list of tables that is not what was written becomes an empty one. The keys of its tables
    /// stay: making a [table](Self::table) of the same name finds them again, and those of a table
    /// whose removal had not ended too.
    ///
    /// # Errors
    ///
    /// If there is no store, another process has it open, or the system refuses.
    pub fn repair(path: impl AsRef<Path>) -> Result<Repair> {
        let path = path.as_ref();
        let (storage, lock) = locked(path, false)?;
        let no_store = || Error::NoStore(path.display().to_string());
        let mut recovered = recover(&storage, OnDamage::Skip)?.ok_or_else(no_store)?;
        let mut repair =
            Repair { skipped: std::mem::take(&mut recovered.skipped), ..Repair::default() };
        let (tables, bad_list) = Tables::read_past_damage(&recovered)?;
        let inner = writable(Arc::new(storage), Some(lock), &Options::new(), recovered, tables)?;
        let inner = Arc::new(inner);
        let is_bad_list = bad_list.is_some();
        repair.skipped.extend(bad_list);
        repair.lost_keys = inner.lost_to_repair(&repair.skipped);
        inner.set_damaged_aside(&mut repair)?;
        // Not before: dropping a store writes a checkpoint, and a repair that ends early must not
        // leave one that hides the damage.
        let store = Self { inner, background: None };
        if is_bad_list {
            // Its checksum is right, so it was copied as any other record.
            store.write_list(&Tables::lost())?;
        }
        repair.keys = store.inner.keys();
        store.close()?;
        Ok(repair)
    }
}

impl Inner {
    fn set_damaged_aside(&self, repair: &mut Repair) -> Result<()> {
        let mut names: Vec<String> = Vec::new();
        for error in &repair.skipped {
            if let Error::Damaged { file, .. } | Error::Io { file, .. } = error
                && !names.contains(file)
            {
                names.push(file.clone());
            }
        }
        let table = self.files.load_full();
        let is_known = |name: &String| table.files().iter().any(|file| file.name() == *name);
        // First those that cannot be read at all: where the file system cannot rename them, no
        // other file is moved either.
        names.sort_unstable_by_key(|name| (is_known(name), name.clone()));
        self.writer()?.seal()?;
        let mut done = Vec::new();
        for file in table.files().iter().filter(|file| names.contains(&file.name())) {
            let pace = Pace { rate: None, stop: &|| false };
            self.rewrite(file, &done, &pace, OnDamage::Skip)?;
            done.push(Arc::clone(file));
        }
        self.sync()?;
        // Before the checkpoint that needs them no more, and that may need the name of one: with
        // it, they would be removed by the next opening, as if nothing had been lost. Without, that
        // misses them. And not earlier: without any checkpoint nobody misses a file, so those that
        // cannot be read at all stay too, as long as the repair may fail.
        for name in &names {
            self.set_aside(name, repair)?;
        }
        self.storage.sync_directory().map_err(Error::io("sync", "."))?;
        let ids: Vec<u64> = done.iter().map(|file| file.id()).collect();
        self.forget_files(&mut self.maintenance(), &ids)
    }

    /// Gives a damaged file an unused name.
    fn set_aside(&self, name: &str, repair: &mut Repair) -> Result<()> {
        let taken = self.storage.list().map_err(Error::io("list", "."))?;
        let first = format!("{name}{SET_ASIDE}");
        let others = (2..).map(|n| format!("{first}.{n}"));
        let mut free = std::iter::once(first.clone()).chain(others);
        let aside = free.find(|aside| !taken.contains(aside)).unwrap_or(first);
        self.storage.rename(name, &aside).map_err(not_renamed(name))?;
        repair.set_aside.push(aside);
        Ok(())
    }
}

/// The error of a file that cannot be renamed. Where the file system cannot read what it knows of
/// the file, nobody can rename it.
fn not_renamed(name: &str) -> impl FnOnce(io::Error) -> Error {
    move |error| {
        let error = if is_broken(&error) {
            let what = "the file system is damaged there: check it (fsck), then repair again";
            io::Error::new(error.kind(), format!("{error}: {what}"))
        } else {
            error
        };
        Error::io("rename", name)(error)
    }
}
