//! Saves sorted records, so that reading in order need not sort them.

use super::{Inner, Maintained, Store};
use crate::error::Result;
use crate::log::MIN_FILE_BYTES;

impl Store {
    /// Sorts the keys that are [kept in order](crate::Options::ordered) where that has not happened
    /// yet, for example after [`Table::set_ordered`](crate::Table::set_ordered), and saves the
    /// result if there is room. Calls `progress` with the bytes of log done and those of the whole
    /// log; sorting ends when it returns false, and a later call continues. The first read in order
    /// does the same without this call.
    ///
    /// # Errors
    ///
    /// If the system refuses, or the store is read-only.
    pub fn sort(&self, progress: impl FnMut(u64, u64) -> bool) -> Result<()> {
        self.inner.sync()?;
        let tables = self.inner.tables.load();
        for file in self.inner.files.load().all() {
            file.check_sorted(&*self.inner.storage, &|table| tables.is_ordered(table));
        }
        self.inner.save_order(&self.inner.maintenance(), true, progress)
    }
}

impl Inner {
    /// Writes the sorted records of each durable file that lacks them, until `goes_on` returns
    /// false, which gets the bytes that are done, and all. `_maintained` shows that nobody removes
    /// files meanwhile.
    pub(super) fn save_order(
        &self,
        _maintained: &Maintained,
        with_tail: bool,
        mut goes_on: impl FnMut(u64, u64) -> bool,
    ) -> Result<()> {
        let (tables, files) = (self.tables.load(), self.files.load_full());
        if !tables.have_order() {
            return Ok(());
        }
        let (mut done, all) = (0, files.bytes());
        let tail = self.writer()?.tail.as_ref().map(|tail| tail.id());
        for file in files.all().iter().filter(|file| with_tail || Some(file.id()) != tail) {
            if !goes_on(done, all) {
                break;
            }
            // Leaves room that the log may need.
            let has_room = |bytes: u64| {
                let most = file.least().max(bytes).max(MIN_FILE_BYTES);
                self.writer().is_ok_and(|writer| !writer.is_nearly_full(most))
            };
            file.save_sorted(&*self.storage, &|table| tables.is_ordered(table), has_room)?;
            done += file.end();
        }
        goes_on(done, all);
        Ok(())
    }
}
