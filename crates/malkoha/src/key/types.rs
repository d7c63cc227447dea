//! The simple keys, and the pointers and containers of keys.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::num::NonZero;

use super::blocks::hash_integers;
use super::hasher::KeyHasher;
use super::traits::Key;

macro_rules! key_as_bytes {
    ($($type:ty => |$key:ident| $bytes:expr),*) => {$(
        impl Key for $type {
            #[inline]
            fn hash_with(&self, hasher: KeyHasher) -> u64 {
                let $key = self;
                hasher.hash_bytes($bytes)
            }
        }
    )*};
}
key_as_bytes! {
    str => |text| text.as_bytes(),
    String => |text| text.as_bytes(),
    Ipv4Addr => |address| &address.octets(),
    Ipv6Addr => |address| &address.octets()
}
#[cfg(feature = "uuid")]
key_as_bytes!(uuid::Uuid => |uuid| uuid.as_bytes());

impl Key for IpAddr {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        match self {
            Self::V4(address) => address.hash_with(hasher),
            Self::V6(address) => address.hash_with(hasher),
        }
    }
}

impl Key for u8 {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        hasher.hash_bytes(&[*self])
    }

    /// Bytes are hashed as they are: a byte string is a simple key.
    #[inline]
    fn hash_slice(bytes: &[Self], hasher: KeyHasher) -> u64 {
        hasher.hash_bytes(bytes)
    }
}

macro_rules! key_integers {
    ($($($type:ty),+ => |$key:ident| $bytes:expr;)*) => {$($(
        impl Key for $type {
            #[inline(always)]
            fn hash_with(&self, hasher: KeyHasher) -> u64 {
                let $key = *self;
                hasher.hash_array($bytes)
            }

            #[inline]
            fn hash_slice(keys: &[Self], hasher: KeyHasher) -> u64 {
                hash_integers(keys.iter().map(|&$key| $bytes), hasher)
            }
        }
    )+)*};
}
key_integers! {
    u16, u32, u64, u128, i8, i16, i32, i64, i128 => |key| key.to_le_bytes();
    // The same hash for every width of a pointer.
    usize => |key| (key as u64).to_le_bytes();
    isize => |key| (key as i64).to_le_bytes();
    char => |key| u32::from(key).to_le_bytes();
    bool => |key| [u8::from(key)];
    NonZero<u8>, NonZero<u16>, NonZero<u32>, NonZero<u64>, NonZero<u128>,
    NonZero<i8>, NonZero<i16>, NonZero<i32>, NonZero<i64>, NonZero<i128>
        => |key| key.get().to_le_bytes();
    NonZero<usize> => |key| (key.get() as u64).to_le_bytes();
    NonZero<isize> => |key| (key.get() as i64).to_le_bytes();
}

macro_rules! key_as_slice {
    ($($type:ty $(, $length:ident)?;)*) => {$(
        impl<K: Key $(, const $length: usize)?> Key for $type {
            #[inline]
            fn hash_with(&self, hasher: KeyHasher) -> u64 {
                K::hash_slice(self, hasher)
            }
        }
    )*};
}
key_as_slice! {
    [K];
    [K; N], N;
    Vec<K>;
}

macro_rules! key_pointers {
    ($($type:ty),*) => {$(
        impl<K: Key + ?Sized> Key for $type {
            #[inline(always)]
            fn hash_with(&self, hasher: KeyHasher) -> u64 {
                (**self).hash_with(hasher)
            }
        }
    )*};
}
key_pointers!(&K, &mut K, Box<K>, Rc<K>, Arc<K>);

impl<K: Key + ToOwned + ?Sized> Key for Cow<'_, K> {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        (**self).hash_with(hasher)
    }
}
