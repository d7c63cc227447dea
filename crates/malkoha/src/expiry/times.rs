//! The meaning of an age: windows, epochs, labels.
//!
//! Time is cut into *epochs*, `steps` to the time that keys live, counted from 0. A slot stores its
//! epoch's lowest bits, its *label*. A label alone comes round again, so slots lie in *blocks*,
//! each of which knows the epoch in which it was last swept of what had expired: at that time its
//! labels meant the last `steps + 1` epochs and nothing else. Nothing is written into a block that
//! was not swept in the present epoch, so that stays true, however far time jumps.

use alloc::vec;
use alloc::vec::Vec;

use crate::addressing::index;
use crate::error::{BuildError, InsertError};

/// Steps of a window, at most: labels of 8 bits.
pub(crate) const MOST_STEPS: u32 = 255;
/// Steps of a window without a given resolution: labels of 4 bits.
const USUAL_STEPS: u64 = 15;

/// How long keys live, and in how many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) ttl: u64,
    pub(crate) steps: u32,
}

impl Window {
    /// A window of `ttl` in steps of at most `resolution`.
    pub(crate) fn new(ttl: u64, resolution: Option<u64>) -> Result<Self, BuildError> {
        let steps = match resolution {
            None => USUAL_STEPS.min(ttl),
            Some(resolution) if resolution <= ttl => {
                ttl.checked_div(resolution).map_or(0, |_| ttl.div_ceil(resolution))
            }
            Some(_) => 0,
        };
        let steps = u32::try_from(steps).ok();
        steps
            .and_then(|steps| Self { ttl, steps }.checked())
            .ok_or(BuildError::Window { ttl, resolution: resolution.unwrap_or(1) })
    }

    /// This window, if there is one like it.
    pub(crate) fn checked(self) -> Option<Self> {
        let is_one = (1..=MOST_STEPS).contains(&self.steps) && u64::from(self.steps) <= self.ttl;
        is_one.then_some(self)
    }

    /// Bits of a label: enough to tell `steps + 1` epochs apart.
    pub(crate) fn label_bits(self) -> u32 {
        u32::BITS - self.steps.leading_zeros()
    }

    /// The most keys that are kept at a time if this many are seen in a window: those of a window
    /// and of one more step.
    pub(crate) fn kept(self, keys: u64) -> u64 {
        keys.saturating_add(keys.div_ceil(self.steps.into()))
    }

    /// The epoch of a time.
    fn epoch(self, time: u64) -> u64 {
        let epoch = u128::from(time) * u128::from(self.steps) / u128::from(self.ttl);
        // Not above the time, since steps are at most the ttl.
        u64::try_from(epoch).unwrap_or(u64::MAX)
    }

    /// The first time of an epoch; the last one that there is, if it begins later.
    fn start(self, epoch: u64) -> u64 {
        let start = (u128::from(epoch) * u128::from(self.ttl)).div_ceil(self.steps.into());
        u64::try_from(start).unwrap_or(u64::MAX)
    }
}

/// The time of a table, and what lives at it.
#[derive(Clone, Debug)]
pub struct Times {
    window: Window,
    now: u64,
    epoch: u64,
    /// The time at which the next epoch begins.
    next: u64,
    label_mask: u64,
    /// The epoch in which each block was swept last.
    swept: Vec<u64>,
    /// Keys that live, by label.
    counts: Vec<u64>,
    live: u64,
    /// Keys of a window that it was built for.
    capacity: u64,
}

impl Times {
    pub(crate) fn new(window: Window, blocks: usize, capacity: u64) -> Self {
        let labels = 1 << window.label_bits();
        Self {
            window,
            now: 0,
            epoch: 0,
            next: window.start(1),
            label_mask: labels - 1,
            swept: vec![0; blocks],
            counts: vec![0; index(labels)],
            live: 0,
            capacity,
        }
    }

