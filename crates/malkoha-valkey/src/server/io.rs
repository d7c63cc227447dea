//! Streams of the server: RDB files and payloads of RESTORE.

use std::slice;

use valkey_module::raw::RedisModuleIO;

use crate::value::{Damaged, Sink, Source};

pub(super) struct RdbWriter(pub(super) *mut RedisModuleIO);

impl Sink for RdbWriter {
    fn number(&mut self, number: u64) {
        // SAFETY: the stream is that of the callback that made us.
        unsafe { call!(RedisModule_SaveUnsigned(self.0, number)) };
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: as above; the bytes are copied.
        unsafe { call!(RedisModule_SaveStringBuffer(self.0, bytes.as_ptr().cast(), bytes.len())) };
    }
}

pub(super) struct RdbReader(pub(super) *mut RedisModuleIO);

impl RdbReader {
    fn checked<T>(&self, value: T) -> Result<T, Damaged> {
        // SAFETY: the stream is that of the callback that made us.
        let failed = unsafe { call!(RedisModule_IsIOError(self.0)) } != 0;
        if failed { Err(Damaged("the data ends early or has other types")) } else { Ok(value) }
    }
}

impl Source for RdbReader {
    fn number(&mut self) -> Result<u64, Damaged> {
        // SAFETY: the stream is that of the callback that made us.
        let number = unsafe { call!(RedisModule_LoadUnsigned(self.0)) };
        self.checked(number)
    }

    fn bytes(&mut self) -> Result<Vec<u8>, Damaged> {
        let mut len = 0;
        // SAFETY: as above; what comes back is ours to free. It is null only on errors.
        let start = unsafe { call!(RedisModule_LoadStringBuffer(self.0, &mut len)) };
        if start.is_null() {
            return Err(Damaged("the data ends early or has other types"));
        }
        // SAFETY: so many bytes are there.
        let bytes = unsafe { slice::from_raw_parts(start.cast::<u8>(), len) }.to_vec();
        // SAFETY: allocated by the server for us, freed once.
        unsafe { call!(RedisModule_Free(start.cast())) };
        self.checked(bytes)
    }
}
