//! The trait of all keys.

use super::blocks::{Blocks, kind};
use super::hasher::{KeyHasher, Keyed};

/// Something that can be hashed stably, that is, by its bytes alone.
///
/// `std::hash::Hash` is not enough for data that is written to files: it promises no fixed byte
/// order and no stability between releases. A `Key` does.
///
/// # Hashed bytes
///
/// A **simple key** is hashed as its bytes. Two simple keys with the same bytes are one key.
///
/// | type | bytes |
/// | --- | --- |
/// | `str`, `String`, `[u8]`, `[u8; N]`, `Vec<u8>` | as they are: `"abc"` is `b"abc"` |
/// | integers, `NonZero` integers | little-endian, at their own width: `5u32` and `5u64` differ |
/// | `usize`, `isize`, `char`, `bool` | as `u64`, `i64`, `u32`, `u8` |
/// | `Ipv4Addr`, `Ipv6Addr`, `IpAddr` | the 4 or 16 octets |
/// | `Path`, `OsStr`, `PathBuf`, `OsString` | Unix: the bytes. Windows: the text in UTF-8 |
/// | `Uuid`, with the feature `uuid` | the 16 bytes |
///
/// Paths are hashed as they are written: `a/b` and `a//b` are two keys, though they compare equal.
/// On Windows, a path that is not valid Unicode is hashed as the `[u16]` that Windows stores. Other
/// platforms have no stable form for paths, so paths are no keys there.
///
/// A **composite key** is made of other keys. Its parts cannot run into each other: `("ab", "c")`
/// and `("a", "bc")` differ, `Some(key)` differs from `key`, and `None` from all other keys.
///
/// | type | parts | kind |
/// | --- | --- | --- |
/// | tuples of 1 to 8 keys | the hash of each key | 1 |
/// | `None` | the hash of the empty string | 2 |
/// | `Some(key)` | the hash of `key` | 3 |
/// | `[T]`, `[T; N]`, `Vec<T>` | the block hash of the hashes of the items | 4 |
/// | `[T]` of integers, `char`, `bool` | the block hash of the items' bytes | 16 + item size |
/// | [`Hashed`](crate::Hashed) | the block hash of what `Hash` writes | 5 |
///
/// The item size is in bytes, as hashed; `[u8]` alone is a simple key. A `SocketAddr` is hashed as
/// the tuple `(ip, port)`, or `(ip, port, flowinfo, scope_id)` for IPv6.
///
/// The hash of a composite key is [`KeyHasher::hash_bytes`] of its parts and then its kind, each as
/// eight little-endian bytes. The block hash of at most 128 bytes is their `hash_bytes`. For more,
/// the first 128 bytes are replaced by the eight little-endian bytes of their `hash_bytes`, until
/// at most 128 are left.
///
/// References, `Box`, `Rc`, `Arc` and `Cow` are hashed as their content, so a `String`, an
/// `Arc<str>` and a `&str` with the same text are one key.
///
/// All of this is fixed forever, because it decides whether a saved filter finds its keys.
///
/// # Implementing it
///
/// Hand canonical bytes to [`KeyHasher::hash_bytes`], or pass on to a tuple of the fields:
///
/// ```
/// use malkoha::{CuckooFilter, Key, KeyHasher};
///
/// struct Address([u8; 4], u16);
///
/// impl Key for Address {
///     fn hash_with(&self, hasher: KeyHasher) -> u64 {
///         let [a, b, c, d] = self.0;
///         let [low, high] = self.1.to_le_bytes();
///         hasher.hash_bytes(&[a, b, c, d, low, high])
///     }
/// }
///
/// struct Visit {
///     user: String,
///     page: Option<u32>,
/// }
///
/// impl Key for Visit {
///     fn hash_with(&self, hasher: KeyHasher) -> u64 {
///         (&self.user, self.page).hash_with(hasher)
///     }
/// }
///
/// let mut seen = CuckooFilter::with_capacity(1_000, 0.001)?;
/// seen.insert(&Address([127, 0, 0, 1], 80))?;
/// assert!(seen.contains(&Address([127, 0, 0, 1], 80)));
/// seen.insert(&Visit { user: "ada".into(), page: None })?;
/// assert!(seen.contains(&("ada", None::<u32>)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// For a type of another crate that implements `Hash` there is [`Hashed`](crate::Hashed).
pub trait Key {
    /// The 64-bit hash of this key under `hasher`'s seed or key. All 64 bits must be well mixed.
    fn hash_with(&self, hasher: KeyHasher) -> u64;

    /// The 64-bit hash of a slice of such keys, which is a key too.
    ///
    /// The default combines the hashes of the items. Integers have a faster one over their bytes,
    /// so a slice of references to integers is another key than a slice of integers.
    #[inline]
    fn hash_slice(keys: &[Self], hasher: KeyHasher) -> u64
    where
        Self: Sized,
    {
        let mut blocks = Blocks::new(hasher);
        for key in keys {
            blocks.write(&key.hash_with(hasher).to_le_bytes());
        }
        blocks.finish(kind::SLICE)
    }
}

impl KeyHasher {
    /// The hash of one key. XXH3 is inlined into the caller's loop, and SipHash called: it needs
    /// many registers, which would make XXH3 next to it slower.
    #[inline(always)]
    pub(crate) fn hash_key<K: Key>(self, key: K) -> u64 {
        match self.0 {
            Keyed::Xxh3(seed) => key.hash_with(Self(Keyed::Xxh3(seed))),
            Keyed::Sip13(sip) => hash_by_sip13(sip, &key),
        }
    }
}

#[inline(never)]
fn hash_by_sip13<K: Key>(sip: [u64; 2], key: &K) -> u64 {
    key.hash_with(KeyHasher(Keyed::Sip13(sip)))
}
