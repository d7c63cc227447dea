//! Other people's stores, each with its own best settings.

mod fjall;
mod lmdb;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;

use crate::ours;
use crate::peer::Kind;

/// All stores, ours first, those that have a cache of their own with one of this many bytes.
pub(crate) fn all(cache: usize) -> Vec<Kind> {
    vec![
        Kind { name: "malkoha", opener: ours::open, cache },
        Kind { name: "malkoha in order", opener: ours::open_ordered, cache },
        Kind { name: "redb", opener: redb::open, cache },
        Kind { name: "fjall", opener: fjall::open, cache },
        Kind { name: "lmdb", opener: lmdb::open, cache },
        #[cfg(feature = "rocksdb")]
        Kind { name: "rocksdb", opener: rocksdb::open, cache },
    ]
}
