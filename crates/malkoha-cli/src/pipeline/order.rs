//! The order of blocks: threads read them from sources side by side, and pass turns one by one.

use std::collections::VecDeque;
use std::iter::Fuse;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, anyhow};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::input::{Block, Blocks};

/// Where blocks come from.
pub(crate) trait Source: Send + 'static {
    /// Its memory is used again for the next one.
    type Block: Default;

    /// Reads the next block; `false` at the end.
    fn next(&mut self, block: &mut Self::Block) -> Result<bool>;

    /// The header that a block follows, and the name of its file, if it is the first of it.
    fn header_before(_block: &Self::Block) -> Option<(&[u8], &str)> {
        None
    }
}

impl Source for Blocks {
    type Block = Block;

    fn next(&mut self, block: &mut Block) -> Result<bool> {
        Self::next(self, block)
    }

    fn header_before(block: &Block) -> Option<(&[u8], &str)> {
        block.header_before()
    }
}

/// The place of a block: the number of its source, and its number there.
pub(crate) type Place = (usize, u64);

/// The outcome of a read.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Read {
    Block,
    /// The end of a source.
    End,
    /// There is no other source, or none is wanted.
    EndOfAll,
}

/// Sources that follow each other.
pub(super) struct Sources<I: Iterator> {
    state: Mutex<Reading<I>>,
    was_read: Condvar,
    /// The number of the first source that has not been read to its end.
    first: AtomicUsize,
}

struct Reading<I: Iterator> {
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
        let state = Reading { later: sources.fuse(), first: 0, open: VecDeque::new() };
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
        mut state: MutexGuard<'_, Reading<I>>,
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

/// Blocks pass one by one, in order.
pub(crate) struct Turn<S> {
    state: Mutex<State<S>>,
    /// The turn has passed on.
    moved: Condvar,
}

struct State<S> {
    /// The block that is due.
    due: Place,
    sink: Option<S>,
    /// The outcome.
    end: Option<Result<()>>,
}

impl<S> Turn<S> {
    pub(crate) fn new(sink: S) -> Self {
        let state = State { due: (0, 0), sink: Some(sink), end: None };
        Self { state: Mutex::new(state), moved: Condvar::new() }
    }

    /// Does a step with this block when its turn comes. The step returns what it was, to say which
    /// one follows. `None` if the turn never comes.
    pub(crate) fn pass(
        &self,
        place: Place,
        step: impl FnOnce(&mut S) -> Result<Read>,
    ) -> Option<Read> {
        let mut state = self.state.lock();
        self.moved.wait_while(&mut state, |state| state.due != place && state.end.is_none());
        if state.end.is_some() {
            return None;
        }
        let passed = state.sink.as_mut().map_or(Ok(Read::EndOfAll), step);
        let read = *passed.as_ref().unwrap_or(&Read::EndOfAll);
        match read {
            Read::Block => state.due.1 += 1,
            Read::End => state.due = (place.0 + 1, 0),
            Read::EndOfAll => state.end = Some(passed.map(drop)),
        }
        drop(state);
        self.moved.notify_all();
        Some(read)
    }

    /// Does a step between turns. `None` after the last one.
    pub(super) fn between<T>(&self, step: impl FnOnce(Place, &mut S) -> T) -> Option<T> {
        let mut state = self.state.lock();
        let due = state.due;
        if state.end.is_some() { None } else { state.sink.as_mut().map(|sink| step(due, sink)) }
    }

    pub(crate) fn end(&self, end: Result<()>) {
        self.state.lock().end = Some(end);
        self.moved.notify_all();
    }

    /// Waits for the end.
    pub(crate) fn wait(&self) -> (Result<()>, Option<S>) {
        let mut state = self.state.lock();
        self.moved.wait_while(&mut state, |state| state.end.is_none());
        // Taken in any case, so that the sink ends here and writes what is left.
        let sink = state.sink.take();
        // It stays ended for the other threads.
        (state.end.replace(Ok(())).unwrap_or(Ok(())), sink)
    }
}
