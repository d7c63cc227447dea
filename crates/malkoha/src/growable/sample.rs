//! Makes room for a batch by a sample of it: how many of its keys are distinct, and how many are
//! new.

use super::table::Growing;

/// Keys of a batch that are looked at: one in `SAMPLED`, but at most `OF_ROOT` times the square
/// root of their number, and never more than `MOST_SAMPLED`. The root is enough: where each key
/// comes twice, 16^2 / 2 pairs of the sample are equal, however large the batch is.
const SAMPLED: usize = 16;
const OF_ROOT: usize = 16;
const MOST_SAMPLED: usize = 1 << 16;
/// Making room for fewer new keys does not pay.
const LEAST: f64 = 4096.0;
/// Room for them is made at once if what is there grows by this share at least: rebuilding all
/// segments costs as much as inserting what they hold.
const WORTHWHILE: f64 = 0.25;
/// With fewer keys per segment, the table would not grow by that share, or there is room for them:
/// each of several segments has room for 15,000. So a small batch need not look at all segments.
const LEAST_EACH: usize = 2048;

impl Growing {
    /// Keys that have slots.
    pub(crate) fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Keys that fit before segments grow.
    pub(crate) fn room_for(&self) -> u64 {
        let first = self.occupied < self.capacity;
        let buckets = self.records.iter().map(|record| record.form.grid.buckets());
        buckets.map(|buckets| self.shape.full(buckets, first)).sum()
    }
}

/// Whether a batch of hashes is so large, for a tree of this many segments, that room can be made.
pub(crate) fn is_large(hashes: usize, segments: usize) -> bool {
    hashes as f64 >= LEAST && (segments == 1 || hashes / segments >= LEAST_EACH)
}

/// How many keys there will be with `new` ones, if room should be made for them in a tree that has
/// `len` and room for `room`.
pub(crate) fn keys_with(new: f64, len: u64, room: u64) -> Option<u64> {
    let len = len as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and no more than there are hashes and slots"
    )]
    let keys = (len + new) as u64;
    (new >= LEAST.max(len * WORTHWHILE) && keys > room).then_some(keys)
}

/// The keys of a batch that a table does not have, as far as a sample tells.
#[derive(Debug)]
pub(crate) struct New {
    /// How many they are, estimated.
    pub(crate) keys: f64,
    /// The hashes of some of them, each once, in ascending order.
    pub(crate) hashes: Vec<u64>,
}

impl New {
    /// Samples with another `salt` draw other positions. `contains` returns which hashes a table
    /// has.
    pub(crate) fn of(
        hashes: usize,
        salt: u64,
        hash: &mut dyn FnMut(usize) -> Option<u64>,
        contains: impl FnOnce(&[u64], &mut [bool]),
    ) -> Self {
        let mut new = Self::drawn(hashes, salt, hash);
        new.leave_out(contains);
        new
    }

    /// All keys of a batch: too few rather than too many where some are repeated much more often
    /// than others, and the hashes that came once or twice in the sample. Draws positions
    /// independently of each other, so that the order of the keys does not matter.
    fn drawn(hashes: usize, salt: u64, mut hash: impl FnMut(usize) -> Option<u64>) -> Self {
        let count = (hashes / SAMPLED).min(OF_ROOT * hashes.isqrt()).min(MOST_SAMPLED);
        // Begun by hashes of the batch: without the key of the hash nobody can foresee which
        // positions are drawn.
        let ends = [0, hashes / 2, hashes.saturating_sub(1)].map(|i| hash(i).unwrap_or(0));
        let mut random = ends.into_iter().fold(salt, |seed, end| seed.rotate_left(21) ^ end);
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
        Self { keys: distinct([once, twice, runs], each), hashes: rare }
    }

    /// Leaves out the keys that a table has.
    pub(crate) fn leave_out(&mut self, contains: impl FnOnce(&[u64], &mut [bool])) {
        let before = self.hashes.len();
        let mut found = vec![false; before];
        contains(&self.hashes, &mut found);
        let mut found = found.into_iter();
        self.hashes.retain(|_| found.next() != Some(true));
        if before > 0 {
            self.keys *= self.hashes.len() as f64 / before as f64;
        }
    }

    /// The share of these keys that other batches have too.
    pub(crate) fn share_in<'a>(&self, others: impl Iterator<Item = &'a Self>) -> f64 {
        let mut times = vec![0_u32; self.hashes.len()];
        let (mut all, mut meant) = (0.0, 0.0);
        for other in others {
            // Keys for each that is known.
            let each = other.keys / other.hashes.len() as f64;
            let mut theirs = other.hashes.iter().peekable();
            for (times, hash) in times.iter_mut().zip(&self.hashes) {
                while theirs.next_if(|&other| other < hash).is_some() {}
                if theirs.peek() == Some(&hash) {
                    *times += 1;
                    all += 1.0;
                    meant += each;
                }
            }
        }
        if all == 0.0 {
            return 0.0;
        }
        let drawn = |often: u32| times.iter().filter(|&&times| times == often).count() as f64;
        let runs = times.len() as f64 - drawn(0);
        f64::min(1.0, distinct([drawn(1), drawn(2), runs], meant / all) / times.len() as f64)
    }
}

/// How many different keys there are, if these numbers were drawn once, twice and at all, and one
/// in `each` was drawn.
///
/// Of n keys that come m times each, a number that follows Poisson's law was drawn as often as it
/// says: its mean l is twice those drawn twice over those drawn once. Since nothing is drawn twice,
/// l is (m - 1) / `each`, and those drawn once are n m / `each` times e^-l. Keys that come far more
/// often than others are drawn three times and more, and change nothing of this.
fn distinct([once, twice, runs]: [f64; 3], each: f64) -> f64 {
    let mean = 2.0 * twice / f64::max(once, 1.0);
    if mean < 2.0 {
        let estimate = once * each * mean.exp() / (1.0 + mean * each);
        f64::max(runs, estimate.min((once + 2.0 * twice) * each))
    } else {
        // Nearly all were drawn: all but 13 % at most, if they come equally often.
        runs * 1.15
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addressing::MIX;

    fn estimate(hashes: usize, key: impl Fn(usize) -> usize) -> f64 {
        let hash = |i| Some((key(i) as u64 + 1).wrapping_mul(MIX));
        New::drawn(hashes, 0, hash).keys
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
