//! One pass over a structure: filled, asked at every occupancy and with every mix, emptied. Table 3
//! and figures 5 to 8 are read off it.

use std::hint::black_box;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use super::Scale;
use super::resume::Steps;
use super::structures::{self, Structure};
use crate::args::chosen;
use crate::keys::{Keys, Present};
use crate::measure::{alternating, median, progress, rate, timed};
use crate::subject::{Access, Operation, Subject};

/// Parts in which a structure is filled and emptied.
const PARTS: u64 = 20;
/// Keys handed over at a time; also how far a fill may go on beyond the first refusal.
const BATCH: usize = 256;
/// Queries at each occupancy, and of each mix, at most.
const QUERIES: u64 = 1 << 18;
/// Absent keys looked up to measure the false-positive rate.
const FPR_QUERIES: u64 = 1 << 22;
/// Shares of present keys in figure 5, in percent.
const MIXES: [u8; 11] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100];

/// The results of a pass. Speeds in million keys per second; occupancy as keys over slots, or over
/// the keys that a Bloom filter is made for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Pass {
    pub(super) items: u64,
    pub(super) bytes: u64,
    pub(super) fpr: f64,
    pub(super) stated_fpr: f64,
    pub(super) construction: f64,
    pub(super) batched_construction: f64,
    /// (occupancy, speed) of inserts up to there.
    pub(super) insert: Vec<(f64, f64)>,
    /// (occupancy, speed) of lookups of absent and of present keys.
    pub(super) absent: Vec<(f64, f64)>,
    pub(super) present: Vec<(f64, f64)>,
    /// (percent present, speed) when full.
    pub(super) mixes: Vec<(u8, f64)>,
    /// (occupancy, speed) of removals from that occupancy.
    pub(super) remove: Vec<(f64, f64)>,
}

/// A structure with its passes, one a run.
pub(super) struct Passes {
    pub(super) structure: Structure,
    pub(super) runs: Vec<Pass>,
}

impl Passes {
    /// The median of the runs.
    pub(super) fn median(&self, value: impl Fn(&Pass) -> f64) -> f64 {
        median(&self.runs.iter().map(value).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
    }
}

/// All structures, in runs whose order alternates. Each pass is a step.
pub(super) fn all(scale: &Scale, steps: &mut Steps) -> Result<Vec<Passes>> {
    let chosen = chosen(structures::all(), &scale.only, |structure| structure.name)?;
    let mut passes: Vec<Passes> =
        chosen.into_iter().map(|structure| Passes { structure, runs: Vec::new() }).collect();
    for run in 0..scale.runs {
        for at in alternating(passes.len(), run) {
            let structure = &passes[at].structure;
            progress(structure.name);
            let step = format!("{}, {} slots, run {run}", structure.name, scale.slots);
            let keys = Keys::new(u64::from(run) + 1);
            let pass = steps.get_or(&step, || pass(structure, scale.slots, keys))?;
            passes[at].runs.push(pass);
        }
    }
    progress("");
    Ok(passes)
}

/// One pass with these keys.
pub(super) fn pass(structure: &Structure, slots: u64, keys: Keys) -> Result<Pass> {
    let (limit, full) = structure.fill.limit(slots);
    let mut at_work = Work {
        subject: (structure.make)(slots)?,
        keys,
        members: 0,
        full,
        limit,
        pass: Pass::default(),
        batch: vec![0; BATCH],
    };
    at_work.fill()?;
    at_work.ask();
    at_work.empty()?;
    let Work { mut pass, .. } = at_work;
    pass.batched_construction = batched((structure.make)(slots)?, keys, pass.items);
    Ok(pass)
}

struct Work {
    subject: Box<dyn Subject>,
    keys: Keys,
    /// Keys at positions below this are in.
    members: u64,
    /// Keys at occupancy 1.
    full: u64,
    /// Keys at which filling ends.
    limit: u64,
    pass: Pass,
    batch: Vec<u64>,
}

impl Work {
    fn fill(&mut self) -> Result<()> {
        let (mut total, mut refused) = (Duration::ZERO, Vec::new());
        let full = self.full;
        let mut ends = (1..).map(|part| end_of_part(full, part));
        while refused.is_empty() && self.members < self.limit {
            let (first, mut time) = (self.members, Duration::ZERO);
            let end = ends.next().unwrap_or(self.limit).min(self.limit);
            while refused.is_empty() && self.members < end {
                let length = usize::try_from(end - self.members).unwrap_or(BATCH).min(BATCH);
                let batch = &mut self.batch[..length];
                self.keys.members(self.members, batch);
                timed(&mut time, || self.subject.insert_all(Access::Single, batch, &mut refused));
                // Of a batch in which a key was refused, no key counts as a member.
                self.members += if refused.is_empty() { length as u64 } else { 0 };
            }
            total += time;
            if self.members == first {
                break;
            }
            let occupancy = self.occupancy(self.members);
            self.pass.insert.push((occupancy, rate(self.members - first, time)));
            let speeds = [Present(0), Present(100)].map(|mix| self.lookups(mix));
            self.pass.absent.push((occupancy, speeds[0]));
            self.pass.present.push((occupancy, speeds[1]));
        }
        ensure!(self.members > 0, "a structure refused its first keys");
        self.pass.items = self.members;
        self.pass.bytes = self.subject.bytes();
        self.pass.construction = rate(self.members, total);
        Ok(())
    }

