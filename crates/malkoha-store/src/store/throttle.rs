//! The room that the log takes, and writes that wait until compaction has reclaimed enough.
//!
//! The log may take a number of times the bytes of its live records, and a little more. From three
//! fifths of the permitted excess on, writes are slowed down, and more so nearer to the limit. At
//! the limit they wait. So there is an equilibrium at any rate of writes, because compaction is
//! cheaper the more bytes are dead.
//!
//! Writes do not wait in vain. If compaction has nothing to reclaim, or fails, or if a backup that
//! copies or a verification keeps all files, writes continue, and the log gets longer. If a failed
//! sync or a panic has stopped the store, they report that at once. They wait for all other callers
//! with the right to remove files, because these make room or give the right back soon.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::Inner;
use crate::log::{LogFiles, Writer};

/// The excess that every log may have: some files of the least size.
const SLACK: f64 = 4.0 * 1024.0 * 1024.0;
/// The part of the permitted excess from which writes are slowed down.
const SOFT: f64 = 0.6;
/// Bytes per second that are written halfway between there and the limit.
const HALF_WAY: f64 = 64.0 * 1024.0 * 1024.0;
/// The shortest and the longest sleep of a write, in nanoseconds.
const NAPS: (u64, u64) = (1_000_000, 4_000_000);
/// How long a write waits before it checks again.
const LOOK: Duration = Duration::from_millis(10);

/// Bytes of a log, and the writers that wait for them.
#[derive(Default)]
pub(super) struct Throttle {
    /// Bytes of live records.
    live: AtomicU64,
    /// Bytes on the device of log files and of the room for the copy of one.
    taken: AtomicU64,
    /// Whether the thread that has the right to remove files keeps them all, possibly for hours.
    /// Changed by that thread alone, and false when it gives the right back.
    keeping: AtomicBool,
    /// A count of events after which compaction may find more to reclaim.
    changes: AtomicU64,
    /// One more than the count after which the thread in the background could not make more room.
    vain: AtomicU64,
    /// Nanoseconds that writes have to sleep.
    debt: AtomicU64,
    /// Nanoseconds that writes have slept or waited.
    held_back: AtomicU64,
    asleep: Mutex<()>,
    changed: Condvar,
}

impl Throttle {
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
    pub(super) fn note(&self, files: &LogFiles, writer: &Writer) {
        let tail = writer.tail.as_ref().map(|tail| tail.id());
        let taken = files
            .all()
            .iter()
            .map(|file| if Some(file.id()) == tail { file.capacity() } else { file.least() });
        self.taken.store(taken.sum::<u64>() + writer.usual_reserve(files), Ordering::Relaxed);
        self.look_again();
    }

    /// Compaction may find more to reclaim. Waiting writers check again.
    pub(super) fn look_again(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// The count of events after which compaction may find more to reclaim.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Compaction found no more to reclaim after this many [changes](Self::changes). Another change
    /// since then makes this void.
    pub(super) fn set_vain(&self, changes: u64) {
        self.vain.store(changes + 1, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn is_vain(&self) -> bool {
        self.vain.load(Ordering::Relaxed) == self.changes() + 1
    }

    /// How near the log is to its limit without `given` bytes that are about to be freed: 0 if
    /// writes need not wait, 1 at the limit and beyond.
    fn pressure(&self, ratio: f64, given: u64) -> f64 {
        if ratio.is_infinite() {
            return 0.0;
        }
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
        self.throttle.pressure(self.options.log_ratio, given)
    }

    /// Waits until `bytes` bytes can be written.
    #[inline]
    pub(super) fn wait_for_space(&self, bytes: u64) {
        if self.options.background && self.pressure(0) > 0.0 {
            self.slow_down(bytes);
        }
    }

    /// Whether room can be made for writes.
    fn can_make_space(&self) -> bool {
        let throttle = &self.throttle;
        let is_kept = throttle.keeping.load(Ordering::Relaxed);
        // A store that has stopped writing does not compact either: the write will say so.
        !is_kept && !throttle.is_vain() && self.commit.check().is_ok()
    }

    #[cold]
    fn slow_down(&self, bytes: u64) {
        let throttle = &self.throttle;
        let sleep = |sleep: &mut dyn FnMut()| {
            let start = Instant::now();
            sleep();
            let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            throttle.held_back.fetch_add(nanos, Ordering::Relaxed);
        };
        while self.can_make_space() {
            let pressure = self.pressure(0);
            self.upkeep.wake();
            if pressure < 1.0 {
                let owed = bytes as f64 / HALF_WAY * pressure / (1.0 - pressure);
                let owed = Duration::from_secs_f64(owed).as_nanos();
                let owed = u64::try_from(owed).unwrap_or(u64::MAX);
                let debt = throttle.debt.fetch_add(owed, Ordering::Relaxed).saturating_add(owed);
                if debt >= NAPS.0 {
                    throttle.debt.store(0, Ordering::Relaxed);
                    sleep(&mut || thread::sleep(Duration::from_nanos(debt.min(NAPS.1))));
                }
                return;
            }
            sleep(&mut || {
                let mut asleep = throttle.asleep.lock();
                throttle.changed.wait_for(&mut asleep, LOOK);
            });
        }
    }

    /// Notes that this thread, which has the right to remove files, keeps all of them until the
    /// result is dropped, so that writes do not wait. Drop it before giving the right back.
    pub(super) fn keep_files(&self) -> Keeping<'_> {
        self.throttle.keeping.store(true, Ordering::Relaxed);
        self.throttle.changed.notify_all();
        Keeping(&self.throttle)
    }
}

/// A thread keeps all files until this is dropped.
pub(super) struct Keeping<'a>(&'a Throttle);

impl Drop for Keeping<'_> {
    fn drop(&mut self) {
        self.0.keeping.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Durability, Options};
    use crate::store::Store;

