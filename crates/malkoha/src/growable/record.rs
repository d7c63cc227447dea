//! Metadata of a segment.

use super::codec::AnyCodec;
use super::grid::MIX_BITS;
use super::segment::{Form, Segment};
use super::shape::Shape;
use super::widths::{MAX_BITS, MAX_DEPTH};

/// Where a segment hangs in the tree: at `path`, the first `depth` bits of its keys' paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) depth: u32,
    pub(crate) path: u64,
}

/// The record of a segment, apart from its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) home: Home,
    pub(crate) form: Form,
    /// Occupied slots.
    pub(crate) len: u32,
    /// Spilled keys without a slot, at most: not 0 if there is one.
    pub(crate) stashed: u32,
    /// Keys that it must have before it is split: more than it has where the last try showed that a
    /// split would free hardly a slot.
    pub(crate) splits_at: u32,
    /// Searches for room that failed since it was built.
    pub(super) failures: u32,
}

impl Record {
    /// Of a segment with this many occupied slots, and no stash.
    pub(crate) fn new(home: Home, form: Form, len: u32) -> Self {
        Self { home, form, len, stashed: 0, splits_at: 0, failures: 0 }
    }

    /// How its buckets are compared.
    #[inline]
    pub(super) fn any_codec(&self, shape: &Shape) -> &'static AnyCodec {
        AnyCodec::new(shape, self.home.depth, self.form)
    }

    /// How to read its bytes, where that need not be as fast as can be.
    pub(super) fn segment(&self, shape: &Shape) -> Segment<'static, 2> {
        Segment::new(self.any_codec(shape).wide(), self.form)
    }

    /// Whether both say the same of the bytes.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.home, self.form, self.len) == (other.home, other.form, other.len)
    }
}

impl Home {
    /// The whole of a table.
    pub(crate) const ROOT: Self = Self { depth: 0, path: 0 };

    /// The half of this home that the next bit of the string leads to.
    pub(super) fn child(self, bit: u64) -> Self {
        Self { depth: self.depth + 1, path: self.path << 1 | bit }
    }

    /// Whether a home is this one, or below it.
    pub(super) fn has(self, other: Self) -> bool {
        other.depth >= self.depth && other.path >> (other.depth - self.depth) == self.path
    }

    /// The home that this one is a half of.
    pub(super) fn parent(self) -> Self {
        Self { depth: self.depth - 1, path: self.path >> 1 }
    }
}

/// How many segments have each codec: usually all have the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct CodecCounts(Vec<(&'static AnyCodec, usize)>);

impl CodecCounts {
    pub(super) fn count_in(&mut self, any_codec: &'static AnyCodec) {
        match self.0.iter_mut().find(|(counted, _)| counted.number == any_codec.number) {
            Some((_, segments)) => *segments += 1,
            None => {
                // Keeps small filters small.
                self.0.reserve_exact(1);
                self.0.push((any_codec, 1));
            }
        }
    }

    pub(super) fn count_out(&mut self, any_codec: &'static AnyCodec) {
        let counted = self.0.iter_mut().find(|(counted, _)| counted.number == any_codec.number);
        if let Some((_, segments)) = counted {
            *segments -= 1;
        }
        self.0.retain(|&(_, segments)| segments > 0);
    }

    /// The one that all segments have.
    pub(super) fn only(&self) -> Option<&'static AnyCodec> {
        match self.0[..] {
            [(any_codec, _)] => Some(any_codec),
            _ => None,
        }
    }
}

/// Occupied slots by the bits that they know of their keys' strings, in slot and path.
pub(crate) type Known = [u64; (MAX_DEPTH + MAX_BITS + 1) as usize];
pub(crate) const NOTHING_KNOWN: Known = [0; (MAX_DEPTH + MAX_BITS + 1) as usize];

/// How many bits of its key's string a fingerprint and the path of its segment at `depth` know:
/// each split since the key arrived moved the mark up by one.
pub(super) fn known_bits(shape: &Shape, depth: u32, fingerprint: u64) -> usize {
    (depth + shape.widths.at(depth)).saturating_sub(fingerprint.trailing_zeros()) as usize
}

/// The number of bits that can be known at this depth or above, plus one.
pub(super) fn most_known(shape: &Shape, depth: u32) -> usize {
    (depth + shape.widths.at(depth) + 1) as usize
}

/// Occupied slots of a segment, of which `known` then counts how much each knows of its key's
/// string; `None` if some of them cannot be: occupied ones come first in their buckets, where
/// lookups find them, and know as many bits as they must.
pub(crate) fn count_slots(
    shape: &Shape,
    record: &Record,
    bytes: &[u8],
    known: &mut Known,
) -> Option<u32> {
    let segment = record.segment(shape);
    let grid = record.form.grid;
    let depth = record.home.depth;
    let (mut is_valid, mut len) = (true, 0);
    for bucket in 0..grid.buckets() {
        let mut occupied = 0;
        segment.for_each_in(bytes, bucket, |_, slot, mix| {
            occupied += 1;
            is_valid &= segment.codec.length(slot.fingerprint) >= MIX_BITS
                && grid.bucket(slot.place, mix) == bucket;
            known[known_bits(shape, depth, slot.fingerprint)] += 1;
        });
        is_valid &= occupied == segment.codec.len(segment.load(bytes, bucket));
        len += occupied;
    }
    is_valid.then_some(len)
}