    pub(crate) fn window(&self) -> Window {
        self.window
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Keys that live.
    pub(crate) fn live(&self) -> u64 {
        self.live
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The first time at which another step has begun.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The first time of the step in which `time` lies.
    pub(crate) fn step_start(&self, time: u64) -> u64 {
        self.window.start(self.window.epoch(time))
    }

    /// By how many epochs this time is later than the present one.
    #[inline]
    pub(crate) fn epochs_to(&self, time: u64) -> u64 {
        if time < self.next { 0 } else { self.window.epoch(time) - self.epoch }
    }

    /// Whether a key of this age lives this many epochs later.
    #[inline]
    pub(crate) fn lives_after(&self, age: u64, epochs: u64) -> bool {
        age.saturating_add(epochs) <= self.window.steps.into()
    }

    /// Keys that live this many epochs later, if none is seen until then.
    pub(crate) fn live_after(&self, epochs: u64) -> u64 {
        let ages = 0..=u64::from(self.window.steps);
        let left = ages.filter(|&age| self.lives_after(age, epochs));
        left.map(|age| self.counts[index(self.label_before(age))]).sum()
    }

    /// The epochs in which blocks were swept, and the keys that live by label.
    pub(crate) fn state(&self) -> (&[u64], &[u64]) {
        (&self.swept, &self.counts)
    }

    /// Restores what [`state`](Self::state) returned, if a table with this many filled slots can
    /// have it.
    pub(crate) fn with_state(self, swept: Vec<u64>, counts: Vec<u64>, filled: u64) -> Option<Self> {
        let live = counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count))?;
        let same = swept.len() == self.swept.len() && counts.len() == self.counts.len();
        let possible = same && live <= filled && swept.iter().all(|&swept| swept <= self.epoch);
        possible.then_some(Self { swept, counts, live, ..self })
    }

    /// Why a key was refused just now.
    #[cold]
    pub(crate) fn refusal(&self) -> InsertError {
        InsertError::Full { len: self.live, capacity: self.capacity }
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        ((self.swept.len() + self.counts.len()) * size_of::<u64>()) as u64
    }

