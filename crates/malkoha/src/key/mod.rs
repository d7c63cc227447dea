//! From a key to a 64-bit hash that is the same on every machine and in every release.

mod composite;
mod hashed;
mod hasher;
#[cfg(all(feature = "std", any(unix, windows)))]
mod os;
mod sip;
mod types;

pub use hashed::Hashed;
pub use hasher::{HashFunction, KeyHasher};
pub(crate) use hasher::{hash_chunks, hash_one};

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
/// | [`Hashed`] | the block hash of what `Hash` writes | 5 |
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
/// For a type of another crate that implements `Hash` there is [`Hashed`].
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
        composite::hash_items(keys, hasher)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pinned: a change here would make every saved filter answer wrongly.
    #[test]
    fn known_answers() {
        let zero = KeyHasher::new(0);
        // All from the reference implementation.
        assert_eq!(zero.hash_bytes(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!("malkoha".hash_with(zero), 0x24e1_985d_179b_5f0a);
        assert_eq!("malkoha".hash_with(KeyHasher::new(42)), 0xa7c4_bdfe_b588_7069);
        assert_eq!(0x0123_4567_89ab_cdef_u64.hash_with(zero), 0xb78d_f414_2842_77a6);
        let long: Vec<u8> = (0..=255).cycle().take(1000).collect();
        assert_eq!(long.hash_with(KeyHasher::new(7)), 0xfb6e_8de2_c753_ce8b);
    }

    #[test]
    fn text_bytes_and_references_are_one_key() {
        let hasher = KeyHasher::new(3);
        let expected = hasher.hash_bytes(b"abc");
        assert_eq!("abc".hash_with(hasher), expected);
        assert_eq!(String::from("abc").hash_with(hasher), expected);
        assert_eq!(b"abc".hash_with(hasher), expected);
        assert_eq!((&&"abc").hash_with(hasher), expected);
        assert_eq!(0x0063_6261_u32.hash_with(hasher), hasher.hash_bytes(b"abc\0"));
    }
}
