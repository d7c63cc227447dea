//! Shared tables in files: one in one piece as the set of fixed size that it is, one in parts as a
//! kind of its own.

use std::io::{self, Read, Write};

use super::restore::Restorer;
use super::shared::Shared;
use super::snapshot::Piece;
use super::space::{Buckets, Depth, InParts, OnePiece, Root};
use super::table::Table;
use crate::error::BuildError;
use crate::filter::whole;
use crate::format::{Content, FileKind, PartsFile, ReadError};
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
        save(&shared.table, (hasher, shared.capacity()), writer).map(drop)
    }

    fn load<P: Locking>(reader: &mut dyn Read) -> Result<(Shared<P, Self>, KeyHasher), ReadError> {
        let space = |file: &PartsFile| Self::empty(&file.geometry, file.doublings, Root);
        let (restorer, file) = load(reader, &space)?;
        let shared = restorer.finish(super::shared::KICKS, file.capacity);
        Ok((shared.map_err(|_| PartsFile::misfit("parts", 0))?, file.hasher))
    }
}

/// Writes a table, and all below; returns how many copies they have.
fn save<P: Locking, D: Depth>(
    table: &Table<P, InParts<D>>,
    (hasher, capacity): (KeyHasher, u64),
    writer: &mut dyn Write,
) -> io::Result<u64> {
    let pieces: Vec<Piece> = table.pieces().collect();
    let mut len = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(piece.copies));
    let (spent, mut below) = (Piece::spent(&pieces), Vec::new());
    for (name, child) in table.children_of(&spent) {
        let mut file = Vec::new();
        len = len.saturating_add(save(child, (hasher, capacity), &mut file)?);
        below.push((name, file));
    }
    let (geometry, doublings) = (table.geometry, table.space.doublings());
    PartsFile { geometry, doublings, hasher, capacity, len }.write(&pieces, &below, writer)?;
    Ok(len)
}

/// Reads a table, whose memory `space` makes, and all below.
fn load<P: Locking, D: Depth>(
    reader: &mut dyn Read,
    space: &dyn Fn(&PartsFile) -> Option<InParts<D>>,
) -> Result<(Restorer<P, InParts<D>>, PartsFile), ReadError> {
    let Content { file, parts, spilled, below } = PartsFile::read(reader)?;
    let bytes = InParts::<D>::bytes_of(&file.geometry, file.doublings);
    let space = space(&file).ok_or(ReadError::Memory(bytes))?;
    let mut restorer = Restorer::new(file.geometry, space);
    for (number, (extent, words)) in (0_u64..).zip(parts) {
        restorer.add(extent, &words).map_err(|_| PartsFile::misfit("part", number))?;
    }
    for (number, (key, copies)) in (0_u64..).zip(spilled) {
        let added = restorer.add_spilled(key, copies);
        added.map_err(|_| PartsFile::misfit("spilled copies", number))?;
    }
    for (number, (name, bytes)) in (0_u64..).zip(below) {
        let misfit = || PartsFile::misfit("table below", number);
        let space = |child: &PartsFile| {
            let has_same = (child.hasher, child.capacity) == (file.hasher, file.capacity);
            let space = || restorer.space().below(name, &child.geometry, child.doublings);
            if has_same { space() } else { None }
        };
        let (child, _) =
            whole(&mut &bytes[..], |bytes| load(bytes, &space)).map_err(|_| misfit())?;
        let added = child.table().and_then(|child| restorer.add_below(name, child));
        added.map_err(|_| misfit())?;
    }
    let copies = restorer.copies();
    if copies != file.len {
        return Err(ReadError::Count { header: file.len, table: copies });
    }
    Ok((restorer, file))
}
