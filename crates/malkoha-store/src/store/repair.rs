//! Repairs a damaged store.

use std::io;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use super::compaction::Pace;
use super::open::{locked, writable};
use super::tables::Tables;
use super::{Inner, Store};
use crate::error::{Error, Result, is_device_error};
use crate::options::Options;
use crate::recovery::{LostKey, OnDamage, recover};

/// The result of a repair.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Repair {
    /// Keys that the store has now.
    pub keys: u64,
    /// The damage that was skipped.
    pub skipped: Vec<Error>,
    /// Keys that were written there and not put later, as far as they can be read. Each shows as
    /// its record before, if that is still in the log. A key that was deleted later is among them.
    pub lost_keys: Vec<LostKey>,
    /// Damaged files under the names that they have now; the store does not need them any more.
    pub set_aside: Vec<String>,
}

/// The suffix of the names of damaged files.
const SET_ASIDE: &str = ".damaged";

impl Store {
    /// Builds the index from every whole record of the log, and copies the live records of damaged
    /// files into new ones. The damaged files stay, under other names.
    ///
    /// A lost record shows as the one before it, if that is still in the log: an older value, or a
    /// key that was deleted. That is why only this call and
    /// [`open_past_damage`](Self::open_past_damage) skip damage.
    ///
    /// A damaged list of tables becomes an empty one. The keys of its tables stay: making a
    /// [table](Self::table) of the same name finds them again, also those of a table whose removal
    /// had not ended.
    ///
    /// # Errors
    ///
    /// If there is no store, another process has it open, or the system refuses.
    pub fn repair(path: impl AsRef<Path>) -> Result<Repair> {
        let path = path.as_ref();
        let (storage, lock) = locked(path, false)?;
        let no_store = || Error::NoStore(path.display().to_string());
        let mut recovered = recover(&storage, OnDamage::Skip)?.ok_or_else(no_store)?;
        let skipped = mem::take(&mut recovered.recovery.skipped);
        let mut repair = Repair { skipped, ..Repair::default() };
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
        let files = self.files.load_full();
        let is_known = |name: &String| files.all().iter().any(|file| file.name() == *name);
        // First those that cannot be read at all: if the file system cannot rename them, no other
        // file is moved either.
        names.sort_unstable_by_key(|name| (is_known(name), name.clone()));
        self.writer()?.seal()?;
        let mut done = Vec::new();
        for file in files.all().iter().filter(|file| names.contains(&file.name())) {
            self.rewrite(file, &done, &Pace::FULL, OnDamage::Skip)?;
            done.push(Arc::clone(file));
        }
        self.sync()?;
        // Before the checkpoint without them, with which the next opening would remove them as if
        // nothing had been lost. And not earlier: without any checkpoint no opening misses a file,
        // so even unreadable ones stay as long as the repair may fail.
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
        if !taken.iter().any(|it| it == name) {
            // It is the file that is missing.
            return Ok(());
        }
        let first = format!("{name}{SET_ASIDE}");
        let others = (2..).map(|n| format!("{first}.{n}"));
        let mut free = std::iter::once(first.clone()).chain(others);
        let aside = free.find(|aside| !taken.contains(aside)).unwrap_or(first);
        self.storage.rename(name, &aside).map_err(not_renamed(name))?;
        repair.set_aside.push(aside);
        Ok(())
    }
}

/// The error of a file that cannot be renamed, perhaps because the file system is damaged there.
fn not_renamed(name: &str) -> impl FnOnce(io::Error) -> Error {
    move |error| {
        let error = if is_device_error(&error) {
            let what = "the file system is damaged there: check it (fsck), then repair again";
            io::Error::new(error.kind(), format!("{error}: {what}"))
        } else {
            error
        };
        Error::io("rename", name)(error)
    }
}
