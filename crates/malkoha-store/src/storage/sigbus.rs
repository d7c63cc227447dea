//! Pages of mapped files that cannot be read.
//!
//! An access to such a page raises the signal SIGBUS, which ends the process unless it is handled.
//! The handler replaces the page by zeros and notes that the mapping has lost something. No record
//! of zeros matches its checksum, so a reader gets an error, never a wrong result.
//!
//! A signal for other memory goes to the previous handler. A program that later sets its own
//! handler, and does not pass on signals for other memory, loses this protection.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

use libc::{c_int, c_void, siginfo_t};
use parking_lot::Mutex;

use super::mapping::note_lost;

/// A range of addresses that is watched. It is never freed, because the handler may look at it at
/// any time, but it is reused for another mapping.
struct Range {
    start: AtomicUsize,
    end: AtomicUsize,
    lost: AtomicBool,
    next: *const Range,
}

// SAFETY: `next` is written before the range is shared and never again; all else is atomic.
unsafe impl Sync for Range {}

/// All ranges, the latest first.
static RANGES: AtomicPtr<Range> = AtomicPtr::new(ptr::null_mut());
/// Ranges that watch nothing.
static FREE: Mutex<Vec<&'static Range>> = Mutex::new(Vec::new());
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
static PAGE: AtomicUsize = AtomicUsize::new(0);

/// Watches the memory of a mapping until it is dropped, which must be before it is unmapped.
pub(super) struct Watch(&'static Range);

impl Watch {
    pub(super) fn new(start: usize, bytes: usize) -> Self {
        install();
        let reused = FREE.lock().pop();
        let range = reused.unwrap_or_else(|| {
            // Nobody else adds one meanwhile.
            let _alone = FREE.lock();
            let next = RANGES.load(Ordering::Acquire);
            let (start, end) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let new = Box::leak(Box::new(Range { start, end, lost: AtomicBool::new(false), next }));
            RANGES.store(new, Ordering::Release);
            new
        });
        range.lost.store(false, Ordering::Relaxed);
        range.start.store(start, Ordering::Relaxed);
        range.end.store(start + bytes, Ordering::Release);
        Self(range)
    }

    /// Whether a page of it could not be read or written.
    pub(super) fn is_lost(&self) -> bool {
        self.0.lost.load(Ordering::Acquire)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.end.store(0, Ordering::Release);
        FREE.lock().push(self.0);
    }
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let page = rustix::param::page_size();
        PAGE.store(page, Ordering::Release);
        let mut previous = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: the pointers are to live actions of this type or null, as the call wants them;
        // the one that is set has a handler of the signature that SA_SIGINFO announces.
        unsafe {
            if libc::sigaction(libc::SIGBUS, ptr::null(), previous.as_mut_ptr()) != 0 {
                return;
            }
            // Known before the handler can run.
            let _ = PREVIOUS.set(previous.assume_init());
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_lost_page;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut());
        }
    });
}

/// Uses only atomics and system calls, as a signal handler must.
extern "C" fn on_lost_page(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system hands over a valid one with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    if let Some(range) = watched(address) {
        // Before the zeros can be seen.
        range.lost.store(true, Ordering::Release);
        note_lost();
        if put_zeros(address) {
            return;
        }
    }
    hand_on(signal, info, context);
}

fn watched(address: usize) -> Option<&'static Range> {
    let mut next = RANGES.load(Ordering::Acquire).cast_const();
    // SAFETY: ranges are never freed, and `next` of each leads to one made before, or nowhere.
    while let Some(range) = unsafe { next.as_ref() } {
        let end = range.end.load(Ordering::Acquire);
        if address < end && address >= range.start.load(Ordering::Relaxed) {
            return Some(range);
        }
        next = range.next;
    }
    None
}

/// Replaces the page at this address by zeros.
fn put_zeros(address: usize) -> bool {
    let page = PAGE.load(Ordering::Acquire);
    let start = address & !(page - 1);
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED;
    // SAFETY: the page lies in a mapping of this crate, which nobody unmaps while it is watched.
    // Readers find bytes that match no checksum there, and writers ask whether it was lost.
    let new = unsafe { libc::mmap(start as *mut c_void, page, protection, flags, -1, 0) };
    new != libc::MAP_FAILED
}

/// Passes the signal to the previous handler.
fn hand_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(previous) = PREVIOUS.get() else { return };
    let action = previous.sa_sigaction;
    if action == libc::SIG_DFL || action == libc::SIG_IGN {
        // SAFETY: restores what was there; the same access, or this signal, then ends the process.
        unsafe {
            libc::sigaction(signal, previous, ptr::null_mut());
            libc::raise(signal);
        }
    } else if previous.sa_flags & libc::SA_SIGINFO != 0 {
        type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
        // SAFETY: with SA_SIGINFO the action is the address of such a function.
        let handler = unsafe { std::mem::transmute::<usize, Handler>(action) };
        handler(signal, info, context);
    } else {
        // SAFETY: without SA_SIGINFO the action is the address of such a function.
        let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(action) };
        handler(signal);
    }
}
