//! The times at which records of a file end that were put for a limited time.

use std::collections::BTreeMap;
use std::mem;

use super::MAX_FILE_BYTES;

/// The most steps of a file: some KiB of memory.
const MOST: usize = 64;
/// The least step in milliseconds, a power of two.
const LEAST_STEP: u64 = 1 << 6;
/// Anything that ends later, in millions of years, never ends.
const NEVER: u64 = 1 << 60;

/// Bytes of a file's present records that end, by when they do. Times are in milliseconds since
/// 1970, rounded up to a multiple of a step, which is a power of two. There are few steps: if the
/// records of a file end within a day, steps are 22 to 45 minutes long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expiring {
    step: u64,
    ends: BTreeMap<u64, u64>,
    /// Everything that ends before this counts as dead.
    past: u64,
}

impl Default for Expiring {
    fn default() -> Self {
        Self { step: LEAST_STEP, ends: BTreeMap::new(), past: 0 }
    }
}

impl Expiring {
    /// Adds bytes that end at a time; whether they count as live.
    pub(crate) fn add(&mut self, end: u64, bytes: u64) -> bool {
        if end > self.past && end <= NEVER {
            *self.ends.entry(end.next_multiple_of(self.step)).or_default() += bytes;
            self.limit();
        }
        end > self.past
    }

    /// Removes bytes that end at a time, because they were replaced; whether they counted as live.
    pub(crate) fn remove(&mut self, end: u64, bytes: u64) -> bool {
        if end > self.past
            && end <= NEVER
            && let Some(left) = self.ends.get_mut(&end.next_multiple_of(self.step))
        {
            *left = left.saturating_sub(bytes);
        }
        end > self.past
    }

    /// Returns the bytes that have ended by now and counted as live. From now on they do not.
    pub(crate) fn end(&mut self, now: u64) -> u64 {
        let later = self.ends.split_off(&now.saturating_add(1));
        let ended = mem::replace(&mut self.ends, later);
        self.past = ended.last_key_value().map_or(0, |(&end, _)| end).max(self.past);
        ended.into_values().sum()
    }

    /// Adds those of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.past = self.past.max(other.past);
        // An end that was rounded twice, to different steps, would not be found again.
        self.round_to(self.step.max(other.step));
        for (end, bytes) in &other.ends {
            *self.ends.entry(end.next_multiple_of(self.step)).or_default() += bytes;
        }
        self.limit();
    }

    fn round_to(&mut self, step: u64) {
        self.step = step;
        for (end, bytes) in mem::take(&mut self.ends) {
            *self.ends.entry(end.next_multiple_of(step)).or_default() += bytes;
        }
    }

    fn limit(&mut self) {
        while self.ends.len() > MOST {
            self.round_to(self.step * 2);
        }
    }

    /// Whether any counts as dead.
    pub(crate) fn has_ended(&self) -> bool {
        self.past > 0
    }

    /// The time until which everything counts as dead; the step; ends, which are multiples of it,
    /// and their bytes.
    pub(crate) fn parts(&self) -> (u64, u64, impl ExactSizeIterator<Item = (u64, u64)>) {
        (self.past, self.step, self.ends.iter().map(|(&end, &bytes)| (end, bytes)))
    }

    /// From its parts; `None` if they are impossible.
    pub(crate) fn from_parts(past: u64, step: u64, ends: BTreeMap<u64, u64>) -> Option<Self> {
        let fits = step.is_power_of_two()
            && (LEAST_STEP..=NEVER).contains(&step)
            && ends.len() <= MOST
            && ends.keys().all(|end| end % step == 0 && *end <= 2 * NEVER)
            && ends.values().all(|bytes| *bytes <= MAX_FILE_BYTES);
        fits.then_some(Self { step, ends, past })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If the clock went back, dead records do not live again.
    #[test]
    fn what_ended_stays_so() {
        let mut expiring = Expiring { past: 1 << 20, ..Expiring::default() };
        let mut earlier = Expiring::default();
        assert!(earlier.add(1 << 10, 8));
        expiring.merge(&earlier);
        assert_eq!(expiring.end(1 << 20), 8);
        assert!(!expiring.remove(1 << 19, 8) && !expiring.add(1 << 20, 8));
    }

    /// In every order, each byte is reported once: as ended, or as removed before.
    #[test]
    fn every_byte_counts_once() {
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (random >> 33) % below
        };
        for round in 0..200 {
            let (mut expiring, mut present, mut live) = (Expiring::default(), Vec::new(), 0_u64);
            let spread = 1 << (4 + round % 40);
            let mut now = 1_700_000_000_000;
            for _ in 0..400 {
                match next(8) {
                    0 => {
                        now += next(spread);
                        live -= expiring.end(now);
                        let later = present.iter().filter(|(end, _)| end + expiring.step > now);
                        assert!(live <= later.map(|(_, bytes)| bytes).sum(), "some count too long");
                    }
                    1 if !present.is_empty() => {
                        let at = usize::try_from(next(present.len() as u64)).unwrap();
                        let (end, bytes) = present.swap_remove(at);
                        live -= if expiring.remove(end, bytes) { bytes } else { 0 };
                    }
                    2 => {
                        let (past, step, ends) = expiring.parts();
                        expiring = Expiring::from_parts(past, step, ends.collect()).unwrap();
                    }
                    _ => {
                        let (end, bytes) = (now + next(spread), 8 * next(20));
                        live += if expiring.add(end, bytes) { bytes } else { 0 };
                        present.push((end, bytes));
                    }
                }
                assert_eq!(live, expiring.ends.values().sum::<u64>());
                assert!(expiring.ends.len() <= MOST);
            }
            live -= expiring.end(NEVER);
            assert_eq!(live, 0);
        }
    }
}
