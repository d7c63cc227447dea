//! Shared tables in files: one in one piece as the set of fixed size that it is, one in parts as a
//! kind of its own.

use std::io::{self, Read, Write};

use super::restore::Restorer;
use super::shared::Shared;
use super::snapshot::Piece;
use super::space::{InParts, OnePiece};
use crate::error::BuildError;
use crate::format::{FileKind, PartsFile, ReadError};
use crate::key::KeyHasher;
use crate::locks::Locking;
use crate::table::Fixed;
use crate::table::traits::{Lookup, Stored};

/// How a table of a space is stored. A snapshot is taken first, in memory: threads may go on
/// changing the table while the writer waits.
pub(crate) trait Files: Sized {
    const KIND: FileKind;

    fn save<P: Locking>(
        shared: &Shared<P, Self>,
        hasher: KeyHasher,
        writer: &mut dyn Write,
    ) -> io::Result<()>;

    fn load<P: Locking>(reader: &mut dyn Read) -> Result<(Shared<P, Self>, KeyHasher), ReadError>;
}

impl Files for OnePiece {
    const KIND: FileKind = FileKind::Set;

    fn save<P: Locking>(
        shared: &Shared<P, Self>,
        hasher: KeyHasher,
        writer: &mut dyn Write,
    ) -> io::Result<()> {
        let fixed = shared.to_fixed().map_err(io::Error::other)?;
        fixed.write(Self::KIND, hasher, writer)
    }

    fn load<P: Locking>(reader: &mut dyn Read) -> Result<(Shared<P, Self>, KeyHasher), ReadError> {
        let (fixed, hasher) = Fixed::read(Self::KIND, reader)?;
        let shared = Shared::from_fixed(&fixed).map_err(|error| match error {
            BuildError::Memory { bytes } => ReadError::Memory(bytes),
            _ => ReadError::Layout(fixed.parts().geometry.layout.name()),
        })?;
        Ok((shared, hasher))
    }
}

impl Files for InParts {
    const KIND: FileKind = FileKind::SharedGrowableSet;

    fn save<P: Locking>(
        shared: &Shared<P, Self>,
        hasher: KeyHasher,
        writer: &mut dyn Write,
    ) -> io::Result<()> {
        let table = &shared.table;
        let pieces: Vec<Piece> = table.pieces().collect();
        let file = PartsFile {
            geometry: table.geometry,
            doublings: table.space.doublings(),
            hasher,
            capacity: shared.capacity(),
        };
        file.write(&pieces, writer)
    }

    fn load<P: Locking>(reader: &mut dyn Read) -> Result<(Shared<P, Self>, KeyHasher), ReadError> {
        let (file, parts, spilled) = PartsFile::read(reader)?;
        let PartsFile { geometry, doublings, hasher, capacity } = file;
        let no_memory = ReadError::Memory(Self::bytes_of(&geometry, doublings));
        let space = Self::without_parts(&geometry, doublings).ok_or(no_memory)?;
        let mut restorer = Restorer::new(geometry, space);
        for (number, (extent, words)) in (0_u64..).zip(parts) {
            restorer.add(extent, &words).map_err(|_| PartsFile::misfit("part", number))?;
        }
        for (number, (key, copies)) in (0_u64..).zip(spilled) {
            let added = restorer.add_spilled(key, copies);
            added.map_err(|_| PartsFile::misfit("spilled copies", number))?;
        }
        let shared = restorer.finish(super::shared::KICKS, capacity);
        Ok((shared.map_err(|_| PartsFile::misfit("parts", 0))?, hasher))
    }
}
