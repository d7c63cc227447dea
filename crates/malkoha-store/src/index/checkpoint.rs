//! The index in a file, with the position in the log up to which it is complete.
//!
//! `docs/STORE.md` specifies every byte. The new file is written next to the old one and takes its
//! name when it is durable, so there is always a whole one.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use malkoha::GrowableCuckooMap;

use super::{Index, IndexSnapshot, PARTS};
use crate::error::{Error, Result};
use crate::log::{Expiring, MAX_NUMBER, to_usize};
use crate::storage::{Storage, StorageFile, remove_if_there};

pub(crate) const NAME: &str = "CHECKPOINT";
/// Its name while it is written.
pub(crate) const TEMPORARY: &str = "CHECKPOINT.new";

const SIGNATURE: [u8; 8] = [0x8b, b'M', b'L', b'I', b'\r', b'\n', 0x1a, b'\n'];
const VERSION: u16 = 1;
const HEAD: usize = 64;
/// Bytes of a file in the list of files.
const ENTRY: usize = 64;
/// Bytes of a time at which records end, with their bytes.
const END: usize = 16;
/// Bytes that are written together.
const PIECE: usize = 1 << 20;

/// A log file that the index has locations in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileEntry {
    pub(crate) id: u64,
    pub(crate) base: u64,
    pub(crate) end: u64,
    pub(crate) dead: u64,
    pub(crate) tombstones: u64,
    pub(crate) expiring: Expiring,
}

/// The content of a checkpoint without the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// All log files at that time, by number. Records after the end of the last one are not in the
    /// index.
    pub(crate) files: Vec<FileEntry>,
    /// The sequence number of the next record.
    pub(crate) sequence: u64,
    pub(crate) next_id: u64,
    /// The seed of the hash of keys.
    pub(crate) seed: u64,
    /// Whether the last file has room: later records follow behind its end.
    pub(crate) open_tail: bool,
}

/// Replaces the checkpoint. Durable when it returns.
pub(crate) fn write(
    storage: &dyn Storage,
    checkpoint: &Checkpoint,
    index: &IndexSnapshot,
) -> Result<()> {
    let failed = || Error::io("write", NAME);
    remove_if_there(storage, TEMPORARY).map_err(Error::io("remove", TEMPORARY))?;
    let parts: u64 = index.parts.iter().map(|part| part.size_in_bytes() + 4096).sum();
    let room = HEAD as u64 + parts;
    let file = storage.create(TEMPORARY, room).map_err(failed())?;
    let mut out = BufWriter::with_capacity(PIECE, Out { file: &*file, offset: 0, room });
    let done = write_all(&mut out, checkpoint, index).and_then(|()| {
        file.set_len(out.get_ref().offset)?;
        file.sync()?;
        storage.still_writes()?;
        storage.rename(TEMPORARY, NAME)?;
        storage.sync_directory()
    });
    done.map_err(|error| {
        // Reports the first error; the next checkpoint removes the file.
        let _ = storage.remove(TEMPORARY);
        failed()(error)
    })
}

/// Bytes of the checkpoint, if there is one.
pub(crate) fn size(storage: &dyn Storage) -> u64 {
    storage.open(NAME, false).and_then(|file| file.length()).unwrap_or(0)
}

/// Removes the checkpoint, if there is one. Durable when it returns.
pub(crate) fn remove(storage: &dyn Storage) -> Result<()> {
    remove_if_there(storage, NAME).map_err(Error::io("remove", NAME))?;
    storage.sync_directory().map_err(Error::io("sync", "."))
}

fn write_all(
    out: &mut impl Write,
    checkpoint: &Checkpoint,
    index: &IndexSnapshot,
) -> io::Result<()> {
    let Checkpoint { sequence, next_id, seed, files, open_tail } = checkpoint;
    let mut ends = Vec::new();
    let mut head = SIGNATURE.to_vec();
    head.extend_from_slice(&VERSION.to_le_bytes());
    head.extend_from_slice(&[0; 6]);
    let mut put = |numbers: &[u64]| {
        numbers.iter().for_each(|number| head.extend_from_slice(&number.to_le_bytes()));
    };
    put(&[*sequence, *next_id, files.len() as u64, PARTS as u64, *seed, u64::from(*open_tail)]);
    for file in files {
        let (past, step, of_file) = file.expiring.parts();
        put(&[file.id, file.base, file.end, file.dead, file.tombstones]);
        put(&[past, step, of_file.len() as u64]);
        ends.extend(of_file);
    }
    ends.iter().for_each(|(end, bytes)| put(&[*end, *bytes]));
    let sum = crc32c::crc32c(&head);
    head.extend_from_slice(&sum.to_le_bytes());
    out.write_all(&head)?;
    index.parts.iter().try_for_each(|part| part.write_to(&mut *out))?;
    out.flush()
}

