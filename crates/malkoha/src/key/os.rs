//! Paths and other strings of the operating system, where they have a stable form.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::hasher::KeyHasher;
use super::traits::Key;

impl Key for OsStr {
    #[cfg(unix)]
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        use std::os::unix::ffi::OsStrExt;
        hasher.hash_bytes(self.as_bytes())
    }

    /// Text is hashed as on Unix. `as_encoded_bytes` would do for the rest too, but may change
    /// between releases of the standard library.
    #[cfg(windows)]
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        use std::os::windows::ffi::OsStrExt;
        match self.to_str() {
            Some(text) => text.hash_with(hasher),
            None => super::blocks::hash_integers(self.encode_wide().map(u16::to_le_bytes), hasher),
        }
    }
}

macro_rules! key_as_os_str {
    ($($type:ty => $as_os_str:ident),*) => {$(
        impl Key for $type {
            #[inline]
            fn hash_with(&self, hasher: KeyHasher) -> u64 {
                self.$as_os_str().hash_with(hasher)
            }
        }
    )*};
}
key_as_os_str!(OsString => as_os_str, Path => as_os_str, PathBuf => as_os_str);
