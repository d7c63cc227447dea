//! Tables that each have one partition of the tree: the segments below one home. A table can be
//! divided into such tables, and put together from them, without reading its slots: a segment's
//! bytes mean the same wherever it lies.

use std::array;

use super::grid::KeyBits;
use super::pool::Pool;
use super::record::{Home, NOTHING_KNOWN, Record, count_slots};
use super::table::{GrowParts, Growing, narrow};
use super::union::share;
use crate::addressing::index;
use crate::spill::SpillKey;

/// The depth of the deepest partition.
pub(crate) const PARTITION_BITS: u32 = 6;
/// The number of deepest partitions.
pub(crate) const MAX_PARTITIONS: usize = 1 << PARTITION_BITS;

/// The number of the deepest partition that a hash can belong to: the first bits of its key's path.
#[inline(always)]
pub(crate) fn partition_number(hash: u64) -> usize {
    let path = KeyBits::of(hash).path;
    (path >> (u64::BITS - PARTITION_BITS)) as usize
}

impl Home {
    /// The homes of the first partitions of a table whose segments begin at this depth, in order.
    pub(crate) fn partitions(root_depth: u32) -> impl Iterator<Item = Self> {
        let depth = root_depth.min(PARTITION_BITS);
        (0..1 << depth).map(move |path| Self { depth, path })
    }

    /// The number of keys up to which a partition of a table with this capacity grows in small
    /// steps: its share, and the amount by which shares differ.
    pub(crate) fn share_of(self, capacity: u64) -> u64 {
        let share = capacity >> self.depth;
        if self.depth == 0 { share } else { share + 2 * share.isqrt() }
    }

    /// The partition that a segment of this home belongs to, if the table is fully divided.
    fn partition(self) -> Self {
        let below = self.depth.saturating_sub(PARTITION_BITS);
        Self { depth: self.depth - below, path: self.path >> below }
    }

    /// The number of the first deepest partition in this one.
    #[inline(always)]
    fn first_partition(self) -> usize {
        index(self.path) << (PARTITION_BITS - self.depth)
    }
}

impl Growing {
    /// The numbers of the deepest partitions that its keys can belong to: the first, and one past
    /// the last.
    #[inline(always)]
    pub(crate) fn partition_numbers(&self) -> (usize, usize) {
        let within = self.directory.within();
        let first = within.first_partition();
        (first, first + (MAX_PARTITIONS >> within.depth))
    }

    /// Sets the number of segments in other partitions.
    #[inline(always)]
    pub(crate) fn set_others(&mut self, segments: usize) {
        self.directory.set_others(segments);
    }

    /// Whether it can be divided into several partitions: no segment has keys of both halves.
    pub(crate) fn can_part(&self) -> bool {
        let within = self.directory.within();
        within.depth < PARTITION_BITS
            && self.records.iter().all(|record| record.home.depth > within.depth)
    }

    /// The partitions that a table for this many keys [can be divided](Self::can_part) into, in
    /// order.
    pub(crate) fn parted(&self, capacity: u64) -> Vec<Self> {
        let mut of_number: [Vec<usize>; MAX_PARTITIONS] = array::from_fn(|_| Vec::new());
        for (number, record) in self.records.iter().enumerate() {
            of_number[record.home.partition().first_partition()].push(number);
        }
        let (mut len, mut filled) = (self.len, self.filled());
        let parted = of_number.iter().filter(|segments| !segments.is_empty()).map(|segments| {
            let mut gathered = Gathered::new(self);
            for &number in segments {
                let (record, bytes) = (self.record(number), self.bytes(number));
                let counted = count_slots(&self.shape, record, bytes, &mut gathered.parts.known);
                debug_assert_eq!(counted, Some(record.len), "slots are counted");
                gathered.take(self, number);
            }
            let within = self.record(segments[0]).home.partition();
            let mut partition = gathered.table(within, within.share_of(capacity), 0);
            // The share of doubles among the slots of each partition is that among all.
            partition.len = share(len, partition.filled(), filled);
            (len, filled) = (len - partition.len, filled - partition.filled());
            partition
        });
        parted.collect()
    }
}

/// Segments of several tables of one shape, which are to be one table.
#[derive(Debug)]
pub struct Gathered {
    parts: GrowParts,
    spilled: Vec<(SpillKey, u64)>,
}

impl Gathered {
    /// Nothing yet, of tables like this one.
    pub(crate) fn new(existing: &Growing) -> Self {
        let mut segments = Pool::default();
        segments.set_huge_pages(existing.segments.has_huge_pages());
        let (shape, within, known) = (existing.shape, Home::ROOT, NOTHING_KNOWN);
        let records = Vec::new();
        let parts = GrowParts { shape, within, capacity: 0, len: 0, records, segments, known };
        Self { parts, spilled: Vec::new() }
    }

    /// Takes a copy of all that is in a table.
    pub(crate) fn add(&mut self, table: &Growing) {
        (0..table.segments()).for_each(|number| self.take(table, number));
        for (sum, known) in self.parts.known.iter_mut().zip(&table.known) {
            *sum += known;
        }
        self.parts.len = self.parts.len.saturating_add(table.len);
    }

    /// Takes a copy of a segment, and of what is spilled there.
    fn take(&mut self, table: &Growing, number: usize) {
        let to = narrow(self.parts.records.len() as u64);
        self.parts.segments.push(table.bytes(number).into());
        let spilled = table.spill().segment(narrow(number as u64));
        let moved = spilled.map(|(key, copies)| (SpillKey { segment: to, ..key }, copies));
        self.spilled.extend(moved);
        // Stashed keys are counted again.
        self.parts.records.push(Record { stashed: 0, ..*table.record(number) });
    }

    /// The table of all segments, which together must cover this home exactly once. `overdrawn`
    /// keys were counted too many.
    pub(crate) fn table(self, within: Home, capacity: u64, overdrawn: u64) -> Growing {
        let Self { parts, spilled } = self;
        let len = parts.len.saturating_sub(overdrawn);
        let parts = GrowParts { within, capacity, len, ..parts };
        let mut table = Growing::from_parts(parts).expect("the segments cover what they covered");
        for (key, copies) in spilled {
            let is_valid = table.take_spilled(key, copies);
            debug_assert!(is_valid, "it was spilled in the same segment");
        }
        table
    }
}
