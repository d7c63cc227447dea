//! Lookups: of one key, or of many, with the cache lines of the next keys prefetched.

use std::io::{self, Write};

use super::batch;
use super::codec::{AnyCodec, Codec, with_codec};
use super::directory::Target;
use super::grid::KeyBits;
use super::matches::{Match, Matches};
use super::record::Record;
use super::segment::{Segment, Slot};
use super::table::{Growing, narrow};
use crate::arch::prefetch;
use crate::entries::Entry;
use crate::format::{self, FileKind};
use crate::key::KeyHasher;
use crate::layout::four_lanes::{FourLanes, SLOTS};
use crate::ring;
use crate::spill::SpillKey;
use crate::table::traits::{Lookup, Sealed};

impl Sealed for Growing {}

impl Lookup for Growing {
    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        if self.has_fast_lookup {
            return self.contains_in_groups(hash);
        }
        match self.uniform_codec {
            Some(any_codec) => {
                self.has_slot_match(&self.uniform_codec_copy, &self.uniform_target(any_codec, hash))
            }
            None => self.contains_in_any(hash),
        }
    }

    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        self.find_slots(hashes, found);
        if self.stashing > 0 {
            for (found, &hash) in found.iter_mut().zip(hashes) {
                *found = *found || self.is_stashed(&self.target(hash));
            }
        }
    }

    #[inline]
    fn has_copy(&self, hash: u64) -> bool {
        self.has_copy_at(&self.target(hash))
    }

    fn count(&self, hash: u64) -> u64 {
        if self.shape.value_bits == 0 { self.count_keys(hash) } else { self.count_values(hash) }
    }

    fn entries(&self) -> impl Iterator<Item = Entry> {
        let slots = (0..self.segments()).flat_map(|number| self.entries_of(number));
        slots.chain(self.spill().iter().map(|(key, copies)| {
            let number = key.segment as usize;
            let segment = self.segment(number);
            let place = key.place.into();
            let [bucket, _] = segment.spot(place, key.fingerprint.into()).buckets;
            let pair = (key.fingerprint.into(), key.value);
            Entry { copies, ..entry(&segment, number, bucket, pair) }
        }))
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        self.request(&self.target(hash));
    }

    #[inline]
    fn len(&self) -> u64 {
        self.len
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn slots(&self) -> u64 {
        self.records.iter().map(|record| record.form.grid.buckets() * u64::from(SLOTS)).sum()
    }

    fn spilled(&self) -> u64 {
        self.spill.copies()
    }

    fn size_in_bytes(&self) -> u64 {
        let records = (self.records.len() * size_of::<Record>()) as u64;
        let known = (self.known.len() * size_of::<u64>()) as u64;
        self.segments.size_in_bytes()
            + records
            + known
            + self.directory.size_in_bytes()
            + self.spill.size_in_bytes()
    }

    /// Of the first segments, the mark of its end not counted.
    fn fingerprint_bits(&self) -> u32 {
        self.shape.widths.at(self.shape.root_depth())
    }

    #[inline]
    fn value_bits(&self) -> u32 {
        self.shape.value_bits
    }

    fn expected_fpr(&self) -> f64 {
        -(-self.expected_matches()).exp_m1()
    }

    fn kind(is_map: bool) -> FileKind {
        if is_map { FileKind::GrowableMap } else { FileKind::GrowableSet }
    }

    fn write(&self, kind: FileKind, hasher: KeyHasher, writer: &mut dyn Write) -> io::Result<()> {
        format::write_growable(self, kind, hasher, writer)
    }
}

