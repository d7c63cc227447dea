//! Makes room for a batch by a sample of it: how many of its keys are distinct, and how many are
//! new.

use super::shape::full;
use super::table::Growing;

/// Keys of a batch that are looked at, at most; and one in so many of a smaller one.
const MOST_SAMPLED: usize = 1 << 16;
const SAMPLED: usize = 16;
/// Making room for fewer new keys does not pay.
const LEAST: f64 = 4096.0;
/// Room for them is made at once if what is there grows by this share at least: rebuilding all
/// segments costs as much as inserting what they hold.
const WORTHWHILE: f64 = 0.25;
/// With fewer keys per segment, the table would not grow by that share, or there is room for them:
/// each of several segments has room for 15,000. So a small batch need not look at all segments.
const LEAST_EACH: usize = 2048;
/// Room in segments, in hundredths of what their keys fill: some get more than their share.
const BATCH_ROOM: u64 = 104;

impl Growing {
    /// Makes room for a batch of hashes, if that saves many rebuilds. Where the system does not
    /// give the memory, the table grows as the keys come.
    pub(super) fn make_room_for(&mut self, hashes: usize, hash: impl FnMut(usize) -> Option<u64>) {
        let room = || (self.occupied, self.room_for());
        let contains = |rare: &[u64], found: &mut [bool]| self.contains_batch(rare, found);
        let keys = keys_with((hashes, self.records.len()), hash, room, contains);
        if let Some(keys) = keys {
            self.make_room_to(keys);
        }
    }

    /// Keys that have slots.
    pub(crate) fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Keys that fit before segments grow.
    pub(crate) fn room_for(&self) -> u64 {
        let first = self.occupied < self.capacity;
        let buckets = self.records.iter().map(|record| record.form.grid.buckets());
        buckets.map(|buckets| full(buckets, first)).sum()
    }

    /// Makes room for this many keys in the whole tree, of which this may be a branch.
    pub(crate) fn make_room_to(&mut self, keys: u64) {
        let _ = self.reserve_more(keys, 0, BATCH_ROOM);
    }

    /// Splits what will belong to several branches when there is [room](Self::make_room_to).
    pub(crate) fn split_for_room(&mut self, keys: u64) {
        self.split_for_branches(keys, BATCH_ROOM);
    }
}

/// How many keys there will be with a batch of hashes, if room should be made for them in a tree of
/// so many segments. `room` says how many there are and how many fit, `contains` which hashes are
/// in.
pub(crate) fn keys_with(
    (hashes, segments): (usize, usize),
    hash: impl FnMut(usize) -> Option<u64>,
    room: impl FnOnce() -> (u64, u64),
    contains: impl FnOnce(&[u64], &mut [bool]),
) -> Option<u64> {
    let most = hashes as f64;
    if most < LEAST || segments > 1 && hashes / segments < LEAST_EACH {
        return None;
    }
    let (len, room) = room();
    let (len, room) = (len as f64, room as f64);
    let least = LEAST.max(len * WORTHWHILE);
    if most < least || len + most <= room {
        return None;
    }
    let Sample { distinct, rare } = Sample::of(hashes, hash);
    let mut found = vec![false; rare.len()];
    contains(&rare, &mut found);
    let old = found.iter().filter(|&&found| found).count() as f64 / rare.len().max(1) as f64;
    let new = distinct * (1.0 - old);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and no more than there are hashes and slots"
    )]
    let keys = (len + new) as u64;
    (new >= least && len + new > room).then_some(keys)
}

/// What is known of a batch.
struct Sample {
    /// Its distinct keys, estimated: too few rather than too many where some are repeated much more
    /// often than others.
    distinct: f64,
    /// Hashes that came once or twice in the sample, each once.
    rare: Vec<u64>,
}

