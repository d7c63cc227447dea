//! Cuckoo filters: sets that store a few bits per key, and can delete keys.
//!
//! A [`CuckooFilter`] answers "have I seen this key?". **No** is always right. **Yes** is wrong
//! with a small probability that you choose. A probability of 1 in 1,000 takes 12.6 bits per key,
//! however long the keys are. A Bloom filter takes 14.4 bits and cannot delete.
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
//! There are more kinds:
//!
//! * A [`GrowableCuckooFilter`] starts small and grows.
//! * Threads can share a [`ConcurrentCuckooFilter`], or a [`GrowableConcurrentCuckooFilter`],
//!   which also grows.
//! * A [`CuckooMap`] stores a small value with each fingerprint, such as the place of the key's
//!   record. [`GrowableCuckooMap`] grows, and threads can share a [`GrowableConcurrentCuckooMap`].
//! * An [`ExpiringCuckooFilter`] forgets a key when a given time has passed since it was seen.
//!
//! The folder `examples` of the repository has a short program for each common job.
//!
//! # One type for all kinds
//!
//! All of these names are aliases of one type, [`Filter`], over different tables. A method has the
//! same name, meaning and errors on every kind.
//!
//! | | fixed | growable | shared | growable and shared | [`view`], mapped |
//! | --- | --- | --- | --- | --- | --- |
//! | `contains`, `count`, and many at once | set, map | set, map | set | set, map | set, map |
//! | `get`, `values`, and many at once | map | map | | map | map |
//! | `insert`, `remove`, and many at once | set, map | set, map | set | set, map | (1) |
//! | `insert_unique`, and many at once | set | set | set | set | (1) |
//! | `update` | map | map | | map | (1) |
//! | `clear`, `clone`, `==` | set, map | set, map | set | set, map | `==`, `to_owned` |
//! | `entries`, `lookups`, `par_contains_many` | set, map | set, map | set | set, map | set, map |
//! | `save`, `open`, `to_bytes`, `from_bytes`, serde | set, map | set, map | set | set, map | `save`, `to_bytes` |
//! | `map` | set, map | set, map | (2) | (3) | |
//! | `union_with`, `unite` | set, map | set, map | (4) | (4) | as the other side |
//! | `intersect_with` | set (5) | set (5) | (4) | (4) | as the other side |
//! | `build_from`, on several threads | set | set | (4) | | |
//! | `reserve`, `shrink_to_fit` | | map; set, map | | map; set, map | |
//!
//! 1. A view borrows its bytes. A growable filter is mapped so that changes stay in memory, so it
//!    can be changed as usual.
//! 2. A shared set has the same file as a [`CuckooFilter`], which [`MappedFilter`] maps. Threads
//!    that only read a mapped file need no locks.
//! 3. It has the same file as a [`GrowableCuckooFilter`] or [`GrowableCuckooMap`], which maps it
//!    for one owner. Use `open` to copy it into memory for threads that change it.
//! 4. Neither side may change during it. Use [`to_filter`](ConcurrentCuckooFilter::to_filter) or
//!    [`to_map`](GrowableConcurrentCuckooMap::to_map) before, and
//!    [`into_concurrent`](CuckooFilter::into_concurrent) after.
//! 5. In a map it would be unclear which value is meant.
//!
//! A growable one that is built with a capacity also does the job of a map, or of a set whose keys
//! expire, that has a fixed size and that threads share.
//!
//! An empty field means that the kind has no use for the method. Every other field has a test; the
//! first page of `tests/it/kinds` in the repository lists them.
//!
//! Expiring sets have the methods of a set of their kind, except `map`, `intersect_with` and
//! `unite`, which would count copies. In addition they have `advance`, `age` and `refresh`.
//!
//! [`view`]: FilterView::view
//!
//! # Guarantees
//!
//! * No false negatives: a key that was inserted and not removed is found.
//! * A failed insert returns an error and changes nothing. No key is lost.
//! * Any capacity from 1 to 2^36 keys, without rounding to a power of two.
//! * Equal operations give equal bytes: there are no random numbers, and the seed is fixed unless
//!   you choose another.
//! * Files are checked as a whole. A damaged or hostile file gives an error that names the place.
//!
//! # Limits
//!
//! * It is not exact. If a wrong "yes" must not happen, also keep the keys elsewhere.
//! * It cannot list its keys, and you must not [remove] keys that were never inserted.
//! * With the default hash and seed, somebody who chooses keys can choose bad ones. If strangers
//!   choose them, build with [`Builder::random_seed`]. [`KeyHasher`] states the guarantees.
//!
//! [remove]: CuckooFilter#removing-keys-that-were-never-inserted
//!
//! # Where things are
//!
//! [`Builder`] chooses a geometry and reports its cost ([`Plan`]). [`params`] has the formulas.
//! [`Layout`] describes how fingerprints lie in memory. [`Key`] describes how keys are hashed.
//!
//! # Features
//!
//! * `std` (default): filters that grow, filters that threads share, building on several threads,
//!   files, streams and random keys. Without it the library needs only `core` and `alloc`.
//!   [`CuckooFilter`], [`CuckooMap`] and views then have the same bytes. Batches use the
//!   instruction set that the program is compiled for.
//! * `mmap` (default): opens files without copying them ([`MappedFilter`]), and uses huge pages for
//!   large tables.
//! * `allocator-sizes`: makes segments of growing tables fill the sizes of an allocator, for
//!   programs that count its memory. The bytes of their files then differ from those of others.
//! * `rayon`: looks up many keys on all threads of a pool (`par_contains_many`).
//! * `serde`: stores filters in the data of other programs.
//! * `uuid`: makes `uuid::Uuid` a [`Key`]. All other features need `std` and enable it.
//!
//! Nothing here needs a certain operating system. If files cannot be mapped, as in WebAssembly,
//! [`MappedFilter::map`] returns an error of kind [`Unsupported`](std::io::ErrorKind::Unsupported)
//! and everything else works. If there are no threads, the calling thread does the work.

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
#[cfg(feature = "std")]
mod partitioned;
mod ring;
mod spill;
#[cfg(feature = "std")]
mod sync;
mod table;
mod threads;