impl Growing {
    /// [`contains`](Self::contains) in a table that [has fast lookups](Self::has_fast_lookup): the
    /// fewer instructions a lookup takes, the more lookups of a loop wait for memory at the same
    /// time. It cannot panic, so loops of it are vectorised in builds with gather instructions.
    #[inline(always)]
    fn contains_in_groups(&self, hash: u64) -> bool {
        let key = KeyBits::of(hash);
        let entry = self.directory.nearest(self.directory.index(key.path));
        let wanted = key.fingerprint(entry.word.depth(), self.uniform_codec_copy.bits);
        let (grid, width) = (entry.word.form().grid, self.uniform_codec_copy.width());
        let segment = self.segments.nearest(entry.address);
        let bucket_bits = u64::from(SLOTS * width);
        let buckets = key.places.map(|place| grid.bucket_in_group(place, key.mix) * bucket_bits);
        // SAFETY: these are buckets of the segment's form, which the directory keeps with the
        // segment. All are groups with fingerprints alone, of the uniform codec's width,
        // whose lanes are short.
        unsafe {
            match self.uniform_codec_copy.narrow() {
                Some(codec) => codec.contains_alone(segment, buckets, wanted),
                None => self.uniform_codec_copy.wide().contains_alone(segment, buckets, wanted),
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn contains_in_any(&self, hash: u64) -> bool {
        self.has_match(&self.target(hash))
    }

    /// Whether a fingerprint matches; in a small table its place might be another.
    #[inline(always)]
    pub(super) fn has_match(&self, target: &Target) -> bool {
        self.has_slot_match(target.any_codec, target)
            || (self.stashing > 0 && self.is_stashed(target))
    }

    /// Whether a key has a copy. In a narrowed segment, a [match](Self::has_match) can be of
    /// another place, so its place is compared.
    #[inline(always)]
    pub(super) fn has_copy_at(&self, target: &Target) -> bool {
        let is_exact = target.entry.word.form().grid.low_bits() == 0;
        self.has_match(target) && (is_exact || !self.find(target).is_empty())
    }

    #[inline(always)]
    fn has_slot_match(&self, any_codec: &AnyCodec, target: &Target) -> bool {
        let segment = self.segments.from(target.entry.address).as_ptr();
        with_codec!(any_codec, codec => {
            let buckets = self.bits_of(codec.width, target);
            // SAFETY: these are buckets of the segment's form, which the directory keeps with it,
            // and the codec is the segment's: its own, or that of all.
            unsafe {
                if codec.is_short() {
                    codec.contains_alone(segment, buckets, target.spot.fingerprint)
                } else {
                    let buckets = buckets.map(|bit| (segment, bit));
                    codec.contains_at::<false>(buckets, target.spot.fingerprint)
                }
            }
        })
    }

    /// The slot that matches and has this value; if there are several, the one with the longest
    /// string.
    #[inline]
    pub(super) fn longest_slot_of(&self, target: &Target, value: u64) -> Option<Match> {
        let bytes = self.segments.from(target.entry.address);
        let mut longest: Option<Match> = None;
        with_codec!(target.any_codec, codec => {
            let segment = Segment::new(codec, target.entry.word.form());
            segment.for_each_match(bytes, &target.spot, |at| {
                let found = Match { fingerprint: segment.fingerprint(bytes, at), value, at };
                let zeros = found.fingerprint.trailing_zeros();
                let is_longer = longest.is_none_or(|best| zeros < best.fingerprint.trailing_zeros());
                if is_longer && segment.value(bytes, at) == value {
                    longest = Some(found);
                }
            });
        });
        longest
    }

    /// The slots at the key's places for whose lanes `choose` sets the highest bit.
    pub(super) fn slots_of(
        &self,
        target: &Target,
        choose: impl Fn(&Codec<2>, FourLanes<2>) -> FourLanes<2>,
    ) -> Matches {
        let (segment, bytes) = (self.segment(target.number()), self.bytes(target.number()));
        let mut found = Matches::default();
        let choose = |bucket| choose(segment.codec, bucket);
        segment.for_each_of(bytes, &target.spot, choose, |at| {
            let (fingerprint, value) = (segment.fingerprint(bytes, at), segment.value(bytes, at));
            found.push(Match { fingerprint, value, at });
        });
        found
    }

    /// All that matches.
    pub(super) fn find(&self, target: &Target) -> Matches {
        let mut found =
            self.slots_of(target, |codec, bucket| codec.matches(bucket, target.spot.fingerprint));
        if target.entry.word.has_stash() {
            self.find_stashed(target, &mut found);
        }
        found
    }

    /// The fingerprint with the longest string of the slots that match, and how many slots have
    /// it.
    #[inline]
    pub(super) fn longest_slots(&self, target: &Target) -> Option<(u64, u32)> {
        let bytes = self.segments.from(target.entry.address);
        let mut longest: Option<(u64, u32)> = None;
        with_codec!(target.any_codec, codec => {
            let segment = Segment::new(codec, target.entry.word.form());
            segment.for_each_match(bytes, &target.spot, |at| {
                let found = segment.fingerprint(bytes, at);
                longest = match longest {
                    Some((best, copies)) if best == found => Some((best, copies + 1)),
                    Some((best, _)) if best.trailing_zeros() <= found.trailing_zeros() => longest,
                    _ => Some((found, 1)),
                };
            });
        });
        longest
    }

    /// Prefetches the cache lines of a key.
    #[inline(always)]
    pub(super) fn request(&self, target: &Target) {
        let bytes = self.segments.from(target.entry.address);
        for bit in self.bits_of(target.any_codec.width(), target) {
            prefetch(bytes, bit >> 3);
        }
    }

    /// Whether a slot has each hash's fingerprint.
    fn find_slots(&self, hashes: &[u64], found: &mut [bool]) {
        let Some(any_codec) = self.codecs.only() else {
            // While segments split into ones of another width, or for as long as somebody chooses
            // the keys.
            let (ask, mut table) = (|table: &&Self, hash: u64| table.prefetch(hash), self);
            return ring::one_by_one(&mut table, hashes, ask, |table, i, hash, ()| {
                let target = table.target(hash);
                found[i] = table.has_slot_match(target.any_codec, &target);
            });
        };
        with_codec!(any_codec, codec => {
            // SAFETY: the codec is that of all segments.
            unsafe { batch::contains(codec, self, hashes, found) }
        });
    }

    /// Copies of a set's key.
    fn count_keys(&self, hash: u64) -> u64 {
        let target = self.target(hash);
        let longest = if target.entry.word.has_stash() {
            let found = self.find(&target);
            found.longest().map(|fingerprint| (fingerprint, found.copies(fingerprint)))
        } else {
            self.longest_slots(&target)
        };
        longest.map_or(0, |(fingerprint, copies)| {
            let spilled = self.spill.count(&target.spill_key(fingerprint, 0));
            spilled.saturating_add(copies.into())
        })
    }

    /// How many candidates a map has for a key.
    fn count_values(&self, hash: u64) -> u64 {
        let target = self.target(hash);
        let found = self.find(&target);
        let spilled = |fingerprint| self.spill.count_values(target.spill_key(fingerprint, 0));
        found.fingerprints().map(spilled).fold(found.len().into(), u64::saturating_add)
    }

    fn entries_of(&self, number: usize) -> Vec<Entry> {
        let bytes = self.bytes(number);
        let segment = self.segment(number);
        let mut entries = Vec::new();
        segment.for_each_occupant(bytes, |at, Slot { fingerprint, value, .. }, _| {
            entries.push(entry(&segment, number, at.bucket, (fingerprint, value)));
        });
        entries
    }
}

fn entry(
    segment: &Segment<'_, 2>,
    number: usize,
    bucket: u64,
    (fingerprint, value): (u64, u64),
) -> Entry {
    let bits = segment.codec.length(fingerprint);
    let key = SpillKey {
        segment: narrow(number as u64),
        place: narrow(bucket),
        fingerprint: narrow(fingerprint >> (segment.codec.bits - bits + 1)),
        value,
    };
    Entry::new(key, 1, bits)
}
