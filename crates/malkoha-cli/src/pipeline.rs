//! Work on blocks of lines by several threads, with results in the order of the lines.
//!
//! ```text
//! each thread: read a block, in turn --> work on it, side by side --> hand it over, in turn
//! ```
//!
//! Every thread goes through all three steps with a block of its own. So there is one block per
//! thread in memory, and nothing waits in queues. One thread alone does the same.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use anyhow::{Result, anyhow};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::input::{Block, Blocks, Inputs};
use crate::progress::Progress;

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
    let source = Source { blocks: Some(inputs.blocks(progress)), next: 0 };
    let turn = Turn { number: 0, sink: Some(sink), end: None };
    let pipeline = Pipeline {
        source: Mutex::new(source),
        turn: Mutex::new(turn),
        moved: Condvar::new(),
        work,
    };
    let threads = inputs.useful_threads(threads);
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

struct Pipeline<W, S> {
    source: Mutex<Source>,
    turn: Mutex<Turn<S>>,
    /// The turn has passed on.
    moved: Condvar,
    work: W,
}

/// The source of blocks.
struct Source {
    /// `None` after the last one.
    blocks: Option<Blocks>,
    /// The number of the next block.
    next: u64,
}

/// The destination of results.
struct Turn<S> {
    /// The number of the block that is due.
    number: u64,
    sink: Option<S>,
    /// The outcome.
    end: Option<Result<()>>,
}

impl<W, S> Pipeline<W, S>
where
    W: Fn(&Block, &mut S::Made) -> Result<()>,
    S: Sink,
{
    /// The loop of each thread.
    fn run(&self) {
        let (mut block, mut made) = (Block::default(), S::Made::default());
        loop {
            let (number, read) = self.read(&mut block);
            let worked = match read {
                Ok(true) => (self.work)(&block, &mut made).map(|()| true),
                end => end,
            };
            let Some(mut turn) = self.wait_for(number) else { return };
            let taken = match (worked, &mut turn.sink) {
                (Ok(true), Some(sink)) => {
                    let header = block.header_before();
                    let headed = header.map_or(Ok(()), |header| sink.head(header));
                    headed.and_then(|()| sink.take(&mut made)).map(|()| !sink.is_done())
                }
                (end, _) => end,
            };
            match taken {
                Ok(true) => turn.number += 1,
                end => turn.end = Some(end.map(|_| ())),
            }
            let ended = turn.end.is_some();
            drop(turn);
            self.moved.notify_all();
            if ended {
                return;
            }
        }
    }

    /// [`run`](Self::run), and tells the others if it fails.
    fn guarded(&self) {
        if catch_unwind(AssertUnwindSafe(|| self.run())).is_err() {
            self.turn.lock().end.get_or_insert_with(|| Err(anyhow!("a thread failed: see above")));
            self.moved.notify_all();
        }
    }

    /// The number of the block that was read, or of the end.
    fn read(&self, block: &mut Block) -> (u64, Result<bool>) {
        let mut source = self.source.lock();
        let number = source.next;
        source.next += 1;
        let read = source.blocks.as_mut().map_or(Ok(false), |blocks| blocks.next(block));
        if !matches!(read, Ok(true)) {
            source.blocks = None;
        }
        (number, read)
    }

    /// Waits for the turn of the block of this number; `None` if it never comes.
    fn wait_for(&self, number: u64) -> Option<MutexGuard<'_, Turn<S>>> {
        let mut turn = self.turn.lock();
        self.moved.wait_while(&mut turn, |turn| turn.number != number && turn.end.is_none());
        turn.end.is_none().then_some(turn)
    }

    fn finish(&self) -> Result<S> {
        let mut turn = self.turn.lock();
        self.moved.wait_while(&mut turn, |turn| turn.end.is_none());
        // Taken in any case, so that the sink ends here and writes what is left.
        let sink = turn.sink.take();
        // It stays ended for the other threads.
        turn.end.replace(Ok(())).unwrap_or(Ok(()))?;
        sink.ok_or_else(|| anyhow!("a thread failed: see above"))
    }
}
