//! The puts of a table in a log file, sorted by key.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;

use super::UNIT;
use super::file::LogFile;
use crate::error::Result;

/// The runs of each table that has records. `None` if the table was not kept in order.
pub(super) type Tables = BTreeMap<u32, Option<Vec<Arc<Run>>>>;

/// The sorted records of a log file. Empty until somebody asks.
#[derive(Default)]
pub(super) struct Order {
    pub(super) sorted: Mutex<Sorted>,
    pub(super) bytes: AtomicU64,
}

#[derive(Default)]
pub(super) struct Sorted {
    /// All records before this offset are sorted.
    pub(super) until: u64,
    /// The sequence number of the record there.
    pub(super) sequence: u64,
    pub(super) tables: Tables,
    /// Places without a whole record.
    pub(super) damaged: Vec<u64>,
    /// Whether its file was read, or found missing.
    pub(super) looked: bool,
    /// The offset until which its file has it.
    pub(super) saved: u64,
}

/// Positions of records, by key. Their keys stay in the log, except for a part of each that is
/// usually enough for a search.
#[derive(Default)]
pub(crate) struct Run {
    /// Offsets in units of 8 bytes.
    pub(super) units: Vec<u32>,
    /// Bytes that all keys begin with.
    pub(super) shared: Vec<u8>,
    /// The eight bytes behind them of each key, as [`begin`].
    pub(super) begins: Vec<u64>,
}

impl Run {
    /// One run of two; `None` if a record that must be read for that is no longer whole.
    pub(super) fn merge(file: &LogFile, first: &Self, second: &Self) -> Option<Arc<Self>> {
        let shared = common(&first.shared, &second.shared);
        let count = first.len() + second.len();
        let (mut units, mut begins) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut i, mut j) = (0, 0);
        while units.len() < count {
            let (a, b) = (first.begin(i, shared.len()), second.begin(j, shared.len()));
            let is_first = match (a, b) {
                (Some(a), Some(b)) if a == b => {
                    let records = [first.offset(i), second.offset(j)].map(|it| file.try_record(it));
                    let [Some(left), Some(right)] = records else { return None };
                    left.key().name <= right.key().name
                }
                (Some(a), Some(b)) => a < b,
                (a, _) => a.is_some(),
            };
            let (run, at, begin) = if is_first { (first, &mut i, a) } else { (second, &mut j, b) };
            units.push(run.units[*at]);
            begins.extend(begin);
            *at += 1;
        }
        // A page that is lost after a checksum was compared shows another key.
        (!file.is_lost()).then(|| Arc::new(Self { units, shared: shared.to_vec(), begins }))
    }

    /// The part of a key behind this many bytes that all keys begin with.
    fn begin(&self, at: usize, shared: usize) -> Option<u64> {
        let (before, part) = (&self.shared[shared..], *self.begins.get(at)?);
        let moved = u32::try_from(8 * before.len()).ok().and_then(|bits| part.checked_shr(bits));
        Some(begin(before) | moved.unwrap_or(0))
    }

    pub(crate) fn len(&self) -> usize {
        self.units.len()
    }

    /// The offset of a record in the log file.
    pub(crate) fn offset(&self, at: usize) -> u64 {
        u64::from(self.units[at]) * UNIT
    }

    /// The position of the first key that is not before this one. An error if a record that must be
    /// read for that is damaged.
    pub(crate) fn find(&self, file: &LogFile, key: &[u8]) -> Result<usize> {
        let Range { mut start, mut end } = self.around(key);
        while start < end {
            let middle = start + (end - start) / 2;
            let location = file.location(self.offset(middle));
            let is_before = file.record(location)?.key().name < key;
            // A page that is lost after the checksum was compared shows another key.
            file.check_read(location)?;
            if is_before {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        Ok(start)
    }

    /// Where that can be, by the parts of keys in memory.
    fn around(&self, key: &[u8]) -> Range<usize> {
        let Some(rest) = key.strip_prefix(&self.shared[..]) else {
            let at = if *key < self.shared[..] { 0 } else { self.len() };
            return at..at;
        };
        let begin = begin(rest);
        let start = self.begins.partition_point(|&it| it < begin);
        // Keys with this part begin with the rest, unless it has more bytes or ends with zeros.
        if rest.len() <= size_of::<u64>() && rest.last() != Some(&0) {
            return start..start;
        }
        start..start + self.begins[start..].partition_point(|&it| it == begin)
    }

    pub(super) fn bytes(&self) -> u64 {
        let parts = [size_of_val(&*self.units), size_of_val(&*self.begins), self.shared.len()];
        (size_of::<Self>() + parts.iter().sum::<usize>()) as u64
    }
}

/// The first eight bytes as a number that compares as they do.
pub(crate) fn begin(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            u64::from_be_bytes(padded)
        }
    }
}

/// The bytes that both begin with.
pub(crate) fn common<'a>(a: &'a [u8], b: &[u8]) -> &'a [u8] {
    &a[..a.iter().zip(b).take_while(|(a, b)| a == b).count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(names: &[Vec<u8>]) -> Run {
        let shared = common(&names[0], names.last().unwrap()).to_vec();
        let begins = names.iter().map(|name| begin(&name[shared.len()..])).collect();
        Run { units: vec![0; names.len()], shared, begins }
    }

    #[test]
    fn a_search_reads_no_key_that_differs_in_eight_bytes() {
        let name = |n: u64| [b"koel", &n.to_be_bytes()[..]].concat();
        let names: Vec<_> = (1..5000).map(name).collect();
        let run = run(&names);
        for (place, name) in names.iter().enumerate() {
            let around = run.around(name);
            assert!(around.len() <= 1 && around.start == place, "{name:?}");
        }
    }
}
