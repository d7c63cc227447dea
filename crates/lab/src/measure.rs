//! Time, medians, and the order that keeps a comparison fair on a machine whose speed drifts.

use std::fmt::Display;
use std::fs;
use std::io::{self, IsTerminal};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Adds the processor time that this thread spends on `work` to `total`. On an idle machine that is
/// the wall-clock time; on a busy one it excludes the time in which others had the processor.
///
/// Preparation of the work belongs outside.
#[inline]
pub fn timed<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = processor_time();
    let result = work();
    *total += processor_time().saturating_sub(start);
    result
}

/// The processor time that this thread has had.
#[must_use]
pub fn processor_time() -> Duration {
    time_of(ClockId::ThreadCPUTime)
}

/// The processor time that all threads of the process have had.
#[must_use]
pub fn process_time() -> Duration {
    time_of(ClockId::ProcessCPUTime)
}

fn time_of(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    // Both are positive, and there are fewer than 2^32 nanoseconds in a second.
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Bytes of memory of this process, by the field's name in `/proc/self/status`; 0 where the system
/// does not tell.
#[must_use]
pub fn memory(field: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}

/// Resets the system's record of this process's peak memory, `VmHWM`.
pub(crate) fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Runs the work of each number on a thread of its own, all from one moment on; the time from the
/// first start to the last end, and the results.
pub(crate) fn on_threads<T: Send>(
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
) -> (Duration, Vec<T>) {
    let begin = Barrier::new(threads);
    let run = |number| {
        begin.wait();
        let start = Instant::now();
        (start, work(number), Instant::now())
    };
    let run = &run;
    let ended: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|n| scope.spawn(move || run(n))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker panicked")).collect()
    });
    // By the workers' own clocks: this thread can be late.
    let first = ended.iter().map(|(start, ..)| *start).min();
    let last = ended.iter().map(|(.., end)| *end).max();
    let time = first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first);
    (time, ended.into_iter().map(|(_, result, _)| result).collect())
}

/// Shows the progress of a long run, on stderr if that is a terminal.
pub(crate) fn progress(message: impl Display) {
    if io::stderr().is_terminal() {
        eprint!("\r\x1b[K{message}\r");
    }
}

/// Million operations per second.
#[must_use]
pub fn rate(operations: u64, time: Duration) -> f64 {
    operations as f64 / time.as_secs_f64() / 1e6
}

/// The middle of the values, or the mean of the two middle ones; `None` if there are no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

/// `0..sides` in even runs and backwards in odd ones, so that a machine that slowly gets slower
/// favours nobody.
#[must_use]
pub fn alternating(sides: usize, run: u32) -> Vec<usize> {
    if run.is_multiple_of(2) { (0..sides).collect() } else { (0..sides).rev().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[9.0, 1.0, 2.0, 4.0]), Some(3.0));
    }

    #[test]
    fn the_order_turns_round_with_each_run() {
        assert_eq!(alternating(3, 0), [0, 1, 2]);
        assert_eq!(alternating(3, 1), [2, 1, 0]);
    }

    #[test]
    fn only_the_work_is_timed() {
        let mut total = Duration::ZERO;
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(timed(&mut total, || 7), 7);
        assert!(total < Duration::from_millis(5));
        assert!((rate(3_000_000, Duration::from_millis(500)) - 6.0).abs() < 1e-9);
    }
}
