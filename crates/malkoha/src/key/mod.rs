//! From a key to a 64-bit hash that is the same on every machine and in every release.

mod batch;
mod blocks;
mod composite;
mod hashed;
mod hasher;
#[cfg(all(feature = "std", any(unix, windows)))]
mod os;
mod sip;
mod traits;
mod types;

pub(crate) use batch::hash_chunks;
pub use hashed::Hashed;
pub use hasher::{HashFunction, KeyHasher};
pub use traits::Key;
