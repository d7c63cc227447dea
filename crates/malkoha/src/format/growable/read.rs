//! Reading growable tables from streams.

use std::io::Read;

use super::GrowableLoader;
use crate::format::{FileKind, ReadError};
use crate::growable::Growing;
use crate::key::KeyHasher;
#[cfg(feature = "mmap")]
use crate::table::Memory;

/// Reads exactly the bytes of a file of this kind, and checks all of them.
pub(crate) fn read(
    kind: FileKind,
    reader: &mut dyn Read,
) -> Result<(Growing, KeyHasher), ReadError> {
    let mut loader = GrowableLoader::new(kind);
    let mut part = Vec::new();
    while loader.wanted() > 0 {
        part.clear();
        // Never more than a segment.
        let whole = loader.wanted();
        (&mut *reader).take(whole as u64).read_to_end(&mut part)?;
        loader.push(&part)?;
        if part.len() < whole {
            break;
        }
    }
    loader.into_table()
}

/// The table in a whole file that is memory: all of it is checked, and its segments stay there.
#[cfg(feature = "mmap")]
pub(crate) fn map(kind: FileKind, file: Memory) -> Result<(Growing, KeyHasher), ReadError> {
    GrowableLoader::in_place(kind, file)
}