/// Writes into a file, which gets longer if the room does not suffice.
struct Out<'a> {
    file: &'a dyn StorageFile,
    offset: u64,
    room: u64,
}

impl Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = self.offset + bytes.len() as u64;
        if end > self.room {
            self.file.set_len(end)?;
            self.room = end;
        }
        self.file.write_at(self.offset, bytes)?;
        self.offset = end;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the checkpoint: `None` if there is none. Damage is an error of its own kind, because the
/// log has the same content.
pub(crate) fn read(storage: &dyn Storage) -> Result<Option<(Checkpoint, Index)>> {
    let file = match storage.open(NAME, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(Error::opening(NAME))?,
    };
    let view = file.view().map_err(Error::io("read", NAME))?;
    let bytes = view.get(0, to_usize(view.length())).unwrap_or_default();
    let (checkpoint, mut rest) = parse(&bytes)?;
    let mut parts = Vec::with_capacity(PARTS);
    for _ in 0..PARTS {
        let at = bytes.len() - rest.len();
        let part = GrowableCuckooMap::read_from(&mut rest);
        let part = part.map_err(|_| damaged(at, "a part of the index is not what was written"))?;
        parts.push(Arc::new(part));
    }
    if !rest.is_empty() {
        return Err(damaged(bytes.len() - rest.len(), "it goes on behind its end"));
    }
    Ok(Some((checkpoint, Index::from_parts(parts))))
}

fn damaged(offset: usize, what: &'static str) -> Error {
    Error::Damaged { file: NAME.to_owned(), offset: offset as u64, what }
}

/// The list of this many files with their ends of records, if there are enough bytes, and the bytes
/// behind it.
fn lists(bytes: &[u8], files: u64) -> Option<(&[u8], &[u8])> {
    let entries = usize::try_from(files).ok()?.checked_mul(ENTRY)?;
    let mut counts = bytes.get(..entries)?.chunks_exact(ENTRY).map(|it| number(it, 56));
    let ends = usize::try_from(counts.try_fold(0_u64, u64::checked_add)?).ok()?;
    bytes.split_at_checked(ends.checked_mul(END)?.checked_add(entries)?)
}

/// The number at an offset; there are enough bytes.
fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("checked length"))
}

/// The head and the list of files, and the index behind them.
fn parse(bytes: &[u8]) -> Result<(Checkpoint, &[u8])> {
    let head = bytes.split_first_chunk::<HEAD>();
    let (head, rest) = head.ok_or_else(|| damaged(0, "it is too short"))?;
    if head[..8] != SIGNATURE {
        return Err(damaged(0, "it does not begin as checkpoints do"));
    }
    let files = number(head, 32);
    let mut ours = *head;
    ours[8..10].copy_from_slice(&VERSION.to_le_bytes());
    let intact = lists(rest, files).and_then(|(lists, rest)| {
        let sum = crc32c::crc32c_append(crc32c::crc32c(&ours), lists);
        Some((lists, rest.strip_prefix(&sum.to_le_bytes())?))
    });
    let found = u16::from_le_bytes([head[8], head[9]]);
    let (lists, rest) = match intact {
        Some(intact) if found == VERSION => intact,
        // A newer version may have another structure; a flipped bit is damage.
        None if found != VERSION => {
            return Err(Error::Version { file: NAME.to_owned(), found, supported: VERSION });
        }
        _ => return Err(damaged(0, "its head does not match its checksum")),
    };
    if number(head, 40) != PARTS as u64 {
        return Err(damaged(40, "the index has another number of parts"));
    }
    let (entries, ends) = lists.split_at(to_usize(files) * ENTRY);
    let mut ends = ends.chunks_exact(END).map(|end| (number(end, 0), number(end, 8)));
    let mut entry = |bytes: &[u8]| {
        let [id, base, end, dead, tombstones] = [0, 8, 16, 24, 32].map(|at| number(bytes, at));
        let [past, step, count] = [40, 48, 56].map(|at| number(bytes, at));
        let ends = ends.by_ref().take(to_usize(count)).collect();
        let expiring = Expiring::from_parts(past, step, ends);
        let expiring = expiring.ok_or_else(|| damaged(HEAD, "no such ends of records"))?;
        Ok(FileEntry { id, base, end, dead, tombstones, expiring })
    };
    let files = entries.chunks_exact(ENTRY).map(&mut entry).collect::<Result<_>>()?;
    let [sequence, next_id, seed, open_tail] = [16, 24, 48, 56].map(|at| number(head, at));
    // A store could not continue from these.
    if sequence.max(next_id) >= MAX_NUMBER {
        return Err(damaged(16, "its numbers are beyond all that are used"));
    }
    Ok((Checkpoint { files, sequence, next_id, seed, open_tail: open_tail != 0 }, rest))
}
