//! Anything that implements the standard library's `Hash`, as a key.

use core::hash::{Hash, Hasher};

use super::blocks::{Blocks, kind};
use super::hasher::KeyHasher;
use super::traits::Key;

/// A key by way of the standard library's [`Hash`], for types that do not implement [`Key`].
///
/// ```
/// use malkoha::{CuckooFilter, Hashed};
///
/// #[derive(Hash)]
/// struct Visit {
///     user: String,
///     page: Option<u32>,
/// }
///
/// let visit = Visit { user: "ada".into(), page: Some(7) };
/// let mut seen = CuckooFilter::with_capacity(1_000, 0.001)?;
/// seen.insert(&Hashed(&visit))?;
/// assert!(seen.contains(&Hashed(&visit)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Stability
///
/// The filter's [`KeyHasher`] hashes the bytes that the type's `Hash` writes, integers as
/// little-endian bytes and `usize` as `u64`. That part is fixed forever. Which values are written,
/// and in which order, is decided by the type and the standard library, without a
/// promise of stability:
///
/// * `derive(Hash)` writes the fields in the order of their declaration, and before them the
///   discriminant of an enum. A field that is added, removed or moved gives other keys.
/// * `str` writes its bytes and then `0xff`; slices and collections write their length first. The
///   standard library has not changed this for years, but could in any release.
/// * Slices of integers are written as they lie in memory, and so are IP addresses. They differ
///   between little-endian and big-endian machines, and slices of `usize` between 32 and 64 bits.
///
/// If a filter is saved for long, or read on other machines, implement [`Key`] instead.
///
/// `Hashed(key)` and `key` are two different keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashed<T: ?Sized>(pub T);

impl<T: Hash + ?Sized> Key for Hashed<T> {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        let mut written = Written(Blocks::new(hasher));
        self.0.hash(&mut written);
        written.finish()
    }
}

/// Collects the bytes that `Hash` writes. By default, `Hasher` writes integers in the machine's
/// byte order.
struct Written(Blocks);

macro_rules! write_little_endian {
    ($($name:ident: $type:ty),*) => {$(
        #[inline]
        fn $name(&mut self, value: $type) {
            self.write(&value.to_le_bytes());
        }
    )*};
}

impl Hasher for Written {
    #[inline]
    fn finish(&self) -> u64 {
        self.0.finish(kind::HASHED)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    // The signed ones of fixed width pass on to these.
    write_little_endian!(write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128);

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    #[inline]
    fn write_isize(&mut self, value: isize) {
        self.write_i64(value as i64);
    }
}