#[doc(hidden)]
pub use arch::prefetch_from;
pub use builder::{Builder, Plan};
pub use entries::Entry;
pub use error::{BatchError, BuildError, InsertError, UnionError};
#[cfg(feature = "std")]
pub use filter::{
    ConcurrentCuckooFilter, ConcurrentCuckooFilterWith, GrowableConcurrentCuckooFilter,
    GrowableConcurrentCuckooMap, GrowableConcurrentExpiringCuckooFilter, GrowableCuckooFilter,
    GrowableCuckooMap, GrowableExpiringCuckooFilter,
};
pub use filter::{
    Content, CuckooFilter, CuckooMap, ExpiringCuckooFilter, Filter, FilterView, Keys, MapView,
    Values,
};
#[cfg(feature = "mmap")]
pub use filter::{MappedFilter, MappedMap};
#[cfg(feature = "mmap")]
pub use format::MappedFile;
pub use format::{FileKind, ReadError};
#[cfg(feature = "std")]
#[doc(hidden)]
pub use format::{replace_file, take_after};
pub use geometry::{Geometry, Layout, MAX_CAPACITY};
pub use key::{HashFunction, Hashed, Key, KeyHasher};
pub use layout::Copies;
pub use table::Memory;
pub use table::traits::Sole;
#[cfg(feature = "std")]
#[doc(hidden)]
pub use threads::side_by_side;

#[cfg(feature = "std")]
pub use crate::{
    any::AnyFilter, expiry::Clock, format::GrowableExpiringLoader, format::GrowableLoader,
    growable::KeptBits,
};

#[cfg(feature = "std")]
use std::io;

/// The tables of [`Filter`], and sealed traits for what each table can do.
///
/// Code that is generic over tables names them in types and bounds. It never makes or uses them
/// directly.
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
    pub use crate::builder::Build;
    #[cfg(feature = "std")]
    pub use crate::concurrent::Shared;
    pub use crate::expiry::{Ages, Expiring};
    #[cfg(feature = "std")]
    pub use crate::growable::{Growing, most_places_growing};
    #[cfg(feature = "std")]
    pub use crate::layout::search_budget::places_looked_at;
    pub use crate::layout::search_budget::{most_places, most_places_after_refusal};
    #[cfg(feature = "std")]
    pub use crate::partitioned::{Partition, Partitioned};
    pub use crate::table::traits::{Candidates, Change, Fill, Lookup, Stored};
    pub use crate::table::{Fixed, Rounds};
}
