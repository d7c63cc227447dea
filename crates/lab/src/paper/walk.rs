//! The paper's filter as in its section 3: a power of two of buckets, the alternate bucket by
//! exclusive-or, and a random walk of 500 kicks. Figures 2 and 3 are about this walk; the library
//! searches breadth-first and fills further.

use std::collections::HashSet;
use std::hint::black_box;

use crate::keys::Keys;

/// Kicks before a table counts as full (paper, section 2.2).
const MAX_KICKS: u32 = 500;
/// An empty slot: greater than any fingerprint.
const EMPTY: u32 = u32::MAX;
/// Buckets at which the search for a closed group ends: larger ones are not distinguished from a
/// full table.
const LARGEST_GROUP: usize = 1 << 16;
/// Keys whose buckets are read before they are inserted.
const AHEAD: u64 = 32;

/// Why a key was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// This many buckets are full of keys that have no other place, and the key has none either: no
    /// search can help.
    Group {
        /// Buckets of the group.
        buckets: usize,
    },
    /// There was a way to a free slot, and the walk did not find it.
    GivenUp,
}

/// A partial-key cuckoo hash table of fingerprints.
pub(super) struct Walk {
    slots: Vec<u32>,
    mask: u64,
    bucket_size: usize,
    fingerprint_bits: u32,
    random: u64,
    len: u64,
}

impl Walk {
    /// 2^`log_buckets` buckets of `bucket_size` slots for fingerprints of 1 to 20 bits.
    pub(super) fn new(log_buckets: u32, bucket_size: usize, fingerprint_bits: u32) -> Self {
        let mask = (1 << log_buckets) - 1;
        let slots = vec![EMPTY; bucket_size << log_buckets];
        Self { slots, mask, bucket_size, fingerprint_bits, random: 1, len: 0 }
    }

    /// Bytes of such a table.
    pub(super) const fn bytes(log_buckets: u32, bucket_size: usize) -> u64 {
        (bucket_size as u64 * size_of::<u32>() as u64) << log_buckets
    }

    /// The key itself is random; its parts serve as hash and fingerprint.
    #[expect(clippy::cast_possible_truncation, reason = "fingerprints of at most 20 bits")]
    fn split(&self, key: u64) -> (u64, u32) {
        (key & self.mask, (key >> (64 - self.fingerprint_bits)) as u32)
    }

    fn alternate(&self, bucket: u64, fingerprint: u32) -> u64 {
        (bucket ^ mix(u64::from(fingerprint) + 1)) & self.mask
    }

    fn bucket(&self, bucket: u64) -> std::ops::Range<usize> {
        let start = usize::try_from(bucket).unwrap_or(0) * self.bucket_size;
        start..start + self.bucket_size
    }

    fn put(&mut self, bucket: u64, fingerprint: u32) -> bool {
        let range = self.bucket(bucket);
        let free = self.slots[range].iter_mut().find(|slot| **slot == EMPTY);
        free.map(|slot| *slot = fingerprint).is_some()
    }

    /// Inserts (paper, algorithm 1). After a refusal the table has lost a fingerprint, as the
    /// paper's own has.
    pub(super) fn insert(&mut self, key: u64) -> Result<(), Refusal> {
        let (first, mut fingerprint) = self.split(key);
        let second = self.alternate(first, fingerprint);
        let mut bucket = first;
        let inserted = self.put(first, fingerprint) || self.put(second, fingerprint) || {
            bucket = if self.next() & 1 == 0 { first } else { second };
            (0..MAX_KICKS).any(|_| {
                let turn = usize::try_from(self.next()).unwrap_or(0) % self.bucket_size;
                let slot = self.bucket(bucket).start + turn;
                std::mem::swap(&mut self.slots[slot], &mut fingerprint);
                bucket = self.alternate(bucket, fingerprint);
                self.put(bucket, fingerprint)
            })
        };
        if !inserted {
            return Err(self.refusal([bucket, self.alternate(bucket, fingerprint)]));
        }
        self.len += 1;
        Ok(())
    }

    /// Inserts the keys from the first one on, until one is refused.
    pub(super) fn fill(&mut self, keys: Keys) -> Refusal {
        let refusal = (0..).find_map(|position| {
            if position % AHEAD == 0 {
                black_box(self.read_ahead(keys, position));
            }
            self.insert(keys.key(position)).err()
        });
        refusal.expect("there are more keys than slots")
    }

    /// Reads both buckets of the keys from a position on. Nothing depends on these reads, so the
    /// processor overlaps many of them where the table is larger than the caches.
    fn read_ahead(&self, keys: Keys, position: u64) -> u64 {
        let first_slot = |bucket| u64::from(self.slots[self.bucket(bucket).start]);
        let read = |position| {
            let (first, fingerprint) = self.split(keys.key(position));
            first_slot(first) ^ first_slot(self.alternate(first, fingerprint))
        };
        (position..position + AHEAD).fold(0, |sum, position| sum ^ read(position))
    }

    /// Looks at all buckets that entries could be moved to from two full ones, one after the other.
    fn refusal(&self, places: [u64; 2]) -> Refusal {
        let (mut seen, mut reached) = (HashSet::from(places), places.to_vec());
        while let Some(bucket) = reached.pop() {
            for &fingerprint in &self.slots[self.bucket(bucket)] {
                if fingerprint == EMPTY || seen.len() > LARGEST_GROUP {
                    return Refusal::GivenUp;
                }
                let other = self.alternate(bucket, fingerprint);
                if seen.insert(other) {
                    reached.push(other);
                }
            }
        }
        Refusal::Group { buckets: seen.len() }
    }

    /// Looks up (paper, algorithm 2).
    pub(super) fn contains(&self, key: u64) -> bool {
        let (first, fingerprint) = self.split(key);
        let second = self.alternate(first, fingerprint);
        let has = |bucket| self.slots[self.bucket(bucket)].contains(&fingerprint);
        has(first) || has(second)
    }

    /// Share of the slots that are taken.
    pub(super) fn load(&self) -> f64 {
        self.len as f64 / self.slots.len() as f64
    }

    /// Which entry to kick: 31 bits of a multiplicative generator, the same in every run.
    const fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        self.random >> 33
    }
}

/// The finalizer of murmur3.
const fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternates_are_mutual_and_members_are_found() {
        let mut table: Walk = Walk::new(10, 4, 12);
        let keys = Keys::new(1);
        let count = 3600;
        assert!((0..count).all(|position| table.insert(keys.key(position)).is_ok()));
        assert!((0..count).all(|position| table.contains(keys.key(position))));
        assert!((table.load() - 3600.0 / 4096.0).abs() < 1e-9);
        for bucket in 0..100 {
            let other = table.alternate(bucket, 77_u32);
            assert_eq!(table.alternate(other, 77), bucket);
        }
        // A thousand absent keys, each with eight slots: two false positives are expected.
        let found = (0..1000).filter(|n| table.contains(keys.key(1 << 40 | n))).count();
        assert!(found < 12, "{found}");
    }

    #[test]
    fn copies_of_a_key_are_a_group_of_two_buckets() {
        let mut table: Walk = Walk::new(10, 2, 12);
        let key = Keys::new(1).key(0);
        assert!((0..4).all(|_| table.insert(key) == Ok(())));
        assert_eq!(table.insert(key), Err(Refusal::Group { buckets: 2 }));
        // Long fingerprints: there is always a way, however long.
        assert_eq!(Walk::new(12, 4, 16).fill(Keys::new(2)), Refusal::GivenUp);
    }
}
