//! The latency of single inserts, up to each size.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::Run;
use super::growth::Growth;
use crate::measure::processor_time;
use crate::subject::Contender;

/// Keys handed over at a time.
const BATCH: usize = 1024;
/// Inserts between two readings of the processor time, which costs as much as several of them. The
/// time of a block bounds that of each insert in it, whatever else ran meanwhile.
const BLOCK: usize = 64;
const PERCENTILES: [(&str, f64); 3] = [("50 %", 0.5), ("99 %", 0.99), ("99.99 %", 0.9999)];
const LONGEST: &str = "longest";

impl Run<'_> {
    pub(super) fn latency(&mut self, contenders: &[Contender]) -> Result<()> {
        for contender in contenders {
            let mut growth = Growth::new(contender, self.args, BATCH)?;
            let (mut times, mut longest) = (Histogram::default(), Duration::ZERO);
            for &keys in &self.args.keys {
                growth.to(keys, |subject, batch, _| {
                    for block in batch.chunks(BLOCK) {
                        let (before, mut most) = (processor_time(), Duration::ZERO);
                        for &key in block {
                            let start = Instant::now();
                            subject.insert(key);
                            let time = start.elapsed();
                            times.add(time);
                            most = most.max(time);
                        }
                        longest = longest.max(most.min(processor_time().saturating_sub(before)));
                    }
                });
                let mut add = |name: &str, time: Duration| {
                    self.figures.add(&contender.name, keys, name, "us", time.as_secs_f64() * 1e6);
                };
                for (name, share) in PERCENTILES {
                    add(name, times.percentile(share));
                }
                add(LONGEST, longest);
            }
        }
        let title = self.title("Microseconds of a single insert");
        let columns = [PERCENTILES.map(|(name, _)| name).to_vec(), vec![LONGEST]].concat();
        print!("{}", self.figures.by_size(&title, &columns));
        Ok(())
    }
}

/// Bits of a time that are kept: a class is at most a thirty-second of its times wide.
const KEPT: u32 = 5;

/// Numbers of times by class, classes in ascending order.
struct Histogram(Vec<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self(vec![0; (u64::BITS as usize) << KEPT])
    }
}

impl Histogram {
    #[expect(clippy::cast_possible_truncation, reason = "a time of one insert, and its first bits")]
    fn add(&mut self, time: Duration) {
        // At least 2^KEPT, so that there are bits to keep.
        let nanoseconds = (time.as_nanos() as u64).max(1 << KEPT);
        let shift = nanoseconds.ilog2() - KEPT;
        self.0[((shift as usize) << KEPT) + (nanoseconds >> shift) as usize] += 1;
    }

    /// The least time of the class in which the share is reached.
    fn percentile(&self, share: f64) -> Duration {
        let mut left = self.0.iter().sum::<u64>() as f64 * share;
        let reached = |&(_, count): &(usize, &u64)| {
            left -= *count as f64;
            left <= 0.0
        };
        let class = self.0.iter().enumerate().find(reached).map_or(0, |(class, _)| class);
        let shift = (class >> KEPT).saturating_sub(1);
        Duration::from_nanos(((class - (shift << KEPT)) as u64) << shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_class() {
        let mut times = Histogram::default();
        (0..10_000).for_each(|n| times.add(Duration::from_nanos(1_000 + n)));
        for (share, expected) in [(0.5, 6_000.0), (0.99, 10_900.0), (1.0, 10_999.0)] {
            let found = times.percentile(share).as_nanos() as f64;
            assert!((0.96..=1.0).contains(&(found / expected)), "{share}: {found}");
        }
    }
}
