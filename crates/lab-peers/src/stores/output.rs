//! The stores' figures: a table of medians, and files.

use std::time::{Duration, Instant};

use anyhow::Result;
use lab::args::OutputArgs;
use lab::measure::{process_time, processor_time};
use lab::report::{Report, number};
use lab::results::Figures;

/// All figures so far, of stores with as many records.
pub(crate) struct Output {
    figures: Figures,
    keys: u64,
}

impl Output {
    pub(crate) fn new(keys: u64) -> Self {
        Self { figures: Figures::default(), keys }
    }

    pub(crate) fn add(&mut self, store: &str, measure: &str, unit: &str, value: f64) {
        eprintln!("{store}: {measure}: {} {unit}", number(Some(value)));
        self.figures.add(store, self.keys, measure, unit, value);
    }

    /// Adds the rate of `count` operations.
    pub(crate) fn add_rate(&mut self, store: &str, measure: &str, count: u64, time: Duration) {
        self.add(store, measure, "thousand/s", thousands_per_second(count, time));
    }

    /// Adds a time in milliseconds.
    pub(crate) fn add_time(&mut self, store: &str, measure: &str, time: Duration) {
        self.add(store, measure, "ms", time.as_secs_f64() * 1e3);
    }

    /// Adds the rate of `count` operations by the clock, and per second of processor time.
    pub(crate) fn add_rates(&mut self, store: &str, measure: &str, count: u64, since: &Stopwatch) {
        let (time, processor) = (since.clock(), since.processor());
        self.add_rate(store, measure, count, time);
        let of_processor = thousands_per_second(count, processor);
        self.add(store, &format!("{measure}, of processor"), "thousand/s", of_processor);
    }

    /// Prints the medians, and our store over the others; writes the files.
    pub(crate) fn finish(self, title: &str, files: &OutputArgs) -> Result<()> {
        Report::start(files).add(self.figures.rows())?;
        print!("{}{}", self.figures.by_measure(title), self.figures.ratios());
        Ok(())
    }
}

/// The clock, and the processor time of the thread or the process.
pub(crate) struct Stopwatch {
    start: Instant,
    processor: fn() -> Duration,
    used: Duration,
}

impl Stopwatch {
    pub(crate) fn of_thread() -> Self {
        Self::of(processor_time)
    }

    pub(crate) fn of_process() -> Self {
        Self::of(process_time)
    }

    fn of(processor: fn() -> Duration) -> Self {
        Self { start: Instant::now(), processor, used: processor() }
    }

    pub(crate) fn clock(&self) -> Duration {
        self.start.elapsed()
    }

    pub(crate) fn processor(&self) -> Duration {
        (self.processor)().saturating_sub(self.used)
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn thousands_per_second(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e3
}
