//! The MCS lock with lock elision by hardware transactions: the thesis's listings 1.1 and 1.2.

use super::mcs::wait_while;
use super::rtm::{Rtm, Status, Transactions};
use super::{Exclude, Lock, McsLock};

/// Attempts before the lock is really taken.
const MAX_RETRIES: u32 = 8;

/// Runs critical sections as transactions, side by side as long as they do not touch the same
/// memory, and takes the queue lock where that fails too often (more often, where the processor has
/// no transactions: always).
///
/// A section that panics must not do so in a transaction: unwinding aborts it, and it panics again
/// under the queue lock.
#[derive(Debug, Default)]
pub struct ElidedMcsLock(Elided<Rtm>);

impl Lock for ElidedMcsLock {}

impl Exclude for ElidedMcsLock {
    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        self.0.with(critical)
    }

    /// Under the queue lock alone.
    fn hold<R>(&self, critical: impl FnOnce() -> R) -> R {
        self.0.queue.with(critical)
    }
}

/// The lock with transactions of this kind.
#[derive(Debug, Default)]
struct Elided<T> {
    queue: McsLock,
    transactions: T,
}

impl<T: Transactions> Elided<T> {
    /// The speculative path: whether a transaction is running in which the lock is free. Should a
    /// thread take the lock from now on, the processor aborts, since the lock has been read.
    #[inline(always)]
    fn speculate(&self) -> bool {
        for _ in 0..MAX_RETRIES {
            if self.transactions.begin() == Status::Started {
                if !self.queue.is_held() {
                    return true;
                }
                self.transactions.abort();
            }
            // The fallback path. Another attempt before the lock is free would abort again.
            wait_while(|| self.queue.is_held());
        }
        false
    }

    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        if !T::are_available() || !self.speculate() {
            return self.queue.with(critical);
        }
        let result = critical();
        if self.transactions.is_running() {
            self.transactions.commit();
        }
        result
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Transactions that start as the test says, and record the calls.
    #[derive(Debug, Default)]
    struct Scripted {
        starts: Mutex<Vec<Status>>,
        log: Mutex<Vec<&'static str>>,
    }

    impl Scripted {
        fn note(&self, call: &'static str) {
            self.log.lock().unwrap().push(call);
        }
    }

    impl Transactions for Scripted {
        fn are_available() -> bool {
            true
        }
        fn begin(&self) -> Status {
            self.note("begin");
            self.starts.lock().unwrap().pop().unwrap_or(Status::Aborted)
        }
        fn abort(&self) {
            self.note("abort");
        }
        fn is_running(&self) -> bool {
            true
        }
        fn commit(&self) {
            self.note("commit");
        }
    }

    /// The lock, and whether the section ran under the queue lock.
    fn run(starts: &[Status]) -> (Vec<&'static str>, bool) {
        let lock = Elided::<Scripted>::default();
        *lock.transactions.starts.lock().unwrap() = starts.iter().rev().copied().collect();
        let queued = lock.with(|| lock.queue.is_held());
        let log = lock.transactions.log.lock().unwrap().clone();
        (log, queued)
    }

    #[test]
    fn a_transaction_that_starts_needs_no_lock() {
        assert_eq!(run(&[Status::Started]), (vec!["begin", "commit"], false));
    }

    #[test]
    fn aborted_transactions_are_tried_again() {
        let starts = [Status::Aborted, Status::Aborted, Status::Started];
        assert_eq!(run(&starts), (vec!["begin", "begin", "begin", "commit"], false));
    }

    #[test]
    fn after_so_many_attempts_the_lock_is_taken() {
        let (log, queued) = run(&[]);
        assert_eq!(log, vec!["begin"; MAX_RETRIES as usize]);
        assert!(queued);
    }

    /// A held lock aborts the transaction, and the next attempt waits until it is free.
    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "needs threads")]
    fn a_held_lock_aborts() {
        let lock = Elided::<Scripted>::default();
        *lock.transactions.starts.lock().unwrap() = vec![Status::Started; 2];
        let (held, free) = (std::sync::Barrier::new(2), Mutex::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                lock.queue.with(|| {
                    held.wait();
                    while !lock.transactions.log.lock().unwrap().contains(&"abort") {
                        std::thread::yield_now();
                    }
                    *free.lock().unwrap() = true;
                });
            });
            held.wait();
            lock.with(|| assert!(*free.lock().unwrap(), "the section waits for the lock"));
        });
        let log = lock.transactions.log.lock().unwrap().clone();
        assert_eq!(log, ["begin", "abort", "begin", "commit"]);
    }

    /// The processor's transactions, and how many were committed.
    #[derive(Debug, Default)]
    struct Counted {
        rtm: Rtm,
        commits: AtomicU64,
    }

    impl Transactions for Counted {
        fn are_available() -> bool {
            Rtm::are_available()
        }
        fn begin(&self) -> Status {
            self.rtm.begin()
        }
        fn abort(&self) {
            self.rtm.abort();
        }
        fn is_running(&self) -> bool {
            self.rtm.is_running()
        }
        fn commit(&self) {
            self.rtm.commit();
            self.commits.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether transactions are available, and the system does not report that all of them abort.
    fn can_commit() -> bool {
        let has_flag = |info: String| info.split_whitespace().any(|flag| flag == "rtm");
        Rtm::are_available() && std::fs::read_to_string("/proc/cpuinfo").map_or(true, has_flag)
    }

    /// If the processor has transactions, sections do run in them, except for a few that are
    /// interrupted, and nothing is lost.
    #[test]
    fn the_processors_transactions_commit() {
        if !can_commit() {
            eprintln!("skipped: this processor has no transactions (RTM)");
            return;
        }
        let lock = Elided::<Counted>::default();
        let mut count = 0;
        for _ in 0..1000 {
            lock.with(|| count += 1);
        }
        assert_eq!(count, 1000);
        let commits = lock.transactions.commits.load(Ordering::Relaxed);
        assert!(commits > 900, "only {commits} of 1000 sections were committed");
    }
}
