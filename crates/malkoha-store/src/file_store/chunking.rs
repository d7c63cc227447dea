//! Cuts files into chunks.

use std::io::Read;

use fastcdc::v2020::StreamCDC;

use crate::error::{Error, Result};

/// How files are cut into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunking {
    /// At places that depend on the content (FastCDC, 2020), into chunks of about this many bytes,
    /// 1 KiB to 1 MiB. An insertion or removal changes only the chunks around it.
    Content(u32),
    /// Chunks of this many bytes, 1 to 1 GiB.
    Fixed(u32),
}

impl Default for Chunking {
    fn default() -> Self {
        Self::Content(16 << 10)
    }
}

/// Calls `each` for every chunk, in order. Errors contain the name.
pub(super) fn each_chunk(
    mut input: impl Read,
    chunking: Chunking,
    name: impl Fn() -> String,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    match chunking {
        Chunking::Content(bytes) => {
            if !(1 << 10..=1 << 20).contains(&bytes) {
                return Err(Error::Option("content-defined chunks have about 1 KiB to 1 MiB"));
            }
            for chunk in StreamCDC::new(input, bytes / 4, bytes, bytes * 4) {
                let chunk = chunk.map_err(|error| Error::io("read", name())(error.into()))?;
                each(&chunk.data)?;
            }
        }
        Chunking::Fixed(bytes) => {
            if !(1..=1 << 30).contains(&bytes) {
                return Err(Error::Option("chunks of one size have 1 byte to 1 GiB"));
            }
            let mut chunk = Vec::new();
            loop {
                chunk.clear();
                let part = input.by_ref().take(u64::from(bytes)).read_to_end(&mut chunk);
                if part.map_err(|error| Error::io("read", name())(error))? == 0 {
                    break;
                }
                each(&chunk)?;
            }
        }
    }
    Ok(())
}
