//! The keys of all measurements, from a seed.
//!
//! Nothing is stored: the key at any position can be made again when it is needed, so a run over a
//! hundred million keys spends its memory on the filters alone.

use std::ops::Range;

/// 2^64 / golden ratio: the step of the splitmix64 generator.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// Positions from here on are never inserted.
const ABSENT: u64 = 1 << 63;
/// Keeps the choices of a query stream apart from the keys themselves.
const CHOICE: u64 = 0x51_7c_c1_b7_27_22_0a_95;

/// An endless sequence of distinct random 64-bit keys.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    start: u64,
}

/// Which keys are asked for: this many of a hundred are in the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Present(pub u8);

impl Present {
    /// The three mixes that are measured.
    pub const ALL: [Self; 3] = [Self(0), Self(50), Self(100)];
}

impl Keys {
    /// The sequence of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { start: mix(seed) }
    }

    /// The key at a position. Different positions have different keys.
    #[inline]
    #[must_use]
    pub const fn key(self, position: u64) -> u64 {
        mix(self.start.wrapping_add(position.wrapping_mul(STEP)))
    }

    /// The keys to insert, from position `first` on.
    pub fn members(self, first: u64, out: &mut [u64]) {
        for (key, position) in out.iter_mut().zip(first..) {
            *key = self.key(position);
        }
    }

    /// Hands the keys to insert over in batches that are made in `batch`.
    pub fn batches(self, positions: Range<u64>, batch: &mut [u64], mut each: impl FnMut(&[u64])) {
        for first in positions.clone().step_by(batch.len()) {
            let batch = part(batch, positions.end - first);
            self.members(first, batch);
            each(batch);
        }
    }

    /// Hands keys to ask for over in batches that are made in `batch`, as
    /// [`queries`](Self::queries) makes them.
    pub fn query_batches(
        self,
        present: Present,
        members: u64,
        positions: Range<u64>,
        batch: &mut [u64],
        mut each: impl FnMut(&mut [u64]),
    ) {
        for first in positions.clone().step_by(batch.len()) {
            let batch = part(batch, positions.end - first);
            self.queries(present, members, first, batch);
            each(batch);
        }
    }

    /// Keys to ask for, when the first `members` keys were inserted: members in random order, mixed
    /// with keys that were never inserted. The mix is random too, so that no branch predictor can
    /// learn it.
    pub fn queries(self, present: Present, members: u64, first: u64, out: &mut [u64]) {
        for (key, position) in out.iter_mut().zip(first..) {
            let random = mix(position ^ CHOICE);
            *key = self.key(if scale(random << 32, 100) < u64::from(present.0) {
                scale(random, members)
            } else {
                ABSENT + position
            });
        }
    }
}

/// As much of the batch as is left to do.
fn part(batch: &mut [u64], left: u64) -> &mut [u64] {
    let len = usize::try_from(left).map_or(batch.len(), |left| left.min(batch.len()));
    &mut batch[..len]
}

/// `value * range / 2^64`: uniform over `0..range` for a uniform `value`.
#[inline]
#[must_use]
pub const fn scale(value: u64, range: u64) -> u64 {
    ((value as u128 * range as u128) >> 64) as u64
}

/// The finalizer of splitmix64, a bijection.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_seed_gives_the_same_distinct_keys_every_time() {
        let mut keys = [0; 10_000];
        Keys::new(1).members(0, &mut keys);
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
        let mut again = [0; 5];
        Keys::new(1).members(995, &mut again);
        assert_eq!(again, keys[995..1000]);
        Keys::new(2).members(0, &mut again);
        assert_ne!(again, keys[..5]);
    }

    #[test]
    fn queries_have_the_share_of_members_that_was_asked_for() {
        let keys = Keys::new(7);
        let mut members = vec![0; 1000];
        keys.members(0, &mut members);
        let members: HashSet<u64> = members.into_iter().collect();
        for Present(percent) in Present::ALL {
            let mut queries = vec![0; 20_000];
            keys.queries(Present(percent), 1000, 123, &mut queries);
            let hits = queries.iter().filter(|&key| members.contains(key)).count();
            assert!(hits.abs_diff(200 * usize::from(percent)) < 300, "{percent} %: {hits}");
        }
    }
}
