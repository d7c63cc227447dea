//! Turns: blocks pass one by one, whichever thread has them.

use anyhow::Result;
use parking_lot::{Condvar, Mutex};

/// The place of a block: the number of its source, and its number there.
pub(super) type Place = (usize, u64);

/// The outcome of a read.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Read {
    Block,
    /// The end of a source.
    End,
    /// There is no other source, or none is wanted.
    EndOfAll,
}

/// Blocks pass one by one, in order.
pub(super) struct Turn<S> {
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
    pub(super) fn new(sink: S) -> Self {
        let state = State { due: (0, 0), sink: Some(sink), end: None };
        Self { state: Mutex::new(state), moved: Condvar::new() }
    }

    /// Does a step with this block when its turn comes. The step returns what it was, to say which
    /// one follows. `None` if the turn never comes.
    pub(super) fn pass(
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

    pub(super) fn end(&self, end: Result<()>) {
        self.state.lock().end = Some(end);
        self.moved.notify_all();
    }

    /// Waits for the end.
    pub(super) fn wait(&self) -> (Result<()>, Option<S>) {
        let mut state = self.state.lock();
        self.moved.wait_while(&mut state, |state| state.end.is_none());
        // Taken in any case, so that the sink ends here and writes what is left.
        let sink = state.sink.take();
        // It stays ended for the other threads.
        (state.end.replace(Ok(())).unwrap_or(Ok(())), sink)
    }
}
