//! Replaces `std::io` without `std`: the bytes of filters are then only written to vectors.

use alloc::vec::Vec;
use core::convert::Infallible;

pub(crate) type Result<T> = core::result::Result<T, Infallible>;

/// Cannot be named outside this crate.
pub trait Write {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()>;
}

impl Write for Vec<u8> {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}
