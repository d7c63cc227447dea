//! The index in a file, with the place in the log that it stands for.
//!
//! `docs/STORE.md` specifies every byte. The file is written beside the old one and takes its name
//! when it is durable, so there is a whole one at all times.

use std::io::{self, Write};
use std::sync::Arc;

use malkoha::GrowableCuckooMap;

use super::{Index, IndexSnapshot, SHARDS};
use crate::error::{Error, Result};
use crate::log::to_usize;
use crate::storage::{Storage, StorageFile, remove_if_there};

/// The name of the file.
pub(crate) const NAME: &str = "CHECKPOINT";
/// Its name while it is written.
pub(crate) const TEMPORARY: &str = "CHECKPOINT.new";

const SIGNATURE: [u8; 8] = [0x8b, b'M', b'L', b'I', b'\r', b'\n', 0x1a, b'\n'];
const VERSION: u16 = 1;
const HEAD: usize = 64;
const ENTRY: usize = 40;

/// A log file that the index has locations in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileEntry {
    pub(crate) id: u64,
    pub(crate) base: u64,
    pub(crate) end: u64,
    pub(crate) dead: u64,
    pub(crate) tombstones: u64,
}

/// What a checkpoint says beside the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// All log files then, by number. Records from the end of the last one on are not in the index.
    pub(crate) files: Vec<FileEntry>,
    /// The sequence number of the next record.
    pub(crate) sequence: u64,
    /// The number of the next file.
    pub(crate) next_id: u64,
    /// The seed of the hash of keys.
    pub(crate) seed: u64,
    /// Whether the last file is not full: its records go on behind its end.
    pub(crate) open_tail: bool,
}

/// Writes a checkpoint in place of the one that is there. Durable when it returns.
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
        // The first error is the one to tell; the next checkpoint removes what stays.
        let _ = storage.remove(TEMPORARY);
        failed()(error)
    })
}

/// Removes the checkpoint, if there is one. Durable when it returns.
pub(crate) fn remove(storage: &dyn Storage) -> Result<()> {
    remove_if_there(storage, NAME).map_err(Error::io("remove", NAME))?;
    storage.sync_directory().map_err(Error::io("sync", "."))
}

fn write_all(out: &mut Out<'_>, checkpoint: &Checkpoint, index: &IndexSnapshot) -> io::Result<()> {
    let mut head = Vec::with_capacity(HEAD + checkpoint.files.len() * ENTRY + 4);
    head.extend_from_slice(&SIGNATURE);
    head.extend_from_slice(&VERSION.to_le_bytes());
    head.extend_from_slice(&[0; 6]);
    let Checkpoint { sequence, next_id, seed, files, open_tail } = checkpoint;
    for number in
        [*sequence, *next_id, files.len() as u64, SHARDS as u64, *seed, u64::from(*open_tail)]
    {
        head.extend_from_slice(&number.to_le_bytes());
    }
    for file in files {
        for number in [file.id, file.base, file.end, file.dead, file.tombstones] {
            head.extend_from_slice(&number.to_le_bytes());
        }
    }
    let sum = crc32c::crc32c(&head);
    head.extend_from_slice(&sum.to_le_bytes());
    out.write_all(&head)?;
    for shard in &index.shards {
        shard.write_to(&mut *out)?;
    }
    out.finish()
}

/// Writes one piece after another, each of a MiB or more but for the last.
struct Out<'a> {
    file: &'a dyn StorageFile,
    offset: u64,
    room: u64,
    buffer: Vec<u8>,
}

impl Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= 1 << 20 {
            self.finish()?;
        }
        Ok(bytes.len())
    }

    /// Does nothing: each shard ends with it, and has a few KiB perhaps.
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

/// Reads the checkpoint: `None` if there is none. What is damaged is an error of its own kind, and
/// the log has all that it says.
pub(crate) fn read(storage: &dyn Storage) -> Result<Option<(Checkpoint, Index)>> {
    let file = match storage.open(NAME, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(Error::io("open", NAME))?,
    };
    let map = file.map().map_err(Error::io("read", NAME))?;
    let bytes = map.get(0, map.len()).unwrap_or_default();
    let (checkpoint, mut rest) = parse(bytes)?;
    let offset = |rest: &[u8]| (bytes.len() - rest.len()) as u64;
    let mut shards = Vec::with_capacity(SHARDS);
    for _ in 0..SHARDS {
        let at = offset(rest);
        let shard = GrowableCuckooMap::read_from(&mut rest);
        shards.push(Arc::new(
            shard.map_err(|_| damaged(at, "a part of the index is not what was written"))?,
        ));
    }
    if !rest.is_empty() {
        return Err(damaged(offset(rest), "it goes on behind its end"));
    }
    Ok(Some((checkpoint, Index::from_shards(shards))))
}

fn damaged(offset: u64, what: &'static str) -> Error {
    Error::Damaged { file: NAME.to_owned(), offset, what }
}

/// The head and the list of files, and what follows.
fn parse(bytes: &[u8]) -> Result<(Checkpoint, &[u8])> {
    let head = bytes.first_chunk::<HEAD>().ok_or_else(|| damaged(0, "it is too short"))?;
    if head[..8] != SIGNATURE {
        return Err(damaged(0, "it does not begin as checkpoints do"));
    }
    let number =
        |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("checked length"));
    let files = number(32);
    let end = files.checked_mul(ENTRY as u64).and_then(|bytes| bytes.checked_add(HEAD as u64));
    let sum_at = end.filter(|end| end.saturating_add(4) <= bytes.len() as u64).map(to_usize);
    let sum =
        sum_at.map(|at| u32::from_le_bytes(*bytes[at..].first_chunk().expect("checked length")));
    let sum_of = |version: u16| {
        let mut ours = *head;
        ours[8..10].copy_from_slice(&version.to_le_bytes());
        sum_at.map(|at| crc32c::crc32c_append(crc32c::crc32c(&ours), &bytes[HEAD..at]))
    };
    let found = u16::from_le_bytes([head[8], head[9]]);
    // A file of another version may be laid out in another way; a flipped bit is damage.
    if found != VERSION && sum_of(VERSION) != sum {
        return Err(Error::Version { file: NAME.to_owned(), found, supported: VERSION });
    }
    if sum.is_none() || sum_of(found) != sum {
        return Err(damaged(0, "its head does not match its checksum"));
    }
    if number(40) != SHARDS as u64 {
        return Err(damaged(40, "the index has another number of shards"));
    }
    let entry = |i: usize| {
        let at = HEAD + i * ENTRY;
        let [id, base, end, dead, tombstones] = [0, 8, 16, 24, 32].map(|field| number(at + field));
        FileEntry { id, base, end, dead, tombstones }
    };
    let files = (0..to_usize(files)).map(entry).collect();
    let (sequence, next_id, seed, open_tail) =
        (number(16), number(24), number(48), number(56) != 0);
    let checkpoint = Checkpoint { files, sequence, next_id, seed, open_tail };
    Ok((checkpoint, &bytes[sum_at.unwrap_or(HEAD) + 4..]))
}
