//! Lookups: of one key, or of many, with the cache lines of the next keys prefetched.

use super::any_codec::{AnyCodec, with_codec};
use super::batch;
use super::matches::{MOST_SLOTS, Match, Matches, Slots};
use super::segment::Segment;
use super::shape::LANES;
use super::table::Growing;
use super::target::{KeyBits, Target};
use crate::arch::prefetch;
use crate::ring;
use crate::table::traits::Sole;

/// Keys of a batch whose candidates are looked for together.
const SOLES: usize = 512;

impl Growing {
    #[inline(always)]
    pub(super) fn contains(&self, hash: u64) -> bool {
        if self.is_lean {
            return self.contains_in_groups(hash);
        }
        match self.plain {
            Some(any_codec) => self.has_slot_match(&self.near, &self.plain_target(any_codec, hash)),
            None => self.contains_in_any(hash),
        }
    }

    /// [`contains`](Self::contains) in a table that is [lean](Self::is_lean): the fewer
    /// instructions a lookup takes, the more lookups of a loop wait for memory at the same time. It
    /// cannot panic, so loops of it are vectorised in builds with gather instructions.
    #[inline(always)]
    fn contains_in_groups(&self, hash: u64) -> bool {
        let key = KeyBits::of(hash);
        let entry = self.directory.nearest(self.directory.index(key.path));
        let wanted = key.fingerprint(entry.word.depth(), self.near.bits);
        let (grid, width) = (entry.word.form().grid, self.near.width());
        let segment = self.segments.nearest(entry.address);
        let bucket_bits = u64::from(LANES * width);
        let buckets = key.places.map(|place| grid.bucket_in_group(place, key.mix) * bucket_bits);
        // SAFETY: these are buckets of the segment's form, which the directory keeps with the
        // segment. All are groups with fingerprints alone, of the width of `near`,
        // whose lanes are short.
        unsafe {
            match self.near.narrow() {
                Some(codec) => codec.contains_alone(segment, buckets, wanted),
                None => self.near.wide().contains_alone(segment, buckets, wanted),
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
        let is_exact = target.entry.word.form().grid.narrowing() == 0;
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
                    codec.contains_alone(segment, buckets, target.fingerprint)
                } else {
                    let buckets = buckets.map(|bit| (segment, bit));
                    codec.contains_at::<false>(buckets, target.fingerprint)
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
            segment.for_each_match(bytes, target.places, target.buckets, target.fingerprint, |at| {
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

    /// The slots that match.
    pub(super) fn slots_of(&self, target: &Target) -> Slots {
        let number = target.number();
        let bytes = self.bytes(number);
        let mut found = Slots::default();
        let segment = self.segment(number);
        segment.for_each_match(bytes, target.places, target.buckets, target.fingerprint, |at| {
            let (fingerprint, value) = (segment.fingerprint(bytes, at), segment.value(bytes, at));
            found.push(Match { fingerprint, value, at });
        });
        found
    }

    /// All that matches.
    pub(super) fn find(&self, target: &Target) -> Matches {
        let mut found = self.slots_of(target).into();
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
            segment.for_each_match(bytes, target.places, target.buckets, target.fingerprint, |at| {
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

    /// Copies of a set's key.
    pub(super) fn count_keys(&self, hash: u64) -> u64 {
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
    pub(super) fn count_values(&self, hash: u64) -> u64 {
        let target = self.target(hash);
        let found = self.find(&target);
        let spilled = |fingerprint| self.spill.count_values(target.spill_key(fingerprint, 0));
        found.fingerprints().map(spilled).fold(found.len().into(), u64::saturating_add)
    }

    /// How many of a map's candidates for a key have this value.
    pub(super) fn count_value(&self, hash: u64, value: u64) -> u64 {
        let target = self.target(hash);
        let found = self.find(&target);
        let in_slots = found.values().filter(|&candidate| candidate == value).count() as u64;
        let spilled = |fingerprint| self.spill.count(&target.spill_key(fingerprint, value));
        found.fingerprints().map(spilled).fold(in_slots, u64::saturating_add)
    }

    /// The values of the slots that match, each once, and their spilled copies with the number
    /// of copies.
    #[inline]
    pub(super) fn get(&self, hash: u64) -> impl Iterator<Item = (u64, u64)> {
        let target = self.target(hash);
        // Not `find`, whose matches know their slots too: the iterator would carry all that along.
        let mut values = [0; MOST_SLOTS];
        let (mut fingerprints, mut len) = ([0; MOST_SLOTS], 0);
        with_codec!(target.any_codec, codec => {
            let segment = Segment::new(codec, target.entry.word.form());
            let bytes = self.bytes(target.number());
            segment.for_each_match(bytes, target.places, target.buckets, target.fingerprint, |at| {
                values[len] = segment.value(bytes, at);
                fingerprints[len] = segment.fingerprint(bytes, at);
                len += 1;
            });
        });
        let may_be = |&fingerprint: &u64| self.spill.may_hold(&target.spill_key(fingerprint, 0));
        let any = target.entry.word.has_stash() || fingerprints[..len].iter().any(may_be);
        let spilled = if any { self.spilled_values(&target) } else { Vec::new() };
        values.into_iter().take(len).map(|value| (value, 1)).chain(spilled)
    }

    /// The values of spilled copies and of stashed keys that match.
    #[cold]
    fn spilled_values(&self, target: &Target) -> Vec<(u64, u64)> {
        let of = |fingerprint| self.spill.values(target.spill_key(fingerprint, 0));
        self.find(target).fingerprints().flat_map(of).collect()
    }

    /// [`get`](Self::get), which keeps nothing of the slots.
    #[inline(always)]
    pub(super) fn for_each_value(&self, hash: u64, mut each: impl FnMut(u64, u64)) {
        let target = self.target(hash);
        let mut spilled = target.entry.word.has_stash();
        let bytes = self.segments.from(target.entry.address);
        with_codec!(target.any_codec, codec => {
            let segment = Segment::new(codec, target.entry.word.form());
            segment.for_each_match(bytes, target.places, target.buckets, target.fingerprint, |at| {
                if !self.spill.is_empty() {
                    let key = target.spill_key(segment.fingerprint(bytes, at), 0);
                    spilled |= self.spill.may_hold(&key);
                }
                each(segment.value(bytes, at), 1);
            });
        });
        if spilled {
            self.spilled_values(&target)
                .into_iter()
                .for_each(|(value, copies)| each(value, copies));
        }
    }

    /// Prefetches the cache lines of a key.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        self.request(&self.target(hash));
    }

    /// The same where its target is known.
    #[inline(always)]
    pub(super) fn request(&self, target: &Target) {
        let bytes = self.segments.from(target.entry.address);
        for bit in self.bits_of(target.any_codec.width(), target) {
            prefetch(bytes, bit >> 3);
        }
    }

    /// Whether each hash's fingerprint is in the table; prefetches the cache lines of the next
    /// keys.
    pub(super) fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        self.find_slots(hashes, found);
        if self.stashing > 0 {
            for (found, &hash) in found.iter_mut().zip(hashes) {
                *found = *found || self.is_stashed(&self.target(hash));
            }
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

    /// Calls `each` with the position of a hash, a value of it and the number of copies.
    pub(super) fn get_batch(&self, hashes: &[u64], mut each: impl FnMut(usize, u64, u64)) {
        let mut found = [Sole::Absent; SOLES];
        for (number, hashes) in hashes.chunks(SOLES).enumerate() {
            self.soles(hashes, &mut found[..hashes.len()]);
            for (i, (&sole, &hash)) in (number * SOLES..).zip(found.iter().zip(hashes)) {
                match sole {
                    Sole::Absent => {}
                    Sole::Value(value) => each(i, value, 1),
                    Sole::Several => {
                        self.for_each_value(hash, |value, copies| each(i, value, copies))
                    }
                }
            }
        }
    }
}
