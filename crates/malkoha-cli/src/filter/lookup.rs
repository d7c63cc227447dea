//! Filter files of every kind, to look lines up in.

use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};
use malkoha::tables::{Ages, Candidates, Expiring, Fixed, Growing};
use malkoha::{
    FileKind, Filter, GrowableCuckooFilter, GrowableCuckooMap, KeyHasher, Keys, MappedFile,
    ReadError, Values,
};

use super::Lines;
use super::facts::{Facts, Shape};
use crate::input::{is_dash, name};
use crate::records::Batch;
use crate::time::Now;

/// A filter or map of any kind.
pub(crate) trait Lookup: Send + Sync {
    fn hasher(&self) -> KeyHasher;

    /// Sets `found[i]` to whether `hashes[i]` is in.
    fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]);

    /// The number of copies; in a map, of values.
    fn count_hash(&self, hash: u64) -> u64;

    /// Candidate values in ascending order, each with a number of copies; in a set there are none.
    fn candidates(&self, hash: u64) -> Vec<(u64, u64)>;

    fn facts(&self) -> Facts;

    /// Checks everything that was not checked when the file was opened.
    fn verify(&self) -> Result<(), ReadError>;
}

impl<T: Opened<C>, C: Lines> Lookup for Filter<T, C> {
    fn hasher(&self) -> KeyHasher {
        self.hasher()
    }

    fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        self.contains_hashes(hashes, found);
    }

    fn count_hash(&self, hash: u64) -> u64 {
        self.count_hash(hash)
    }

    fn candidates(&self, hash: u64) -> Vec<(u64, u64)> {
        let mut candidates = C::candidates(self, hash);
        candidates.sort_unstable();
        candidates
    }

    fn facts(&self) -> Facts {
        Facts::of(self, T::shape(self))
    }

    fn verify(&self) -> Result<(), ReadError> {
        T::verify(self)
    }
}

impl dyn Lookup {
    /// Sets `found[i]` to whether `keys[i]` is in.
    pub(crate) fn contains_keys(&self, keys: &[&[u8]], found: &mut [bool]) {
        let hasher = self.hasher();
        let hashes: Vec<u64> = keys.iter().map(|key| hasher.hash_bytes(key)).collect();
        self.contains_hashes(&hashes, found);
    }

    /// The records of a batch, and the hashes of those that are in. All are looked up at once, so
    /// that cache misses overlap.
    pub(crate) fn found<'t>(
        &self,
        batch: &Batch<'_, 't>,
    ) -> Result<impl Iterator<Item = (&'t [u8], Option<u64>)>> {
        let hasher = self.hasher();
        let hashes: Vec<u64> = batch.keys.iter().map(|key| hasher.hash_bytes(key)).collect();
        let mut found = vec![false; batch.len()];
        self.contains_hashes(&hashes, &mut found);
        batch.unfit.iter().for_each(|&i| found[i] = false);
        batch.prove_by(&found, &[], |keys, found| {
            self.contains_keys(keys, found);
            Ok(())
        })?;
        let hashes = hashes.into_iter().zip(found).map(|(hash, found)| found.then_some(hash));
        Ok(batch.records.iter().copied().zip(hashes))
    }
}

/// A table as it is when its file has been opened.
trait Opened<C: Lines>: Candidates + Send + Sync + Sized + 'static {
    fn shape(filter: &Filter<Self, C>) -> Shape;

    fn verify(_: &Filter<Self, C>) -> Result<(), ReadError> {
        Ok(())
    }
}

impl<C: Lines> Opened<C> for Fixed {
    fn shape(filter: &Filter<Self, C>) -> Shape {
        Shape::fixed(filter.geometry())
    }
}

impl<C: Lines> Opened<C> for Fixed<MappedFile> {
    fn shape(filter: &Filter<Self, C>) -> Shape {
        Shape::fixed(filter.geometry())
    }

    fn verify(filter: &Filter<Self, C>) -> Result<(), ReadError> {
        filter.verify()
    }
}

impl<C: Lines> Opened<C> for Growing {
    fn shape(filter: &Filter<Self, C>) -> Shape {
        Shape::growable(filter.buckets(), filter.segments())
    }
}

impl Opened<Keys> for Expiring<Fixed> {
    fn shape(filter: &Filter<Self>) -> Shape {
        Shape::aged(false, filter)
    }
}

impl Opened<Keys> for Expiring<Growing> {
    fn shape(filter: &Filter<Self>) -> Shape {
        Shape::aged(true, filter)
    }
}

/// Opens a filter file. Filters of fixed size are mapped, and only the header is checked. Those
/// that grow or expire are read, and every byte is checked. The time of expiring ones is set to
/// `now`.
pub(crate) fn open(path: &Path, now: Now) -> Result<Box<dyn Lookup>> {
    named(path, read(path, now))
}

/// The opened filter, or the error with the name of the file.
pub(super) fn named<T>(path: &Path, opened: Result<T, ReadError>) -> Result<T> {
    match opened {
        Err(ReadError::Signature) => bail!(
            "{} is not a filter file: 'malkoha build' makes one from its lines, and 'malkoha \
             screen --list' takes the lines as they are",
            name(path)
        ),
        opened => opened.with_context(|| format!("cannot open filter {}", name(path))),
    }
}

/// Opens a filter file and checks all of it.
pub(crate) fn open_verified(path: &Path, now: Now) -> Result<Box<dyn Lookup>> {
    let filter = open(path, now)?;
    filter.verify().with_context(|| format!("cannot use filter {}", name(path)))?;
    Ok(filter)
}

fn read(path: &Path, now: Now) -> Result<Box<dyn Lookup>, ReadError> {
    Ok(match kind(path)? {
        FileKind::ExpiringSet => Box::new(read_at::<Fixed>(path, now)?),
        FileKind::GrowableExpiringSet => Box::new(read_at::<Growing>(path, now)?),
        FileKind::GrowableSet => Box::new(GrowableCuckooFilter::open(path)?),
        FileKind::GrowableMap => Box::new(GrowableCuckooMap::open(path)?),
        FileKind::Map => mapped::<Values>(path)?,
        _ => mapped::<Keys>(path)?,
    })
}

/// Reads a set whose lines expire, and sets its time to `now`.
pub(super) fn read_at<T: Ages>(path: &Path, now: Now) -> Result<Filter<Expiring<T>>, ReadError> {
    let mut filter = Filter::<Expiring<T>>::open(path)?;
    filter.advance(now.of(filter.now()));
    Ok(filter)
}

fn mapped<C: Lines>(path: &Path) -> Result<Box<dyn Lookup>, ReadError> {
    // SAFETY: nobody may change a filter file in place, which the documentation of the command
    // says; this command replaces filter files by renaming, which a mapped file does not notice.
    let filter = unsafe { Filter::<Fixed<MappedFile>, C>::map(path) }?;
    Ok(Box::new(filter))
}

/// The kind of the file at `path`, by its header.
pub(super) fn kind(path: &Path) -> Result<FileKind, ReadError> {
    if is_dash(path) {
        let why = "'-' is for lines: name the file of the filter";
        return Err(io::Error::other(why).into());
    }
    let metadata = path.metadata()?;
    if !metadata.is_file() && !metadata.is_dir() {
        let why = "it is a pipe or a device, and filters are read twice: write it to a file first";
        return Err(io::Error::other(why).into());
    }
    FileKind::of_file(path)
}
