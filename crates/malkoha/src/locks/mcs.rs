//! The queue lock of Mellor-Crummey and Scott, as in the thesis's listings 1.1 (lines 28 to 35) and
//! 1.2 (lines 10 to 21): each thread waits at a word of its own.

use std::ptr;

use super::Exclude;
use crate::sync::{AtomicBool, AtomicPtr, Ordering, spin_loop, yield_now};

/// Fair, and quiet on the memory bus; but a waiting thread keeps its processor, and one that the
/// system has suspended in the queue holds up all behind it.
#[derive(Debug)]
pub struct McsLock {
    /// The last thread of the queue, whose first one has the lock; null when the lock is free.
    tail: AtomicPtr<Node>,
}

/// A thread in the queue. Lies in the frame of its `with`.
#[derive(Debug)]
struct Node {
    next: AtomicPtr<Node>,
    waits: AtomicBool,
}

impl Default for McsLock {
    fn default() -> Self {
        Self { tail: AtomicPtr::new(ptr::null_mut()) }
    }
}

impl McsLock {
    /// Whether a thread has the lock.
    #[inline]
    pub(super) fn is_held(&self) -> bool {
        !self.tail.load(Ordering::Acquire).is_null()
    }
}

impl Exclude for McsLock {
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        let node = Node { next: AtomicPtr::new(ptr::null_mut()), waits: AtomicBool::new(true) };
        let held = Held::acquire(self, &node);
        let result = critical();
        drop(held);
        result
    }
}

/// The lock, held. Its end, by a panic too, passes the lock on.
struct Held<'a> {
    lock: &'a McsLock,
    node: &'a Node,
}

impl<'a> Held<'a> {
    fn acquire(lock: &'a McsLock, node: &'a Node) -> Self {
        let this = ptr::from_ref(node).cast_mut();
        let before = lock.tail.swap(this, Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: the node before ours is alive: its owner leaves `release` only after it has
            // seen this store, since the tail is no longer its node. All access is shared.
            unsafe { &*before }.next.store(this, Ordering::Release);
            wait_while(|| node.waits.load(Ordering::Acquire));
        }
        Self { lock, node }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let Self { lock, node } = self;
        let this = ptr::from_ref(*node).cast_mut();
        let next = || node.next.load(Ordering::Acquire);
        if next().is_null() {
            let free = ptr::null_mut();
            let last = lock.tail.compare_exchange(this, free, Ordering::AcqRel, Ordering::Acquire);
            if last.is_ok() {
                return;
            }
            // Another thread has taken the tail, and is about to link its node.
            wait_while(|| next().is_null());
        }
        // SAFETY: the next node is alive: its owner waits for this store. It is the last access,
        // and all access is shared.
        unsafe { &*next() }.waits.store(false, Ordering::Release);
    }
}

/// Spins, and yields the processor if that takes long: with more threads than processors, the
/// thread that holds the lock may not be running.
pub(super) fn wait_while(mut condition: impl FnMut() -> bool) {
    const SPINS: u32 = 200;
    let mut spins = 0;
    while condition() {
        if spins < SPINS && !cfg!(any(loom, shuttle)) {
            spins += 1;
            spin_loop();
        } else {
            yield_now();
        }
    }
}
