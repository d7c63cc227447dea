//! The index in a file, with the position in the log up to which it is complete.
//!
//! `docs/STORE.md` specifies every byte. The new file is written beside the old one and takes its
//! name when it is durable, so there is always a whole one.

use std::borrow::Cow;
use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;

use malkoha::GrowableCuckooMap;

use super::{Index, IndexSnapshot, SHARDS};
use crate::error::{Error, Result};
use crate::log::{Expiring, to_usize};
use crate::storage::{Storage, StorageFile, View, remove_if_there};

/// The name of the file.
pub(crate) const NAME: &str = "CHECKPOINT";
/// Its name while it is written.
pub(crate) const TEMPORARY: &str = "CHECKPOINT.new";

const SIGNATURE: [u8; 8] = [0x8b, b'M', b'L', b'I', b'\r', b'\n', 0x1a, b'\n'];
const VERSION: u16 = 1;
const HEAD: usize = 64;
/// Bytes of a file in the list of files.
const ENTRY: u64 = 64;
/// Bytes of a time at which records end, with their bytes.
const END: u64 = 16;
/// Bytes that are written or read together.
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

/// What a checkpoint contains beside the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// All log files at that time, by number. Records after the end of the last one are not in the
    /// index.
    pub(crate) files: Vec<FileEntry>,
    /// The sequence number of the next record.
    pub(crate) sequence: u64,
    /// The number of the next file.
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
    let estimate: u64 = index.shards.iter().map(|shard| shard.size_in_bytes() + 4096).sum();
    let file = storage.create(TEMPORARY, HEAD as u64 + estimate).map_err(failed())?;
    let mut out = Out { file: &*file, offset: 0, room: HEAD as u64 + estimate, buffer: Vec::new() };
    let done = write_all(&mut out, checkpoint, index).and_then(|()| {
        file.set_len(out.offset)?;
        file.sync()?;
        storage.still_writes()
    });
    let done = done.and_then(|()| storage.rename(TEMPORARY, NAME));
    done.and_then(|()| storage.sync_directory()).map_err(|error| {
        // Reports the first error; the next checkpoint removes what stays.
        let _ = storage.remove(TEMPORARY);
        failed()(error)
    })
}

/// Bytes of the checkpoint, if there is one.
pub(crate) fn size(storage: &dyn Storage) -> u64 {
    storage.open(NAME, false).and_then(|file| file.len()).unwrap_or(0)
}

/// Removes the checkpoint, if there is one. Durable when it returns.
pub(crate) fn remove(storage: &dyn Storage) -> Result<()> {
    remove_if_there(storage, NAME).map_err(Error::io("remove", NAME))?;
    storage.sync_directory().map_err(Error::io("sync", "."))
}

fn write_all(out: &mut Out<'_>, checkpoint: &Checkpoint, index: &IndexSnapshot) -> io::Result<()> {
    let Checkpoint { sequence, next_id, seed, files, open_tail } = checkpoint;
    let mut ends = Vec::new();
    let mut head = SIGNATURE.to_vec();
    head.extend_from_slice(&VERSION.to_le_bytes());
    head.extend_from_slice(&[0; 6]);
    let mut put = |numbers: &[u64]| {
        numbers.iter().for_each(|number| head.extend_from_slice(&number.to_le_bytes()));
    };
    put(&[*sequence, *next_id, files.len() as u64, SHARDS as u64, *seed, u64::from(*open_tail)]);
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
    for shard in &index.shards {
        shard.write_to(&mut *out)?;
    }
    out.finish()
}

/// Writes one piece after another. Each has a MiB or more, except the last.
struct Out<'a> {
    file: &'a dyn StorageFile,
    offset: u64,
    room: u64,
    buffer: Vec<u8>,
}

impl Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE {
            self.finish()?;
        }
        Ok(bytes.len())
    }

    /// Does nothing: each shard ends with a flush, and may have only a few KiB.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Out<'_> {
    /// Writes what is left.
    fn finish(&mut self) -> io::Result<()> {
        let end = self.offset + self.buffer.len() as u64;
        if end > self.room {
            self.file.set_len(end)?;
            self.room = end;
        }
        self.file.write_at(self.offset, &self.buffer)?;
        self.offset = end;
        self.buffer.clear();
        Ok(())
    }
}

