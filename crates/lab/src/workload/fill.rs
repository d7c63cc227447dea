//! Filling: one by one, in batches, and from a slice.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{Filled, Workload};
use crate::measure::{memory, reset_peak, timed};
use crate::subject::{Access, Build, Operation};

/// Equal parts that a fill is timed in.
const PARTS: u8 = 20;

impl Workload<'_> {
    /// Fills a contender in every way that it supports; the last filter stays.
    pub(super) fn fill(&mut self, contender: usize, run: u32) -> Result<Filled> {
        let mut filled = self.insert_parts(contender, Access::Single)?;
        self.check_members(contender, &filled, run);
        if filled.subject.can(Operation::Insert, Access::Many) {
            drop(filled);
            filled = self.insert_parts(contender, Access::Many)?;
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
    fn insert_parts(&mut self, contender: usize, access: Access) -> Result<Filled> {
        let keys = self.settings.keys;
        let start = |part: u8| keys * u64::from(part) / u64::from(PARTS);
        let mut refused = Vec::new();
        let mut times = [Duration::ZERO; PARTS as usize];
        let make = &self.contenders[contender].make;
        let mut subject = timed(&mut times[0], || make(keys))?;
        for (part, time) in (0..PARTS).zip(&mut times) {
            let positions = start(part)..start(part + 1);
            self.keys.batches(positions, &mut self.batch, |batch| {
                timed(time, || subject.insert_all(access, batch, &mut refused));
            });
        }
        self.rate(contender, &format!("insert {access}"), keys, times.iter().sum());
        let deciles = (0..PARTS).step_by(2).map(|part| (part, part + 2));
        for (from, to) in deciles.chain([(0, PARTS / 2), (PARTS - 1, PARTS)]) {
            let time = times[usize::from(from)..usize::from(to)].iter().sum();
            let percent = |part: u8| u32::from(part) * 100 / u32::from(PARTS);
            let measure = format!("insert {access} {}-{} %", percent(from), percent(to));
            self.rate(contender, &measure, start(to) - start(from), time);
        }
        self.fault(contender, "refused", refused.len() as u64);
        Ok(Filled { subject, accepted: keys - refused.len() as u64, refused })
    }

    fn record_build(&mut self, contender: usize, build: &Build, threads: usize) -> Result<Filled> {
        let mut time = Duration::ZERO;
        reset_peak();
        let before = memory("VmRSS");
        let start = Instant::now();
        let subject = timed(&mut time, || build(&self.all, threads))?;
        if threads > 1 {
            time = start.elapsed(); // this thread's own time says nothing then
        }
        let accepted = self.settings.keys;
        let peak = memory("VmHWM").saturating_sub(before + subject.bytes()) as f64;
        let beyond = peak / accepted as f64;
        self.record(contender, "build, peak beyond the result", "bytes a key", beyond);
        let measure = if threads > 1 { format!("build on {threads}") } else { "build".to_owned() };
        self.rate(contender, &measure, accepted, time);
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
        let access = filled.subject.fastest(Operation::Find);
        self.keys.batches(0..self.settings.keys, &mut self.batch, |batch| {
            found += filled.subject.find_all(access, batch, &mut self.answers[..batch.len()]);
        });
        let mut answers = vec![false; filled.refused.len()];
        found -= filled.subject.find_all(access, &filled.refused, &mut answers);
        self.fault(contender, "lost", filled.accepted - found);
    }

    fn record_space(&mut self, contender: usize, filled: &Filled) {
        let subject = &filled.subject;
        let bits = subject.bytes() as f64 * 8.0 / filled.accepted as f64;
        let shares = [("load", subject.load()), ("expected fpr", subject.expected_fpr())];
        self.record(contender, "bits a key", "bits", bits);
        for (measure, share) in shares {
            if let Some(share) = share {
                self.record(contender, measure, "%", share * 100.0);
            }
        }
    }
}
