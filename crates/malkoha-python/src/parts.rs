//! Composite keys, of the hashes of their parts: the same as those of the library's tuples and
//! slices.

use malkoha::{Key, KeyHasher};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The library has tuples of up to this many keys.
pub(crate) const MOST: usize = 8;

/// Keys can be nested this deep, so that no key exhausts the stack.
pub(crate) const MOST_DEEP: usize = 32;

pub(crate) fn too_deep() -> PyErr {
    PyTypeError::new_err(format!(
        "keys nested more than {MOST_DEEP} deep are no keys: make them flatter, or encode them as \
         bytes"
    ))
}

/// A key, or a part of one.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Null,
    /// An integer of 64 bits, which is not hashed yet: a list of them is hashed as one.
    Word(u64),
    Hash(u64),
}

impl Part {
    /// Meaningless for a null.
    #[inline]
    pub(crate) fn hash(self, hasher: KeyHasher) -> u64 {
        match self {
            Self::Null => 0,
            Self::Word(word) => word.hash_with(hasher),
            Self::Hash(hash) => hash,
        }
    }
}

/// A part that is hashed already, for the library's composite keys.
struct Hashed(u64);

impl Key for Hashed {
    #[inline(always)]
    fn hash_with(&self, _: KeyHasher) -> u64 {
        self.0
    }
}

macro_rules! tuples {
    ($($($part:ident)+;)+) => {
        /// The hash of a tuple of 1 to [`MOST`] keys.
        pub(crate) fn tuple(parts: &[u64], hasher: KeyHasher) -> u64 {
            match *parts {
                $([$($part),+] => ($(Hashed($part),)+).hash_with(hasher),)+
                _ => unreachable!("callers count the parts"),
            }
        }

        /// The hashes of many, of the parts in columns.
        pub(crate) fn tuples(columns: &[Vec<u64>], hasher: KeyHasher, hashes: &mut [u64]) {
            match columns {
                $([$($part),+] => {
                    let rows = (0..hashes.len()).map(|i| ($(Hashed($part[i]),)+));
                    hasher.hash_many(&rows.collect::<Vec<_>>(), hashes);
                })+
                _ => unreachable!("callers count the columns"),
            }
        }
    };
}
tuples! {
    a;
    a b;
    a b c;
    a b c d;
    a b c d e;
    a b c d e f;
    a b c d e f g;
    a b c d e f g h;
}

/// The hash of a list: of integers alone as the library's slice of `u64`; any other, and the
/// empty list, as its slice of other keys.
pub(crate) fn list(items: &[Part], hasher: KeyHasher) -> u64 {
    let words =
        items.iter().map(|item| if let Part::Word(word) = item { Some(*word) } else { None });
    match words.collect::<Option<Vec<u64>>>() {
        Some(words) if !words.is_empty() => words.hash_with(hasher),
        _ => {
            let items: Vec<_> = items.iter().map(|item| Hashed(item.hash(hasher))).collect();
            items.hash_with(hasher)
        }
    }
}