/// Reads the checkpoint: `None` if there is none. Damage is an error of its own kind; the log has
/// the same content.
pub(crate) fn read(storage: &dyn Storage) -> Result<Option<(Checkpoint, Index)>> {
    let file = match storage.open(NAME, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(Error::opening(NAME))?,
    };
    let view = file.view().map_err(Error::io("read", NAME))?;
    let (checkpoint, at) = parse(&view)?;
    let mut rest = BufReader::with_capacity(PIECE, Rest { view: &view, at });
    let offset = |rest: &BufReader<Rest<'_>>| rest.get_ref().at - rest.buffer().len() as u64;
    let mut shards = Vec::with_capacity(SHARDS);
    for _ in 0..SHARDS {
        let at = offset(&rest);
        let shard = GrowableCuckooMap::read_from(&mut rest);
        shards.push(Arc::new(
            shard.map_err(|_| damaged(at, "a part of the index is not what was written"))?,
        ));
    }
    let end = offset(&rest);
    if end != view.len() {
        return Err(damaged(end, "it goes on behind its end"));
    }
    Ok(Some((checkpoint, Index::from_shards(shards))))
}

/// What a view has from a place on, in order.
struct Rest<'a> {
    view: &'a View,
    at: u64,
}

impl Read for Rest<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.view.len() - self.at).unwrap_or(usize::MAX);
        let len = into.len().min(left).min(PIECE);
        let bytes = self.view.get(self.at, len).unwrap_or_default();
        into[..bytes.len()].copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}

fn damaged(offset: u64, what: &'static str) -> Error {
    Error::Damaged { file: NAME.to_owned(), offset, what }
}

/// The lists behind the head, and their checksum, if the file is long enough: the list of files,
/// and as many ends of records as these announce.
fn lists(view: &View, files: u64) -> Option<Cow<'_, [u8]>> {
    let get = |bytes: u64| view.get(HEAD as u64, usize::try_from(bytes).ok()?);
    let entries = ENTRY.checked_mul(files)?;
    let files = get(entries)?;
    let mut counts = files.chunks_exact(to_usize(ENTRY)).map(|it| number(it, 56));
    let ends = counts.try_fold(0_u64, u64::checked_add)?;
    get(ends.checked_mul(END)?.checked_add(entries)?.checked_add(4)?)
}

/// The number at an offset; there are enough bytes.
fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("checked length"))
}

/// The head and the list of files, and where they end.
fn parse(view: &View) -> Result<(Checkpoint, u64)> {
    let head = view.get_array::<HEAD>(0).ok_or_else(|| damaged(0, "it is too short"))?;
    if head[..8] != SIGNATURE {
        return Err(damaged(0, "it does not begin as checkpoints do"));
    }
    let files = number(&head, 32);
    let mut ours = head;
    ours[8..10].copy_from_slice(&VERSION.to_le_bytes());
    let intact = lists(view, files).filter(|lists| {
        let (lists, sum) = lists.split_last_chunk::<4>().expect("the checksum is among them");
        *sum == crc32c::crc32c_append(crc32c::crc32c(&ours), lists).to_le_bytes()
    });
    let found = u16::from_le_bytes([head[8], head[9]]);
    let lists = match intact {
        Some(lists) if found == VERSION => lists,
        // A newer version may have another structure; a flipped bit is damage.
        None if found != VERSION => {
            return Err(Error::Version { file: NAME.to_owned(), found, supported: VERSION });
        }
        _ => return Err(damaged(0, "its head does not match its checksum")),
    };
    if number(&head, 40) != SHARDS as u64 {
        return Err(damaged(40, "the index has another number of shards"));
    }
    let (entries, ends) = lists[..lists.len() - 4].split_at(to_usize(files * ENTRY));
    let mut ends = ends.chunks_exact(to_usize(END)).map(|end| (number(end, 0), number(end, 8)));
    let mut entry = |bytes: &[u8]| {
        let [id, base, end, dead, tombstones] = [0, 8, 16, 24, 32].map(|at| number(bytes, at));
        let [past, step, count] = [40, 48, 56].map(|at| number(bytes, at));
        let ends = ends.by_ref().take(to_usize(count)).collect();
        let expiring = Expiring::from_parts(past, step, ends);
        let expiring = expiring.ok_or_else(|| damaged(HEAD as u64, "no such ends of records"))?;
        Ok(FileEntry { id, base, end, dead, tombstones, expiring })
    };
    let files = entries.chunks_exact(to_usize(ENTRY)).map(&mut entry).collect::<Result<_>>()?;
    let [sequence, next_id, seed, open_tail] = [16, 24, 48, 56].map(|at| number(&head, at));
    let checkpoint = Checkpoint { files, sequence, next_id, seed, open_tail: open_tail != 0 };
    Ok((checkpoint, (HEAD + lists.len()) as u64))
}
