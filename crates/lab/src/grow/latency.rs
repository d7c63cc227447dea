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
/// Names, and shares in ten thousandths.
const PERCENTILES: [(&str, usize); 3] = [("50 %", 5_000), ("99 %", 9_900), ("99.99 %", 9_999)];
const LONGEST: &str = "longest";

impl Run<'_> {
    pub(super) fn latency(&mut self, contenders: &[Contender]) -> Result<()> {
        for contender in contenders {
            let mut growth = Growth::new(contender, self.args, BATCH)?;
            // All nanoseconds, with 4 bytes for each key. None moves while inserts are timed.
            let most = self.args.keys.last().copied().unwrap_or(0);
            let mut times = Vec::with_capacity(usize::try_from(most)?);
            let mut longest = Duration::ZERO;
            for &keys in &self.args.keys {
                growth.to(keys, |subject, batch, _| {
                    for block in batch.chunks(BLOCK) {
                        let (before, mut most) = (processor_time(), Duration::ZERO);
                        for &key in block {
                            let start = Instant::now();
                            subject.insert(key);
                            let time = start.elapsed();
                            times.push(u32::try_from(time.as_nanos()).unwrap_or(u32::MAX));
                            most = most.max(time);
                        }
                        longest = longest.max(most.min(processor_time().saturating_sub(before)));
                    }
                });
                let mut add = |name: &str, time: Duration| {
                    self.figures.add(&contender.name, keys, name, "us", time.as_secs_f64() * 1e6);
                };
                for (name, share) in PERCENTILES {
                    add(name, percentile(&mut times, share));
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

/// The time that `share` ten-thousandths of the inserts do not exceed.
fn percentile(times: &mut [u32], share: usize) -> Duration {
    let at = times.len() * share / 10_000;
    let (_, time, _) = times.select_nth_unstable(at);
    Duration::from_nanos((*time).into())
}
