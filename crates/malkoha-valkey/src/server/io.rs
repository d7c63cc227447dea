//! Streams of the server: RDB files and payloads of RESTORE. Each is that of the callback that made
//! the reader or the writer.

use valkey_module::raw::{self, RedisModuleIO};

use crate::value::{Damaged, Sink, Source};

/// The error of a stream that does not have what is read.
const NOT_THERE: Damaged = Damaged("the data ends early or has other types");

pub(super) struct RdbWriter(pub(super) *mut RedisModuleIO);

impl Sink for RdbWriter {
    fn number(&mut self, number: u64) {
        raw::save_unsigned(self.0, number);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        raw::save_slice(self.0, bytes);
    }
}

pub(super) struct RdbReader(pub(super) *mut RedisModuleIO);

impl Source for RdbReader {
    fn number(&mut self) -> Result<u64, Damaged> {
        raw::load_unsigned(self.0).map_err(|_| NOT_THERE)
    }

    fn bytes(&mut self) -> Result<Vec<u8>, Damaged> {
        let bytes = raw::load_string_buffer(self.0).map_err(|_| NOT_THERE)?;
        Ok(bytes.as_ref().to_vec())
    }
}
