//! Where a key belongs: its segment, by the first bits of its path, and its buckets there.

use std::mem;
use std::ops::Range;

use super::codec::AnyCodec;
use super::grid::{Grid, KeyBits, Mix};
use super::pool::{Address, Pool};
use super::record::{Home, Record};
use super::segment::{Form, Spot, bucket_bits};
use super::shape::Shape;
use super::table::{Growing, narrow};
use super::widths::MAX_DEPTH;
use crate::addressing::index;
use crate::arch::nearest;
use crate::spill::SpillKey;

/// The most segments: enough for 10^12 keys.
pub(super) const MAX_SEGMENTS: usize = (1 << 26) - 1;

/// The directory's entry of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) word: EntryWord,
    pub(super) address: Address,
}

/// A segment's record as far as lookups need it, in a word that vector units can take apart.
///
/// | bits from | bits | content |
/// | ---: | ---: | --- |
/// | 0 | 7 | bits of a value |
/// | 7 | 4 | low_bits |
/// | 11 | 5 | depth |
/// | 16 | 14 | buckets |
/// | 31 | 1 | whether it has a stash |
/// | 32 | 6 | the codec's number |
/// | 38 | 26 | the segment's number |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EntryWord(u64);

/// Entries of a directory that few segments may have: 1 MiB.
const MOST_ENTRIES: u64 = 1 << 16;

/// 2^depth entries, or those of them that are below one home. A segment that is less deep has
/// several consecutive entries.
///
/// 16 bytes for some 25,000 keys. Doubling it copies that: 128 KiB at 100 million keys, a small
/// part of what a segment's split moves.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    entries: Vec<Entry>,
    depth: u32,
    /// The home that the segments cover together: everything, or a partition of the tree.
    within: Home,
    /// The index of the first entry of that in a directory of everything.
    first: u64,
    /// Segments in other partitions.
    others: usize,
}

impl Entry {
    fn new(number: usize, record: &Record, any_codec: &'static AnyCodec, address: Address) -> Self {
        let &Record { home, form, stashed, .. } = record;
        debug_assert!(number < MAX_SEGMENTS && form.value_bits <= 64 && home.depth < 32);
        let (depth, low_bits) = (u64::from(home.depth), u64::from(form.grid.low_bits()));
        let low =
            u64::from(stashed > 0) << 31 | form.grid.buckets() << 16 | depth << 11 | low_bits << 7;
        let high = (number as u64) << 38 | u64::from(any_codec.number) << 32;
        Self { word: EntryWord(high | low | u64::from(form.value_bits)), address }
    }
}

impl EntryWord {
    #[inline(always)]
    pub(super) fn number(self) -> usize {
        (self.0 >> 38) as usize
    }

    /// How the segment's buckets are compared.
    #[inline(always)]
    pub(super) fn any_codec(self) -> &'static AnyCodec {
        AnyCodec::of(self.field(32, 6))
    }

    #[inline(always)]
    pub(super) fn depth(self) -> u32 {
        self.field(11, 5)
    }

    #[inline(always)]
    pub(super) fn form(self) -> Form {
        let grid = Grid::with_low_bits(self.field(16, 14), self.field(7, 4));
        Form { grid, value_bits: self.field(0, 7) }
    }

    /// Whether the segment has keys without a slot.
    #[inline(always)]
    pub(super) fn has_stash(self) -> bool {
        self.field(31, 1) == 1
    }

    #[inline(always)]
    fn field(self, from: u32, bits: u32) -> u32 {
        // Fewer than 32 bits.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let field = ((self.0 >> from) & ((1 << bits) - 1)) as u32;
        field
    }
}

impl Directory {
    /// The directory of these segments; `None` if they do not cover all that is within a home once.
    pub(super) fn of(records: &[Record], pool: &Pool, shape: &Shape, within: Home) -> Option<Self> {
        let depth = records.iter().map(|record| record.home.depth).max()?;
        if !records.iter().all(|record| within.has(record.home)) {
            return None;
        }
        let len = 1_u64 << (depth - within.depth);
        // No segment has this number.
        let vacant = Entry { word: EntryWord(u64::MAX), address: Address::default() };
        let entries = vec![vacant; usize::try_from(len).ok()?];
        let first = within.path << (depth - within.depth);
        let mut directory = Self { entries, depth, within, first, others: 0 };
        for (number, record) in records.iter().enumerate() {
            let segment = Entry::new(number, record, record.any_codec(shape), pool.address(number));
            for entry in directory.entries_of(record.home) {
                if mem::replace(entry, segment) != vacant {
                    return None;
                }
            }
        }
        directory.entries.iter().all(|&entry| entry != vacant).then_some(directory)
    }

    /// Whether this many segments can be this deep. They differ little in depth, unless keys are
    /// chosen or the file is forged: neither must be able to fill the memory with a directory.
    pub(super) fn admits(depth: u32, segments: usize) -> bool {
        let most = MOST_ENTRIES.max(64 * segments as u64);
        segments <= MAX_SEGMENTS && depth <= MAX_DEPTH && 1 << depth <= most
    }

    /// Whether a segment can be this deep, given the numbers of segments here and in other
    /// partitions.
    pub(super) fn takes(&self, depth: u32, segments: usize) -> bool {
        Self::admits(depth, self.others + segments + 1)
    }

