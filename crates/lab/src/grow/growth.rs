//! A set or map while it grows.

use anyhow::Result;

use super::GrowArgs;
use crate::keys::{Keys, Present};
use crate::subject::{Contender, Operation, Subject};

/// Keys that are looked up at a time, at most.
const LOOKUPS: usize = 32_768;

/// A set or map that holds the first keys of the sequence.
pub(super) struct Growth {
    pub(super) subject: Box<dyn Subject>,
    keys: Keys,
    len: u64,
    /// The keys in hand, as many as are handed over at a time.
    batch: Vec<u64>,
    answers: Vec<bool>,
    refused: Vec<u64>,
}

impl Growth {
    pub(super) fn new(contender: &Contender, args: &GrowArgs, batch: usize) -> Result<Self> {
        Ok(Self {
            subject: (contender.make)(args.start)?,
            keys: args.keys(),
            len: 0,
            batch: vec![0; batch],
            answers: vec![false; batch],
            refused: Vec::new(),
        })
    }

    /// Hands the next keys to `insert`, up to `len`: those of each batch, and where to note the
    /// refused ones.
    pub(super) fn to(
        &mut self,
        len: u64,
        mut insert: impl FnMut(&mut dyn Subject, &[u64], &mut Vec<u64>),
    ) {
        self.keys.batches(self.len..len, &mut self.batch, |batch| {
            insert(&mut *self.subject, batch, &mut self.refused);
        });
        self.len = len;
    }

    /// Hands pairs of batches to `replace`: keys that are in, and as many that are not. Then the
    /// same the other way round, so that the keys are the first ones again.
    pub(super) fn churn(
        &mut self,
        pairs: u64,
        mut replace: impl FnMut(&mut dyn Subject, &[u64], &[u64]),
    ) {
        let mut others = vec![0; self.batch.len()];
        for turn in [0, 1] {
            let mut first = 0;
            self.keys.batches(0..pairs, &mut self.batch, |batch| {
                let others = &mut others[..batch.len()];
                self.keys.members(self.len + first, others);
                first += batch.len() as u64;
                let (out, new) = if turn == 0 { (batch, &*others) } else { (&*others, batch) };
                replace(&mut *self.subject, out, new);
            });
        }
    }

    /// Hands `lookups` absent keys to `find`, which returns how many it found; the sum of these.
    pub(super) fn absent(
        &mut self,
        lookups: u64,
        mut find: impl FnMut(&dyn Subject, &[u64], &mut [bool]) -> u64,
    ) -> u64 {
        let (size, mut found) = (self.batch.len().min(LOOKUPS), 0);
        let batch = &mut self.batch[..size];
        self.keys.query_batches(Present(0), self.len, 0..lookups, batch, |batch| {
            found += find(&*self.subject, batch, &mut self.answers[..batch.len()]);
        });
        found
    }

    /// How many of the keys are not found.
    pub(super) fn lost(&mut self) -> u64 {
        let access = self.subject.fastest(Operation::Find);
        let (size, mut found) = (self.batch.len().min(LOOKUPS), 0);
        self.keys.batches(0..self.len, &mut self.batch[..size], |batch| {
            found += self.subject.find_all(access, batch, &mut self.answers[..batch.len()]);
        });
        self.len - found
    }

    pub(super) fn bits_per_key(&self) -> f64 {
        self.subject.bytes() as f64 * 8.0 / self.len as f64
    }
}
