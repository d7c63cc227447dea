//! An embedded key-value store: an append-only log behind a cuckoo index of under 7 bytes a key.
//!
//! ```
//! use malkoha_store::{Options, Store};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path();
//! let store = Store::open(path, &Options::new())?;
//! store.put(b"cuckoo", b"Cuculus canorus")?;
//! assert_eq!(store.get(b"cuckoo")?.as_deref(), Some(&b"Cuculus canorus"[..]));
//! assert!(store.delete(b"cuckoo")?);
//! assert!(!store.contains(b"cuckoo")?);
//! store.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A read costs one look into the index, which is in memory, and one into the log, which is mapped
//! (on Windows it is read by system calls).
//! The index keeps a fingerprint of 14 bits and a location for each key; the full key in the log
//! confirms, so answers are exact. Of absent keys, fewer than 4 in a thousand cost a look into the
//! log too, up to some 60 million keys.
//!
//! # What is guaranteed
//!
//! * What was answered at its [`Durability`] survives a crash. A batch is there whole or not at all.
//! * Every record is compared with its checksum each time it is read: damage is an error that names
//!   file and offset, never an answer.
//! * A key that was deleted does not come back, whatever is compacted or removed, in which order.
//! * A failed sync ends writing, and a full device only refuses it; reading goes on after both.
//!
//! # What it is not
//!
//! * It is not ordered: a prefix or a range of keys is found by reading the whole log.
//! * It is not for more keys than fit in memory at 7 bytes each, nor for logs of more than 8 TiB.
//! * It has no transactions beyond atomic batches.
//! * It is for Linux. It compiles for macOS, FreeBSD and Windows too; `docs/guide/platforms.md`
//!   says where it was run. A child made by `fork` must leave its parent's stores alone.
//!
//! # Where things are
//!
//! [`Store`] has the operations, [`Table`] the same for keys that are apart, [`Snapshot`] the state of
//! one moment, [`Library`] files cut into chunks, each of which is stored once. `docs/STORE.md`
//! specifies the files; `examples/asynchronous.rs` puts a store behind futures.

mod error;
mod index;
mod library;
mod locate;
mod log;
mod options;
mod recovery;
mod replay;
#[doc(hidden)]
pub mod storage;
mod store;

pub use error::{Error, Result};
pub use library::{Chunking, Collected, Digest, FileInfo, FileKind, Import, Library, Metadata};
pub use log::{MAX_KEY, MAX_VALUE};
pub use options::{Compression, Durability, Options};
pub use recovery::{Cut, Recovery};
pub use store::{
    Batch, Entry, Metrics, Repair, Snapshot, Stats, Store, Swap, Table, TableSnapshot, Verification,
};
