//! Files on the model of flash, for the store: what is written stays in memory until it is synced,
//! as in the cache of an operating system, and then goes to the device by whole sectors.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use malkoha_store::storage::{Mapping, Room, Storage, StorageFile, View};

use super::chip::{Chip, SECTOR, Shape};

/// The sector of the directory, which is written when names have changed. The names themselves are
/// kept in memory.
const DIRECTORY: u32 = 0;

/// A directory of files on a device.
#[derive(Clone)]
pub(super) struct Files(Arc<Shared>);

struct Shared {
    device: Mutex<Device>,
    names: Mutex<Names>,
}

struct Device {
    chip: Chip,
    /// Sectors that hold nothing.
    free: Vec<u32>,
    /// Sectors that no file has reserved.
    room: usize,
}

#[derive(Default)]
struct Names {
    files: BTreeMap<String, Arc<Mutex<Inode>>>,
    changed: bool,
}

/// A file.
struct Inode {
    bytes: Mapping,
    /// The sector of each part of it that was written to the device.
    sectors: BTreeMap<usize, u32>,
    /// Parts that a sync writes.
    dirty: BTreeSet<usize>,
    /// Parts for which sectors are reserved.
    reserved: usize,
    removed: bool,
}

struct OpenFile {
    inode: Arc<Mutex<Inode>>,
    shared: Arc<Shared>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn as_len(bytes: u64) -> io::Result<usize> {
    usize::try_from(bytes).map_err(io::Error::other)
}

impl Files {
    pub(super) fn new(shape: Shape) -> Self {
        let free: Vec<u32> = (DIRECTORY + 1..shape.sectors).rev().collect();
        let device = Device { chip: Chip::new(shape), room: free.len(), free };
        Self(Arc::new(Shared { device: Mutex::new(device), names: Mutex::default() }))
    }

    /// Returns what `look` returns for the device.
    pub(super) fn chip<T>(&self, look: impl FnOnce(&Chip) -> T) -> T {
        look(&lock(&self.0.device).chip)
    }

    /// Forgets all that is in memory, and reads it from the device again. No file may be open.
    pub(super) fn power_cycle(&self) -> io::Result<()> {
        for inode in lock(&self.0.names).files.values() {
            let mut inode = lock(inode);
            let device = lock(&self.0.device);
            let bytes = Mapping::memory(inode.bytes.len())?;
            for (&part, &sector) in &inode.sectors {
                let content = device.chip.read(sector).ok_or(io::ErrorKind::NotFound)?;
                let range = part_range(part, bytes.len());
                bytes.write(range.start as u64, &content[..range.len()])?;
            }
            inode.bytes = bytes;
            inode.dirty.clear();
        }
        Ok(())
    }

    fn open_file(&self, inode: &Arc<Mutex<Inode>>) -> Box<dyn StorageFile> {
        Box::new(OpenFile { inode: Arc::clone(inode), shared: Arc::clone(&self.0) })
    }

    fn with_names<T>(&self, change: impl FnOnce(&mut Names) -> io::Result<T>) -> io::Result<T> {
        let mut names = lock(&self.0.names);
        names.changed = true;
        change(&mut names)
    }
}

impl Storage for Files {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(lock(&self.0.names).files.keys().cloned().collect())
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<Box<dyn StorageFile>> {
        let inode = Inode {
            bytes: Mapping::memory(as_len(bytes)?)?,
            sectors: BTreeMap::new(),
            dirty: BTreeSet::new(),
            reserved: 0,
            removed: false,
        };
        self.with_names(|names| {
            if names.files.contains_key(name) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            let inode = Arc::new(Mutex::new(inode));
            lock(&inode).reserve(bytes, &mut lock(&self.0.device))?;
            names.files.insert(name.to_owned(), Arc::clone(&inode));
            Ok(self.open_file(&inode))
        })
    }

