//! Other people's stores, each with memory for all of its data and its own best settings.

mod fjall;
mod lmdb;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;

use crate::ours;
use crate::peer::Kind;

/// Bytes of a rival's cache.
const CACHE: usize = 2 << 30;

/// All stores, ours first.
pub(crate) fn all() -> Vec<Kind> {
    vec![
        Kind { name: "malkoha", open: ours::open },
        Kind { name: "redb", open: redb::open },
        Kind { name: "fjall", open: fjall::open },
        Kind { name: "lmdb", open: lmdb::open },
        #[cfg(feature = "rocksdb")]
        Kind { name: "rocksdb", open: rocksdb::open },
    ]
}
