//! The memory that the limit is measured on.

use std::hint::black_box;
use std::time::Duration;

use anyhow::{Context, Result};
use memmap2::{Advice, MmapMut};

use super::kernels::{self, LINE_WORDS};
use super::{Access, Lines};
use crate::keys::Keys;
use crate::measure::{rate, timed};

/// Memory of a filter's size, every page of it written to.
pub struct Table {
    map: MmapMut,
    /// Length in 64-byte lines.
    lines: u64,
}

impl Table {
    /// A table of at least this many bytes, that asks the system for huge pages or for none.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    pub fn new(bytes: u64, huge_pages: bool) -> Result<Self> {
        let lines = bytes.div_ceil(64).max(1);
        let length = usize::try_from(lines * 64).context("table length")?;
        let mut map = MmapMut::map_anon(length).context("memory for the limit's table")?;
        // Where the advice is refused the pages are the system's choice, which the report states.
        #[cfg(target_os = "linux")]
        let _ = map.advise(if huge_pages { Advice::HugePage } else { Advice::NoHugePage });
        // Pages that are only read would all map to the shared zero page.
        map.fill(0x55);
        Ok(Self { map, lines })
    }

    /// Bytes of the table.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.lines * 64
    }

    /// Million steps per second of `access`, over `steps` keys from `first` on, made in `batch`
    /// outside the timed part. An eighth as many steps run first to warm the caches.
    pub fn rate(
        &self,
        access: Access,
        keys: Keys,
        first: u64,
        steps: u64,
        batch: &mut [u64],
    ) -> f64 {
        let (mut warm_up, mut time) = (Duration::ZERO, Duration::ZERO);
        for (time, steps) in [(&mut warm_up, steps / 8), (&mut time, steps)] {
            for start in (first..first + steps).step_by(batch.len()) {
                let left = usize::try_from(first + steps - start).unwrap_or(usize::MAX);
                let length = left.min(batch.len());
                keys.members(start, &mut batch[..length]);
                black_box(timed(time, || self.run(access, &batch[..length])));
            }
        }
        rate(steps, time)
    }

    /// Does one step of `access` for each of the random `keys`; returns the sum of what was loaded.
    #[must_use]
    pub fn run(&self, access: Access, keys: &[u64]) -> u64 {
        // SAFETY: the map is aligned to pages, any bytes are a valid `u64`, and the slice borrows
        // `self`, which nothing else writes to.
        let words = unsafe {
            std::slice::from_raw_parts(self.map.as_ptr().cast::<u64>(), self.map.len() / 8)
        };
        debug_assert_eq!(words.len() as u64, self.lines * LINE_WORDS as u64);
        match access.lines {
            Lines::Chain => kernels::chain(words, keys),
            Lines::One => kernels::run(words, access.issue, keys, kernels::one(words)),
            Lines::Two => kernels::run(words, access.issue, keys, kernels::two(words)),
            Lines::Near => kernels::run(words, access.issue, keys, kernels::near(words)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each step loads the lines it says, however the loads are issued: the sum is known.
    #[test]
    fn every_access_loads_all_its_lines() {
        let mut keys = vec![0; 3000];
        Keys::new(5).members(0, &mut keys);
        for bytes in [64, 100_000, 1 << 20] {
            let table = Table::new(bytes, false).unwrap();
            for access in Access::all() {
                let lines = match access.lines {
                    Lines::Chain | Lines::One => 1,
                    Lines::Two | Lines::Near => 2,
                };
                let expected = 0x5555_5555_5555_5555_u64.wrapping_mul(3000 * lines);
                assert_eq!(table.run(access, &keys), expected, "{access}, {bytes} bytes");
            }
        }
    }
}
