//! The data of RDB files and payloads.

use std::fmt;

/// Bytes from outside that are not a filter.
#[derive(Debug)]
pub(crate) struct Damaged(pub(crate) &'static str);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Where RDB data goes.
pub(crate) trait Sink {
    fn number(&mut self, number: u64);
    fn bytes(&mut self, bytes: &[u8]);
}

/// Where RDB data comes from.
pub(crate) trait Source {
    fn number(&mut self) -> Result<u64, Damaged>;
    fn bytes(&mut self) -> Result<Vec<u8>, Damaged>;
}
