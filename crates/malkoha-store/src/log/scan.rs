//! Reading a file from front to back.

use super::file::LogFile;
use super::header::HEADER_BYTES;
use super::record::{HEAD, Head, Kind, Record};
use super::to_usize;
use crate::storage::Sequential;

/// Reads the records of one file in order.
pub(crate) struct Scan<'a> {
    file: &'a LogFile,
    offset: u64,
    /// The sequence number that the next record must have.
    sequence: u64,
    end: u64,
    /// The offset until which reading was announced to the system.
    announced: u64,
    sequential: Sequential<'a>,
}

/// Bytes announced to the system at a time, so that sequential reads need not wait for each page.
const AHEAD: u64 = 1 << 20;

#[derive(Debug)]
pub(crate) enum Step<'a> {
    /// A record, where it is, and its sequence number.
    Record(Record<'a>, u64, u64),
    /// The file was sealed here, so nothing is missing.
    Sealed,
    /// No whole record begins here.
    Gap,
    /// As far as was asked for.
    End,
}

impl<'a> Scan<'a> {
    /// From `offset`, where the record has this sequence number, to `end`.
    pub(crate) fn new(file: &'a LogFile, offset: u64, sequence: u64, end: u64) -> Self {
        let sequential = file.view.sequential();
        Self { file, offset, sequence, end, announced: offset, sequential }
    }

    /// Where the next record begins.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The sequence number of the next record.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    pub(crate) fn step(&mut self) -> Step<'a> {
        if self.offset >= self.end {
            return Step::End;
        }
        let (offset, sequence) = (self.offset, self.sequence);
        if offset + AHEAD > self.announced {
            let begin = self.announced.max(offset);
            self.file.will_need(begin, 2 * AHEAD);
            self.announced = begin + 2 * AHEAD;
        }
        // Bytes that a piece lacks can have been written since, or be readable by themselves.
        let ahead = self.file.next_record(&mut self.sequential, offset);
        match ahead.or_else(|| self.file.try_record(offset)) {
            Some(record) if follows(record.head.sequence, sequence, 1) => {
                self.offset += record.bytes();
                self.sequence += 1;
                if record.head.kind == Kind::Seal {
                    Step::Sealed
                } else {
                    Step::Record(record, offset, sequence)
                }
            }
            _ => Step::Gap,
        }
    }

    /// Goes back to an earlier record.
    pub(crate) fn back_to(&mut self, offset: u64, sequence: u64) {
        (self.offset, self.sequence) = (offset, sequence);
    }

    /// Continues behind damage, at the next undamaged record if there is one.
    pub(crate) fn skip_damage(&mut self) -> bool {
        match find_record(self.file, self.offset + super::UNIT, self.sequence) {
            Some((offset, sequence)) if offset < self.end => {
                (self.offset, self.sequence) = (offset, sequence);
                true
            }
            _ => false,
        }
    }
}

/// The records, with their offsets and sequence numbers. Each damaged or unreadable place is one
/// error with its offset, and reading continues behind it.
impl<'a> Iterator for Scan<'a> {
    type Item = Result<(Record<'a>, u64, u64), u64>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if let Step::Record(record, offset, sequence) = step {
            return Some(Ok((record, offset, sequence)));
        }
        let (offset, is_gap) = (self.offset, matches!(step, Step::Gap));
        if !is_gap || !self.skip_damage() {
            self.end = offset;
        }
        is_gap.then_some(Err(offset))
    }
}

impl LogFile {
    /// The records up to `end`.
    pub(crate) fn records(&self, end: u64) -> Scan<'_> {
        Scan::new(self, HEADER_BYTES as u64, self.header.first_sequence, end)
    }
}

/// Whether the low half of a sequence number can be that of one of the `window` from `next` on.
fn follows(low: u32, next: u64, window: u32) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "the low half is compared")]
    let next = next as u32;
    low.wrapping_sub(next) < window
}

/// The first undamaged record at `offset` or later, and its sequence number, which is `sequence` or
/// not much more.
pub(crate) fn find_record(file: &LogFile, offset: u64, sequence: u64) -> Option<(u64, u64)> {
    /// The most records that damage can have hidden.
    const WINDOW: u32 = 1 << 28;
    /// Bytes that are read together, because each read might be a system call.
    const PIECE: u64 = 1 << 16;
    let mut at = offset;
    while let Some(written) = file.written(at) {
        at = at.max(written.start.next_multiple_of(super::UNIT));
        while at < written.end {
            let piece = file.piece(at, PIECE + HEAD as u64);
            let begin = at;
            while at < written.end && at - begin < PIECE {
                // Cheap tests first: at most places no record begins.
                let head = piece.get(to_usize(at - begin)..).and_then(Head::parse);
                if let Some(head) = head.filter(|head| follows(head.sequence, sequence, WINDOW))
                    && file.try_record(at).is_some()
                {
                    #[expect(clippy::cast_possible_truncation, reason = "the low half is compared")]
                    let ahead = head.sequence.wrapping_sub(sequence as u32);
                    return Some((at, sequence.checked_add(u64::from(ahead))?));
                }
                at += super::UNIT;
            }
        }
    }
    None
}
