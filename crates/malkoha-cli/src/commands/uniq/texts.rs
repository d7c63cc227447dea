//! Regular files as one text in memory, in which a line is known by where it begins.

use std::sync::Arc;

use memchr::memchr;

use crate::input::{Inputs, List};

/// Mapped files, one behind the other.
pub(super) struct Texts {
    /// Where each file begins.
    bases: Vec<u64>,
    maps: Vec<List>,
    separator: u8,
}

impl Texts {
    /// The files of `inputs`, if each of them is one that can be mapped.
    pub(super) fn of(inputs: &Inputs) -> Option<Self> {
        let (mut bases, mut maps, mut end) = (Vec::new(), Vec::new(), 0);
        for path in inputs.paths() {
            let map = List::map(path)?;
            bases.push(end);
            end += map.len() as u64;
            maps.push(map);
        }
        Some(Self { bases, maps, separator: inputs.separator() })
    }

    /// The length of each file.
    pub(super) fn lengths(&self) -> Arc<[u64]> {
        self.maps.iter().map(|map| map.len() as u64).collect()
    }

    /// Where a line begins that lies so far behind the beginning of a file.
    pub(super) fn place(&self, file: usize, offset: u64) -> u64 {
        self.bases[file] + offset
    }

    /// Whether the line at `place` is `line`.
    #[inline]
    pub(super) fn is_at(&self, place: u64, line: &[u8]) -> bool {
        let rest = self.from(place);
        rest.strip_prefix(line)
            .is_some_and(|rest| rest.first().is_none_or(|&next| next == self.separator))
    }

    pub(super) fn line_at(&self, place: u64) -> &[u8] {
        let rest = self.from(place);
        memchr(self.separator, rest).map_or(rest, |end| &rest[..end])
    }

    /// The file from a place in it on.
    fn from(&self, place: u64) -> &[u8] {
        let after = match self.bases[..] {
            [_] => 1,
            _ => self.bases.partition_point(|&base| base <= place),
        };
        let Some(file) = after.checked_sub(1) else { return &[] };
        let offset = usize::try_from(place - self.bases[file]).ok();
        offset.and_then(|offset| self.maps[file].get(offset..)).unwrap_or(&[])
    }
}
