//! Filling: one by one, in batches, and from a slice.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{Filled, Workload};
use crate::measure::{rate, timed};
use crate::results::{Measure, PARTS};
use crate::subject::{Build, How, Operation};

impl Workload<'_> {
    /// Fills a contender in every way that it supports; the last filter stays.
    pub(super) fn fill(&mut self, contender: usize, run: u32) -> Result<Filled> {
        let mut filled = self.insert_parts(contender, How::Single)?;
        self.check_members(contender, &filled, run);
        if filled.subject.can(Operation::Insert, How::Many) {
            drop(filled);
            filled = self.insert_parts(contender, How::Many)?;
            self.check_members(contender, &filled, run);
        }
        if let Some(build) = &self.contenders[contender].build {
            drop(filled);
            if self.all.is_empty() {
                self.all = vec![0; usize::try_from(self.settings.keys)?];
                self.keys.members(0, &mut self.all);
            }
            if self.settings.threads > 1 {
                self.record_build(contender, build, self.settings.threads)?;
            }
            filled = self.record_build(contender, build, 1)?;
            self.check_members(contender, &filled, run);
        }
        self.record_space(contender, &filled);
        Ok(filled)
    }

    /// Makes a filter, which counts with its first keys: some touch all their memory then, others
    /// when keys come.
    fn insert_parts(&mut self, contender: usize, how: How) -> Result<Filled> {
        let keys = self.settings.keys;
        let start = |part: u8| keys * u64::from(part) / u64::from(PARTS);
        let mut refused = Vec::new();
        let mut times = [Duration::ZERO; PARTS as usize];
        let make = &self.contenders[contender].make;
        let mut subject = timed(&mut times[0], || make(keys))?;
        for (part, time) in (0..PARTS).zip(&mut times) {
            self.members(start(part), start(part + 1), usize::MAX, |batch, _, _| {
                timed(time, || subject.insert(how, batch, &mut refused));
            });
        }
        self.results.record(contender, Measure::Insert(how), rate(keys, times.iter().sum()));
        let deciles = (0..PARTS).step_by(2).map(|part| (part, part + 2));
        for (from, to) in deciles.chain([(0, PARTS / 2), (PARTS - 1, PARTS)]) {
            let time = times[usize::from(from)..usize::from(to)].iter().sum();
            let measure = Measure::InsertPart(how, from, to);
            self.results.record(contender, measure, rate(start(to) - start(from), time));
        }
        self.fault(contender, Measure::Refused, refused.len() as u64);
        Ok(Filled { subject, accepted: keys - refused.len() as u64, refused })
    }

    fn record_build(&mut self, contender: usize, build: &Build, threads: usize) -> Result<Filled> {
        let mut time = Duration::ZERO;
        let start = Instant::now();
        let subject = timed(&mut time, || build(&self.all, threads))?;
        if threads > 1 {
            time = start.elapsed(); // this thread's own time says nothing then
        }
        let accepted = self.settings.keys;
        self.results.record(contender, Measure::Build(threads), rate(accepted, time));
        Ok(Filled { subject, accepted, refused: Vec::new() })
    }

    /// Asks for every key that was accepted. Once is enough: later runs do the same again.
    ///
    /// A refused key that is found nevertheless is no substitute for another that is not: some
    /// filters keep the new key and evict an old one.
    fn check_members(&mut self, contender: usize, filled: &Filled, run: u32) {
        if run > 0 {
            return;
        }
        let mut found = 0;
        let how = filled.fastest(Operation::Find);
        self.members(0, self.settings.keys, usize::MAX, |batch, answers, _| {
            found += filled.subject.find(how, batch, answers);
        });
        let mut answers = vec![false; filled.refused.len()];
        found -= filled.subject.find(how, &filled.refused, &mut answers);
        self.fault(contender, Measure::Lost, filled.accepted - found);
    }

    fn record_space(&mut self, contender: usize, filled: &Filled) {
        let subject = &filled.subject;
        let bits = subject.bytes() as f64 * 8.0 / filled.accepted as f64;
        self.results.record(contender, Measure::BitsPerKey, bits);
        let shares =
            [(Measure::Load, subject.load()), (Measure::ExpectedFpr, subject.expected_fpr())];
        for (measure, share) in shares {
            if let Some(share) = share {
                self.results.record(contender, measure, share * 100.0);
            }
        }
    }
}

impl Filled {
    /// The batch method where there is one.
    pub(super) fn fastest(&self, operation: Operation) -> How {
        if self.subject.can(operation, How::Many) { How::Many } else { How::Single }
    }
}
