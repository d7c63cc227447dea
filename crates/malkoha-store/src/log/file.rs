//! One log file.

use std::io;
use std::iter::successors;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::MAX_NUMBER;
use super::expiring::Expiring;
use super::header::{FileHeader, HEADER_BYTES};
use super::record::HEAD;
use super::run::Order;
use crate::error::{Error, READ, Result};
use crate::storage::{Readahead, Storage, StorageFile, View};

const EXTENSION: &str = ".log";
/// The suffix of the name of a copy that is being made.
pub(super) const COPY: &str = ".new";
/// Room for the seal, which every file must have.
pub(super) const SEAL_ROOM: u64 = HEAD as u64;
/// File lengths are rounded to this.
pub(crate) const PAGE: u64 = 4096;

pub(crate) fn file_name(id: u64) -> String {
    format!("{id:012}{EXTENSION}")
}

/// The number of the log file of this name; `None` if it is no name of a log file.
pub(crate) fn parse_name(name: &str) -> Option<u64> {
    let id: u64 = name.strip_suffix(EXTENSION)?.parse().ok()?;
    (id < MAX_NUMBER && file_name(id) == name).then_some(id)
}

/// Bytes of a file that are useless, or may become so.
#[derive(Default)]
pub(super) struct Usage {
    pub(super) dead: AtomicU64,
    pub(super) tombstones: AtomicU64,
    /// Bytes of present records that end. Writers, and opening, take the lock.
    pub(super) expiring: Mutex<Expiring>,
    /// Set once, when a store is opened, if the file's copy may have been interrupted.
    pub(super) interrupted: OnceLock<Box<Interrupted>>,
}

/// An interrupted copy. The index no longer has the old places of copied puts, but it knows no
/// places of tombstones.
pub(super) struct Interrupted {
    /// The sequence numbers that the tombstones in the copy had at first, in order. No two
    /// tombstones share one.
    pub(super) origins: Arc<[u64]>,
    /// The most bytes that the copy still needs. The number falls as records are deleted or end.
    pub(super) rest: u64,
}

/// A log file. Bytes below `end` are written, and never change.
pub(crate) struct LogFile {
    pub(crate) header: FileHeader,
    /// The location of its first byte.
    pub(crate) base: u64,
    pub(super) seed: u32,
    pub(super) view: Arc<View>,
    file: Box<dyn StorageFile>,
    /// The part of the file for which the device has reserved room.
    pub(super) capacity: AtomicU64,
    end: AtomicU64,
    /// The part that is durable. If it is more than nothing, all earlier files are durable.
    durable: AtomicU64,
    pub(super) usage: Usage,
    /// Of long records.
    pub(super) readahead: Readahead,
    /// Whether rewriting it failed because something could not be read.
    unreadable: AtomicBool,
    pub(super) order: Order,
}

impl LogFile {
    /// The file with this header, mapped. Its end is that of the header until it is set.
    pub(crate) fn new(file: Box<dyn StorageFile>, header: FileHeader, base: u64) -> Result<Self> {
        let view = file.view().map_err(Error::io("map", file_name(header.id)))?;
        Ok(Self {
            header,
            base,
            seed: header.checksum_seed(),
            capacity: AtomicU64::new(view.length()),
            view,
            file,
            end: AtomicU64::new(HEADER_BYTES as u64),
            durable: AtomicU64::new(0),
            usage: Usage::default(),
            readahead: Readahead::default(),
            unreadable: AtomicBool::new(false),
            order: Order::default(),
        })
    }

    /// Opens a file for reading without its header, as if this one were its header.
    pub(crate) fn with_header(storage: &dyn Storage, header: FileHeader) -> Result<Self> {
        let name = file_name(header.id);
        let file = storage.open(&name, false).map_err(Error::opening(name))?;
        Self::new(file, header, 0)
    }

    /// Opens a file for reading, and reads its header.
    pub(crate) fn open(storage: &dyn Storage, id: u64) -> Result<Self> {
        let mut file = Self::with_header(storage, FileHeader::new(id, 0, 0, 0))?;
        file.read_header()?;
        Ok(file)
    }

    pub(crate) fn read_header(&mut self) -> Result<()> {
        let header = FileHeader::from_bytes(&self.name(), &self.piece(0, HEADER_BYTES as u64));
        let header = header.map_err(|error| if self.is_lost() { self.lost(0) } else { error })?;
        if header.id != self.id() {
            return Err(self.damaged(16, "it has another file's number"));
        }
        self.set_header(header);
        Ok(())
    }

