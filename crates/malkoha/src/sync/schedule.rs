//! A word, and a lock, whose accesses loom puts in every order; and a flag.
//!
//! Loom 0.7 remembers one access of a word, the last (tokio-rs/loom issues 166 and 392). If a
//! thread loads a word and then changes it, that is its own load, and a load of another thread
//! before it is forgotten: loom then never tries the change before that load. So each access first
//! changes a word that all of them change. This is relaxed, and does not affect which values a load
//! may see: of locks and flags, but for what they were made with.

use loom::sync::atomic::{AtomicBool, AtomicU64 as Word, Ordering};
use loom::sync::{LockResult, RwLockReadGuard, RwLockWriteGuard, TryLockResult};

#[derive(Debug, Default)]
pub(crate) struct AtomicU64 {
    step: Word,
    word: Word,
}

impl AtomicU64 {
    pub(crate) fn new(value: u64) -> Self {
        Self { step: Word::new(0), word: Word::new(value) }
    }

    fn next_step(&self) -> &Word {
        self.step.fetch_add(1, Ordering::Relaxed);
        &self.word
    }

    pub(crate) fn load(&self, order: Ordering) -> u64 {
        self.next_step().load(order)
    }

    pub(crate) fn store(&self, value: u64, order: Ordering) {
        self.next_step().store(value, order);
    }

    pub(crate) fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.next_step().swap(value, order)
    }

    pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.next_step().fetch_add(value, order)
    }

    pub(crate) fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        self.next_step().fetch_sub(value, order)
    }

    pub(crate) fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.next_step().compare_exchange_weak(current, new, success, failure)
    }
}

loom::lazy_static! {
    /// Of all locks and flags. One that a thread has just made may come to others through what Loom
    /// does not know, so whoever has a turn comes after all that was made.
    static ref STEP: Word = Word::new(0);
}

/// A lock whose takers come in every order: of threads that look under it one after the other, Loom
/// 0.7 by itself tries one order alone.
#[derive(Debug)]
pub(crate) struct RwLock<T>(loom::sync::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) fn new(data: T) -> Self {
        let lock = Self(loom::sync::RwLock::new(data));
        STEP.fetch_add(1, Ordering::Release);
        lock
    }

    fn next_step(&self) -> &loom::sync::RwLock<T> {
        STEP.fetch_add(1, Ordering::Acquire);
        &self.0
    }

    pub(crate) fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.next_step().read()
    }

    pub(crate) fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        self.next_step().try_read()
    }

    pub(crate) fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.next_step().write()
    }

    pub(crate) fn get_mut(&mut self) -> LockResult<&mut T> {
        self.0.get_mut()
    }
}

/// A flag that takes no step of a model before it is set.
#[derive(Debug)]
pub(crate) struct Flag {
    was_set: std::sync::atomic::AtomicBool,
    flag: AtomicBool,
}

impl Flag {
    pub(crate) fn new(value: bool) -> Self {
        let flag = Self { was_set: value.into(), flag: AtomicBool::new(value) };
        STEP.fetch_add(1, Ordering::Release);
        flag
    }

    fn next_step(&self) -> &AtomicBool {
        STEP.fetch_add(1, Ordering::Acquire);
        &self.flag
    }

    pub(crate) fn load(&self, order: Ordering) -> bool {
        self.was_set.load(Ordering::Relaxed) && self.next_step().load(order)
    }

    pub(crate) fn store(&self, value: bool, order: Ordering) {
        self.was_set.fetch_or(value, Ordering::Relaxed);
        self.next_step().store(value, order);
    }
}
