//! Keys made of several keys.

use core::net::{SocketAddr, SocketAddrV4, SocketAddrV6};

use super::blocks::{combine, kind};
use super::hasher::KeyHasher;
use super::traits::Key;

impl<K: Key> Key for Option<K> {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        match self {
            None => combine(hasher, [hasher.hash_bytes(b"")], kind::NONE),
            Some(key) => combine(hasher, [key.hash_with(hasher)], kind::SOME),
        }
    }
}

macro_rules! key_tuples {
    ($($($name:ident),+;)*) => {$(
        impl<$($name: Key),+> Key for ($($name,)+) {
            #[inline]
            fn hash_with(&self, hasher: KeyHasher) -> u64 {
                #[expect(non_snake_case, reason = "each variable is named as its type")]
                let ($($name,)+) = self;
                combine(hasher, [$($name.hash_with(hasher)),+], kind::TUPLE)
            }
        }
    )*};
}
key_tuples! {
    A;
    A, B;
    A, B, C;
    A, B, C, D;
    A, B, C, D, E;
    A, B, C, D, E, F;
    A, B, C, D, E, F, G;
    A, B, C, D, E, F, G, H;
}

impl Key for SocketAddrV4 {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        (self.ip(), self.port()).hash_with(hasher)
    }
}

impl Key for SocketAddrV6 {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        (self.ip(), self.port(), self.flowinfo(), self.scope_id()).hash_with(hasher)
    }
}

impl Key for SocketAddr {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        match self {
            Self::V4(address) => address.hash_with(hasher),
            Self::V6(address) => address.hash_with(hasher),
        }
    }
}
