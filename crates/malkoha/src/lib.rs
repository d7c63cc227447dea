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
//! A [`GrowableCuckooFilter`] starts small. A [`ConcurrentCuckooFilter`] is shared by threads, and
//! a [`GrowableConcurrentCuckooFilter`] grows meanwhile. A [`CuckooMap`], a [`GrowableCuckooMap`],
//! a [`ConcurrentCuckooMap`] and a [`GrowableConcurrentCuckooMap`] keep a small value beside each
//! fingerprint: where the key's record lies, say. An [`ExpiringCuckooFilter`] forgets keys when a
//! time has passed since they were seen. The folder `examples` of the repository has a
//! program of a page for each common job.
//!
//! # One face
//!
//! All of them are one type, [`Filter`], over the table that holds the fingerprints: a method has
//! one name, one meaning and one set of errors wherever it is. The names above are aliases.
//!
//! | | fixed | growable | shared | growable and shared | [`view`], mapped |
//! | --- | --- | --- | --- | --- | --- |
//! | `contains`, `count`, and many at once | set, map | set, map | set, map | set, map | set, map |
//! | `get`, `values`, and many at once | map | map | map | map | map |
//! | `insert`, `remove`, and many at once | set, map | set, map | set, map | set, map | (1) |
//! | `insert_unique`, and many at once | set | set | set | set | (1) |
//! | `update` | map | map | map | map | (1) |
//! | `clear`, `clone`, `==` | set, map | set, map | set, map | set, map | `==`, `to_owned` |
//! | `entries`, `lookups`, `par_contains_many` | set, map | set, map | set, map | set, map | set, map |
//! | `save`, `open`, `to_bytes`, `from_bytes`, serde | set, map | set, map | set, map | set, map | `save`, `to_bytes` |
//! | `map` | set, map | set, map | (2) | (3) | |
//! | `union_with`, `unite` | set, map | set, map | (4) | (4) | as the other side |
//! | `intersect_with` | set (5) | set (5) | (4) | (4) | as the other side |
//! | `build_from`, on several threads | set | set | (4) | | |
//! | `reserve`, `shrink_to_fit` | | map; set, map | | map | |
//!
//! 1. Views are of bytes that belong to somebody else. Growable ones are mapped so that changes
//!    stay in memory: they can be changed as ever.
//! 2. A set's files are those of a [`CuckooFilter`], which [`MappedFilter`] maps. Threads that read
//!    what they mapped need no locks.
//! 3. Its parts come one by one, each with a lock, so they do not lie in one file's memory. Copy it
//!    into memory with `open`.
//! 4. Both sides have to hold still: [`to_filter`](ConcurrentCuckooFilter::to_filter) or
//!    [`to_map`](GrowableConcurrentCuckooMap::to_map) before,
//!    [`into_concurrent`](CuckooFilter::into_concurrent) after. Sets that grow have neither:
//!    built for other capacities, they tell too little of a key to say where it belongs in another;
//!    insert the keys of both into one. Nor do they shrink, since a part that was split stays so:
//!    removals leave room for the keys that come.
//! 5. Of a map it would not be known which value is meant.
//!
//! An empty field says that the kind has no use for it. Each of the others has a test: the first
//! page of `tests/kinds` in the repository lists them.
//!
//! An [`ExpiringCuckooFilter`], a [`GrowableExpiringCuckooFilter`], and those that threads share,
//! have what a set of their kind has, except `map`, `intersect_with` and `unite`, which would count
//! copies. They have `advance`, `age` and `refresh` besides.
//!
//! [`view`]: FilterView::view
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
//! * With the default hash and seed, somebody who chooses keys can choose bad ones: build with
//!   [`Builder::random_seed`] where strangers do, and see [`KeyHasher`] for what that promises.
//!
//! [remove]: CuckooFilter#removing-keys-that-were-never-inserted
//!
//! # Where things are
//!
//! [`Builder`] chooses a geometry and says what it costs ([`Plan`]); [`params`] has the formulas;
//! [`Layout`] says how fingerprints can lie in memory; [`Key`] says what is hashed, and how.
//!
//! # Features
//!
//! * `std` (default): filters that grow, filters that threads share, building on several threads,
//!   files, streams and random keys. Without it the library needs `core` and `alloc` alone.
//!   [`CuckooFilter`], [`CuckooMap`] and views of bytes are the same then, to the byte; batches use
//!   the instruction set that the program is compiled for.
//! * `mmap` (default): opens files without copying them ([`MappedFilter`]), and gives large tables
//!   huge pages.
//! * `allocator-sizes`: segments of growing tables fill what an allocator gives, for programs that
//!   count its memory; the bytes of their files then differ from those of others.
//! * `rayon`: looks up many keys on all threads of a pool (`par_contains_many`).
//! * `serde`: stores filters in the data of other programs.
//! * `uuid`: makes `uuid::Uuid` a [`Key`]. All others need `std` and enable it.
//!
//! Nothing here depends on the operating system. Where files cannot be mapped, as in WebAssembly,
//! [`MappedFilter::map`] returns an error of kind [`Unsupported`](std::io::ErrorKind::Unsupported)
//! and all else works; where there are no threads, the calling one does the work.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(
    not(feature = "std"),
    expect(dead_code, unused_imports, reason = "what only growable and shared tables use")
)]

