//! A directory of the system whose operations can be watched, or made to fail.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use malkoha_store::storage::{OsStorage, Room, Storage, StorageFile, View};

/// What happens in addition to the operations. By default, nothing.
pub(crate) trait Hooks: Send + Sync + 'static {
    /// Before anything on the device changes.
    fn change(&self) -> io::Result<()> {
        Ok(())
    }

    /// Before a file is made.
    fn before_create(&self, _name: &str) -> io::Result<()> {
        self.change()
    }

    /// After a file could not be created.
    fn not_created(&self) {}

    /// Before a file gets a second name.
    fn before_link(&self) {}

    /// In place of mapping a file.
    fn view(&self, _name: &str, file: &dyn StorageFile) -> io::Result<Arc<View>> {
        file.view()
    }
}

pub(crate) struct Wrapped<H> {
    directory: OsStorage,
    hooks: Arc<H>,
}

struct File<H> {
    name: String,
    file: Box<dyn StorageFile>,
    hooks: Arc<H>,
}

impl<H: Hooks> Wrapped<H> {
    pub(crate) fn new(path: &Path, hooks: H) -> (Arc<Self>, Arc<H>) {
        let (directory, hooks) = (OsStorage::open(path).unwrap(), Arc::new(hooks));
        (Arc::new(Self { directory, hooks: Arc::clone(&hooks) }), hooks)
    }

    fn file(&self, name: &str, file: Box<dyn StorageFile>) -> Box<dyn StorageFile> {
        Box::new(File { name: name.to_owned(), file, hooks: Arc::clone(&self.hooks) })
    }
}

impl<H: Hooks> Storage for Wrapped<H> {
    fn list(&self) -> io::Result<Vec<String>> {
        self.directory.list()
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<Box<dyn StorageFile>> {
        self.hooks.before_create(name)?;
        let file = self.directory.create(name, bytes).inspect_err(|_| self.hooks.not_created())?;
        Ok(self.file(name, file))
    }

    fn open(&self, name: &str, writable: bool) -> io::Result<Box<dyn StorageFile>> {
        Ok(self.file(name, self.directory.open(name, writable)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.hooks.change()?;
        self.directory.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.hooks.change()?;
        self.directory.remove(name)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.hooks.change()?;
        self.directory.sync_directory()
    }

    fn room(&self) -> io::Result<Option<Room>> {
        self.directory.room()
    }

    fn link(&self, name: &str, directory: &Path) -> io::Result<bool> {
        self.hooks.before_link();
        self.directory.link(name, directory)
    }

    fn copy(&self, name: &str, directory: &Path) -> io::Result<()> {
        self.directory.copy(name, directory)
    }
}

impl<H: Hooks> StorageFile for File<H> {
    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.hooks.change()?;
        self.file.set_len(bytes)
    }

    fn reserve(&self, bytes: Range<u64>) -> io::Result<()> {
        self.hooks.change()?;
        self.file.reserve(bytes)
    }

    fn release(&self, from: u64) -> io::Result<()> {
        self.hooks.change()?;
        self.file.release(from)
    }

    fn written(&self, from: u64) -> io::Result<Option<Range<u64>>> {
        self.file.written(from)
    }

    fn is_reserved(&self) -> io::Result<bool> {
        self.file.is_reserved()
    }

    fn is_shared(&self) -> io::Result<bool> {
        self.file.is_shared()
    }

    fn view(&self) -> io::Result<Arc<View>> {
        self.hooks.view(&self.name, &*self.file)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.hooks.change()?;
        self.file.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.hooks.change()?;
        self.file.sync()
    }

    fn close(&self) {
        self.file.close();
    }
}
