//! Sets that remember a key in a few bits, and can forget it again: cuckoo filters.
//!
//! A [`CuckooFilter`] answers "have I seen this key?". **No** is always right; **yes** is wrong
//! with a small probability that you choose. One key in a thousand wrong costs 12.6 bits a key,
//! whatever the keys' size; a Bloom filter needs 14.4 and cannot delete.
//!
//! ```
//! use malkoha::CuckooFilter;
//!
//! let mut seen = CuckooFilter::with_capacity(1_000_000, 0.001)?;
//! seen.insert("cuckoo")?; // an error when full, never a lost key
//! assert!(seen.contains("cuckoo"));
//! assert!(seen.remove("cuckoo"));
//!
//! // Batches overlap their cache misses.
//! let keys: Vec<u64> = (0..1000).collect();
//! seen.insert_many(&keys)?;
//! assert!(seen.contains_many(&keys).iter().all(|&found| found));
//!
//! // The same bytes on every machine and in every release.
//! let mut file = Vec::new();
//! seen.write_to(&mut file)?;
//! assert_eq!(CuckooFilter::read_from(&file[..])?.len(), 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`ConcurrentCuckooFilter`] is shared by threads, and a [`GrowableConcurrentCuckooFilter`] grows meanwhile; a [`GrowableCuckooFilter`] starts small.
//! A [`CuckooMap`] keeps a small value beside each fingerprint: where the key's record lies, say.
//!
//! # What is guaranteed
//!
//! * No false negatives: a key that was inserted and not removed is found.
//! * A failed insert is an error, and nothing has changed. No key is dropped, evicted for good, or
//!   kept aside uncounted.
//! * Any capacity from 1 to 2^36 keys, without rounding to a power of two.
//! * Equal operations give equal bytes: no random numbers, a fixed seed unless you ask for another.
//! * Files are checked whole; damaged or hostile ones give an error that says where.
//!
//! # What it is not
//!
//! * It is not exact: keep the keys elsewhere if a wrong "yes" costs you more than a look-up there.
//! * It cannot list its keys, and must not be told to [remove] keys that were never inserted.
//! * With the default seed, somebody who chooses keys can choose bad ones: use
//!   [`Builder::random_seed`] against adversaries.
//!
//! [remove]: CuckooFilter#removing-keys-that-were-never-inserted
//!
//! # Where things are
//!
//! [`Builder`] chooses a geometry and says what it costs ([`Plan`]); [`params`] has the formulas;
//! [`Layout`] says how fingerprints can lie in memory; [`Key`] says what is hashed, and how.
//!
//! Features: `mmap` (default) opens files without copying them ([`MappedFilter`]) and gives large
//! tables huge pages. `rayon` (not default) looks up many keys on all threads of a pool
//! (`ParallelLookups`); building on several threads ([`Builder::threads`]) needs no feature.

mod addressing;
mod arch;
mod builder;
mod concurrent;
mod entries;
mod error;
mod filter;
mod format;
mod geometry;
mod growable;
mod key;
mod layout;
mod lookups;
mod map;
#[cfg(feature = "rayon")]
mod parallel;
pub mod params;
mod spill;
mod table;
mod threads;
mod union;

pub use builder::{Builder, Plan};
pub use concurrent::{
    ConcurrentCuckooFilter, ElidedMcsLock, Fixed, Global, GrowableConcurrentCuckooFilter, Growing,
    Lock, Locking, McsLock, NoLock, ParkingLock, Rtm, Space, Status, Striped, Transactions,
};
pub use entries::Entry;
pub use error::{
    BatchFull, BuildError, FromIterError, Full, GrowableMapError, GrowableUnionError, GrownOut,
    MapBatchError, MapError, UnionError,
};
pub use filter::{CuckooFilter, FilterView};
pub use format::{FileKind, GrowableLoader, ReadError};
#[cfg(feature = "mmap")]
pub use format::{MappedFile, MappedFilter};
pub use geometry::{Geometry, Layout, MAX_CAPACITY};
pub use growable::{GrowableBuilder, GrowableCuckooFilter, GrowableCuckooMap, GrowableEntry};
pub use key::{Key, KeyHasher};
pub use layout::Copies;
pub use lookups::Lookups;
pub use map::CuckooMap;
#[cfg(feature = "rayon")]
pub use parallel::ParallelLookups;
pub use table::Memory;
