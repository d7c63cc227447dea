//! The candidates of keys of a map.
//!
//! Most keys have one or none. Lookups of these have a specialised path for segments with grouped
//! buckets, without a branch that depends on which of its two buckets a key lies in.

use super::batch;
use super::codec::{AnyCodec, Codec, with_codec};
use super::directory::Target;
use super::matches::MOST_SLOTS;
use super::segment::Segment;
use super::table::{Growing, narrow};
use crate::layout::bits::Word;
use crate::layout::four_lanes::{FourLanes, SLOTS, read};
use crate::ring;
use crate::spill::{Spill, SpillKey};
use crate::table::traits::{Candidates, Lookup, Sole};

/// Keys of a batch whose candidates are looked for together.
const SOLES: usize = 512;
/// Bits of a value that one load of 64 bits contains, wherever it begins.
const MOST_BITS: u32 = 57;

/// The two buckets of a key.
#[derive(Clone, Copy)]
pub(super) struct Buckets {
    /// The first byte of their segment.
    pub(super) segment: *const u8,
    /// Their first bits there.
    pub(super) bits: [u64; 2],
    /// The segment's number, and the lesser of the key's places.
    pub(super) home: (usize, u64),
    pub(super) value_bits: u32,
}

impl Buckets {
    /// The key's only candidate; [`Sole::Several`] also if copies might be spilled.
    ///
    /// # Safety
    ///
    /// The segment has such buckets with this codec, and 16 bytes behind the last. `SHORT` says
    /// whether its lanes [are short](Codec::is_short). Values have at most [`MOST_BITS`].
    #[inline(always)]
    pub(super) unsafe fn sole<const SHORT: bool, const N: usize>(
        &self,
        codec: &Codec<N>,
        wanted: u64,
        spill: &Spill,
    ) -> Sole {
        let Self { segment, bits: [first, second], value_bits, .. } = *self;
        // SAFETY: as the caller promises.
        let load = |bucket| unsafe { FourLanes::read::<SHORT>(segment, bucket, codec.width) };
        let in_first = codec.matches(load(first), wanted);
        let in_second =
            if first == second { FourLanes::ZERO } else { codec.matches(load(second), wanted) };
        let found = in_first | in_second;
        if found == FourLanes::ZERO {
            return Sole::Absent;
        }
        if (found.but_first() | (in_first & in_second)) != FourLanes::ZERO {
            return Sole::Several;
        }
        let (bucket, lane) =
            (if in_first == FourLanes::ZERO { second } else { first }, codec.lane_of(found));
        if !spill.is_empty() {
            let key = SpillKey {
                segment: narrow(self.home.0 as u64),
                place: narrow(self.home.1),
                fingerprint: narrow(codec.lane(load(bucket), lane)),
                value: 0,
            };
            if spill.may_hold(&key) {
                return Sole::Several;
            }
        }
        let before = SLOTS * codec.width + lane * value_bits;
        // SAFETY: a value lies in its bucket, so there are 16 bytes behind its first bit as well.
        let value: u64 = unsafe { read(segment, bucket + u64::from(before)) };
        Sole::Value(value & u64::ones(value_bits))
    }
}

impl Candidates for Growing {
    #[inline]
    fn candidates(&self, hash: u64) -> impl Iterator<Item = (u64, u64)> {
        let (mut slots, mut len, mut spilled) = ([(0, 0); MOST_SLOTS], 0, Vec::new());
        self.for_each_candidate(hash, |value, copies| match slots.get_mut(len) {
            Some(slot) => (*slot, len) = ((value, copies), len + 1),
            None => spilled.push((value, copies)),
        });
        slots.into_iter().take(len).chain(spilled)
    }

    #[inline]
    fn sole_candidate(&self, hash: u64) -> Sole {
        let Some(any_codec) = self.usual_codec() else { return self.sole_of_all(hash) };
        let target = self.uniform_target(any_codec, hash);
        let segment = self.segments.from(target.entry.address).as_ptr();
        let [first, second] = target.spot.places;
        let sole = with_codec!(any_codec, codec => {
            let buckets = Buckets {
                segment,
                bits: self.bits_of(codec.width, &target),
                home: (target.number(), first.min(second)),
                value_bits: target.entry.word.form().value_bits,
            };
            // SAFETY: these are buckets of the segment's form, which the directory keeps with it,
            // and the codec is that of all segments.
            unsafe {
                if codec.is_short() {
                    buckets.sole::<true, _>(codec, target.spot.fingerprint, &self.spill)
                } else {
                    buckets.sole::<false, _>(codec, target.spot.fingerprint, &self.spill)
                }
            }
        });
        if sole == Sole::Several { self.sole_of_all(hash) } else { sole }
    }

