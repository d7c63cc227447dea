//! One log file, mapped.

use std::sync::atomic::{AtomicU64, Ordering};

use super::header::{FileHeader, HEADER_BYTES};
use super::record::{Head, Record};
use super::{UNIT, to_usize};
use crate::error::{Error, Result};
use crate::storage::{Mapping, Storage, StorageFile};

const EXTENSION: &str = ".log";

/// The name of a log file.
pub(crate) fn file_name(id: u64) -> String {
    format!("{id:012}{EXTENSION}")
}

/// The number of the log file of this name, if it is one's.
pub(crate) fn parse_name(name: &str) -> Option<u64> {
    let id: u64 = name.strip_suffix(EXTENSION)?.parse().ok()?;
    (file_name(id) == name).then_some(id)
}

/// A log file: what is below `end` is written, and never changes.
pub(crate) struct LogFile {
    pub(crate) header: FileHeader,
    /// The location of its first byte.
    pub(crate) base: u64,
    seed: u32,
    mapping: Mapping,
    file: Box<dyn StorageFile>,
    /// What of the mapping has a file behind it.
    capacity: AtomicU64,
    end: AtomicU64,
    /// What is durable, all earlier files included.
    durable: AtomicU64,
    dead: AtomicU64,
    tombstones: AtomicU64,
}

impl LogFile {
    /// The file with this header, mapped. Its end is that of the header until told.
    pub(crate) fn new(file: Box<dyn StorageFile>, header: FileHeader, base: u64) -> Result<Self> {
        let mapping = file.map().map_err(Error::io("map", file_name(header.id)))?;
        Ok(Self {
            header,
            base,
            seed: header.checksum_seed(),
            capacity: AtomicU64::new(mapping.len() as u64),
            mapping,
            file,
            end: AtomicU64::new(HEADER_BYTES as u64),
            durable: AtomicU64::new(0),
            dead: AtomicU64::new(0),
            tombstones: AtomicU64::new(0),
        })
    }

    /// Opens a file and reads its header.
    pub(crate) fn open(storage: &dyn Storage, id: u64, base: u64, writable: bool) -> Result<Self> {
        let name = file_name(id);
        let file = storage.open(&name, writable).map_err(Error::io("open", &*name))?;
        let mapping = file.map().map_err(Error::io("map", &*name))?;
        let header = mapping.get(0, mapping.len().min(HEADER_BYTES)).unwrap_or_default();
        let header = FileHeader::from_bytes(&name, header)?;
        if header.id != id {
            return Err(Error::Damaged {
                file: name,
                offset: 16,
                what: "it has another file's number",
            });
        }
        Self::new(file, header, base)
    }

    /// The same file for writing at its end, with room again. What a crash left behind the end is
    /// gone before anything is written there.
    pub(crate) fn reopen(&self, storage: &dyn Storage, file_bytes: u64) -> Result<Self> {
        let name = self.name();
        let file = storage.open(&name, true).map_err(Error::io("open", &*name))?;
        let end = self.end();
        let behind = self.mapping.get(end, to_usize(self.capacity() - end)).unwrap_or_default();
        let garbage = behind.iter().any(|&byte| byte != 0);
        // Not beyond its slots, which others may have taken the next of.
        let most = self.capacity().next_multiple_of(super::table::SLOT_BYTES);
        let room = file_bytes.min(most).max(end + SEAL_ROOM);
        file.set_len(end).map_err(Error::io("shorten", &*name))?;
        if garbage {
            file.sync().map_err(Error::io("sync", &*name))?;
        }
        let failed = || Error::io("extend", &*name);
        match file.set_len(room).map_err(failed()) {
            // A full device can still be opened: the first write that needs room is refused.
            Err(Error::NoSpace { .. }) => file.set_len(end + SEAL_ROOM).map_err(failed())?,
            other => other?,
        }
        let new = Self::new(file, self.header, self.base)?;
        new.set_end(end);
        new.set_durable(self.durable());
        new.add_dead(self.dead());
        new.add_tombstones(self.tombstones());
        Ok(new)
    }

    pub(crate) fn name(&self) -> String {
        file_name(self.header.id)
    }

    pub(crate) fn id(&self) -> u64 {
        self.header.id
    }

    /// Bytes that are written.
    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    pub(crate) fn set_end(&self, end: u64) {
        self.end.store(end, Ordering::Release);
    }

    /// Bytes that there is room for.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity.load(Ordering::Acquire)
    }

    pub(crate) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    pub(crate) fn set_durable(&self, end: u64) {
        self.durable.fetch_max(end, Ordering::AcqRel);
    }

    /// Bytes of puts that were overwritten or deleted.
    pub(crate) fn dead(&self) -> u64 {
        self.dead.load(Ordering::Relaxed)
    }

    pub(crate) fn add_dead(&self, bytes: u64) {
        self.dead.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes of tombstones.
    pub(crate) fn tombstones(&self) -> u64 {
        self.tombstones.load(Ordering::Relaxed)
    }

    pub(crate) fn add_tombstones(&self, bytes: u64) {
        self.tombstones.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The location of the record at `offset`.
    pub(crate) fn location(&self, offset: u64) -> u64 {
        self.base + offset / UNIT
    }

    /// The offset of a location in this file.
    pub(crate) fn offset(&self, location: u64) -> u64 {
        (location - self.base) * UNIT
    }

    /// The head at `offset`, if there is one and its record ends inside the mapping.
    #[inline(always)]
    pub(crate) fn head(&self, offset: u64) -> Option<Head> {
        if offset + super::record::HEAD as u64 > self.capacity() {
            return None;
        }
        let head = Head::parse(self.mapping.get(offset, super::record::HEAD)?)?;
        (offset + head.shape.bytes() <= self.capacity()).then_some(head)
    }

    /// The record at `offset`, if there is an undamaged one.
    #[inline(always)]
    pub(crate) fn try_record(&self, offset: u64) -> Option<Record<'_>> {
        let head = self.head(offset)?;
        let bytes = self.mapping.get(offset, to_usize(head.shape.bytes()))?;
        Record::checked(head, bytes, self.seed)
    }

    /// The record at a location that the index has.
    #[inline(always)]
    pub(crate) fn record(&self, location: u64) -> Result<Record<'_>> {
        let offset = self.offset(location);
        self.try_record(offset).ok_or_else(|| self.damaged(offset, super::NO_RECORD))
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, location: u64, lines: usize) {
        self.mapping.prefetch(self.offset(location), lines);
    }

    pub(crate) fn checksum_seed(&self) -> u32 {
        self.seed
    }

    pub(crate) fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.file.write_at(offset, bytes).map_err(|error| Error::io("write", self.name())(error))
    }

    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync().map_err(Error::io("sync", self.name()))
    }

    /// Gives back what is reserved beyond the end. One blank head stays, which ends a scan.
    pub(crate) fn trim(&self) -> Result<()> {
        let bytes = (self.end() + super::record::HEAD as u64).next_multiple_of(PAGE);
        if bytes < self.capacity() {
            self.capacity.store(bytes, Ordering::Release);
            self.file.set_len(bytes).map_err(Error::io("shorten", self.name()))?;
        }
        Ok(())
    }

    #[cold]
    pub(crate) fn damaged(&self, offset: u64, what: &'static str) -> Error {
        Error::Damaged { file: self.name(), offset, what }
    }
}

/// Room for the seal that a file must always have.
const SEAL_ROOM: u64 = super::record::HEAD as u64;
/// What file lengths are rounded to.
const PAGE: u64 = 4096;