    fn occupancy(&self, keys: u64) -> f64 {
        keys as f64 / self.full as f64
    }

    fn ask(&mut self) {
        self.pass.stated_fpr = self.subject.expected_fpr().unwrap_or(f64::NAN);
        let (mut found, first) = (0, 1 << 40);
        let positions = first..first + FPR_QUERIES;
        self.keys.query_batches(Present(0), self.members, positions, &mut self.batch, |batch| {
            found += self.subject.find_all(Access::Single, batch, &mut []);
        });
        self.pass.fpr = found as f64 / FPR_QUERIES as f64;
        for mix in MIXES {
            let speed = self.lookups(Present(mix));
            self.pass.mixes.push((mix, speed));
        }
    }

    /// Speed of lookups of a mix. The first quarter warms the caches.
    fn lookups(&mut self, mix: Present) -> f64 {
        let mut time = Duration::ZERO;
        for positions in [0..QUERIES / 4, QUERIES / 4..QUERIES * 5 / 4] {
            time = Duration::ZERO;
            self.keys.query_batches(mix, self.members, positions, &mut self.batch, |batch| {
                timed(&mut time, || {
                    black_box(self.subject.find_all(Access::Single, batch, &mut []))
                });
            });
        }
        rate(QUERIES, time)
    }

    /// Removes all members, if the structure can; it is an error if one of them is not found.
    fn empty(&mut self) -> Result<()> {
        if !self.subject.can(Operation::Remove, Access::Single) {
            return Ok(());
        }
        let (mut removed, mut position) = (0, 0);
        while position < self.members {
            // Parts end at the same occupancies as those of the filling.
            let (first, left) = (position, self.members - position);
            let (occupancy, mut time) = (self.occupancy(left), Duration::ZERO);
            let ends = (0..).map(|part| end_of_part(self.full, part));
            let end = self.members - ends.take_while(|&end| end < left).last().unwrap_or(0);
            self.keys.batches(position..end, &mut self.batch, |batch| {
                removed += timed(&mut time, || self.subject.remove_all(Access::Single, batch));
            });
            position = end;
            self.pass.remove.push((occupancy, rate(end - first, time)));
        }
        ensure!(removed == self.members, "{} members were not found", self.members - removed);
        Ok(())
    }
}

/// Keys up to the end of a part. No part is a remainder of a few keys, whose speed would say
/// nothing.
const fn end_of_part(full: u64, part: u64) -> u64 {
    full * part / PARTS
}

/// The construction speed of the structure's own batches.
fn batched(mut subject: Box<dyn Subject>, keys: Keys, items: u64) -> f64 {
    const LARGE: usize = 1 << 15;
    let (mut batch, mut time, mut refused) = (vec![0; LARGE], Duration::ZERO, Vec::new());
    keys.batches(0..items, &mut batch, |batch| {
        timed(&mut time, || subject.insert_all(Access::Many, batch, &mut refused));
    });
    rate(items, time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_of_one_size_from_empty_to_full_and_back() {
        let slots = 1 << 14;
        let some = |structure: &Structure| ["BF", "QF", "dl-CBF"].contains(&structure.name);
        for structure in structures::all().into_iter().filter(some) {
            let name = structure.name;
            let (limit, full) = structure.fill.limit(slots);
            let pass = pass(&structure, slots, Keys::new(1)).unwrap();
            let ends: Vec<f64> = pass.insert.iter().map(|point| point.0).collect();
            let whole =
                |&end: &f64| (end * PARTS as f64 - (end * PARTS as f64).round()).abs() < 0.02;
            // The last part of those that go on to the first refusal ends there.
            let known = ends.len() - usize::from(limit == u64::MAX);
            assert!(ends[..known].iter().all(whole), "{name}: {ends:?}");
            assert!(ends.windows(2).all(|pair| pair[1] - pair[0] < 0.051), "{name}: {ends:?}");
            let parts = limit.min(full) as f64 / full as f64 * PARTS as f64;
            assert!(ends.len() as f64 <= parts.round(), "{name}: {ends:?}");
            let starts: Vec<f64> = pass.remove.iter().rev().map(|point| point.0).collect();
            assert!(starts.is_empty() || starts == ends, "{name}: {starts:?}");
        }
    }
}