    fn sole_candidates(&self, hashes: &[u64], found: &mut [Sole]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        let Some(any_codec) = self.usual_codec() else {
            let (ask, mut table) = (|table: &&Self, hash: u64| table.prefetch(hash), self);
            return ring::one_by_one(&mut table, hashes, ask, |table, i, hash, ()| {
                found[i] = table.sole_of_all(hash);
            });
        };
        with_codec!(any_codec, codec => {
            // SAFETY: the codec is that of all segments, whose buckets are in groups.
            unsafe { batch::soles(codec, self, hashes, found) }
        });
        for (found, &hash) in found.iter_mut().zip(hashes) {
            if *found == Sole::Several {
                *found = self.sole_of_all(hash);
            }
        }
    }

    #[inline(always)]
    fn for_each_candidate(&self, hash: u64, mut each: impl FnMut(u64, u64)) {
        let target = self.target(hash);
        let mut spilled = target.entry.word.has_stash();
        let bytes = self.segments.from(target.entry.address);
        with_codec!(target.any_codec, codec => {
            let segment = Segment::new(codec, target.entry.word.form());
            segment.for_each_match(bytes, &target.spot, |at| {
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

    fn candidates_batch(&self, hashes: &[u64], mut each: impl FnMut(usize, u64, u64)) {
        let mut found = [Sole::Absent; SOLES];
        for (number, hashes) in hashes.chunks(SOLES).enumerate() {
            self.sole_candidates(hashes, &mut found[..hashes.len()]);
            for (i, (&sole, &hash)) in (number * SOLES..).zip(found.iter().zip(hashes)) {
                match sole {
                    Sole::Absent => {}
                    Sole::Value(value) => each(i, value, 1),
                    Sole::Several => {
                        self.for_each_candidate(hash, |value, copies| each(i, value, copies))
                    }
                }
            }
        }
    }

    fn count_value(&self, hash: u64, value: u64) -> u64 {
        let target = self.target(hash);
        let found = self.find(&target);
        let in_slots = found.values().filter(|&candidate| candidate == value).count() as u64;
        let spilled = |fingerprint| self.spill.count(&target.spill_key(fingerprint, value));
        found.fingerprints().map(spilled).fold(in_slots, u64::saturating_add)
    }
}

impl Growing {
    /// The codec of all segments, if [`Buckets::sole`] can read them.
    #[inline(always)]
    fn usual_codec(&self) -> Option<&'static AnyCodec> {
        self.uniform_codec.filter(|_| self.is_grouped() && self.shape.value_bits <= MOST_BITS)
    }

    /// [`sole_candidate`](Candidates::sole_candidate) in segments of any kind.
    #[inline(never)]
    fn sole_of_all(&self, hash: u64) -> Sole {
        Sole::of(|each| self.for_each_candidate(hash, each))
    }

    /// The values of spilled copies and of stashed keys that match.
    #[cold]
    fn spilled_values(&self, target: &Target) -> Vec<(u64, u64)> {
        let of = |fingerprint| self.spill.values(target.spill_key(fingerprint, 0));
        self.find(target).fingerprints().flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growable::shape::Shape;
    use crate::table::traits::Change;

    /// Of each kind of segment, sparse and full, with copies.
    #[test]
    fn says_what_all_candidates_say() {
        let keys = if cfg!(miri) { 300 } else { 60_000 };
        for (fpr, value_bits) in [(0.3, 5), (0.004, 27), (0.004, 40), (1e-4, 20), (0.004, 64)] {
            let (shape, buckets) = Shape::new(64, fpr, Some(4096.0), value_bits).unwrap();
            let mut table = Growing::new(shape, buckets, 64).unwrap();
            let hash = |n: u64| (n + 1).wrapping_mul(0x9e6c_63d0_876a_68ad).rotate_left(29);
            let mut seen = [0; 3];
            for n in 0..keys {
                Change::insert(&mut table, hash(n), n & u64::ones(value_bits)).unwrap();
                if n % 97 == 0 {
                    (0..4).for_each(|_| Change::insert(&mut table, hash(n), 1).unwrap());
                }
                for of in [n, n / 97 * 97, n + keys] {
                    seen[match table.sole_candidate(hash(of)) {
                        Sole::Absent => 0,
                        Sole::Value(_) => 1,
                        Sole::Several => 2,
                    }] += 1;
                }
                if n % 977 == 976 {
                    agree(
                        &table,
                        &[0, 1, 15, 16, 100, 700]
                            .map(|len| (0..len).map(|i| hash(i * n)).collect()),
                    );
                }
            }
            assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
        }
    }

    /// Many at once, and one by one.
    fn agree(table: &Growing, batches: &[Vec<u64>]) {
        for hashes in batches {
            let mut found = vec![Sole::Several; hashes.len()];
            table.sole_candidates(hashes, &mut found);
            let one_by_one: Vec<Sole> =
                hashes.iter().map(|&hash| table.sole_candidate(hash)).collect();
            assert_eq!(found, one_by_one);
            let (mut values, mut expected) = (Vec::new(), Vec::new());
            table.candidates_batch(hashes, |i, value, copies| values.push((i, value, copies)));
            for (i, &hash) in hashes.iter().enumerate() {
                table.for_each_candidate(hash, |value, copies| expected.push((i, value, copies)));
            }
            assert_eq!(values, expected);
        }
    }
}