impl Sample {
    /// Draws positions independently of each other, so that the order of the keys does not matter.
    ///
    /// Of n keys that come m times each, a number that follows Poisson's law was drawn as often as
    /// it says: its mean l is twice those drawn twice over those drawn once. Since no position is
    /// drawn twice, l of `count` positions is (m - 1) / `hashes`, and those drawn once are
    /// n m / `hashes` times e^-l. Keys that come far more often than others are drawn three times
    /// and more, and change nothing of this.
    fn of(hashes: usize, mut hash: impl FnMut(usize) -> Option<u64>) -> Self {
        let count = (hashes / SAMPLED).min(MOST_SAMPLED);
        // Begun by hashes of the batch: who does not know the key of the hash cannot foresee which
        // positions are drawn.
        let ends = [0, hashes / 2, hashes.saturating_sub(1)].map(|i| hash(i).unwrap_or(0));
        let mut random = ends.into_iter().fold(0_u64, |seed, end| seed.rotate_left(21) ^ end);
        let mut draw = || {
            // Weyl's sequence, mixed as SplitMix64 does.
            random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let mixed = mixed ^ (mixed >> 31);
            // Below the number of hashes.
            #[expect(clippy::cast_possible_truncation, reason = "see above")]
            let position = ((u128::from(mixed) * hashes as u128) >> 64) as usize;
            position
        };
        let positions = (0..count).map(|_| draw());
        let mut drawn: Vec<(u64, usize)> =
            positions.filter_map(|position| Some((hash(position)?, position))).collect();
        drawn.sort_unstable();
        drawn.dedup();
        let (mut rare, mut once, mut twice, mut runs) = (Vec::new(), 0.0, 0.0, 0.0);
        for run in drawn.chunk_by(|a, b| a.0 == b.0) {
            runs += 1.0;
            if let [(hash, _)] | [(hash, _), _] = run {
                rare.push(*hash);
                *(if run.len() == 1 { &mut once } else { &mut twice }) += 1.0;
            }
        }
        // Positions of the batch for each that was drawn.
        let each = hashes as f64 / count.max(1) as f64;
        let mean = 2.0 * twice / f64::max(once, 1.0);
        let distinct = if mean < 2.0 {
            let estimate = once * each * mean.exp() / (1.0 + mean * each);
            f64::max(runs, estimate.min((once + 2.0 * twice) * each))
        } else {
            // Nearly all were drawn: all but 13 % at most, if they come equally often.
            runs * 1.15
        };
        Self { distinct, rare }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addressing::MIX;

    fn estimate(hashes: usize, key: impl Fn(usize) -> usize) -> f64 {
        let hash = |i| Some((key(i) as u64 + 1).wrapping_mul(MIX));
        Sample::of(hashes, hash).distinct
    }

    #[test]
    fn distinct_keys_are_estimated_whatever_their_order() {
        for len in [100_000, 1_000_000, 10_000_000] {
            let wanted = |estimate: f64, distinct: usize| {
                let error = estimate / distinct as f64;
                assert!((0.75..1.35).contains(&error), "{len}: {estimate} for {distinct}");
            };
            wanted(estimate(len, |i| i), len);
            for copies in [2, 4, 10, 100] {
                wanted(estimate(len, |i| i / copies), len / copies);
                wanted(estimate(len, |i| i % (len / copies)), len / copies);
            }
            // One key in half of the batch.
            wanted(estimate(len, |i| if i % 2 == 0 { 0 } else { i }), len / 2);
            assert!(estimate(len, |i| i % 100) < 200.0);
        }
    }

    /// Where the first keys are repeated most, the estimate is too low rather than too high.
    #[test]
    fn skewed_keys_are_not_overestimated() {
        let (len, mut state) = (1_000_000, 1_u64);
        let keys: Vec<usize> = (0..len)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let uniform = ((state >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "small"
                )]
                let key = (1.0 / uniform).powf(1.25) as usize;
                key
            })
            .collect();
        let distinct = std::collections::HashSet::<&usize>::from_iter(&keys).len() as f64;
        let found = estimate(len, |i| keys[i]);
        assert!((0.2..1.3).contains(&(found / distinct)), "{found} for {distinct}");
    }
}
