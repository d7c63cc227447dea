//! Decisions on many texts by several threads, in order.

use std::sync::{Mutex, PoisonError};
use std::thread;

use malkoha::InsertError;

use crate::dedup::{Decision, Deduplicator, Prepared, Preparer};
use crate::memory::Memory;

/// Texts that are prepared before they are decided on.
const ROUND: usize = 2048;

/// Texts that a thread prepares at a time.
const SHARE: usize = 32;

/// Texts whose memory is requested together.
const AHEAD: usize = 16;

impl Deduplicator {
    /// Decides on texts in their order. Up to `threads` threads prepare the next ones meanwhile.
    ///
    /// # Errors
    ///
    /// If the system lacks the memory to remember a text. Nothing is known then of the decisions
    /// on the texts before it.
    pub fn decide_many<S: AsRef<str> + Sync>(
        &mut self,
        texts: &[S],
        threads: usize,
    ) -> Result<Vec<Decision>, InsertError> {
        let preparer = self.preparer().clone();
        let mut decisions = Vec::with_capacity(texts.len());
        let round = ROUND.min(texts.len());
        let (mut now, mut next) = (Vec::new(), Vec::new());
        now.resize_with(round, Prepared::default);
        next.resize_with(round, Prepared::default);
        let mut rounds = texts.chunks(ROUND).peekable();
        let first = rounds.peek().copied().unwrap_or_default();
        share(threads, &preparer, first, &mut now, || {});
        while let Some(texts) = rounds.next() {
            let later = rounds.peek().copied().unwrap_or_default();
            let mut decided = Ok(());
            share(threads, &preparer, later, &mut next, || {
                decided = now[..texts.len()].chunks(AHEAD).try_for_each(|prepared| {
                    prepared.iter().for_each(|prepared| self.prefetch(prepared));
                    prepared.iter().try_for_each(|prepared| {
                        decisions.push(self.decide(prepared)?);
                        Ok(())
                    })
                });
            });
            decided?;
            std::mem::swap(&mut now, &mut next);
        }
        Ok(decisions)
    }
}

/// Prepares texts on several threads. This one does `first` before it takes part.
fn share<S: AsRef<str> + Sync>(
    threads: usize,
    preparer: &Preparer,
    texts: &[S],
    prepared: &mut [Prepared],
    first: impl FnOnce(),
) {
    let shares = Mutex::new(texts.chunks(SHARE).zip(prepared.chunks_mut(SHARE)));
    let work = || {
        let mut memory = Memory::default();
        loop {
            let share = shares.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((texts, prepared)) = share else { return };
            for (text, prepared) in texts.iter().zip(prepared) {
                preparer.prepare(text.as_ref(), &mut memory, prepared);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(texts.len().div_ceil(SHARE)) {
            // The system may refuse more threads; the existing ones do all the work.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        first();
        work();
    });
}
