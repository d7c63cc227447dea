//! Work on blocks of lines by several threads, with results in the order of the lines.
//!
//! ```text
//! each thread: read a block, in turn --> work on it, side by side --> hand it over, in turn
//!              [--> work on the outcome, side by side --> write it, in turn]
//! ```
//!
//! Every thread goes through all steps with a block of its own. So there is one block per thread
//! in memory, and nothing waits in queues. One thread alone does the same.
//!
//! Sources follow each other. Where only the results of blocks are needed, a thread that finds the
//! first source busy reads the next one, and sets results aside until their turn.

mod order;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::iter::once;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Result, anyhow};

use self::order::{Place, Sources};
pub(crate) use self::order::{Read, Source, Turn};
use crate::input::{Block, Inputs};
use crate::progress::Progress;

/// The work on blocks, and where its results go.
pub(crate) trait Sink: Send + 'static {
    /// Made of one block. Its memory is used again for the next one.
    type Made: Default + Send;

    /// Takes the header of a file, before the result of its first block.
    fn head(&mut self, _header: &[u8], _file: &str) -> Result<()> {
        Ok(())
    }

    /// Takes the result of the next block.
    fn take(&mut self, made: &mut Self::Made) -> Result<()>;

    /// Whether later blocks could not change the outcome.
    fn is_done(&self) -> bool {
        false
    }

    /// Moves what [`take`](Self::take) needs of a result, and says its bytes.
    fn set_aside(made: &mut Self::Made) -> (Self::Made, usize) {
        (mem::take(made), 0)
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
    Ok(in_two_turns(once(inputs.blocks(progress)), (threads, 0), work, sink, ())?.0)
}

/// [`in_order`] for any sources, with a second turn for outcomes: once `sink` has decided, they are
/// finished in parallel, and `writer` takes them in order. If that needs no blocks, up to about
/// `aside` bytes of results are set aside.
///
/// # Errors
///
/// As [`in_order`]; the outcomes of earlier blocks were written.
pub(crate) fn in_two_turns<R: Source, S: Sink, L: Writer<R::Block, S::Made>>(
    sources: impl Iterator<Item = R> + Send + 'static,
    (threads, aside): (usize, usize),
    work: impl Fn(&R::Block, &mut S::Made) -> Result<()> + Send + Sync + 'static,
    sink: S,
    writer: L,
) -> Result<(S, L)> {
    let pipeline = Pipeline {
        sources: Sources::new(sources),
        threads,
        first: Turn::new(First { sink, aside: BTreeMap::new() }),
        second: Turn::new(writer),
        work,
        most_aside: aside,
        bytes_aside: AtomicUsize::new(0),
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

struct Pipeline<I: Iterator, W, S: Sink, L> {
    sources: Sources<I>,
    threads: usize,
    first: Turn<First<S>>,
    second: Turn<L>,
    work: W,
    /// Bytes of results that can be set aside, and those that are.
    most_aside: usize,
    bytes_aside: AtomicUsize,
}

/// The sink of results, and those whose turn has not come.
struct First<S: Sink> {
    sink: S,
    aside: BTreeMap<Place, Aside<S::Made>>,
}

struct Aside<M> {
    worked: Result<Read>,
    made: M,
    bytes: usize,
}

impl<R, I, W, S, L> Pipeline<I, W, S, L>
where
    R: Source,
    I: Iterator<Item = R>,
    W: Fn(&R::Block, &mut S::Made) -> Result<()>,
    S: Sink,
    L: Writer<R::Block, S::Made>,
{
    /// The loop of each thread.
    fn run(&self) {
        let (mut block, mut own, none) =
            (R::Block::default(), S::Made::default(), R::Block::default());
        loop {
            let mut aside = self.take_aside();
            let (place, worked, block, made) = if let Some((place, aside)) = &mut aside {
                let worked = mem::replace(&mut aside.worked, Ok(Read::EndOfAll));
                (*place, worked, &none, &mut aside.made)
            } else {
                let most = || if self.is_full() { 1 } else { self.threads };
                let (place, read) = self.sources.read(&mut block, most);
                let worked = match read {
                    Ok(Read::Block) => (self.work)(&block, &mut own).map(|()| Read::Block),
                    end => end,
                };
                match self.set_aside(place, worked, &mut own) {
                    None => continue,
                    Some(worked) => (place, worked, &block, &mut own),
                }
            };
            let mut has_outcome = false;
            let mut taken = Ok(Read::EndOfAll);
            let turn = self.first.pass(place, |First { sink, .. }| {
                taken = worked.and_then(|read| {
                    if read != Read::Block {
                        return Ok(read);
                    }
                    let head = R::header_before(block);
                    head.map_or(Ok(()), |(header, file)| sink.head(header, file))?;
                    sink.take(made)?;
                    has_outcome = true;
                    Ok(if sink.is_done() { Read::EndOfAll } else { Read::Block })
                });
                Ok(*taken.as_ref().unwrap_or(&Read::EndOfAll))
            });
            if turn.is_none() {
                return;
            }
            let finished = if has_outcome { L::finish(block, made) } else { Ok(()) };
            // The second turn reports errors of both, because it still has earlier blocks.
            let turn = self.second.pass(place, |writer| {
                finished?;
                if has_outcome {
                    writer.write(block, made)?;
                }
                taken
            });
            if turn.is_none_or(|read| read == Read::EndOfAll) {
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

    fn is_full(&self) -> bool {
        self.bytes_aside.load(Ordering::Relaxed) >= self.most_aside
    }

    /// The result that is due, if it was set aside.
    fn take_aside(&self) -> Option<(Place, Aside<S::Made>)> {
        if self.most_aside == 0 {
            return None;
        }
        let take = |due, First { aside, .. }: &mut First<S>| Some((due, aside.remove(&due)?));
        let taken = self.first.between(take).flatten();
        if let Some((_, aside)) = &taken {
            self.bytes_aside.fetch_sub(aside.bytes, Ordering::Relaxed);
        }
        taken
    }

    /// Sets a result aside that is not due, or returns it.
    fn set_aside(
        &self,
        place: Place,
        worked: Result<Read>,
        made: &mut S::Made,
    ) -> Option<Result<Read>> {
        let mut worked = Some(worked);
        if self.most_aside == 0 || matches!(worked, Some(Ok(Read::EndOfAll))) {
            return worked;
        }
        self.first.between(|due, first| {
            // It can wait only if others have all blocks before it.
            let can_wait = self.sources.have_come_to(place.0);
            if due == place || can_wait && self.is_full() {
                return;
            }
            let (made, bytes) = S::set_aside(made);
            if let Some(worked) = worked.take() {
                first.aside.insert(place, Aside { worked, made, bytes });
            }
            self.bytes_aside.fetch_add(bytes, Ordering::Relaxed);
        });
        worked
    }

    fn finish(&self) -> Result<(S, L)> {
        let (end, writer) = self.second.wait();
        let (_, first) = self.first.wait();
        end?;
        let both = first.map(|first| first.sink).zip(writer);
        both.ok_or_else(|| anyhow!("a thread failed: see above"))
    }
}
