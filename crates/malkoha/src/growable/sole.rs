//! The candidate of each key of a batch, if there is one: most keys have one or none.
//!
//! Compiled for the usual segments alone, without a branch that depends on which of its two buckets
//! a key lies in.

use super::any_codec::with_codec;
use super::batch;
use super::bucket_word::{BucketWord, read};
use super::codec::Codec;
use super::shape::LANES;
use super::table::{Growing, narrow};
use crate::layout::bits::Word;
use crate::ring;
use crate::spill::{Spill, SpillKey};
use crate::table::traits::{Candidates, Sole};

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
    pub(super) unsafe fn sole<W: BucketWord, const SHORT: bool>(
        &self,
        codec: &Codec<W>,
        wanted: u64,
        spill: &Spill,
    ) -> Sole {
        let Self { segment, bits: [first, second], value_bits, .. } = *self;
        // SAFETY: as the caller promises.
        let load = |bucket| unsafe { W::read::<SHORT>(segment, bucket, codec.width) };
        let in_first = codec.matches(load(first), wanted);
        let in_second = if first == second { W::ZERO } else { codec.matches(load(second), wanted) };
        let found = in_first | in_second;
        if found == W::ZERO {
            return Sole::Absent;
        }
        if (found.but_first() | (in_first & in_second)) != W::ZERO {
            return Sole::Several;
        }
        let (bucket, lane) =
            (if in_first == W::ZERO { second } else { first }, codec.lane_of(found));
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
        let before = LANES * codec.width + lane * value_bits;
        // SAFETY: a value lies in its bucket, so there are 16 bytes behind its first bit as well.
        let value: u64 = unsafe { read(segment, bucket + u64::from(before)) };
        Sole::Value(value & u64::ones(value_bits))
    }
}

impl Growing {
    /// [`Candidates::sole_candidate`] for many hashes.
    pub(super) fn soles(&self, hashes: &[u64], found: &mut [Sole]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        let is_usual = self.is_grouped() && self.shape.value_bits <= MOST_BITS;
        let Some(any_codec) = self.plain.filter(|_| is_usual) else {
            let (ask, mut table) = (|table: &&Self, hash: u64| table.prefetch(hash), self);
            return ring::one_by_one(&mut table, hashes, ask, |table, i, hash, ()| {
                found[i] = table.sole_candidate(hash);
            });
        };
        with_codec!(any_codec, codec => {
            // SAFETY: the table is plain, so the codec is that of all segments, whose buckets are
            // in groups.
            unsafe { batch::soles(codec, self, hashes, found) }
        });
        for (found, &hash) in found.iter_mut().zip(hashes) {
            if *found == Sole::Several {
                *found = self.sole_candidate(hash);
            }
        }
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
            table.soles(hashes, &mut found);
            let one_by_one: Vec<Sole> =
                hashes.iter().map(|&hash| table.sole_candidate(hash)).collect();
            assert_eq!(found, one_by_one);
            let (mut values, mut expected) = (Vec::new(), Vec::new());
            table.get_batch(hashes, |i, value, copies| values.push((i, value, copies)));
            for (i, &hash) in hashes.iter().enumerate() {
                table.for_each_value(hash, |value, copies| expected.push((i, value, copies)));
            }
            assert_eq!(values, expected);
        }
    }
}
