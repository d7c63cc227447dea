//! Sources that follow each other, and that threads read side by side.

use std::collections::VecDeque;
use std::iter::Fuse;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, anyhow};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::Source;
use super::turns::{Place, Read};

pub(super) struct Sources<I: Iterator> {
    state: Mutex<State<I>>,
    was_read: Condvar,
    /// The number of the first source that has not been read to its end.
    first: AtomicUsize,
}

struct State<I: Iterator> {
    later: Fuse<I>,
    /// The number of the first open source.
    first: usize,
    open: VecDeque<Open<I::Item>>,
}

struct Open<R> {
    /// `None` while a thread reads, and after the last block.
    source: Option<R>,
    has_ended: bool,
    /// The number of the next block.
    next: u64,
}

impl<R: Source, I: Iterator<Item = R>> Sources<I> {
    pub(super) fn new(sources: I) -> Self {
        let state = State { later: sources.fuse(), first: 0, open: VecDeque::new() };
        let (state, was_read) = (Mutex::new(state), Condvar::new());
        Self { state, was_read, first: AtomicUsize::new(0) }
    }

    /// Whether all blocks of the sources before this one have been read.
    pub(super) fn have_come_to(&self, source: usize) -> bool {
        source <= self.first.load(Ordering::Relaxed)
    }

    /// Reads a block of the first source that no other thread reads, of the first `most()` that
    /// have not ended, or finds an end.
    pub(super) fn read(
        &self,
        block: &mut R::Block,
        most: impl Fn() -> usize,
    ) -> (Place, Result<Read>) {
        let mut state = self.state.lock();
        loop {
            while state.open.front().is_some_and(|open| open.has_ended) {
                state.open.pop_front();
                state.first += 1;
            }
            self.first.store(state.first, Ordering::Relaxed);
            let most = most();
            let free = state.open.iter().take(most).position(|open| open.source.is_some());
            if let Some(at) = free {
                return self.read_of(state, at, block);
            }
            let later = if state.open.len() < most { state.later.next() } else { None };
            if later.is_some() {
                state.open.push_back(Open { source: later, has_ended: false, next: 0 });
            } else if state.open.is_empty() {
                return ((state.first, 0), Ok(Read::EndOfAll));
            } else {
                self.was_read.wait(&mut state);
            }
        }
    }

    fn read_of(
        &self,
        mut state: MutexGuard<'_, State<I>>,
        at: usize,
        block: &mut R::Block,
    ) -> (Place, Result<Read>) {
        let number = state.first + at;
        let open = &mut state.open[at];
        let (place, mut source) = ((number, open.next), open.source.take());
        open.next += 1;
        let mut next = || source.as_mut().map_or(Ok(false), |source| source.next(block));
        // A panic is an end too, or other threads would wait for this one.
        let read = MutexGuard::unlocked(&mut state, || catch_unwind(AssertUnwindSafe(&mut next)));
        let read = read.unwrap_or_else(|_| Err(anyhow!("a thread failed: see above")));
        // Sources before it may have ended meanwhile.
        let at = number - state.first;
        let open = &mut state.open[at];
        match read {
            Ok(true) => open.source = source,
            _ => open.has_ended = true,
        }
        self.was_read.notify_all();
        (place, read.map(|is_block| if is_block { Read::Block } else { Read::End }))
    }
}
