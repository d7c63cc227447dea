//! Work on blocks of lines by several threads, with results in the order of the lines.
//!
//! ```text
//! each thread: read a block, in turn --> work on it, side by side --> hand it over, in turn
//!              [--> work on the outcome, side by side --> write it, in turn]
//! ```
//!
//! Every thread goes through all steps with a block of its own. So there is one block per thread
//! in memory, and nothing waits in queues. One thread alone does the same.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use anyhow::{Result, anyhow};
use parking_lot::{Condvar, Mutex};

use crate::input::{Block, Blocks, Inputs};
use crate::progress::Progress;

/// Where blocks come from.
pub(crate) trait Source: Send + 'static {
    /// Its memory is used again for the next one.
    type Block: Default;

    /// Reads the next block; `false` at the end.
    fn next(&mut self, block: &mut Self::Block) -> Result<bool>;

    /// The header that a block follows, if it is the first of its file.
    fn header_before(_block: &Self::Block) -> Option<&[u8]> {
        None
    }
}

impl Source for Blocks {
    type Block = Block;

    fn next(&mut self, block: &mut Block) -> Result<bool> {
        Self::next(self, block)
    }

    fn header_before(block: &Block) -> Option<&[u8]> {
        block.header_before()
    }
}

/// The work on blocks, and where its results go.
pub(crate) trait Sink: Send + 'static {
    /// Made of one block. Its memory is used again for the next one.
    type Made: Default;

    /// Takes the header of a file, before the result of its first block.
    fn head(&mut self, _header: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Takes the result of the next block.
    fn take(&mut self, made: &mut Self::Made) -> Result<()>;

    /// Whether later blocks could not change the outcome.
    fn is_done(&self) -> bool {
        false
    }
}

/// Where outcomes go that need more work after they were handed over.
pub(crate) trait Writer<B, M>: Send + 'static {
    /// Works on the outcome of a block, in parallel with others.
    fn finish(_block: &B, _made: &mut M) -> Result<()> {
        Ok(())
    }

    /// Takes the next one.
    fn write(&mut self, _block: &B, _made: &mut M) -> Result<()> {
        Ok(())
    }
}

/// Nothing more to do.
impl<B, M> Writer<B, M> for () {}

/// Lets up to `threads` threads `work` on all blocks of `inputs`, and passes the results to `sink`
/// in order. Returns the sink.
///
/// # Errors
///
/// The first one in the order of the blocks; the results of earlier blocks were taken. A thread
/// that still waits for input is abandoned: the process is about to end.
pub(crate) fn in_order<S: Sink>(
    inputs: &Inputs,
    progress: &Progress,
    threads: usize,
    work: impl Fn(&Block, &mut S::Made) -> Result<()> + Send + Sync + 'static,
    sink: S,
) -> Result<S> {
    let threads = inputs.useful_threads(threads);
    Ok(in_two_turns(inputs.blocks(progress), threads, work, sink, ())?.0)
}

/// [`in_order`] for any source, with a second turn for outcomes: once `sink` has decided, they are
/// finished in parallel, and `writer` takes them in order.
///
/// # Errors
///
/// As [`in_order`]; the outcomes of earlier blocks were written.
pub(crate) fn in_two_turns<R: Source, S: Sink, L: Writer<R::Block, S::Made>>(
    source: R,
    threads: usize,
    work: impl Fn(&R::Block, &mut S::Made) -> Result<()> + Send + Sync + 'static,
    sink: S,
    writer: L,
) -> Result<(S, L)> {
    let pipeline = Pipeline {
        source: Mutex::new(Reading { source: Some(source), next: 0 }),
        first: Turn::new(sink),
        second: Turn::new(writer),
        work,
    };
    if threads == 1 {
        pipeline.run();
        return pipeline.finish();
    }
    let pipeline = Arc::new(pipeline);
    let mut started = 0;
    for _ in 0..threads {
        let shared = Arc::clone(&pipeline);
        started += usize::from(thread::Builder::new().spawn(move || shared.guarded()).is_ok());
    }
    // The system may refuse more threads; the existing ones can do all the work.
    if started == 0 {
        pipeline.run();
    }
    pipeline.finish()
}

/// Does both, in parallel if the system provides a thread.
pub(crate) fn both(mut one: impl FnMut() + Send, other: impl FnOnce()) {
    let refused = thread::scope(|scope| {
        let started = thread::Builder::new().spawn_scoped(scope, &mut one);
        other();
        started.is_err()
    });
    if refused {
        one();
    }
}

