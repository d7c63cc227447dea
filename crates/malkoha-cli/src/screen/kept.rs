//! Indexes that are kept next to their lists.

mod header;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use malkoha::{CuckooMap, KeyHasher, MappedMap};

use header::{Counted, HEADER, Kept, SIGNATURE, checksum};

use super::Exact;
use super::origin::place_of_line;
use crate::input::{Inputs, List, Side, Texts, name};
use crate::progress::Progress;
use crate::records::{Bytes, Keys};

/// Where the map begins: at the beginning of a page.
const MAP_OFFSET: u64 = 4096;

/// Files can change again within one tick of their clock, in seconds, and show the same time.
const TICK: u64 = 2;

/// The state of a list when it was indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    bytes: u64,
    /// Times of the last changes of content and of metadata, in seconds and nanoseconds.
    times: [(u64, u32); 2],
}

/// The place of a list's index.
pub(crate) fn place(list: &Path) -> PathBuf {
    let mut name: OsString = list.into();
    name.push(".mlx");
    name.into()
}

/// Whether a file begins as indexes do.
pub(crate) fn is_index(path: &Path) -> bool {
    let mut start = [0; SIGNATURE.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == SIGNATURE
}

/// An index of a list, made to be kept.
pub(crate) struct Keeping {
    exact: Exact,
    header: [u8; HEADER],
}

impl Keeping {
    /// Indexes the list at `path`, with a progress bar for this many bytes.
    pub(crate) fn of(
        path: &Path,
        keys: &Keys,
        threads: usize,
        progress: impl FnOnce(u64) -> Progress,
    ) -> Result<Self> {
        let before = Identity::of(path)?;
        let is_settled = before.settle();
        let Some(list) = List::map(path) else {
            bail!("{} is no plain file of lines: indexes are kept of these only", name(path));
        };
        let mut kept = Kept {
            separator: keys.form.separator,
            is_settled,
            identity: before,
            checksum: checksum(&list),
            keys: digest_of(keys),
            bytes: Bytes::of(&list),
            counted: Counted::default(),
        };
        let side = side_of(path, keys);
        let texts = Texts::new(vec![list], &side)?;
        let progress = progress(texts.len());
        let exact = Exact::build(texts, KeyHasher::random(), threads, &progress)?;
        drop(progress);
        let [records, unfit, line] = side.keys.tally().map_or([0; 3], |tally| tally.counted(0));
        let first = place_of_line(&exact.texts, line);
        kept.counted = Counted { records, unfit, first, line };
        side.settle()?;
        if Identity::of(path)? != before {
            bail!("{} was changed while it was indexed: do it again", name(path));
        }
        Ok(Self { exact, header: kept.to_bytes() })
    }

    /// Keys in it, each once.
    pub(crate) fn map(&self) -> Result<&CuckooMap> {
        self.exact.whole_index().context("some lines found no place in the index: do it again")
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let map = self.map().map_err(io::Error::other)?;
        let mut header = self.header.to_vec();
        header.resize(usize::try_from(MAP_OFFSET).unwrap_or(HEADER), 0);
        out.write_all(&header)?;
        map.write_to(out)
    }
}

/// The list at `path` with the index that is kept next to it; `None` if there is no index.
///
/// # Errors
///
/// Why the index cannot be used.
pub(crate) fn open(path: &Path, keys: &Keys, is_strict: bool) -> Result<Option<Exact>> {
    let place = place(path);
    let Ok(mut file) = File::open(&place) else { return Ok(None) };
    let mut header = [0; HEADER];
    file.read_exact(&mut header).context("it is no index")?;
    let identity = Identity::of(path)?;
    let kept = Kept::read(&header)?;
    if kept.separator != keys.form.separator {
        bail!("it is of records that end otherwise (see --null)");
    }
    let of_lines = keys.of_lines(&kept.bytes);
    // No index would serve lines that have several fields; and reading ends at the first of those
    // that cannot be compared.
    if keys.are_whole() && of_lines.is_empty() || is_strict && kept.counted.unfit > 0 {
        return Ok(None);
    }
    let mut same = std::iter::once(keys.clone()).chain(of_lines);
    if !same.any(|keys| digest_of(&keys) == kept.keys) {
        bail!("it is of other fields, of another spelling or of another digest");
    }
    if identity.bytes != kept.identity.bytes {
        bail!("the list has another size now");
    }
    let Some(list) = List::map(path) else { bail!("the list is no plain file of lines") };
    if list.bytes_of_file() != kept.identity.bytes {
        bail!("the list has another size now");
    }
    let is_untouched = kept.is_settled && identity == kept.identity;
    if !is_untouched && checksum(&list) != kept.checksum {
        bail!("the list has changed");
    }
    // SAFETY: indexes are replaced by renaming, as filter files are, and nobody may change one in
    // place, which the documentation of the command says.
    let map = unsafe { MappedMap::map_at(&file, MAP_OFFSET) }?;
    let side = side_of(path, keys);
    let texts = Texts::new(vec![list], &side)?;
    let Counted { records, unfit, first, line } = kept.counted;
    if kept.keys == 0 && keys.are_digests() && !texts.fit() {
        bail!("it has lines that cannot be compared here");
    }
    side.keys.note_unread(records, unfit, (texts.record_at(first), line))?;
    side.settle()?;
    Ok(Some(Exact::kept(texts, map)))
}

/// A list alone.
fn side_of(path: &Path, keys: &Keys) -> Side {
    let inputs = Inputs::new(vec![path.into()], keys.form.separator);
    Side::new(inputs, keys.clone(), true, false)
}

/// Distinguishes which fields are indexed, and how they are spelled.
fn digest_of(keys: &Keys) -> u32 {
    let description = keys.description();
    #[expect(clippy::cast_possible_truncation, reason = "half of it is enough")]
    let digest = checksum(description.as_bytes()) as u32 | 1;
    if description.is_empty() { 0 } else { digest }
}

/// Compares all of an index with its checksums.
pub(crate) fn verify(path: &Path) -> Result<()> {
    let mut header = [0; HEADER];
    let mut file = File::open(path)?;
    file.read_exact(&mut header).context("it is no index")?;
    Kept::read(&header)?;
    // SAFETY: as in `open`.
    let map: MappedMap = unsafe { MappedMap::map_at(&file, MAP_OFFSET) }?;
    Ok(map.verify()?)
}

impl Identity {
    fn of(path: &Path) -> Result<Self> {
        let metadata =
            path.metadata().with_context(|| format!("cannot open list {}", name(path)))?;
        let of = |time: SystemTime| {
            let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
            (since.as_secs(), since.subsec_nanos())
        };
        let modified = of(metadata.modified()?);
        Ok(Self { bytes: metadata.len(), times: [modified, changed(&metadata, modified)] })
    }

    /// Waits until a change would get another time. Returns `false` if the clocks are too far apart
    /// to know: such a list is always compared as a whole.
    fn settle(&self) -> bool {
        let last = self.times.iter().map(|&(seconds, _)| seconds).max().unwrap_or(0);
        for _ in 0..=TICK {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            match (last + TICK).checked_sub(now.as_secs()) {
                None => return true,
                Some(left) if left > TICK => return false,
                Some(_) => thread::sleep(Duration::from_secs(1)),
            }
        }
        false
    }
}

/// The time of the last change of a file or its metadata, which no program can set back. If the
/// system has none, the time of the last change of the content.
#[cfg(unix)]
fn changed(metadata: &Metadata, _: (u64, u32)) -> (u64, u32) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime().unsigned_abs(), u32::try_from(metadata.ctime_nsec()).unwrap_or(0))
}

#[cfg(not(unix))]
fn changed(_: &Metadata, modified: (u64, u32)) -> (u64, u32) {
    modified
}
