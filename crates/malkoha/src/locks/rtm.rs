//! Intel's Restricted Transactional Memory (SDM volume 1, chapter 16), as four instructions.

use std::fmt::Debug;

/// How a transaction began, or why it returned to where it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// What follows is speculative, until it is committed.
    Started,
    /// None of it has happened.
    Aborted,
}

/// Hardware transactions. [`Rtm`] is the processor's; tests have others.
pub(super) trait Transactions: Debug + Default + Send + Sync {
    /// Whether transactions are available at all.
    fn are_available() -> bool;
    /// XBEGIN. An abort of the transaction, by whatever cause, returns from here again.
    fn begin(&self) -> Status;
    /// XABORT: goes back to `begin`. Does nothing outside a transaction.
    fn abort(&self);
    /// XTEST: whether a transaction is running.
    fn is_running(&self) -> bool;
    /// XEND: makes all that the transaction has done visible at once. Requires a running
    /// transaction.
    fn commit(&self);
}

/// The processor's own transactions: those of x86-64 processors that report RTM. Few do today.
/// Elsewhere there are none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rtm;

#[cfg(all(target_arch = "x86_64", not(any(loom, miri, shuttle, malkoha_portable))))]
impl Transactions for Rtm {
    #[inline]
    fn are_available() -> bool {
        // Detected once; later calls load a cached word.
        is_x86_feature_detected!("rtm")
    }

    #[inline(always)]
    fn begin(&self) -> Status {
        assert!(Self::are_available(), "the processor has no transactions");
        let status: u32;
        // SAFETY: the processor has the instruction. After an abort it goes on behind XBEGIN with
        // registers and memory as they were there, but for EAX, which is an output.
        unsafe {
            std::arch::asm!("xbegin 2f", "2:", inout("eax") u32::MAX => status, options(nostack));
        }
        if status == u32::MAX { Status::Started } else { Status::Aborted }
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
impl Transactions for Rtm {
    fn are_available() -> bool {
        false
    }

    fn begin(&self) -> Status {
        Status::Aborted
    }

    fn abort(&self) {}

    fn is_running(&self) -> bool {
        false
    }

    fn commit(&self) {}
}