extern crate alloc;

mod addressing;
#[cfg(feature = "std")]
mod any;
mod arch;
mod builder;
#[cfg(feature = "std")]
mod concurrent;
mod entries;
mod error;
mod expiry;
mod filter;
mod format;
mod geometry;
#[cfg(feature = "std")]
mod growable;
#[cfg(not(feature = "std"))]
mod io;
mod key;
mod layout;
#[cfg(feature = "std")]
pub mod locks;
pub mod params;
mod ring;
#[cfg(feature = "std")]
mod sharded;
mod spill;
mod table;
mod threads;

#[cfg(feature = "std")]
pub use any::AnyFilter;
pub use builder::{Builder, Plan};
pub use entries::Entry;
pub use error::{BatchError, BuildError, InsertError, UnionError};
#[cfg(feature = "std")]
pub use expiry::Clock;
#[cfg(feature = "std")]
pub use filter::{
    ConcurrentCuckooFilter, ConcurrentCuckooFilterWith, ConcurrentCuckooMap,
    ConcurrentExpiringCuckooFilter, GrowableConcurrentCuckooFilter,
    GrowableConcurrentCuckooFilterWith, GrowableConcurrentCuckooMap,
    GrowableConcurrentExpiringCuckooFilter, GrowableCuckooFilter, GrowableCuckooMap,
    GrowableExpiringCuckooFilter,
};
pub use filter::{
    Content, CuckooFilter, CuckooMap, ExpiringCuckooFilter, Filter, FilterView, Keys, Lookups,
    MapView, Values,
};
#[cfg(feature = "mmap")]
pub use filter::{MappedFilter, MappedMap};
#[cfg(feature = "mmap")]
pub use format::MappedFile;
pub use format::{FileKind, ReadError};
#[cfg(feature = "std")]
pub use format::{GrowableExpiringLoader, GrowableLoader};
pub use geometry::{Geometry, Layout, MAX_CAPACITY};
#[cfg(feature = "std")]
pub use growable::KeptBits;
pub use key::{HashFunction, Hashed, Key, KeyHasher};
pub use layout::Copies;
pub use table::Memory;

#[cfg(feature = "std")]
use std::io;

/// The tables behind the faces, and the sealed traits that say what each can do: for code that is
/// generic over them. They are named in types and bounds, and never made or used directly.
///
/// ```
/// use malkoha::tables::Lookup;
/// use malkoha::{Content, CuckooFilter, Filter, GrowableCuckooMap};
///
/// fn share<T: Lookup, C: Content>(filter: &Filter<T, C>, words: &[&str]) -> f64 {
///     let found = filter.contains_many(words).into_iter().filter(|&found| found);
///     found.count() as f64 / words.len() as f64
/// }
///
/// let words = ["koel", "magpie"];
/// assert_eq!(share(&CuckooFilter::try_from_iter(words, 0.001)?, &words), 1.0);
/// assert_eq!(share(&GrowableCuckooMap::with_capacity(10, 0.001, 1)?, &words), 0.0);
/// # Ok::<(), malkoha::BuildError>(())
/// ```
pub mod tables {
    #[cfg(feature = "std")]
    pub use crate::concurrent::{InParts, OnePiece, Shared, Space};
    pub use crate::expiry::{Ages, Expiring};
    #[cfg(feature = "std")]
    pub use crate::growable::{Growing, most_places_growing};
    pub use crate::layout::work::{most_places, most_places_after_refusal};
    #[cfg(feature = "std")]
    pub use crate::layout::work::{most_places_growing_shared, places_looked_at};
    #[cfg(feature = "std")]
    pub use crate::sharded::Sharded;
    pub use crate::table::traits::{Candidates, Change, Lookup, Stored};
    pub use crate::table::{Fixed, Rounds};
}