    /// Sets the number of segments in other partitions.
    #[inline(always)]
    pub(super) fn set_others(&mut self, segments: usize) {
        self.others = segments;
    }

    /// The number of segments in other partitions when this one was last changed.
    pub(super) fn others(&self) -> usize {
        self.others
    }

    /// The home that its segments cover together.
    #[inline(always)]
    pub(super) fn within(&self) -> Home {
        self.within
    }

    /// That of the deepest segment, at least.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// The segment of a key.
    #[inline(always)]
    pub(super) fn find(&self, path: u64) -> Entry {
        self.entries[index(self.index(path))]
    }

    #[inline(always)]
    pub(super) fn index(&self, path: u64) -> u64 {
        // In two steps, because the depth can be 0.
        ((path >> 1) >> (63 - self.depth)).wrapping_sub(self.first)
    }

    /// The entry of an [index](Self::index), for loops that are to be vectorised.
    #[inline(always)]
    pub(super) fn nearest(&self, index: u64) -> Entry {
        *nearest(&self.entries, index)
    }

    /// Makes the entries of a segment's home point to it.
    pub(super) fn point(
        &mut self,
        number: usize,
        record: &Record,
        any_codec: &'static AnyCodec,
        address: Address,
    ) {
        let home = record.home;
        if home.depth > self.depth {
            self.entries = self.entries.iter().flat_map(|&entry| [entry; 2]).collect();
            self.depth += 1;
            self.first <<= 1;
        }
        self.entries_of(home).fill(Entry::new(number, record, any_codec, address));
    }

    /// The number of the segment of the first strings of `home`.
    pub(super) fn at(&self, home: Home) -> usize {
        self.entries[self.range(home).start].word.number()
    }

    fn entries_of(&mut self, home: Home) -> &mut [Entry] {
        let range = self.range(home);
        &mut self.entries[range]
    }

    fn range(&self, home: Home) -> Range<usize> {
        let below = self.depth - home.depth;
        let start = (home.path << below) - self.first;
        let start = usize::try_from(start).expect("in memory");
        start..start + (1 << below)
    }

    pub(super) fn size_in_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Entry>()) as u64
    }
}

/// Where a key belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) entry: Entry,
    /// Its segment's.
    pub(super) any_codec: &'static AnyCodec,
    /// Its fingerprint has all the bits of a key that arrives, or all that are known of another
    /// table's.
    pub(super) spot: Spot,
}

impl Target {
    #[inline(always)]
    pub(super) fn new(
        entry: Entry,
        any_codec: &'static AnyCodec,
        places: [u64; 2],
        mix: Mix,
        fingerprint: u64,
    ) -> Self {
        let grid = entry.word.form().grid;
        let buckets = if grid.is_grouped() {
            places.map(|place| grid.bucket_in_group(place, mix))
        } else {
            places.map(|place| grid.bucket(place, mix))
        };
        Self { entry, any_codec, spot: Spot { places, buckets, fingerprint } }
    }

    /// How many bits a fingerprint and the path of its segment know of a key's string: each split
    /// since the key arrived moved the mark up.
    #[inline(always)]
    pub(super) fn known_bits(&self, fingerprint: u64) -> usize {
        let most = self.entry.word.depth() + self.any_codec.bits;
        most.saturating_sub(fingerprint.trailing_zeros()) as usize
    }

    #[inline(always)]
    pub(super) fn number(&self) -> usize {
        self.entry.word.number()
    }

    pub(super) fn spill_key(&self, fingerprint: u64, value: u64) -> SpillKey {
        let place = narrow(self.spot.places[0].min(self.spot.places[1]));
        SpillKey {
            segment: narrow(self.number() as u64),
            place,
            fingerprint: narrow(fingerprint),
            value,
        }
    }
}

impl Growing {
    #[inline(always)]
    pub(super) fn target(&self, hash: u64) -> Target {
        match self.uniform_codec {
            Some(any_codec) => self.uniform_target(any_codec, hash),
            None => self.target_in_any(hash),
        }
    }

    /// In a table with a [uniform codec](Self::uniform_codec).
    #[inline(always)]
    pub(super) fn uniform_target(&self, any_codec: &'static AnyCodec, hash: u64) -> Target {
        let key = KeyBits::of(hash);
        let entry = self.directory.find(key.path);
        let fingerprint = key.fingerprint(entry.word.depth(), self.uniform_codec_copy.bits);
        Target::new(entry, any_codec, key.places, key.mix, fingerprint)
    }

    #[cold]
    #[inline(never)]
    fn target_in_any(&self, hash: u64) -> Target {
        let key = KeyBits::of(hash);
        let entry = self.directory.find(key.path);
        let any_codec = entry.word.any_codec();
        let fingerprint = key.fingerprint(entry.word.depth(), any_codec.bits);
        Target::new(entry, any_codec, key.places, key.mix, fingerprint)
    }

    #[inline(always)]
    pub(super) fn bits_of(&self, codec_width: u32, target: &Target) -> [u64; 2] {
        let bits = bucket_bits(codec_width, target.entry.word.form());
        target.spot.buckets.map(|bucket| bucket * bits)
    }
}
