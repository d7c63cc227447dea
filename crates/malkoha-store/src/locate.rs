//! From the candidates of the index to the record of a key.

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::Result;
use crate::index::{Index, lost_file};
use crate::log::{Key, LogFile, LogFiles, Parts, Record};

/// The present record of a key.
pub(crate) struct Located<'t> {
    pub(crate) location: u64,
    pub(crate) file: &'t Arc<LogFile>,
    pub(crate) record: Record<'t>,
}

impl<'t> Located<'t> {
    #[inline(always)]
    pub(crate) fn value(&self) -> Result<Cow<'_, [u8]>> {
        self.file.value(&self.record, self.file.offset(self.location))
    }

    pub(crate) fn into_parts(self) -> Result<Parts<'t>> {
        let (file, offset) = (self.file, self.file.offset(self.location));
        self.record.into_parts().ok_or_else(|| file.no_value(offset))
    }

    /// It is no longer the present record of its key. Returns how many of its bytes counted as live
    /// until then.
    pub(crate) fn remove_present(&self) -> u64 {
        self.file.remove_present(self.record.expires(), self.record.bytes())
    }
}

/// Looks a key up. All locations in the index lie in these files.
#[inline]
pub(crate) fn locate<'t>(
    index: &Index,
    files: &'t LogFiles,
    hash: u64,
    key: Key<'_>,
) -> Result<Option<Located<'t>>> {
    let Some((candidates, ())) = index.find(hash, || ()) else { return Ok(None) };
    locate_among(candidates.as_slice().iter().copied(), files, key)
}

/// The candidate that has the key.
#[inline(always)]
pub(crate) fn locate_among<'t>(
    candidates: impl IntoIterator<Item = u64>,
    files: &'t LogFiles,
    key: Key<'_>,
) -> Result<Option<Located<'t>>> {
    for location in candidates {
        let file = files.at(location).ok_or_else(lost_file)?;
        let record = file.record(location)?;
        if record.key() == key {
            return Ok(Some(Located { location, file, record }));
        }
        // A page that is lost after the checksum was compared shows another key.
        file.check_read(location)?;
    }
    Ok(None)
}
