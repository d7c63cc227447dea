//! The MCS lock with lock elision by hardware transactions: the thesis's listings 1.1 and 1.2, by
//! Intel's Restricted Transactional Memory (SDM volume 1, chapter 16).

use std::fmt::Debug;

use super::Exclude;
use super::mcs::{McsLock, wait_while};

/// Attempts before the lock is really taken.
const MAX_RETRIES: u32 = 8;

/// Runs critical sections as transactions, side by side as long as they do not touch the same
/// memory. Takes the queue lock if that fails too often, or if the processor has no transactions.
///
/// A section that panics must not do so in a transaction: unwinding aborts it, and it panics again
/// under the queue lock.
#[derive(Debug, Default)]
pub struct ElidedMcsLock(Elided<Rtm>);

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
            if self.transactions.begin() {
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

/// Hardware transactions: none, unless an implementation says otherwise.
trait Transactions: Debug + Default + Send + Sync {
    /// Whether transactions are available at all.
    fn are_available() -> bool {
        false
    }
    /// XBEGIN. If this returns `true`, what follows is speculative, until it is committed. An abort
    /// of the transaction, by whatever cause, returns `false` from here; none of it has happened.
    fn begin(&self) -> bool {
        false
    }
    /// XABORT: goes back to `begin`. Does nothing outside a transaction.
    fn abort(&self) {}
    /// XTEST: whether a transaction is running.
    fn is_running(&self) -> bool {
        false
    }
    /// XEND: makes all that the transaction has done visible at once. Requires a running
    /// transaction.
    fn commit(&self) {}
}

/// The processor's own transactions: those of x86-64 processors that report RTM. Few do today.
/// Elsewhere there are none.
#[derive(Clone, Copy, Debug, Default)]
struct Rtm;

#[cfg(all(target_arch = "x86_64", not(any(loom, miri, shuttle, malkoha_portable))))]
impl Transactions for Rtm {
    #[inline]
    fn are_available() -> bool {
        // Detected once; later calls load a cached word.
        is_x86_feature_detected!("rtm")
    }

    #[inline(always)]
    fn begin(&self) -> bool {
        assert!(Self::are_available(), "the processor has no transactions");
        let status: u32;
        // SAFETY: the processor has the instruction. After an abort it goes on behind XBEGIN with
        // registers and memory as they were there, but for EAX, which is an output.
        unsafe {
            std::arch::asm!("xbegin 2f", "2:", inout("eax") u32::MAX => status, options(nostack));
        }
        status == u32::MAX
    }

    #[inline(always)]
    fn abort(&self) {
        if self.is_running() {
            // SAFETY: the processor has the instruction, since a transaction is running.
            unsafe { std::arch::asm!("xabort 1", options(nostack)) };
        }
    }

    #[inline(always)]
    fn is_running(&self) -> bool {
        if !Self::are_available() {
            return false;
        }
        let running: u8;
        // SAFETY: the processor has the instruction; it changes only flags.
        unsafe {
            std::arch::asm!("xtest", "setnz {}", out(reg_byte) running, options(nostack, nomem));
        }
        running != 0
    }

    #[inline(always)]
    fn commit(&self) {
        assert!(self.is_running(), "no transaction to commit");
        // SAFETY: a transaction is running.
        unsafe { std::arch::asm!("xend", options(nostack)) };
    }
}

#[cfg(not(all(target_arch = "x86_64", not(any(loom, miri, shuttle, malkoha_portable)))))]
impl Transactions for Rtm {}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Transactions that start as the test says, and record the calls.
    #[derive(Debug, Default)]
    struct Scripted {
        starts: Mutex<Vec<bool>>,
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
        fn begin(&self) -> bool {
            self.note("begin");
            self.starts.lock().unwrap().pop().unwrap_or(false)
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
    fn run(starts: &[bool]) -> (Vec<&'static str>, bool) {
        let lock = Elided::<Scripted>::default();
        *lock.transactions.starts.lock().unwrap() = starts.iter().rev().copied().collect();
        let queued = lock.with(|| lock.queue.is_held());
        let log = lock.transactions.log.lock().unwrap().clone();
        (log, queued)
    }

    #[test]
    fn transactions_are_tried_before_the_lock_is_taken() {
        let starts = [false, false, true];
        assert_eq!(run(&starts[2..]), (vec!["begin", "commit"], false));
        assert_eq!(run(&starts), (vec!["begin", "begin", "begin", "commit"], false));
        assert_eq!(run(&[]), (vec!["begin"; MAX_RETRIES as usize], true));
    }

    /// A held lock aborts the transaction, and the next attempt waits until it is free.
    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "needs threads")]
    fn a_held_lock_aborts() {
        let lock = Elided::<Scripted>::default();
        *lock.transactions.starts.lock().unwrap() = vec![true; 2];
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
}