    fn open(&self, name: &str, _writable: bool) -> io::Result<Box<dyn StorageFile>> {
        let names = lock(&self.0.names);
        let inode = names.files.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(self.open_file(inode))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.with_names(|names| {
            let inode = names.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
            if let Some(old) = names.files.insert(to.to_owned(), inode) {
                lock(&old).remove(&mut lock(&self.0.device));
            }
            Ok(())
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.with_names(|names| {
            let inode = names.files.remove(name).ok_or(io::ErrorKind::NotFound)?;
            lock(&inode).remove(&mut lock(&self.0.device));
            Ok(())
        })
    }

    fn sync_directory(&self) -> io::Result<()> {
        let mut names = lock(&self.0.names);
        if std::mem::take(&mut names.changed) {
            lock(&self.0.device).chip.write(DIRECTORY, &[]);
        }
        Ok(())
    }

    fn room(&self) -> io::Result<Option<Room>> {
        let device = lock(&self.0.device);
        let bytes = |sectors: usize| (sectors * SECTOR) as u64;
        Ok(Some(Room { total: bytes(device.chip.sectors()), free: bytes(device.room) }))
    }

    fn link(&self, _name: &str, _directory: &Path) -> io::Result<bool> {
        Ok(false)
    }

    fn copy(&self, _name: &str, _directory: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The bytes of a part of a file.
fn part_range(part: usize, len: usize) -> Range<usize> {
    (part * SECTOR).min(len)..((part + 1) * SECTOR).min(len)
}

impl Inode {
    /// Reserves sectors for the first `bytes` bytes of the file.
    fn reserve(&mut self, bytes: u64, device: &mut Device) -> io::Result<()> {
        let parts = as_len(bytes)?.div_ceil(SECTOR);
        let more = parts.saturating_sub(self.reserved);
        device.room = device.room.checked_sub(more).ok_or(io::ErrorKind::StorageFull)?;
        self.reserved += more;
        Ok(())
    }

    /// Gives back the sectors after the first `parts` parts.
    fn give_back(&mut self, parts: usize, device: &mut Device) {
        for sector in self.sectors.split_off(&parts).into_values() {
            device.chip.discard(sector);
            device.free.push(sector);
        }
        self.dirty.split_off(&parts);
        device.room += self.reserved.saturating_sub(parts);
        self.reserved = self.reserved.min(parts);
    }

    fn remove(&mut self, device: &mut Device) {
        self.give_back(0, device);
        self.removed = true;
    }

    fn sync(&mut self, device: &mut Device) -> io::Result<()> {
        while let Some(part) = self.dirty.pop_first() {
            let sector = match self.sectors.get(&part) {
                Some(&sector) => sector,
                None => device.free.pop().ok_or(io::ErrorKind::StorageFull)?,
            };
            self.sectors.insert(part, sector);
            let range = part_range(part, self.bytes.len());
            let bytes = self.bytes.get(range.start as u64, range.len()).unwrap_or_default();
            device.chip.write(sector, bytes);
        }
        Ok(())
    }
}

impl StorageFile for OpenFile {
    fn len(&self) -> io::Result<u64> {
        Ok(lock(&self.inode).bytes.len() as u64)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut inode = lock(&self.inode);
        let mut device = lock(&self.shared.device);
        let len = as_len(bytes)?;
        inode.reserve(bytes, &mut device)?;
        inode.give_back(len.div_ceil(SECTOR), &mut device);
        let new = Mapping::memory(len)?;
        let kept = len.min(inode.bytes.len());
        new.write(0, inode.bytes.get(0, kept).unwrap_or_default())?;
        inode.bytes = new;
        Ok(())
    }

    fn reserve(&self, bytes: Range<u64>) -> io::Result<()> {
        if bytes.end > self.len()? {
            return self.set_len(bytes.end);
        }
        lock(&self.inode).reserve(bytes.end, &mut lock(&self.shared.device))
    }

    fn release(&self, from: u64) -> io::Result<()> {
        let mut inode = lock(&self.inode);
        let from = as_len(from)?.min(inode.bytes.len());
        inode.bytes.write(from as u64, &vec![0; inode.bytes.len() - from])?;
        let part = from / SECTOR;
        if inode.sectors.contains_key(&part) {
            inode.dirty.insert(part);
        }
        inode.give_back(from.div_ceil(SECTOR), &mut lock(&self.shared.device));
        Ok(())
    }

    fn written(&self, from: u64) -> io::Result<Option<Range<u64>>> {
        let end = self.len()?;
        Ok((from < end).then_some(from..end))
    }

    fn is_shared(&self) -> io::Result<bool> {
        Ok(false)
    }

    fn view(&self) -> io::Result<View> {
        Ok(lock(&self.inode).bytes.clone().into())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut inode = lock(&self.inode);
        inode.bytes.write(offset, bytes)?;
        if !inode.removed && !bytes.is_empty() {
            let (offset, end) = (as_len(offset)?, as_len(offset)? + bytes.len());
            inode.reserve(end as u64, &mut lock(&self.shared.device))?;
            inode.dirty.extend(offset / SECTOR..end.div_ceil(SECTOR));
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        lock(&self.inode).sync(&mut lock(&self.shared.device))
    }

    fn close(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_synced_is_on_the_device_and_nothing_else() {
        let shape = Shape { sectors: 64, block_pages: 16, spare: 0.1, levelling: true };
        let files = Files::new(shape);
        let room = || files.room().unwrap().unwrap().free / SECTOR as u64;
        let file = files.create("a", 10_000).unwrap();
        assert_eq!(room(), 53);
        file.write_at(1_000, &[1; 100]).unwrap();
        file.sync().unwrap();
        file.write_at(5_000, &[2; 100]).unwrap();
        let written = files.chip(|chip| chip.counts().written);
        assert_eq!(written, 2, "a sector's end and the next one's beginning");
        drop(file);
        files.power_cycle().unwrap();
        let file = files.open("a", true).unwrap();
        let bytes = file.view().unwrap();
        assert_eq!(bytes.get_array(1_000), Some([1; 100]));
        assert_eq!(bytes.get_array(5_000), Some([0; 100]));
        file.release(1_024).unwrap();
        assert_eq!((file.len().unwrap(), room()), (10_000, 62));
        assert!(
            files
                .create("b", 63 << 10)
                .is_err_and(|error| { error.kind() == io::ErrorKind::StorageFull })
        );
        files.rename("a", "c").unwrap();
        files.remove("c").unwrap();
        assert_eq!((files.list().unwrap(), room()), (vec![], 63));
        files.sync_directory().unwrap();
        files.sync_directory().unwrap();
        assert_eq!(files.chip(|chip| chip.counts().written), written + 1);
    }
}
