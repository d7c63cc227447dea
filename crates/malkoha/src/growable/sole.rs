//! The candidate of a key of a map, if there is one: most keys have one or none.
//!
//! A lookup waits for memory. The fewer instructions it takes, the more of the next one a processor
//! begins meanwhile. So this is compiled for the usual segments alone, and has no branch that
//! depends on where in its two buckets a key lies.

use super::lanes::read;
use super::segment::bucket_bits;
use super::shape::LANES;
use super::strings::Strings;
use super::table::{Growing, narrow};
use crate::layout::bits::Word;
use crate::spill::SpillKey;
use crate::table::traits::{Candidates, Sole};

/// Bits of a value that one load of 64 bits contains, wherever it begins.
const MOST_BITS: u32 = 57;

impl Growing {
    /// [`Candidates::sole_candidate`], fast in segments whose buckets are groups, and whose four
    /// fingerprints fit a word of 64 bits.
    #[inline(always)]
    pub(super) fn sole(&self, hash: u64) -> Sole {
        if self.rows > 0 || !self.strings.is_one_tree() {
            return self.sole_in_any(hash);
        }
        let key = Strings::ONE_TREE.key::<true>(hash);
        let entry = self.directory.find(key.root, key.path);
        let form = entry.form();
        let (Some(codec), false, 0..=MOST_BITS) =
            (entry.kernel().narrow(), entry.has_stash(), form.value_bits)
        else {
            return self.sole_in_any(hash);
        };
        let wanted = Strings::fingerprint::<true>(key.string, entry.depth(), codec.bits);
        let bits = bucket_bits(codec.width, form);
        let [first, second] =
            key.places.map(|place| form.grid.bucket_in_group(place, key.mix) * bits);
        let segment = self.segments.from(entry.address()).as_ptr();
        // SAFETY: these are buckets of the segment's form, which the directory keeps with the
        // segment: no segment is a row. There are 16 bytes behind its buckets.
        let [in_first, in_second] = unsafe { [read(segment, first), read(segment, second)] }
            .map(|bucket| codec.matches(bucket, wanted));
        let in_second = if first == second { 0 } else { in_second };
        let found = in_first | in_second;
        if found == 0 {
            return Sole::Absent;
        }
        if (found & (found - 1)) | (in_first & in_second) != 0 {
            return self.sole_in_any(hash);
        }
        let (bucket, lane) = (if in_first == 0 { second } else { first }, codec.lane_of(found));
        if !self.spill.is_empty() {
            // SAFETY: as above.
            let fingerprint = codec.lane(unsafe { read(segment, bucket) }, lane);
            let key = SpillKey {
                segment: narrow(entry.number() as u64),
                place: narrow(key.places[0].min(key.places[1])),
                fingerprint: narrow(fingerprint),
                value: 0,
            };
            if self.spill.may_hold(&key) {
                return self.sole_in_any(hash);
            }
        }
        let before = LANES * codec.width + lane * form.value_bits;
        // SAFETY: a value lies in its bucket, so there are 16 bytes behind its first bit as well.
        let value: u64 = unsafe { read(segment, bucket + u64::from(before)) };
        Sole::Value(value & u64::ones(form.value_bits))
    }

    #[cold]
    #[inline(never)]
    fn sole_in_any(&self, hash: u64) -> Sole {
        Sole::of(|each| self.for_each_candidate(hash, each))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growable::shape::Shape;
    use crate::table::traits::Change;

    /// Of each kind of segment, sparse and full, with copies, beside what all candidates say.
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
                    let all = table.sole_in_any(hash(of));
                    assert_eq!(table.sole(hash(of)), all, "{of} of {n}, {value_bits} bits");
                    seen[match all {
                        Sole::Absent => 0,
                        Sole::Value(_) => 1,
                        Sole::Several => 2,
                    }] += 1;
                }
            }
            assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
        }
    }
}