    /// Uses another header in place of one that is lost.
    pub(crate) fn set_header(&mut self, header: FileHeader) {
        self.header = header;
        self.seed = header.checksum_seed();
    }

    /// Whether a file of this name is a copy that was not finished.
    pub(crate) fn is_copy(name: &str) -> bool {
        name.strip_suffix(COPY).and_then(parse_name).is_some()
    }

    /// The first bytes at an offset or behind it that may not be zero.
    pub(crate) fn written(&self, from: u64) -> Option<Range<u64>> {
        let capacity = self.capacity();
        // All of it, if the system does not know.
        let found = self.file.written(from).unwrap_or(Some(from..capacity))?;
        let found = found.start..found.end.min(capacity);
        (!found.is_empty()).then_some(found)
    }

    /// The number of bytes at an offset or behind it that may not be zero.
    pub(crate) fn written_bytes(&self, from: u64) -> u64 {
        self.all_written(from).map(|range| range.end - range.start).sum()
    }

    /// Parts of pages at an offset or behind it that are not zero: behind the end, a crash left
    /// them.
    pub(crate) fn leftovers(&self, from: u64) -> impl Iterator<Item = Range<u64>> {
        self.all_written(from).flat_map(|written| self.view.nonzero(written))
    }

    fn all_written(&self, from: u64) -> impl Iterator<Item = Range<u64>> {
        successors(self.written(from), |before| self.written(before.end))
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

    /// Bytes of the file, with and without room on the device.
    pub(crate) fn length(&self) -> u64 {
        self.view.length()
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

    pub(crate) fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.file.write_at(offset, bytes).map_err(|error| Error::io("write", self.name())(error))
    }

    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync().map_err(Error::io("sync", self.name()))
    }

    /// Closes its descriptor, which only writing needs: a process may have few open files.
    pub(crate) fn close(&self) {
        self.file.close();
    }

    /// Prepares memory for bytes that will be written, as far as there is room for them.
    pub(crate) fn prepare(&self, bytes: Range<u64>) {
        self.file.prepare(bytes.start..bytes.end.min(self.capacity()));
    }

    /// Returns the reserved room behind the end, except for one blank head, which ends a scan.
    pub(crate) fn trim(&self) -> Result<()> {
        let bytes = self.least();
        if bytes < self.capacity() {
            self.capacity.store(bytes, Ordering::Release);
            self.file.release(bytes).map_err(Error::io("give back room of", self.name()))?;
        }
        Ok(())
    }

    /// Reserves bytes behind a [trimmed](Self::trim) end for those who open the file next. Nothing
    /// relies on it.
    pub(crate) fn keep_room(&self, bytes: u64) {
        let least = self.least();
        let _ = self.file.reserve(least..self.length().min(least + bytes));
    }

    /// Bytes on the device, if nothing is reserved.
    pub(crate) fn least(&self) -> u64 {
        (self.end() + HEAD as u64).next_multiple_of(PAGE)
    }

    pub(crate) fn is_unreadable(&self) -> bool {
        self.unreadable.load(Ordering::Relaxed)
    }

    pub(crate) fn set_unreadable(&self) {
        self.unreadable.store(true, Ordering::Relaxed);
    }

    /// Whether a part of it could not be read, and appears as zeros.
    pub(crate) fn is_lost(&self) -> bool {
        self.view.is_lost()
    }

    /// The error if there is no record where one should be.
    #[cold]
    pub(crate) fn no_record(&self, offset: u64) -> Error {
        self.lost_or_damaged(offset, super::NO_RECORD)
    }

    /// The error of a compressed value whose checksum matched, but which cannot be decompressed.
    #[cold]
    pub(crate) fn no_value(&self, offset: u64) -> Error {
        self.lost_or_damaged(offset, "the value cannot be decompressed")
    }

    fn lost_or_damaged(&self, offset: u64, what: &'static str) -> Error {
        if self.is_lost() { self.lost(offset) } else { self.damaged(offset, what) }
    }

    #[cold]
    pub(crate) fn damaged(&self, offset: u64, what: &'static str) -> Error {
        Error::Damaged { file: self.name(), offset, what }
    }

    /// The error of bytes that the device cannot read.
    #[cold]
    pub(crate) fn lost(&self, offset: u64) -> Error {
        let what = format!(
            "the device failed at byte {offset}, or near it: look after it, then open again"
        );
        Error::Io { action: READ, file: self.name(), source: io::Error::other(what) }
    }
}