    /// A store at the limit of its log, without background threads.
    fn full() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().unwrap();
        let options = Options::new().background(false).durability(Durability::System);
        let store = Store::open(directory.path(), &options.file_bytes(1 << 20)).unwrap();
        for n in 0..3 {
            store.put(b"key", &vec![n; 8 << 20]).unwrap();
        }
        assert!(store.inner.pressure(0) >= 1.0);
        (directory, store)
    }

    /// The pressure was not a number, and compaction gave way to nobody.
    #[test]
    fn without_a_limit_there_is_no_pressure() {
        let throttle = Throttle::default();
        for (live, taken) in [(0, 0), (0, 1 << 30), (1 << 20, 1 << 30)] {
            throttle.set_live(live);
            throttle.taken.store(taken, Ordering::Relaxed);
            assert!(throttle.pressure(f64::INFINITY, 0) < 0.5, "{live} of {taken}");
        }
    }

    /// In each of these cases writes once passed the limit, or waited in vain.
    #[test]
    fn writes_wait_as_long_as_room_can_be_made() {
        let (_directory, store) = full();
        let (inner, throttle) = (&store.inner, &store.inner.throttle);
        assert!(inner.can_make_space());
        // Only callers that keep all files for long let writes pass the limit.
        let maintained = inner.maintenance();
        assert!(inner.can_make_space());
        let keeping = inner.keep_files();
        assert!(!inner.can_make_space());
        drop(keeping);
        assert!(inner.can_make_space());
        drop(maintained);
        // Room that came while the background thread found none is waited for.
        let seen = throttle.changes();
        throttle.look_again();
        throttle.set_vain(seen);
        assert!(inner.can_make_space());
        throttle.set_vain(throttle.changes());
        assert!(!inner.can_make_space());
        // Only the background thread knows whether there is room: a checkpoint promises none.
        store.checkpoint().unwrap();
        assert!(!inner.can_make_space());
    }

    /// A write that was woken early counted as held back for ten milliseconds each time.
    #[test]
    fn writes_are_held_back_for_as_long_as_they_wait() {
        let (_directory, store) = full();
        let throttle = &store.inner.throttle;
        let start = Instant::now();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| store.inner.slow_down(1));
            while throttle.held_back() < Duration::from_millis(1) {
                throttle.changed.notify_all();
                thread::sleep(Duration::from_micros(100));
            }
            for _ in 0..100 {
                throttle.changed.notify_all();
                thread::sleep(Duration::from_micros(100));
            }
            throttle.set_vain(throttle.changes());
            waiting.join().unwrap();
        });
        assert!(throttle.held_back() > Duration::ZERO);
        assert!(throttle.held_back() <= start.elapsed());
    }
}
