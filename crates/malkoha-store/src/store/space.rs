//! How much room the log takes, and writes that wait until compaction has reclaimed enough.
//!
//! The log may take a number of times the bytes of its live records, and a little more. From three
//! fifths of the permitted excess on, writes are slowed down, and more so nearer to the limit. At
//! the limit they wait. So there is an equilibrium at any rate of writes, because compaction is
//! cheaper the more bytes are dead.
//!
//! Nobody waits in vain: if compaction has nothing to reclaim, or fails, or if a backup that copies
//! or a verification has the right to remove files, writes continue, and the log gets longer. If a
//! failed sync has stopped the store, they say so at once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::Inner;
use crate::log::{FileTable, Writer};

/// The excess that every log may have: some files of the least size.
const SLACK: f64 = 4.0 * 1024.0 * 1024.0;
/// The part of the permitted excess from which writes are slowed down.
const SOFT: f64 = 0.6;
/// Bytes per second that are written halfway between there and the limit.
const HALF_WAY: f64 = 256.0 * 1024.0 * 1024.0;
/// The shortest and the longest sleep of a write.
const NAPS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(4));
/// How long a write waits before it checks again.
const LOOK: Duration = Duration::from_millis(10);

/// Bytes of a log, and the writers that wait for them.
#[derive(Default)]
pub(super) struct Space {
    /// Bytes of live records.
    live: AtomicU64,
    /// Bytes on the device of log files and of the room for the copy of one.
    taken: AtomicU64,
    /// Whether a thread is making room, or does what it will make room after, such as a checkpoint.
    making: AtomicBool,
    /// Whether it could not make more room.
    vain: AtomicBool,
    /// Nanoseconds that writes have to sleep.
    debt: AtomicU64,
    /// Nanoseconds that writes have slept or waited.
    held_back: AtomicU64,
    asleep: Mutex<()>,
    changed: Condvar,
}

impl Space {
    /// Sets the bytes of live records.
    pub(super) fn set_live(&self, bytes: u64) {
        self.live.store(bytes, Ordering::Relaxed);
    }

    /// Notes that records of `new` bytes replaced records of `old` bytes. For one thread at a time.
    pub(super) fn replace(&self, old: u64, new: u64) {
        // After a repair the sum over the files is not exact.
        let live = self.live.load(Ordering::Relaxed) + new;
        self.live.store(live.saturating_sub(old), Ordering::Relaxed);
    }

    pub(super) fn live(&self) -> u64 {
        self.live.load(Ordering::Relaxed)
    }

    pub(super) fn held_back(&self) -> Duration {
        Duration::from_nanos(self.held_back.load(Ordering::Relaxed))
    }

    /// Files were added, removed or got room: waiting writers check again.
    pub(super) fn note(&self, table: &FileTable, writer: &Writer) {
        let tail = writer.tail().map(|tail| tail.id());
        let taken = table
            .files()
            .iter()
            .map(|file| if Some(file.id()) == tail { file.capacity() } else { file.least() });
        self.taken.store(taken.sum::<u64>() + writer.reserved(), Ordering::Relaxed);
        self.vain.store(false, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// How near the log is to its limit without `given` bytes that are about to be freed: 0 if
    /// writes need not wait, 1 at the limit and beyond.
    #[expect(clippy::cast_precision_loss, reason = "shares need no more than 53 bits")]
    fn pressure(&self, ratio: f64, given: u64) -> f64 {
        let live = self.live() as f64;
        let beyond = self.taken.load(Ordering::Relaxed).saturating_sub(given) as f64 - live;
        let most = live * (ratio - 1.0) + SLACK;
        ((beyond - most * SOFT) / (most * (1.0 - SOFT))).clamp(0.0, 1.0)
    }
}

impl Inner {
    /// How near the log is to its limit, from 0 to 1, without `given` bytes that are about to be
    /// freed.
    pub(super) fn pressure(&self, given: u64) -> f64 {
        self.space.pressure(self.options.log_ratio, given)
    }

    /// Waits until `bytes` bytes may be written.
    #[inline]
    pub(super) fn wait_for_space(&self, bytes: u64) {
        if self.options.background && self.pressure(0) > 0.0 {
            self.slow_down(bytes);
        }
    }

    #[cold]
    fn slow_down(&self, bytes: u64) {
        let space = &self.space;
        let slept = |time: Duration| {
            let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            space.held_back.fetch_add(nanos, Ordering::Relaxed);
        };
        loop {
            let pressure = self.pressure(0);
            // A backup that copies, or a verification, may keep files for hours.
            let can_be_made = space.making.load(Ordering::Relaxed) || !self.maintenance.is_locked();
            // A store that has stopped writing does not compact either: the write will say so.
            let has_stopped = self.commit.check().is_err();
            if space.vain.load(Ordering::Relaxed) || !can_be_made || has_stopped {
                return;
            }
            self.look_after_space();
            if pressure < 1.0 {
                #[expect(
                    clippy::cast_precision_loss,
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a positive number of nanoseconds, about"
                )]
                let owed = (bytes as f64 * 1e9 / HALF_WAY * pressure / (1.0 - pressure)) as u64;
                let debt = space.debt.fetch_add(owed, Ordering::Relaxed).saturating_add(owed);
                if debt >= u64::try_from(NAPS.0.as_nanos()).unwrap_or(0) {
                    space.debt.store(0, Ordering::Relaxed);
                    let nap = Duration::from_nanos(debt).min(NAPS.1);
                    thread::sleep(nap);
                    slept(nap);
                }
                return;
            }
            let mut asleep = space.asleep.lock();
            space.changed.wait_for(&mut asleep, LOOK);
            slept(LOOK);
        }
    }

    /// Notes that this thread, which has the right to remove files, is making room or will soon
    /// have given that right back: writes wait for it. Without this, the log would grow without
    /// limit while somebody calls `compact` or a checkpoint waits for the device.
    pub(super) fn making_space(&self) -> Making<'_> {
        self.space.vain.store(false, Ordering::Relaxed);
        self.space.making.store(true, Ordering::Relaxed);
        Making(&self.space)
    }
}

/// A thread is making room until this is dropped.
pub(super) struct Making<'a>(&'a Space);

impl Making<'_> {
    /// It stops because there is no more room to make.
    pub(super) fn in_vain(self) {
        self.0.vain.store(true, Ordering::Relaxed);
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.0.making.store(false, Ordering::Relaxed);
        self.0.changed.notify_all();
    }
}
