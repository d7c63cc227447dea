//! An embedded key-value store: an append-only log behind a cuckoo index.
//!
//! The index takes about 7 bytes per key.
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
//! A read costs one lookup in the index, which is in memory, and one in the log, which is mapped.
//! (On Windows the store reads the log by system calls.) The index stores a fingerprint of 14 bits
//! and a location per key. The full key in the log confirms each hit, so results are exact. With up
//! to about 60 million keys, fewer than 4 in 1,000 absent keys also need a look into the log.
//!
//! # Guarantees
//!
//! * An acknowledged write survives a crash as far as its [`Durability`] promises. A batch survives
//!   as a whole or not at all.
//! * Every read compares the record with its checksum. Damage is an error that names file and
//!   offset, never a wrong result.
//! * A deleted key does not come back, whatever is compacted or removed, and in whatever order.
//! * A failed sync ends writing. A full device refuses single writes. Reading continues after both.
//!
//! # Limits
//!
//! * Finding a prefix or a range of keys reads the whole log, unless the keys are [kept in
//!   order](Options::ordered).
//! * The index must fit in memory, at 7 bytes per key. A log has at most 8 TiB.
//! * It has no transactions beyond atomic batches.
//! * It is made for Linux. It also compiles for macOS, FreeBSD and Windows; the page
//!   `docs/guide/platforms.md` lists where it ran. A child made by `fork` must not use its parent's
//!   stores.
//!
//! # Contents
//!
//! [`Store`] has the operations. A [`Table`] has the same operations for a separate set of keys. A
//! [`Snapshot`] is the state at one moment. A [`FileStore`] stores files as chunks, each chunk
//! once.
//! `docs/STORE.md` specifies the files. `examples/asynchronous.rs` uses a store with futures.

mod error;
mod file_store;
mod index;

mod locate;
mod log;
mod options;
mod recovery;
mod replay;
#[doc(hidden)]
pub mod storage;
mod store;

pub use error::{Error, Result};
pub use file_store::{
    Chunking, Collected, Digest, FileInfo, FileKind, FileStore, Import, Metadata,
};
pub use log::{MAX_KEY, MAX_VALUE};
pub use options::{Compression, Durability, Options};
pub use recovery::{Cut, LostKey, Recovery};
pub use store::{
    Batch, Entries, Entry, Metrics, Repair, Snapshot, Stats, Store, Swap, Table, TableSnapshot,
    Verification,
};