struct Pipeline<R, W, S, L> {
    source: Mutex<Reading<R>>,
    first: Turn<S>,
    second: Turn<L>,
    work: W,
}

struct Reading<R> {
    /// `None` after the last block.
    source: Option<R>,
    /// The number of the next block.
    next: u64,
}

/// Blocks pass one by one, in order.
struct Turn<S> {
    state: Mutex<State<S>>,
    /// The turn has passed on.
    moved: Condvar,
}

struct State<S> {
    /// The number of the block that is due.
    number: u64,
    sink: Option<S>,
    /// The outcome.
    end: Option<Result<()>>,
}

impl<S> Turn<S> {
    fn new(sink: S) -> Self {
        let state = State { number: 0, sink: Some(sink), end: None };
        Self { state: Mutex::new(state), moved: Condvar::new() }
    }

    /// Does a step with the block of this number when its turn comes. The step returns whether
    /// another one follows. `None` if the turn never comes.
    fn pass(&self, number: u64, step: impl FnOnce(&mut S) -> Result<bool>) -> Option<bool> {
        let mut state = self.state.lock();
        self.moved.wait_while(&mut state, |state| state.number != number && state.end.is_none());
        if state.end.is_some() {
            return None;
        }
        let passed = state.sink.as_mut().map_or(Ok(false), step);
        let goes_on = matches!(passed, Ok(true));
        match passed {
            Ok(true) => state.number += 1,
            end => state.end = Some(end.map(|_| ())),
        }
        drop(state);
        self.moved.notify_all();
        Some(goes_on)
    }

    fn end(&self, end: Result<()>) {
        self.state.lock().end = Some(end);
        self.moved.notify_all();
    }

    /// Waits for the end.
    fn wait(&self) -> (Result<()>, Option<S>) {
        let mut state = self.state.lock();
        self.moved.wait_while(&mut state, |state| state.end.is_none());
        // Taken in any case, so that the sink ends here and writes what is left.
        let sink = state.sink.take();
        // It stays ended for the other threads.
        (state.end.replace(Ok(())).unwrap_or(Ok(())), sink)
    }
}

impl<R, W, S, L> Pipeline<R, W, S, L>
where
    R: Source,
    W: Fn(&R::Block, &mut S::Made) -> Result<()>,
    S: Sink,
    L: Writer<R::Block, S::Made>,
{
    /// The loop of each thread.
    fn run(&self) {
        let (mut block, mut made) = (R::Block::default(), S::Made::default());
        loop {
            let (number, read) = self.read(&mut block);
            let worked = match read {
                Ok(true) => (self.work)(&block, &mut made).map(|()| true),
                end => end,
            };
            let mut has_outcome = false;
            let mut taken = Ok(false);
            let turn = self.first.pass(number, |sink| {
                taken = worked.and_then(|is_block| {
                    if !is_block {
                        return Ok(false);
                    }
                    R::header_before(&block).map_or(Ok(()), |header| sink.head(header))?;
                    sink.take(&mut made)?;
                    has_outcome = true;
                    Ok(!sink.is_done())
                });
                Ok(matches!(taken, Ok(true)))
            });
            if turn.is_none() {
                return;
            }
            let finished = if has_outcome { L::finish(&block, &mut made) } else { Ok(()) };
            // The second turn reports errors of both, because it still has earlier blocks.
            let turn = self.second.pass(number, |writer| {
                finished?;
                if has_outcome {
                    writer.write(&block, &mut made)?;
                }
                taken
            });
            if turn != Some(true) {
                return self.first.end(Ok(()));
            }
        }
    }

    /// [`run`](Self::run), and tells the others if it fails.
    fn guarded(&self) {
        if catch_unwind(AssertUnwindSafe(|| self.run())).is_err() {
            self.second.end(Err(anyhow!("a thread failed: see above")));
            self.first.end(Ok(()));
        }
    }

    /// The number of the block that was read, or of the end.
    fn read(&self, block: &mut R::Block) -> (u64, Result<bool>) {
        let mut reading = self.source.lock();
        let number = reading.next;
        reading.next += 1;
        let read = reading.source.as_mut().map_or(Ok(false), |source| source.next(block));
        if !matches!(read, Ok(true)) {
            reading.source = None;
        }
        (number, read)
    }

    fn finish(&self) -> Result<(S, L)> {
        let (end, writer) = self.second.wait();
        let (_, sink) = self.first.wait();
        end?;
        sink.zip(writer).ok_or_else(|| anyhow!("a thread failed: see above"))
    }
}
