//! Reads a stretch of a file up to the end of the log, and distinguishes the end from damage.

use super::unknown::Opened;
use super::{OnDamage, Opening};
use crate::error::{Error, Result};
use crate::log::{LogFile, Record, Scan, Step, UNIT, find_record};
use crate::replay::Changes;

/// Bytes that are read before they are processed. No more than this is in memory, whatever the size
/// of a file.
const STRETCH: u64 = 128 << 20;

pub(super) struct Read {
    pub(super) changes: Changes,
    pub(super) damage: Vec<Error>,
    pub(super) ended: Ended,
    pub(super) end: u64,
    /// How much of the file was durable according to its records, if one says so. All earlier files
    /// were durable then too.
    pub(super) durable: Option<u64>,
    /// The sequence number of the next record.
    pub(super) sequence: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Stretch,
    File,
    Log,
}

impl Opening<'_> {
    /// Reads at least a stretch of a file from an offset on, where the record has this sequence
    /// number.
    pub(super) fn read(
        &self,
        file: &LogFile,
        from: u64,
        sequence: u64,
        later: &[u64],
    ) -> Result<Read> {
        let mut scan = Scan::new(file, from, sequence, file.capacity());
        let (mut changes, mut damage) = (Changes::new(file), Vec::new());
        let mut durable = None;
        let ended = loop {
            match scan.step() {
                Step::Record(record, offset, sequence) => {
                    let claim = record.head.unsynced().map(|bytes| offset.saturating_sub(bytes));
                    durable = durable.max(claim);
                    changes.push(&record, offset, sequence);
                    if offset - from >= STRETCH && changes.unfinished().is_none() {
                        break Ended::Stretch;
                    }
                }
                Step::Sealed if changes.unfinished().is_none() => break Ended::File,
                end @ (Step::Sealed | Step::Gap | Step::End) => {
                    let here = (scan.offset(), scan.sequence());
                    let (offset, sequence) = changes.unfinished().unwrap_or(here);
                    let repairing = self.on_damage == OnDamage::Skip;
                    let is_lost = file.is_lost();
                    if is_lost && !repairing {
                        return Err(file.no_record(here.0));
                    }
                    // A repair keeps the whole records of a batch if the batch was ever finished.
                    let from = if repairing { here } else { (offset, sequence) };
                    if !is_lost && !self.is_damage(file, from.0, from.1, later)? {
                        changes.cut();
                        scan.back_to(offset, sequence);
                        // A repair keeps useless bytes in a file of another name.
                        if repairing && file.leftovers(offset).next().is_some() {
                            damage.push(file.damaged(offset, "nothing whole follows"));
                            break Ended::File;
                        }
                        break Ended::Log;
                    }
                    damage.push(file.no_record(from.0));
                    if !repairing {
                        break Ended::File;
                    }
                    changes.finish();
                    // Nobody reads on behind a seal.
                    if matches!(end, Step::Sealed) || !scan.skip_damage() {
                        break Ended::File;
                    }
                }
            }
        };
        let (end, sequence) = (scan.offset(), scan.sequence());
        // A page lost after its checksum was compared reads as zeros, so a key might be wrong.
        if file.is_lost() && self.on_damage == OnDamage::Refuse {
            return Err(file.no_record(end));
        }
        Ok(Read { changes, damage, ended, end, durable, sequence })
    }

    /// Whether a record at `offset` is known to have been durable. Otherwise the log ends there, as
    /// it may after a crash.
    fn is_damage(&self, file: &LogFile, offset: u64, sequence: u64, later: &[u64]) -> Result<bool> {
        if self.known.iter().any(|known| known.id == file.id() && offset < known.end) {
            return Ok(true);
        }
        let mut at = (offset, sequence);
        while let Some((found, sequence)) = find_record(file, at.0 + UNIT, at.1) {
            let record = file.try_record(found);
            let unsynced = record.and_then(|record| record.head.unsynced());
            let was_durable = unsynced.is_some_and(|bytes| found.saturating_sub(bytes) > offset);
            if was_durable || self.on_damage == OnDamage::Skip {
                return Ok(true);
            }
            at = (found, sequence);
        }
        self.is_synced_later(file.id(), offset, later)
    }

    /// Whether later files say that this offset of a file was durable.
    pub(super) fn is_synced_later(&self, id: u64, offset: u64, later: &[u64]) -> Result<bool> {
        let Some(&next) = later.first() else { return Ok(false) };
        if next != id + 1 {
            // A compaction removed the files between, and had synced the log before.
            return Ok(true);
        }
        let repairing = self.on_damage == OnDamage::Skip;
        for &id in later {
            let later = match self.open(id) {
                // A crash leaves a whole header or none.
                Err(error) if error.is_unreadable() => return Ok(true),
                Ok(Opened::Headless) if repairing => return Ok(true),
                Ok(Opened::Unwritten | Opened::Headless) => continue,
                Ok(Opened::File(file)) => file,
                Err(error) => return Err(error),
            };
            if id == next && later.header.durable_before > offset {
                return Ok(true);
            }
            let says = |record: Record<'_>| repairing || record.head.unsynced().is_some();
            if later.records(later.capacity()).flatten().any(|(record, ..)| says(record)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