    /// Advances to this time, unless it is later already.
    #[inline]
    pub(crate) fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
        if now >= self.next {
            self.turn(now);
        }
    }

    /// Begins another epoch.
    #[cold]
    fn turn(&mut self, now: u64) {
        let epoch = self.window.epoch(now);
        if epoch == self.epoch {
            // The last possible epoch has no next one.
            return;
        }
        let steps = u64::from(self.window.steps);
        // The keys that expire as each of these epochs begins. Further epochs find none left.
        let turns = (epoch - self.epoch).min(self.label_mask + 1);
        for begun in (epoch - turns).saturating_add(1)..=epoch {
            let expired = begun.wrapping_sub(steps + 1) & self.label_mask;
            let count = core::mem::take(&mut self.counts[index(expired)]);
            self.live -= count;
        }
        self.epoch = epoch;
        self.next = self.window.start(epoch.saturating_add(1));
    }

    /// The label of what is seen now.
    #[inline(always)]
    pub(crate) fn label(&self) -> u64 {
        self.epoch & self.label_mask
    }

    /// The age in epochs of what has this label in this block, if it lives.
    #[inline(always)]
    pub(crate) fn age(&self, block: usize, label: u64) -> Option<u64> {
        let swept = self.swept[block];
        let age = swept.wrapping_sub(label) & self.label_mask;
        // In a forged file, labels might be older than epoch 0.
        let age = age.saturating_add(self.epoch - swept);
        (age <= self.window.steps.into()).then_some(age)
    }

    /// Whether a slot that is swept now can have this label.
    pub(crate) fn can_be(&self, label: u64) -> bool {
        self.epoch.wrapping_sub(label) & self.label_mask <= self.window.steps.into()
    }

    /// The time that has passed at most since what has this age was seen.
    pub(crate) fn most_time(&self, age: u64) -> u64 {
        self.now - self.window.start(self.epoch.saturating_sub(age)).min(self.now)
    }

    #[inline(always)]
    pub(crate) fn is_swept(&self, block: usize) -> bool {
        self.swept[block] == self.epoch
    }

    /// The only label that has expired since a block was swept; none if there might be several.
    pub(crate) fn expired_label(&self, block: usize) -> Option<u64> {
        let steps = u64::from(self.window.steps);
        let one = self.epoch - self.swept[block] == 1;
        one.then_some(self.epoch.wrapping_sub(steps + 1) & self.label_mask)
    }

    /// Whether one label belongs to an earlier epoch than another, in blocks that have been swept.
    pub(crate) fn is_older(&self, label: u64, than: u64) -> bool {
        let age = |label: u64| self.epoch.wrapping_sub(label) & self.label_mask;
        age(label) > age(than)
    }

    /// The label of what has this age.
    pub(crate) fn label_before(&self, age: u64) -> u64 {
        self.epoch.wrapping_sub(age) & self.label_mask
    }

    /// Whether all blocks were swept in this epoch.
    pub(crate) fn all_swept(&self) -> bool {
        self.swept.iter().all(|&swept| swept == self.epoch)
    }

    /// Makes this the number of the last block.
    pub(crate) fn swap_remove(&mut self, block: usize) {
        self.swept.swap_remove(block);
    }

    pub(crate) fn set_swept(&mut self, block: usize) {
        self.swept[block] = self.epoch;
    }

    /// Sets the number of blocks; new ones count as swept now.
    pub(crate) fn set_blocks(&mut self, blocks: usize) {
        self.swept.resize(blocks, self.epoch);
    }

    /// Counts a key of this label that is in now.
    #[inline(always)]
    pub(crate) fn count_in(&mut self, label: u64) {
        self.counts[index(label)] += 1;
        self.live += 1;
    }

    /// Counts a key of this label that is gone, though it lived.
    #[inline(always)]
    pub(crate) fn count_out(&mut self, label: u64) {
        // Saturating: slots that were doubled count once.
        let count = &mut self.counts[index(label)];
        if *count > 0 {
            *count -= 1;
            self.live -= 1;
        }
    }

    /// Empties the set, and sets the number of blocks.
    pub(crate) fn clear(&mut self, blocks: usize) {
        self.counts.fill(0);
        self.live = 0;
        self.swept.clear();
        self.set_blocks(blocks);
    }
}

impl PartialEq for Times {
    /// Whether the same lives at the same time, in tables that have been swept.
    fn eq(&self, other: &Self) -> bool {
        let all = |times: &Self| (times.window, times.now, times.capacity);
        all(self) == all(other) && self.counts == other.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Within the ttl always, after the ttl and a step never: in numbers that do not divide.
    #[test]
    fn windows_keep_their_promise() {
        for (ttl, resolution) in
            [(1, None), (7, None), (100, Some(7)), (1000, None), (997, Some(4))]
        {
            let window = Window::new(ttl, resolution).unwrap();
            let step = ttl.div_ceil(window.steps.into());
            assert!(resolution.is_none_or(|asked| step <= asked), "{window:?}");
            for seen in 0..3 * ttl {
                let mut times = Times::new(window, 1, 1);
                times.advance(seen);
                times.set_swept(0);
                let label = times.label();
                times.count_in(label);
                times.advance(seen + ttl);
                assert_eq!(times.live(), 1, "{window:?} {seen}");
                let age = times.age(0, label).expect("it lives");
                assert!((ttl..=ttl + step).contains(&times.most_time(age)));
                times.advance(seen + ttl + step);
                assert_eq!((times.live(), times.age(0, label)), (0, None), "{window:?} {seen}");
                times.advance(u64::MAX);
                assert_eq!(times.age(0, label), None);
            }
        }
    }

    /// No set writes one, but a file may have it: its age once overflowed.
    #[test]
    fn labels_of_before_the_first_epoch_expire() {
        let mut times = Times::new(Window { ttl: 255, steps: 255 }, 1, 1);
        assert_eq!(times.age(0, 1), Some(255));
        times.advance(u64::MAX);
        assert_eq!(times.age(0, 1), None);
    }
}
